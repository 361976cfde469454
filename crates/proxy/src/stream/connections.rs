//! Ties open connections to their session: when the session ends, they are closed.
use std::{
    pin::Pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep, sleep_until};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::headers::trailers;
use crate::metrics;
use crate::stream::event_stream::EventStream;
use parking_lot::Mutex;

/// Why the gateway closes an open connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// Its session has ended, for this reason.
    Ended(&'static str),
    /// The session continues with new tokens: the client may reconnect at once.
    Renewed,
    /// The process stops: the client may reconnect, to another replica.
    Stopping,
    /// No data for longer than the app's configuration permits.
    Idle,
}

impl Closing {
    /// Returns the value in close frames and event streams.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ended(reason) => reason,
            Self::Renewed => "renewed",
            Self::Stopping => "restarting",
            Self::Idle => "idle",
        }
    }
}

/// The open connections of one session. Ending is final; renewing closes the current ones and
/// permits new ones, for when the token that they were opened with has been replaced.
#[derive(Debug, Default)]
pub struct Connections {
    ended: CancellationToken,
    reason: Arc<OnceLock<&'static str>>,
    current: Mutex<Option<CancellationToken>>,
    open: Arc<AtomicUsize>,
}

/// One open connection. Counts as open until dropped.
#[derive(Debug)]
pub struct Connection {
    token: CancellationToken,
    reason: Arc<OnceLock<&'static str>>,
    open: Arc<AtomicUsize>,
}

impl Connections {
    /// Registers a connection. After the session's end it is closed at once.
    pub fn open(&self) -> Connection {
        let token = self
            .current
            .lock()
            .get_or_insert_with(|| self.ended.child_token())
            .clone();
        self.open.fetch_add(1, Ordering::Relaxed);
        Connection {
            token,
            reason: Arc::clone(&self.reason),
            open: Arc::clone(&self.open),
        }
    }

    /// Closes all connections, now and later. The first reason counts.
    pub fn end(&self, reason: &'static str) {
        let _ = self.reason.set(reason);
        self.ended.cancel();
    }

    /// Closes the current connections, so that clients reconnect with the session's new token.
    pub fn renew(&self) {
        if let Some(token) = self.current.lock().take() {
            token.cancel();
        }
    }

    pub fn has_ended(&self) -> bool {
        self.ended.is_cancelled()
    }

    /// Returns how many connections are open.
    pub fn count(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }
}

impl Connection {
    /// Resolves when the connection must close.
    pub async fn closed(&self) -> Closing {
        self.token.cancelled().await;
        self.closing()
    }

