//! A pool of HTTP/1.1 connections to one server.
//!
//! `hyper-util`'s client pools connections of every protocol, with a task for each and another for
//! each request. Here a connection returns to the pool with the last byte of its response, and is
//! polled within the task of its request: no task is started, woken or waited for. A request with a
//! body has a task all the same: its body must be sent while nothing reads the response.
use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use axum::body::Body;
use bytes::Bytes;
use http::{Method, Request, Response, Uri};
use http_body::{Body as _, Frame};
use hyper::{body::Incoming, client::conn::http1::Builder};
use tokio::sync::oneshot;

use crate::upstream::connector::{BoxError, Connector};
use crate::upstream::inline_connection::InlineConnection;
use parking_lot::Mutex;

/// Why there is no response.
#[derive(Debug)]
pub(crate) enum RequestError {
    /// The server has received nothing of the request.
    Unsent(BoxError),
    Broken(BoxError),
}

/// A response with its connection, or the error.
pub(crate) type Answered = Result<(Response<Incoming>, Lease), RequestError>;

/// The connections to one server.
#[derive(Debug)]
pub(crate) struct ConnectionPool(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    connector: Connector,
    /// The size of the read buffer, in bytes; no response head may be larger.
    buffer: usize,
    /// How long an idle connection stays in the pool.
    max_idle: Duration,
    /// Idle connections, the last used one at the end.
    idle: Mutex<Vec<Idle>>,
}

#[derive(Debug)]
struct Idle {
    connection: Box<InlineConnection>,
    since: Instant,
}

/// A connection with a response in progress. If dropped before its end, the connection is closed.
#[derive(Debug, Default)]
pub struct Lease(Holder);

#[derive(Debug, Default)]
enum Holder {
    /// The connection is handled elsewhere, or closed.
    #[default]
    Released,
    Here(Box<InlineConnection>, Arc<Shared>),
    /// By a task, which is notified when the response has been read.
    ByTask(oneshot::Sender<()>),
}

impl Lease {
    /// Polls the next frame of the response's body. At its end, the connection is free for another
    /// request.
    pub fn poll_frame(
        &mut self,
        body: &mut Incoming,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = match &mut self.0 {
            Holder::Here(connection, _) => connection.poll_frame(body, context),
            Holder::ByTask(_) | Holder::Released => Pin::new(&mut *body).poll_frame(context),
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

    /// Marks the response as complete: the connection is free for another request.
    pub fn ended(&mut self) {
        match std::mem::take(&mut self.0) {
            Holder::Released => {}
            Holder::Here(connection, home) => home.put(connection),
            // a task that has ended needs no notification
            Holder::ByTask(ended) => drop(ended.send(())),
        }
    }
}

impl ConnectionPool {
    pub fn new(connector: Connector, buffer: usize, max_idle: Duration) -> Self {
        Self(Arc::new(Shared {
            connector,
            buffer,
            max_idle,
            idle: Mutex::default(),
        }))
    }

    /// Sends a request on a pooled connection, or else on a new one. If a pooled connection turns
    /// out to be closed before anything has been sent, another one is used.
    pub fn request(&self, mut request: Request<Body>) -> impl Future<Output = Answered> + use<> {
        let shared = Arc::clone(&self.0);
        async move {
            in_origin_form(&mut request);
            loop {
                let pool = shared.take();
                let reused = pool.is_some();
                let mut connection = match pool {
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
                    #[allow(
                        clippy::disallowed_methods,
                        reason = "it ends with the exchange, for which a stop waits"
                    )]
                    tokio::spawn(async move {
                        // the server may have left the body unread, where the next request would
                        // begin
                        if connection.run(has_ended).await && !last {
                            home.put(connection);
                        }
                    });
                    (answer.await, Holder::ByTask(ended))
                } else {
                    let answer = connection.answer(answer).await;
                    (answer, Holder::Here(connection, Arc::clone(&shared)))
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

    /// Closes connections that have been idle for too long.
    pub fn prune(&self) {
        let max_idle = self.0.max_idle;
        let is_good =
            |idle: &mut Idle| idle.since.elapsed() < max_idle && idle.connection.is_ready();
        self.0.idle.lock().retain_mut(is_good);
    }
}

impl Shared {
    async fn connect(&self) -> Result<Box<InlineConnection>, BoxError> {
        let io = self.connector.open().await?;
        let mut builder = Builder::new();
        builder.max_buf_size(self.buffer);
        let (sender, connection) = builder.handshake(io).await?;
        Ok(Box::new(InlineConnection::new(sender, connection)))
    }

    /// Takes the last used connection, which is the least likely to be closed.
    fn take(&self) -> Option<Box<InlineConnection>> {
        loop {
            let Idle {
                mut connection,
                since,
            } = self.idle.lock().pop()?;
            if since.elapsed() < self.max_idle && connection.is_ready() {
                return Some(connection);
            }
        }
    }

    fn put(&self, mut connection: Box<InlineConnection>) {
        if connection.park() {
            let since = Instant::now();
            self.idle.lock().push(Idle { connection, since });
        }
    }
}

/// Rewrites the target to origin form: servers get a path, and only proxies a full URL.
fn in_origin_form(request: &mut Request<Body>) {
    let uri = std::mem::take(request.uri_mut());
    if let Some(target) = uri.into_parts().path_and_query {
        *request.uri_mut() = Uri::from(target);
    }
}

/// Returns whether servers expect no body with this method, and some do not read it.
pub(crate) fn seldom_has_body(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

#[cfg(test)]
mod tests;
