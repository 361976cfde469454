//! Which trace a request belongs to: from a proxy that is trusted, and on to upstreams (W3C Trace
//! Context).
use http::{HeaderMap, HeaderName};
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::TraceContextExt as _;
use opentelemetry_http::{HeaderExtractor, HeaderInjector};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");
/// W3C Baggage: whatever somebody wrote into it would reach every upstream.
const BAGGAGE: HeaderName = HeaderName::from_static("baggage");

/// Whether this process traces: what follows costs nothing otherwise.
static ON: AtomicBool = AtomicBool::new(false);

pub(super) fn turn_on() {
    ON.store(true, Ordering::Relaxed);
}

/// Whether spans are taken for traces.
pub fn are_on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// Whose traces are continued.
#[derive(Clone, Default)]
pub enum Continues {
    /// Nobody's: whoever sends a `traceparent` could join strangers' traces, and have them sampled.
    #[default]
    Nobodys,
    /// Everybody's, for listeners that only our own parts reach.
    Everybodys,
    /// Those of peers that the function trusts.
    Peers(Arc<dyn Fn(IpAddr) -> bool + Send + Sync>),
}

impl fmt::Debug for Continues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nobodys => "Nobodys",
            Self::Everybodys => "Everybodys",
            Self::Peers(_) => "Peers",
        })
    }
}

impl Continues {
    /// Whether a peer's trace is continued; one without an address is a stranger.
    pub fn trusts(&self, peer: Option<IpAddr>) -> bool {
        match self {
            Self::Nobodys => false,
            Self::Everybodys => true,
            Self::Peers(trusts) => peer.is_some_and(|peer| trusts(peer.to_canonical())),
        }
    }
}

/// Makes a span that nobody has entered yet part of the trace that the headers name.
pub fn continue_trace(span: &Span, headers: &HeaderMap) {
    if !are_on() {
        return;
    }
    let context = TraceContextPropagator::new().extract(&HeaderExtractor(headers));
    if context.span().span_context().is_valid() {
        // fails where the span is not recorded
        let _ = span.set_parent(context);
    }
}

/// Removes what a stranger says about traces.
pub fn forget_trace(headers: &mut HeaderMap) {
    for name in [TRACEPARENT, TRACESTATE, BAGGAGE] {
        headers.remove(name);
    }
}

/// Tells an upstream which span asks it. Without a trace of our own the headers stay as they are.
pub fn pass_on(headers: &mut HeaderMap) {
    if !are_on() {
        return;
    }
    let context = Span::current().context();
    if context.span().span_context().is_valid() {
        headers.remove(TRACESTATE);
        TraceContextPropagator::new().inject_context(&context, &mut HeaderInjector(headers));
        if headers
            .get(TRACESTATE)
            .is_some_and(|state| state.is_empty())
        {
            headers.remove(TRACESTATE);
        }
    }
}
