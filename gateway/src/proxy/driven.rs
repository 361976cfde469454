//! An HTTP/1.1 connection that is moved on by whoever waits for its answer.
//!
//! Hyper's connection is a future, meant for a task of its own. A request then wakes that task and
//! waits to be woken by it, for the head of its answer and for each piece of the body again. Polled
//! within the task of its request, the connection gives its answer to that task directly.
use std::{
    fmt,
    future::poll_fn,
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use axum::body::Body;
use bytes::Bytes;
use futures::task::AtomicWaker;
use http::{Request, Response};
use http_body::{Body as _, Frame};
use hyper::{
    body::Incoming,
    client::conn::{
        TrySendError,
        http1::{Connection, SendRequest},
    },
};
use hyper_util::rt::TokioIo;

use super::connector::UpstreamIo;

/// How often a connection and what waits for it are polled in turn before other tasks are let in.
const TURNS: usize = 8;

/// A connection, moved on only while something of it is polled.
#[derive(Debug)]
pub(super) struct Driven {
    sender: SendRequest<Body>,
    line: Line,
}

impl Driven {
    pub fn new(
        sender: SendRequest<Body>,
        connection: Connection<TokioIo<UpstreamIo>, Body>,
    ) -> Self {
        let notices = Arc::new(Notices::new());
        Self {
            sender,
            line: Line {
                connection: Some(connection),
                waker: Waker::from(Arc::clone(&notices)),
                notices,
            },
        }
    }

    /// Hands a request over. Nothing is sent before the connection is polled.
    pub fn send(
        &mut self,
        request: Request<Body>,
    ) -> impl Future<Output = Result<Response<Incoming>, TrySendError<Request<Body>>>> + use<> {
        self.sender.try_send_request(request)
    }

    /// The head of the answer to what has been handed over.
    pub async fn answer<F: Future>(&mut self, answer: F) -> F::Output {
        let mut answer = pin!(answer);
        poll_fn(|context| {
            let answer = |context: &mut Context<'_>| answer.as_mut().poll(context);
            self.line.drive(context, answer)
        })
        .await
    }

    /// What comes next of an answer's body.
    pub fn poll_frame(
        &mut self,
        body: &mut Incoming,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = |context: &mut Context<'_>| Pin::new(&mut *body).poll_frame(context);
        self.line.drive(context, frame)
    }

    /// Moves the connection on until it can take another request, from when `ended` says that the
    /// answer has been read. False when there is no use in it any more.
    pub async fn run<E>(&mut self, ended: impl Future<Output = Result<(), E>>) -> bool {
        let mut ended = pin!(ended);
        let has_ended = poll_fn(|context| {
            let ended = |context: &mut Context<'_>| ended.as_mut().poll(context);
            match self.line.drive(context, ended) {
                Poll::Pending if self.line.connection.is_none() => Poll::Ready(false),
                ended => ended.map(|ended| ended.is_ok()),
            }
        });
        if !has_ended.await {
            return false;
        }
        let Self { sender, line } = self;
        poll_fn(|context| line.drive(context, |context| sender.poll_ready(context)))
            .await
            .is_ok()
    }

    /// Its answer has been read: nobody is to be woken for it from here on. False when it can take
    /// no other request.
    pub fn rests(&mut self) -> bool {
        self.line.notices.leave();
        if !self.sender.is_ready() {
            self.line.look();
        }
        self.is_open()
    }

    /// Whether it can take a request, as far as has been heard.
    pub fn is_ready(&mut self) -> bool {
        if self.line.notices.has_news() {
            self.line.look();
        }
        self.is_open()
    }

    fn is_open(&self) -> bool {
        self.line.connection.is_some() && self.sender.is_ready()
    }
}

/// The half that reads and writes.
struct Line {
    /// `None` once it is over.
    connection: Option<Connection<TokioIo<UpstreamIo>, Body>>,
    notices: Arc<Notices>,
    /// Of the notices.
    waker: Waker,
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line")
            .field("over", &self.connection.is_none())
            .finish_non_exhaustive()
    }
}

impl Line {
    /// Polls what waits for the connection, and the connection as long as there is news for it.
    fn drive<T>(
        &mut self,
        context: &mut Context<'_>,
        mut waits: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        self.notices.begin(context.waker());
        let mut inner = Context::from_waker(&self.waker);
        for _ in 0..TURNS {
            if self.connection.is_none() {
                self.notices.end();
                return waits(context);
            }
            let ready = waits(&mut inner);
            if ready.is_ready() {
                self.notices.end();
                return ready;
            }
            if !self.notices.next() {
                return Poll::Pending;
            }
            poll(&mut self.connection, &mut inner);
        }
        self.notices.end();
        context.waker().wake_by_ref();
        Poll::Pending
    }

