//! Rules for reused HTTP/1.1 connections that the HTTP client's pool does not have.
//!
//! - The client's errors do not tell whether a lost connection had served before, or whether a
//!   response had begun. Only a request on a reused connection without a byte of a response may be
//!   repeated: [`Turns`] finds out.
//! - Some servers do not read the body of a GET or HEAD, and take it for the next request. The
//!   client sends `Connection: close` with it, but reuses the connection if the server keeps it
//!   open: [`without_reuse`] prevents that.
use std::{
    error::Error,
    io,
    pin::Pin,
    task::{Context, Poll},
};

use axum::body::Body;
use bytes::Bytes;
use http::{Method, Request};
use http_body::{Body as _, Frame, SizeHint};
use hyper_util::client::legacy::connect::{CaptureConnection, capture_connection};

/// The upstream closed a connection that had served before, without a byte of a response to the
/// last request: most often its idle timeout had just passed. It may have acted on the request
/// nevertheless.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the upstream closed a kept connection")]
pub(crate) struct ReusedConnectionLost;

/// The state of a connection that handles one request after the other.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    /// Whether a response has been received on it.
    has_served: bool,
    /// Whether something has been sent since the last byte of a response.
    awaits: bool,
}

impl Turns {
    /// Records that bytes of a request were sent, or that the attempt failed.
    pub fn sent(&mut self) {
        self.awaits = true;
    }

    /// Records bytes of a response.
    pub fn received(&mut self) {
        self.has_served = true;
        self.awaits = false;
    }

    /// Returns the error for an end of file or a failure to read.
    pub fn lost(&self) -> Option<io::Error> {
        (self.has_served && self.awaits)
            .then(|| io::Error::new(io::ErrorKind::ConnectionAborted, ReusedConnectionLost))
    }
}

/// Returns whether one of the causes of an error is a lost reused connection.
pub(crate) fn is_reused_connection_closed(error: &(dyn Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(io) = error.downcast_ref::<io::Error>()
            && io
                .get_ref()
                .is_some_and(<dyn Error + Send + Sync>::is::<ReusedConnectionLost>)
        {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Returns whether servers expect no body with this method, and some do not read it.
pub(crate) fn seldom_has_body(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// Returns the request such that its HTTP/1.1 connection serves no other one, if servers may leave
/// its body unread.
pub(crate) fn without_reuse(mut request: Request<Body>) -> Request<Body> {
    if request.body().is_end_stream() || !seldom_has_body(request.method()) {
        return request;
    }
    let connection = capture_connection(&mut request);
    request.map(|body| {
        Body::new(UnexpectedBody {
            body,
            connection: Some(connection),
        })
    })
}

/// A body that servers may leave unread.
struct UnexpectedBody {
    body: Body,
    /// The connection that it is sent on, until it is first read.
    connection: Option<CaptureConnection>,
}

impl http_body::Body for UnexpectedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        // the client has chosen the connection before it reads the body, and no other request gets
        // the connection before the body has been sent
        if let Some(connection) = this.connection.take()
            && let Some(connected) = connection.connection_metadata().as_ref()
            // in HTTP/2 a body cannot be taken for a request
            && !connected.is_negotiated_h2()
        {
            connected.poison();
        }
        Pin::new(&mut this.body).poll_frame(context)
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

    #[test]
    fn only_a_reused_connection_without_a_response_counts_as_lost() {
        let mut turns = Turns::default();
        assert!(turns.lost().is_none(), "fresh");
        turns.sent();
        assert!(turns.lost().is_none(), "the first request");
        turns.received();
        assert!(turns.lost().is_none(), "in or after a response");
        turns.sent();
        assert!(turns.lost().is_some(), "the second request");
        turns.received();
        assert!(turns.lost().is_none(), "a response has begun");
    }
}
