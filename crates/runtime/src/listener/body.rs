//! A request body with an idle timeout: a client that sends nothing for too long is disconnected.
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Sleep, sleep};

/// The client sent no more of its request for too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("nothing more of the request came for {0:?}")]
pub struct BodyTimedOut(pub Duration);

/// The body of a request that is still being sent.
#[derive(Debug)]
pub(super) struct ArrivingBody {
    body: Incoming,
    idle: Duration,
    waiting: Option<Pin<Box<Sleep>>>,
}

impl ArrivingBody {
    pub fn new(body: Incoming, idle: Duration) -> Self {
        Self {
            body,
            idle,
            waiting: None,
        }
    }
}

impl Body for ArrivingBody {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let this = self.get_mut();
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(context) {
            this.waiting = None;
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let waiting = this
            .waiting
            .get_or_insert_with(|| Box::pin(sleep(this.idle)));
        match waiting.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Some(Err(Box::new(BodyTimedOut(this.idle))))),
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
