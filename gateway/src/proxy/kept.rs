//! HTTP/1.1 connections to one server, kept between requests.
//!
//! `hyper-util`'s client keeps connections of every protocol, with a task for each and another for
//! each request. Here a connection goes back with the last byte of its answer, and is moved on
//! within the task of its request: no task is started, woken or waited for. A request with a body
//! has one all the same: its body must get on while nobody reads the answer.
use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use axum::body::Body;
use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body::{Body as _, Frame};
use hyper::{body::Incoming, client::conn::http1::Builder};
use tokio::sync::oneshot;

use super::{
    connector::{BoxError, Connector},
    driven::Driven,
    forward::seldom_has_body,
};
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
    connection: Box<Driven>,
    since: Instant,
}

/// A connection on which an answer is under way. Dropped before its end it is closed.
#[derive(Debug, Default)]
pub(crate) struct Lease(Held);

#[derive(Debug, Default)]
enum Held {
    /// Somebody else sees to the connection, or nobody has to any more.
    #[default]
    Elsewhere,
    Here(Box<Driven>, Arc<Shared>),
    /// By a task that is told when the answer has been read.
    ByTask(oneshot::Sender<()>),
}

impl Lease {
    /// What comes next of the answer's body. With its end, another request may have the
    /// connection.
    pub fn poll_frame(
        &mut self,
        body: &mut Incoming,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = match &mut self.0 {
            Held::Here(connection, _) => connection.poll_frame(body, context),
            Held::ByTask(_) | Held::Elsewhere => Pin::new(&mut *body).poll_frame(context),
        };
        let ended = match &frame {
            Poll::Ready(None) => true,
            Poll::Ready(Some(Ok(_))) => body.is_end_stream(),
            Poll::Ready(Some(Err(_))) | Poll::Pending => false,
        };
        if ended {
            self.ended();
        }
        frame
    }

    /// The answer has come whole: another request may have the connection.
    pub fn ended(&mut self) {
        match std::mem::take(&mut self.0) {
            Held::Elsewhere => {}
            Held::Here(connection, home) => home.put(connection),
            // a task that has ended has nothing to be told
            Held::ByTask(ended) => drop(ended.send(())),
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
                let mut connection = match kept {
                    Some(connection) => connection,
                    None => Box::pin(shared.connect())
                        .await
                        .map_err(RequestError::Unsent)?,
                };
                let has_body = !request.body().is_end_stream();
                let last = has_body && seldom_has_body(request.method());
                let answer = connection.send(request);
                let (answer, held) = if has_body {
                    let (ended, has_ended) = oneshot::channel();
                    let home = Arc::clone(&shared);
                    tokio::spawn(async move {
                        // the server may have left the body where the next request would begin
                        if connection.run(has_ended).await && !last {
                            home.put(connection);
                        }
                    });
                    (answer.await, Held::ByTask(ended))
                } else {
                    let answer = connection.answer(answer).await;
                    (answer, Held::Here(connection, Arc::clone(&shared)))
                };
                let mut error = match answer {
                    Ok(response) => return Ok((response, Lease(held))),
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
        let is_good =
            |idle: &mut Idle| idle.since.elapsed() < longest && idle.connection.is_ready();
        self.0.idle.lock().retain_mut(is_good);
    }
}

impl Shared {
    async fn connect(&self) -> Result<Box<Driven>, BoxError> {
        let io = self.connector.open().await?;
        let mut builder = Builder::new();
        builder.max_buf_size(self.buffer);
        let (sender, connection) = builder.handshake(io).await?;
        Ok(Box::new(Driven::new(sender, connection)))
    }

    /// The one used last, as it is the least likely to be closed.
    fn take(&self) -> Option<Box<Driven>> {
        loop {
            let Idle {
                mut connection,
                since,
            } = self.idle.lock().pop()?;
            if since.elapsed() < self.longest && connection.is_ready() {
                return Some(connection);
            }
        }
    }

    fn put(&self, mut connection: Box<Driven>) {
        if connection.rests() {
            let since = Instant::now();
            self.idle.lock().push(Idle { connection, since });
        }
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
mod tests;