    fn closing(&self) -> Closing {
        self.reason
            .get()
            .map_or(Closing::Renewed, |reason| Closing::Ended(reason))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A response body that is aborted when its session ends.
pub struct GuardedBody {
    /// If dropped before its end, the upstream connection is closed.
    body: Incoming,
    /// Polled once the body has been pending for the first time.
    closed: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    /// The event stream, if the body is one: it gets a last event with the reason.
    events: Option<EventStream>,
    /// An event stream does not end by itself: it ends when the process stops.
    draining: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    idle: Option<Idle>,
    over: bool,
    connection: Connection,
    _open: metrics::Open,
}

/// The maximum pause of a response. Time in which the client does not read does not count.
struct Idle {
    after: Duration,
    /// Created at the first pause: most responses are available at once.
    sleep: Option<Pin<Box<Sleep>>>,
    waits: bool,
}

impl Idle {
    fn new(after: Duration) -> Self {
        Self {
            after,
            sleep: None,
            waits: false,
        }
    }

    /// Returns whether the time has passed, while the body is pending.
    fn is_over(&mut self, context: &mut Context<'_>) -> bool {
        let due = || Instant::now() + self.after;
        let sleep = match &mut self.sleep {
            Some(sleep) => {
                if !self.waits {
                    sleep.as_mut().reset(due());
                }
                sleep
            }
            none => none.insert(Box::pin(sleep_until(due()))),
        };
        self.waits = true;
        sleep.as_mut().poll(context).is_ready()
    }
}

/// The session of a response ended before the response did.
#[derive(Debug, thiserror::Error)]
#[error("the session has ended")]
pub struct SessionEnded;

/// The upstream paused for longer than permitted.
#[derive(Debug, thiserror::Error)]
#[error("nothing more has come from the upstream")]
pub struct Paused;

impl GuardedBody {
    pub fn new(
        body: Incoming,
        connection: Connection,
        events: Option<EventStream>,
        kind: metrics::Kind,
        draining: &CancellationToken,
        idle: Option<Duration>,
    ) -> Self {
        let draining = (kind == metrics::Kind::EventStream)
            .then(|| Box::pin(draining.clone().cancelled_owned()));
        Self {
            body,
            draining,
            closed: None,
            events,
            idle: idle.map(Idle::new),
            over: false,
            connection,
            _open: metrics::open(kind),
        }
    }
}

impl GuardedBody {
    fn stopping(&mut self, context: &mut Context<'_>) -> Option<Closing> {
        let draining = self.draining.as_mut()?.as_mut();
        draining
            .poll(context)
            .is_ready()
            .then_some(Closing::Stopping)
    }

    /// Returns the last frame: an event with the reason where the stream permits one, else an
    /// error.
    fn last(
        &mut self,
        closing: Closing,
        otherwise: impl std::error::Error + Send + Sync + 'static,
    ) -> Result<Frame<Bytes>, Box<dyn std::error::Error + Send + Sync>> {
        self.over = true;
        let last = self.events.as_ref().and_then(|events| events.last(closing));
        last.map(Frame::data).ok_or_else(|| otherwise.into())
    }
}

impl Body for GuardedBody {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let this = self.get_mut();
        if this.over {
            return Poll::Ready(None);
        }
        let ended = this.connection.token.is_cancelled();
        let closing = if ended {
            Some(this.connection.closing())
        } else {
            this.stopping(context)
        };
        if let Some(closing) = closing {
            return Poll::Ready(Some(this.last(closing, SessionEnded)));
        }
        let frame = Pin::new(&mut this.body).poll_frame(context);
        if frame.is_pending() {
            // most responses are available at once, and never wait for the end of their session
            let token = &this.connection.token;
            let closed = this
                .closed
                .get_or_insert_with(|| Box::pin(token.clone().cancelled_owned()));
            if closed.as_mut().poll(context).is_ready() {
                let closing = this.connection.closing();
                return Poll::Ready(Some(this.last(closing, SessionEnded)));
            }
        }
        if let Some(idle) = &mut this.idle {
            if frame.is_ready() {
                idle.waits = false;
            } else if idle.is_over(context) {
                return Poll::Ready(Some(this.last(Closing::Idle, Paused)));
            }
        }
        if let (Some(events), Poll::Ready(Some(Ok(frame)))) = (&mut this.events, &frame)
            && let Some(data) = frame.data_ref()
        {
            events.pass(data);
        }
        frame.map_ok(trailers::cleaned).map_err(Into::into)
    }

    fn is_end_stream(&self) -> bool {
        self.over || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn ending_closes_old_and_new_connections() {
        let connections = Connections::default();
        let before = connections.open();
        connections.end("signed_out");
        connections.end("expired");
        let why = Closing::Ended("signed_out");
        assert_eq!(before.closed().await, why);
        assert_eq!(connections.open().closed().await, why);
        assert!(connections.has_ended());
    }

    #[tokio::test]
    async fn renewing_closes_only_what_was_open() {
        let connections = Connections::default();
        let before = connections.open();
        connections.renew();
        assert_eq!(before.closed().await, Closing::Renewed);
        let after = connections.open();
        assert!(!after.token.is_cancelled());
        assert_eq!(connections.count(), 2);
        drop((before, after));
        assert_eq!(connections.count(), 0);
    }
}
