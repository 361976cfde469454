//! Ties whatever a session has open to the session: when it ends, they end.
use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::{meters, session::lock::Lock};

/// What one session has open. Ending is for good; renewing closes what is open now and lets
/// new connections in, for when the token that they were opened with has been replaced.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    ended: CancellationToken,
    current: Lock<Option<CancellationToken>>,
    open: Arc<AtomicUsize>,
}

/// One open connection. Counts as open until dropped.
#[derive(Debug)]
pub(crate) struct Connection {
    token: CancellationToken,
    open: Arc<AtomicUsize>,
}

impl Connections {
    /// Registers a connection. One that comes too late finds itself closed already.
    pub fn open(&self) -> Connection {
        let token = self
            .current
            .lock()
            .get_or_insert_with(|| self.ended.child_token())
            .clone();
        self.open.fetch_add(1, Ordering::Relaxed);
        Connection {
            token,
            open: Arc::clone(&self.open),
        }
    }

    /// Closes everything, now and later.
    pub fn end(&self) {
        self.ended.cancel();
    }

    /// Closes what is open, so that it comes back with the session's new token.
    pub fn renew(&self) {
        if let Some(token) = self.current.lock().take() {
            token.cancel();
        }
    }

    pub fn has_ended(&self) -> bool {
        self.ended.is_cancelled()
    }

    /// How many connections are open.
    pub fn count(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }
}

impl Connection {
    /// Resolves when the connection must close.
    pub async fn closed(&self) {
        self.token.cancelled().await;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A response body that breaks off when its session ends.
pub(crate) struct GuardedBody {
    body: Incoming,
    closed: Pin<Box<WaitForCancellationFutureOwned>>,
    _connection: Connection,
    _open: meters::Open,
}

/// The session behind a response ended before the response did.
#[derive(Debug, thiserror::Error)]
#[error("the session has ended")]
pub(crate) struct SessionEnded;

impl GuardedBody {
    pub fn new(body: Incoming, connection: Connection, kind: meters::Kind) -> Self {
        Self {
            body,
            closed: Box::pin(connection.token.clone().cancelled_owned()),
            _connection: connection,
            _open: meters::open(kind),
        }
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
        if this.closed.as_mut().poll(context).is_ready() {
            return Poll::Ready(Some(Err(Box::new(SessionEnded))));
        }
        Pin::new(&mut this.body)
            .poll_frame(context)
            .map_err(Into::into)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
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
        connections.end();
        before.closed().await;
        connections.open().closed().await;
        assert!(connections.has_ended());
    }

    #[tokio::test]
    async fn renewing_closes_only_what_was_open() {
        let connections = Connections::default();
        let before = connections.open();
        connections.renew();
        before.closed().await;
        let after = connections.open();
        assert!(!after.token.is_cancelled());
        assert_eq!(connections.count(), 2);
        drop((before, after));
        assert_eq!(connections.count(), 0);
    }
}
