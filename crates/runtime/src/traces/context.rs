//! Trace context of requests: accepted from trusted proxies, and passed on to upstreams (W3C Trace
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
/// W3C Baggage: any client could send values through it to every upstream.
const BAGGAGE: HeaderName = HeaderName::from_static("baggage");

/// Whether this process traces; if not, tracing costs nothing.
static IS_TRACING: AtomicBool = AtomicBool::new(false);

pub(super) fn turn_on() {
    IS_TRACING.store(true, Ordering::Relaxed);
}

/// Returns whether spans are recorded for traces.
pub fn are_on() -> bool {
    IS_TRACING.load(Ordering::Relaxed)
}

/// The peers whose traces are continued.
#[derive(Clone, Default)]
pub enum Continues {
    /// None: a client that sends a `traceparent` could join other users' traces, and have them
    /// sampled.
    #[default]
    NoPeer,
    /// All, for listeners that only Portico's own processes reach.
    AllPeers,
    /// Those peers that the function trusts.
    Peers(Arc<dyn Fn(IpAddr) -> bool + Send + Sync>),
}

impl fmt::Debug for Continues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoPeer => "NoPeer",
            Self::AllPeers => "AllPeers",
            Self::Peers(_) => "Peers",
        })
    }
}

impl Continues {
    /// Returns whether a peer's trace is continued; a peer without an address is not trusted.
    pub fn trusts(&self, peer: Option<IpAddr>) -> bool {
        match self {
            Self::NoPeer => false,
            Self::AllPeers => true,
            Self::Peers(trusts) => peer.is_some_and(|peer| trusts(peer.to_canonical())),
        }
    }
}

/// Makes a span that has not been entered yet part of the trace in the headers.
pub fn continue_trace(span: &Span, headers: &HeaderMap) {
    if !are_on() {
        return;
    }
    let context = TraceContextPropagator::new().extract(&HeaderExtractor(headers));
    if context.span().span_context().is_valid() {
        // fails if the span is not recorded
        let _ = span.set_parent(context);
    }
}

/// Returns whether there is a trace header. Few clients send one, and to look at all names costs
/// less than to look up three.
pub fn has_trace(headers: &HeaderMap) -> bool {
    let mut names = headers.keys().map(HeaderName::as_str);
    names.any(|name| matches!(name, "traceparent" | "tracestate" | "baggage"))
}

/// Removes the trace headers of an untrusted client.
pub fn forget_trace(headers: &mut HeaderMap) {
    for name in [TRACEPARENT, TRACESTATE, BAGGAGE] {
        headers.remove(name);
    }
}

/// Passes the current span to an upstream. Without a trace of Portico's own the headers stay
/// unchanged.
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
