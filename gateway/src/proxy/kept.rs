//! HTTP/1.1 connections to one server, kept between requests.
//!
//! `hyper-util`'s client keeps connections of every protocol, and starts a task for each request
//! that waits until its connection can be kept. Here a connection goes back with the last byte of
//! its answer, and no task is started but that of the connection itself.
use std::{
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use axum::body::Body;
use http::{Request, Response, Uri};
use hyper::{
    body::Incoming,
    client::conn::http1::{Builder, SendRequest},
};

use super::connector::{BoxError, Connector};
use crate::session::lock::Lock;

/// Why there is no response.
#[derive(Debug)]
pub(super) enum RequestError {
    /// Nobody has seen the request.
    Unsent(BoxError),
    Broken(BoxError),
}

/// A response with the connection that it comes on, or why there is none.
pub(super) type Answered = Result<(Response<Incoming>, Lease), RequestError>;

/// The connections to one server.
#[derive(Debug)]
pub(super) struct Kept(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    connector: Connector,
    /// What is read of an answer at once, in bytes; no head may be larger.
    buffer: usize,
    /// How long a connection is kept.
    longest: Duration,
    /// The one that was used last comes last.
    idle: Lock<Vec<Idle>>,
}

#[derive(Debug)]
struct Idle {
    sender: SendRequest<Body>,
    since: Instant,
}

/// A connection on which an answer is under way. Dropped before its end it is closed.
#[derive(Debug, Default)]
pub(crate) struct Lease(Option<(SendRequest<Body>, Weak<Shared>)>);

impl Lease {
    /// The answer has come whole: another request may have the connection.
    pub fn ended(&mut self) {
        if let Some((sender, home)) = self.0.take()
            && let Some(home) = home.upgrade()
        {
            home.put(sender);
        }
    }
}

impl Kept {
    pub fn new(connector: Connector, buffer: usize, longest: Duration) -> Self {
        Self(Arc::new(Shared {
            connector,
            buffer,
            longest,
            idle: Lock::default(),
        }))
    }

    /// Sends a request on a connection that is kept, or else on a new one. A kept one that turns out
    /// to be closed before anything has been sent is not the last word.
    pub fn request(&self, mut request: Request<Body>) -> impl Future<Output = Answered> + use<> {
        let shared = Arc::clone(&self.0);
        async move {
            in_origin_form(&mut request);
            loop {
                let kept = shared.take();
                let reused = kept.is_some();
                let mut sender = match kept {
                    Some(sender) => sender,
                    None => Box::pin(shared.connect())
                        .await
                        .map_err(RequestError::Unsent)?,
                };
                let mut error = match sender.try_send_request(request).await {
                    Ok(response) => {
                        let lease = Lease(Some((sender, Arc::downgrade(&shared))));
                        return Ok((response, lease));
                    }
                    Err(error) => error,
                };
                match error.take_message() {
                    Some(unsent) if reused => request = unsent,
                    Some(_) => return Err(RequestError::Unsent(error.into_error().into())),
                    None => return Err(RequestError::Broken(error.into_error().into())),
                }
            }
        }
    }

    /// Closes what has been kept for long enough.
    pub fn prune(&self) {
        let longest = self.0.longest;
        let is_good = |idle: &Idle| !idle.sender.is_closed() && idle.since.elapsed() < longest;
        self.0.idle.lock().retain(is_good);
    }
}

impl Shared {
    async fn connect(&self) -> Result<SendRequest<Body>, BoxError> {
        let io = self.connector.open().await?;
        let mut builder = Builder::new();
        builder.max_buf_size(self.buffer);
        let (sender, connection) = builder.handshake(io).await?;
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                // whoever waits for an answer has been told
                tracing::debug!(%error, "a connection to an upstream ended");
            }
        });
        Ok(sender)
    }

    /// The one used last, as it is the least likely to be closed.
    fn take(&self) -> Option<SendRequest<Body>> {
        let mut idle = self.idle.lock();
        while let Some(at) = idle.iter().rposition(|idle| idle.sender.is_ready()) {
            let taken = idle.remove(at);
            if taken.since.elapsed() < self.longest {
                return Some(taken.sender);
            }
        }
        None
    }

    fn put(&self, sender: SendRequest<Body>) {
        if sender.is_closed() {
            return;
        }
        let since = Instant::now();
        self.idle.lock().push(Idle { sender, since });
    }
}

