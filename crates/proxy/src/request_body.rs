//! The body of a request to an upstream: limited, monitored for progress, and reusable while it is
//! unread.
use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use axum::body::Body;
use bytes::Bytes;
use http::HeaderName;
use http_body::{Frame, SizeHint};
use http_body_util::Limited;
use tokio::time::{Instant, sleep_until};

use crate::headers::trailers;
use parking_lot::Mutex;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The progress of a body or another stream.
#[derive(Debug)]
pub(crate) struct TransferProgress {
    began: Instant,
    /// When a part was last forwarded, in milliseconds since the beginning.
    moved: AtomicU64,
    /// Whether the next part is awaited from the client.
    awaits_client: AtomicBool,
}

/// The side that stalled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StalledSide {
    Client,
    Upstream,
}

impl TransferProgress {
    pub fn new() -> Self {
        Self {
            began: Instant::now(),
            moved: AtomicU64::new(0),
            awaits_client: AtomicBool::new(false),
        }
    }

    /// Resolves when there has been no progress for this long. A large upload may take any time in
    /// total.
    pub async fn stalls(&self, after: Duration) -> StalledSide {
        loop {
            let moved = Duration::from_millis(self.moved.load(Ordering::Relaxed));
            let due = self.began + moved + after;
            if due <= Instant::now() {
                break;
            }
            sleep_until(due).await;
        }
        if self.awaits_client.load(Ordering::Relaxed) {
            StalledSide::Client
        } else {
            StalledSide::Upstream
        }
    }

    /// Records progress.
    pub fn moves(&self) {
        let since = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.moved.store(since, Ordering::Relaxed);
        self.awaits_client.store(false, Ordering::Relaxed);
    }
}

/// A body with a limit, whose parts and trailers are cleaned and recorded as they are forwarded.
pub(crate) struct RequestBody {
    body: Limited<Body>,
    flow: Arc<TransferProgress>,
    /// Headers that its trailers may not contain, where the upstream accepts trailers.
    trailers: Option<Arc<[HeaderName]>>,
}

impl RequestBody {
    pub fn new(
        body: Body,
        max_bytes: u64,
        flow: Arc<TransferProgress>,
        trailers: Option<Arc<[HeaderName]>>,
    ) -> Self {
        let max_bytes = usize::try_from(max_bytes).unwrap_or(usize::MAX);
        Self {
            body: Limited::new(body, max_bytes),
            flow,
            trailers,
        }
    }
}

impl http_body::Body for RequestBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = self.get_mut();
        let frame = Pin::new(&mut this.body).poll_frame(context);
        match frame {
            Poll::Pending => {
                this.flow.awaits_client.store(true, Ordering::Relaxed);
                Poll::Pending
            }
            Poll::Ready(frame) => {
                this.flow.moves();
                Poll::Ready(match frame {
                    Some(Ok(frame)) => {
                        trailers::of_request(frame, this.trailers.as_deref()).map(Ok)
                    }
                    other => other,
                })
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A body lent to a request, so that another request can have it if the first has not begun to read
/// it.
pub(crate) struct Lent {
    owner: Arc<Mutex<Option<Body>>>,
    taken: Option<Body>,
}

/// The owner of a lent body.
pub(crate) struct Lender(Arc<Mutex<Option<Body>>>);

impl Lender {
    pub fn new(body: Body) -> Self {
        Self(Arc::new(Mutex::new(Some(body))))
    }

    pub fn lend(&self) -> Body {
        Body::new(Lent {
            owner: Arc::clone(&self.0),
            taken: None,
        })
    }

    /// Returns whether no part of it has been read.
    pub fn is_untouched(&self) -> bool {
        self.0.lock().is_some()
    }
}

impl http_body::Body for Lent {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        if this.taken.is_none() {
            this.taken = this.owner.lock().take();
        }
        match &mut this.taken {
            Some(body) => Pin::new(body).poll_frame(context),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.taken {
            Some(body) => body.is_end_stream(),
            None => self.owner.lock().as_ref().is_none_or(Body::is_end_stream),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.taken {
            Some(body) => body.size_hint(),
            None => {
                let owner = self.owner.lock();
                owner
                    .as_ref()
                    .map_or_else(SizeHint::default, Body::size_hint)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body::Body as _;
    use http_body_util::BodyExt as _;

    #[tokio::test]
    async fn a_body_is_given_back_until_it_is_read() {
        let lender = Lender::new(Body::from("abc"));
        drop(lender.lend());
        assert!(lender.is_untouched());
        let lent = lender.lend();
        assert_eq!(lent.size_hint().exact(), Some(3));
        assert!(!lent.is_end_stream());
        assert_eq!(lent.collect().await.expect("body").to_bytes(), "abc");
        assert!(!lender.is_untouched());
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_continues_is_not_overdue() {
        let flow = Arc::new(TransferProgress::new());
        let slow = futures::stream::unfold(0, |n| async move {
            tokio::time::sleep(Duration::from_millis(100)).await;
            (n < 3).then_some((
                Ok::<_, std::convert::Infallible>(Bytes::from_static(b"x")),
                n + 1,
            ))
        });
        let sent = RequestBody::new(Body::from_stream(slow), 10, Arc::clone(&flow), None);
        let reading = tokio::spawn(sent.collect());
        let began = Instant::now();
        let stalled = flow.stalls(Duration::from_secs(1)).await;
        // 400 ms of body, and a second of silence
        assert!(
            began.elapsed() >= Duration::from_millis(1350),
            "{:?}",
            began.elapsed()
        );
        assert_eq!(stalled, StalledSide::Upstream);
        assert!(reading.await.expect("read").is_ok());
        let flow = Arc::new(TransferProgress::new());
        let stuck = Body::from_stream(futures::stream::pending::<Result<Bytes, BoxError>>());
        let sent = RequestBody::new(stuck, 10, Arc::clone(&flow), None);
        tokio::spawn(sent.collect());
        let stalled = flow.stalls(Duration::from_millis(100)).await;
        assert_eq!(stalled, StalledSide::Client);
    }
}
