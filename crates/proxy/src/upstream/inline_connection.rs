//! An HTTP/1.1 connection that is polled by the task of its request.
//!
//! Hyper's connection is a future, meant for a task of its own. A request then wakes that task and
//! waits to be woken by it, for the head of its response and again for each piece of the body.
//! Polled within the task of its request, the connection passes its response to that task directly.
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

use crate::upstream::connector::UpstreamIo;

/// Bounds how often a connection and its waiting request are polled in turn before other tasks run.
const MAX_POLLS: usize = 8;

/// A connection that makes progress only while it is polled.
#[derive(Debug)]
pub(crate) struct InlineConnection {
    sender: SendRequest<Body>,
    line: Line,
}

impl InlineConnection {
    pub fn new(
        sender: SendRequest<Body>,
        connection: Connection<TokioIo<UpstreamIo>, Body>,
    ) -> Self {
        let flags = Arc::new(WakeFlags::new());
        Self {
            sender,
            line: Line {
                connection: Some(connection),
                waker: Waker::from(Arc::clone(&flags)),
                flags,
            },
        }
    }

    /// Queues a request. Nothing is sent before the connection is polled.
    pub fn send(
        &mut self,
        request: Request<Body>,
    ) -> impl Future<Output = Result<Response<Incoming>, TrySendError<Request<Body>>>> + use<> {
        self.sender.try_send_request(request)
    }

    /// Returns the head of the response to the queued request.
    pub async fn answer<F: Future>(&mut self, answer: F) -> F::Output {
        let mut answer = pin!(answer);
        poll_fn(|context| {
            let answer = |context: &mut Context<'_>| answer.as_mut().poll(context);
            self.line.drive(context, answer)
        })
        .await
    }

    /// Polls the next frame of a response's body.
    pub fn poll_frame(
        &mut self,
        body: &mut Incoming,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = |context: &mut Context<'_>| Pin::new(&mut *body).poll_frame(context);
        self.line.drive(context, frame)
    }

    /// Drives the connection until it can take another request, after `ended` reports that the
    /// response has been read. Returns false when the connection is unusable.
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

    /// Parks the connection after its response has been read: it wakes no task from here on.
    /// Returns false when it can take no other request.
    pub fn park(&mut self) -> bool {
        self.line.flags.leave();
        if !self.sender.is_ready() {
            self.line.look();
        }
        self.is_open()
    }

    /// Returns whether it can take a request, as far as is known.
    pub fn is_ready(&mut self) -> bool {
        if self.line.flags.is_woken() {
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
    /// `None` once it has ended.
    connection: Option<Connection<TokioIo<UpstreamIo>, Body>>,
    flags: Arc<WakeFlags>,
    /// The waker that sets the flags.
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
    /// Polls the future that waits for the connection, and the connection as long as it is woken.
    fn drive<T>(
        &mut self,
        context: &mut Context<'_>,
        mut waits: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        self.flags.begin(context.waker());
        let mut inner = Context::from_waker(&self.waker);
        for _ in 0..MAX_POLLS {
            if self.connection.is_none() {
                self.flags.end();
                return waits(context);
            }
            let ready = waits(&mut inner);
            if ready.is_ready() {
                self.flags.end();
                return ready;
            }
            if !self.flags.next() {
                return Poll::Pending;
            }
            poll(&mut self.connection, &mut inner);
        }
        self.flags.end();
        context.waker().wake_by_ref();
        Poll::Pending
    }

    /// Polls the connection once, without a task to wake.
    fn look(&mut self) {
        self.flags.forget();
        poll(&mut self.connection, &mut Context::from_waker(&self.waker));
    }
}

fn poll(connection: &mut Option<Connection<TokioIo<UpstreamIo>, Body>>, context: &mut Context<'_>) {
    let Some(open) = connection else { return };
    if let Poll::Ready(ended) = Pin::new(open).poll(context) {
        if let Err(error) = ended {
            // the task that waits for a response gets the error
            tracing::debug!(%error, "a connection to an upstream ended");
        }
        // responses and bodies in progress wait for it, and end with it
        *connection = None;
    }
}

/// Set while a task polls the connection; that task notices by itself that it was woken.
const POLLED: u8 = 1;
/// Set when the connection was woken since it was last polled.
const WOKEN: u8 = 2;

/// The events of a connection, and the task to wake for them.
struct WakeFlags {
    state: AtomicU8,
    task: AtomicWaker,
}

impl WakeFlags {
    /// Returns the flags of a new connection, which has never been polled.
    const fn new() -> Self {
        Self {
            state: AtomicU8::new(WOKEN),
            task: AtomicWaker::new(),
        }
    }

    /// Starts polling: this task is the one to wake from here on.
    fn begin(&self, task: &Waker) {
        self.state.fetch_or(POLLED, Ordering::AcqRel);
        self.task.register(task);
    }

    /// Returns whether the connection is to be polled again; if not, polling has ended.
    fn next(&self) -> bool {
        let quiet = self
            .state
            .compare_exchange(POLLED, 0, Ordering::AcqRel, Ordering::Acquire);
        let news = quiet.is_err();
        if news {
            self.state.fetch_and(!WOKEN, Ordering::AcqRel);
        }
        news
    }

    /// Ends polling; a pending wake-up remains.
    fn end(&self) {
        self.state.fetch_and(!POLLED, Ordering::AcqRel);
    }

    fn is_woken(&self) -> bool {
        self.state.load(Ordering::Acquire) & WOKEN != 0
    }

    /// Clears a wake-up, as the connection is about to be polled.
    fn forget(&self) {
        self.state.fetch_and(!WOKEN, Ordering::AcqRel);
    }

    /// Removes the task: none waits any more.
    fn leave(&self) {
        self.task.take();
    }
}

impl Wake for WakeFlags {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.fetch_or(WOKEN, Ordering::AcqRel) & POLLED == 0 {
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
    fn a_wake_up_while_it_is_polled_is_seen_and_wakes_no_task() {
        let (flags, woken) = (Arc::new(WakeFlags::new()), Arc::new(Woken::default()));
        let task = Waker::from(Arc::clone(&woken));
        flags.begin(&task);
        assert!(flags.next(), "a new one is to be polled");
        flags.wake_by_ref();
        assert!(flags.next());
        assert!(!flags.next());
        assert_eq!(count(&woken), 0);
    }

    #[test]
    fn news_that_come_afterwards_wake_the_task_that_polled_last_once() {
        let flags = Arc::new(WakeFlags::new());
        let (first, last) = (Arc::new(Woken::default()), Arc::new(Woken::default()));
        for woken in [&first, &last] {
            flags.begin(&Waker::from(Arc::clone(woken)));
            while flags.next() {}
        }
        flags.wake_by_ref();
        flags.wake_by_ref();
        assert_eq!((count(&first), count(&last)), (0, 1));
        assert!(flags.is_woken());
    }

    #[test]
    fn a_wake_up_is_kept_while_no_task_waits() {
        let (flags, woken) = (Arc::new(WakeFlags::new()), Arc::new(Woken::default()));
        flags.begin(&Waker::from(Arc::clone(&woken)));
        while flags.next() {}
        flags.leave();
        flags.wake_by_ref();
        assert_eq!(count(&woken), 0);
        assert!(flags.is_woken());
    }

    #[test]
    fn news_remain_where_polling_ends_with_what_was_waited_for() {
        let flags = Arc::new(WakeFlags::new());
        flags.begin(Waker::noop());
        while flags.next() {}
        flags.begin(Waker::noop());
        flags.wake_by_ref();
        flags.end();
        assert!(flags.is_woken());
    }
}