/// A server is asked for a path; only a proxy is asked for a whole address.
fn in_origin_form(request: &mut Request<Body>) {
    let uri = std::mem::take(request.uri_mut());
    if let Some(target) = uri.into_parts().path_and_query {
        *request.uri_mut() = Uri::from(target);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proxy::address::Address;
    use http_body_util::BodyExt as _;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
    };

    const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

    /// A server that answers so many requests on each connection, then closes it.
    async fn server(each: usize) -> (Kept, Arc<AtomicUsize>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
        let url = format!("http://{}", listener.local_addr().expect("address"));
        let accepted = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&accepted);
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.expect("accepted");
                count.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(async move {
                    let mut buffer = [0; 4096];
                    for _ in 0..each {
                        if stream.read(&mut buffer).await.unwrap_or(0) == 0 {
                            return;
                        }
                        let _ = stream.write_all(ANSWER).await;
                    }
                });
            }
        });
        let url = url::Url::parse(&url).expect("url");
        let address = Address::of(&url).expect("address");
        let connector = Connector::new(address.way, None, Duration::from_secs(5), true);
        (
            Kept::new(connector, 16 << 10, Duration::from_millis(400)),
            accepted,
        )
    }

    async fn ask(kept: &Kept) {
        let request = Request::new(Body::empty());
        let (response, mut lease) = kept.request(request).await.expect("an answer");
        let bytes = response.into_body().collect().await.expect("a body");
        assert_eq!(bytes.to_bytes(), "ok");
        lease.ended();
        // the connection says that it is ready once it has looked
        tokio::time::sleep(Duration::from_millis(20)).await;
    }

    #[tokio::test]
    async fn a_connection_serves_one_request_after_the_other() {
        let (kept, accepted) = server(100).await;
        for _ in 0..5 {
            ask(&kept).await;
        }
        assert_eq!(accepted.load(Ordering::SeqCst), 1);
        assert_eq!(kept.0.idle.lock().len(), 1);
    }

    #[tokio::test]
    async fn one_that_the_server_has_closed_is_not_used_again() {
        let (kept, accepted) = server(1).await;
        for _ in 0..3 {
            ask(&kept).await;
        }
        assert_eq!(accepted.load(Ordering::SeqCst), 3);
    }

    #[tokio::test]
    async fn two_requests_at_once_have_a_connection_each() {
        let (kept, accepted) = server(100).await;
        tokio::join!(ask(&kept), ask(&kept));
        assert_eq!(accepted.load(Ordering::SeqCst), 2);
        assert_eq!(kept.0.idle.lock().len(), 2);
    }

    #[tokio::test]
    async fn an_answer_that_is_not_read_to_its_end_takes_its_connection_along() {
        let (kept, accepted) = server(100).await;
        let answered = kept.request(Request::new(Body::empty())).await;
        drop(answered.expect("an answer"));
        ask(&kept).await;
        assert_eq!(accepted.load(Ordering::SeqCst), 2);
        assert_eq!(kept.0.idle.lock().len(), 1);
    }

    #[tokio::test]
    async fn none_is_kept_for_longer_than_it_may() {
        let (kept, accepted) = server(100).await;
        ask(&kept).await;
        tokio::time::sleep(Duration::from_millis(450)).await;
        ask(&kept).await;
        assert_eq!(accepted.load(Ordering::SeqCst), 2);
        tokio::time::sleep(Duration::from_millis(450)).await;
        kept.prune();
        assert!(kept.0.idle.lock().is_empty());
    }

    #[tokio::test]
    async fn a_server_that_is_not_there_has_seen_nothing() {
        let url = url::Url::parse("http://127.0.0.1:9").expect("url");
        let address = Address::of(&url).expect("address");
        let connector = Connector::new(address.way, None, Duration::from_secs(5), true);
        let kept = Kept::new(connector, 16 << 10, Duration::from_secs(1));
        let asked = kept.request(Request::new(Body::empty())).await;
        assert!(matches!(asked, Err(RequestError::Unsent(_))), "{asked:?}");
    }
}