    /// Sees what has come in the meantime, for nobody.
    fn look(&mut self) {
        self.notices.forget();
        poll(&mut self.connection, &mut Context::from_waker(&self.waker));
    }
}

fn poll(connection: &mut Option<Connection<TokioIo<UpstreamIo>, Body>>, context: &mut Context<'_>) {
    let Some(open) = connection else { return };
    if let Poll::Ready(ended) = Pin::new(open).poll(context) {
        if let Err(error) = ended {
            // whoever waits for an answer is told
            tracing::debug!(%error, "a connection to an upstream ended");
        }
        // with it goes what answers and bodies under way wait for, so that they end
        *connection = None;
    }
}

/// Somebody polls the connection now, and sees by itself whether there is news.
const POLLED: u8 = 1;
/// Something has happened since the connection was polled last.
const NEWS: u8 = 2;

/// What has happened to a connection, and the task to be woken for it.
struct Notices {
    state: AtomicU8,
    task: AtomicWaker,
}

impl Notices {
    /// A new connection has not been polled at all.
    const fn new() -> Self {
        Self {
            state: AtomicU8::new(NEWS),
            task: AtomicWaker::new(),
        }
    }

    /// From here on this task is the one to wake.
    fn begin(&self, task: &Waker) {
        self.state.fetch_or(POLLED, Ordering::AcqRel);
        self.task.register(task);
    }

    /// Whether the connection is to be polled; if not, polling has ended.
    fn next(&self) -> bool {
        let quiet = self
            .state
            .compare_exchange(POLLED, 0, Ordering::AcqRel, Ordering::Acquire);
        let news = quiet.is_err();
        if news {
            self.state.fetch_and(!NEWS, Ordering::AcqRel);
        }
        news
    }

    /// Polling has ended; news that there was remains.
    fn end(&self) {
        self.state.fetch_and(!POLLED, Ordering::AcqRel);
    }

    fn has_news(&self) -> bool {
        self.state.load(Ordering::Acquire) & NEWS != 0
    }

    /// The connection is about to be polled.
    fn forget(&self) {
        self.state.fetch_and(!NEWS, Ordering::AcqRel);
    }

    /// Nobody waits any more.
    fn leave(&self) {
        self.task.take();
    }
}

impl Wake for Notices {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.fetch_or(NEWS, Ordering::AcqRel) & POLLED == 0 {
            self.task.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn count(woken: &Woken) -> usize {
        woken.0.load(Ordering::SeqCst)
    }

    #[test]
    fn news_that_come_while_it_is_polled_are_seen_and_wake_nobody() {
        let (notices, woken) = (Arc::new(Notices::new()), Arc::new(Woken::default()));
        let task = Waker::from(Arc::clone(&woken));
        notices.begin(&task);
        assert!(notices.next(), "a new one is to be polled");
        notices.wake_by_ref();
        assert!(notices.next());
        assert!(!notices.next());
        assert_eq!(count(&woken), 0);
    }

    #[test]
    fn news_that_come_afterwards_wake_the_task_that_polled_last_once() {
        let notices = Arc::new(Notices::new());
        let (first, last) = (Arc::new(Woken::default()), Arc::new(Woken::default()));
        for woken in [&first, &last] {
            notices.begin(&Waker::from(Arc::clone(woken)));
            while notices.next() {}
        }
        notices.wake_by_ref();
        notices.wake_by_ref();
        assert_eq!((count(&first), count(&last)), (0, 1));
        assert!(notices.has_news());
    }

    #[test]
    fn news_wait_where_nobody_does() {
        let (notices, woken) = (Arc::new(Notices::new()), Arc::new(Woken::default()));
        notices.begin(&Waker::from(Arc::clone(&woken)));
        while notices.next() {}
        notices.leave();
        notices.wake_by_ref();
        assert_eq!(count(&woken), 0);
        assert!(notices.has_news());
    }

    #[test]
    fn news_remain_where_polling_ends_with_what_was_waited_for() {
        let notices = Arc::new(Notices::new());
        notices.begin(Waker::noop());
        while notices.next() {}
        notices.begin(Waker::noop());
        notices.wake_by_ref();
        notices.end();
        assert!(notices.has_news());
    }
}
