//! The metrics of the proxy. Label values are constants of this program or IDs of the configuration.
use metrics::Gauge;

const OPEN: &str = "portico_gateway_open_connections";
const BACKEND_UP: &str = "portico_gateway_upstream_backend_up";
const UPSTREAM_RETRIES: &str = "portico_gateway_upstream_retries_total";

thread_local! {
    /// The handles of [`Kind::ALL`], in its order: looking one up by its name and labels costs
    /// several times what counting does.
    static OPEN_BY_KIND: [Gauge; 3] = Kind::ALL.map(Kind::gauge);
}

/// Kinds of connections that stay open for a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    WebSocket,
    /// Server-sent events.
    EventStream,
    /// A response being sent.
    Response,
}

impl Kind {
    const ALL: [Self; 3] = [Self::WebSocket, Self::EventStream, Self::Response];

    fn as_str(self) -> &'static str {
        match self {
            Self::WebSocket => "websocket",
            Self::EventStream => "event_stream",
            Self::Response => "response",
        }
    }

    fn gauge(self) -> Gauge {
        metrics::gauge!(OPEN, "kind" => self.as_str())
    }

    fn with_gauge(self, count: impl Fn(&Gauge)) {
        let counted = OPEN_BY_KIND.try_with(|gauges| count(&gauges[self as usize]));
        if counted.is_err() {
            // the thread is ending
            count(&self.gauge());
        }
    }
}

/// Counts a connection as open until dropped.
#[derive(Debug)]
pub(crate) struct Open(Kind);

/// Counts a connection that has just been opened.
pub(crate) fn open(kind: Kind) -> Open {
    kind.with_gauge(|gauge| gauge.increment(1.0));
    Open(kind)
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.with_gauge(|gauge| gauge.decrement(1.0));
    }
}

/// Records whether one of an upstream's servers gets requests.
pub(crate) fn backend(upstream: &str, backend: &str, up: bool) {
    metrics::gauge!(BACKEND_UP, "upstream" => upstream.to_owned(), "backend" => backend.to_owned())
        .set(if up { 1.0 } else { 0.0 });
}

/// Counts a retry of a request, by reason: `connect` (the server accepted no connection) or
/// `reused_connection` (a connection of the pool was closed).
pub(crate) fn upstream_retry(upstream: &str, reason: &'static str) {
    metrics::counter!(UPSTREAM_RETRIES, "upstream" => upstream.to_owned(), "reason" => reason)
        .increment(1);
}

/// Registers the help texts, and starts the number of open connections at zero.
pub fn describe() {
    metrics::describe_gauge!(
        BACKEND_UP,
        "Whether a server gets requests, where an upstream has several or health checks."
    );
    metrics::describe_counter!(
        UPSTREAM_RETRIES,
        "Requests that were sent to an upstream again, by reason."
    );
    metrics::describe_gauge!(OPEN, "Open connections of sessions, by kind.");
    for kind in Kind::ALL {
        // shared by all gateways in the process
        kind.gauge().increment(0.0);
    }
}
