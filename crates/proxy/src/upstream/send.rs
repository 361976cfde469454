//! Sends a request to one of an upstream's backends, and to another one where it is safe to repeat
//! it.
//!
//! If no connection could be made, the backend has seen nothing of the request, so another one may
//! get it, whatever its method, as long as its body is unread. Once a byte has been sent, the
//! request is repeated only if it is safe and has no body (GET, HEAD, OPTIONS) and a connection
//! that had served before is lost without a byte of a response (RFC 9110 9.2.2, RFC 9112 9.3.1),
//! and only once. It is never repeated after bytes of a response.
use std::{error::Error, fmt};

use axum::body::Body;
use http::{
    HeaderMap, Method, Request, Response, Uri, header,
    uri::{Authority, PathAndQuery, Scheme},
};
use hyper::body::{Body as _, Incoming};

use crate::config::HostHeader;
use crate::metrics;
use crate::request_body::Lender;
use crate::upstream::Upstream;
use crate::upstream::backend::{Backend, RequestError};
use crate::upstream::connection_reuse::is_reused_connection_closed;
use crate::upstream::connector::BoxError;
use crate::upstream::load_balancer::Tried;

/// Bounds the backends that one request is tried with.
const MAX_TRIES: usize = 3;

/// The authority in the target of a request in HTTP/1.1, which sends it as `Host` only. The HTTP
/// client looks up its pool by it, several times for each request, so it is short.
const UNSENT_AUTHORITY: &str = "a";

/// The parts of a request that are the same for every backend.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub method: Method,
    pub target: PathAndQuery,
    pub headers: HeaderMap,
}

/// Why there is no response.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SendError {
    #[error("no server is healthy")]
    NoneHealthy,
    #[error("the upstream speaks HTTP/2 only, and no WebSocket over it")]
    NoSockets,
    #[error(transparent)]
    Target(#[from] http::Error),
    /// No backend has received the request.
    #[error(transparent)]
    Connect(BoxError),
    #[error(transparent)]
    Broken(BoxError),
}

/// An error with all its causes, on one line.
pub(crate) struct Causes<'e>(pub &'e dyn Error);

impl fmt::Display for Causes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

/// The body, for as many tries as possible.
enum Load {
    /// No body, for any number of tries.
    Nothing,
    /// For one try.
    Once(Option<Body>),
    /// For another try while it is unread.
    Lent(Lender),
}

impl Load {
    fn of(body: Body, several: bool) -> Self {
        if body.is_end_stream() {
            Self::Nothing
        } else if several {
            Self::Lent(Lender::new(body))
        } else {
            Self::Once(Some(body))
        }
    }

    fn take(&mut self) -> Body {
        match self {
            Self::Nothing => Body::empty(),
            Self::Once(body) => body.take().unwrap_or_default(),
            Self::Lent(lender) => lender.lend(),
        }
    }

    fn is_untouched(&self) -> bool {
        match self {
            Self::Nothing => true,
            Self::Once(body) => body.is_some(),
            Self::Lent(lender) => lender.is_untouched(),
        }
    }
}

impl Upstream {
    /// Returns the response of the first backend that has one.
    pub(crate) async fn send(
        &self,
        head: Head,
        body: Body,
        socket: bool,
    ) -> Result<Response<Incoming>, SendError> {
        let mut load = Load::of(body, self.backends.len() > 1);
        let asks = matches!(head.method, Method::GET | Method::HEAD | Method::OPTIONS);
        let mut may_repeat = asks && !socket && matches!(load, Load::Nothing);
        let mut head = Some(head);
        let mut tried = Tried::default();
        let mut tries = 1;
        let (mut at, mut backend) = self.select(tried).ok_or(SendError::NoneHealthy)?;
        loop {
            let others = tries < MAX_TRIES.min(self.backends.len());
            let spare = if others || may_repeat {
                head.clone()
            } else {
                None
            };
            let this = match head.take() {
                Some(this) => this,
                None => return Err(SendError::NoneHealthy),
            };
            let request = self.addressed(backend, this, load.take())?;
            let sent = backend.request(request, socket).await;
            match sent.ok_or(SendError::NoSockets)? {
                Ok(response) => {
                    self.answered(backend);
                    return Ok(response);
                }
                Err(RequestError::Unsent(error)) => {
                    self.failed(backend, &*error);
                    tried.note(at);
                    let next = self.select(tried).filter(|_| others && load.is_untouched());
                    let Some(next) = next else {
                        return Err(SendError::Connect(error));
                    };
                    (at, backend) = next;
                    tries += 1;
                    metrics::upstream_retry(&self.id, "connect");
                }
                Err(RequestError::Broken(error)) => {
                    if !may_repeat || !is_reused_connection_closed(&*error) {
                        return Err(SendError::Broken(error));
                    }
                    may_repeat = false;
                    metrics::upstream_retry(&self.id, "reused_connection");
                }
            }
            head = spare;
        }
    }

    /// Returns the request as this backend gets it.
    pub(crate) fn addressed(
        &self,
        backend: &Backend,
        head: Head,
        body: Body,
    ) -> Result<Request<Body>, http::Error> {
        let address = &backend.address;
        let target = if address.prefix.is_empty() {
            head.target
        } else {
            format!("{}{}", address.prefix, head.target).parse()?
        };
        let mut headers = head.headers;
        let (authority, host) = match self.host {
            HostHeader::App => (&self.public, &self.public_host),
            HostHeader::Upstream => (&address.authority, &address.host),
        };
        headers.insert(header::HOST, host.clone());
        let mut request = Request::new(body);
        *request.method_mut() = head.method;
        let authority = if address.speaks_only_http1() {
            Authority::from_static(UNSENT_AUTHORITY)
        } else {
            authority.clone()
        };
        *request.uri_mut() = uri(address.scheme.clone(), authority, target)?;
        *request.headers_mut() = headers;
        Ok(request)
    }
}

fn uri(scheme: Scheme, authority: Authority, target: PathAndQuery) -> Result<Uri, http::Error> {
    let mut parts = http::uri::Parts::default();
    parts.scheme = Some(scheme);
    parts.authority = Some(authority);
    parts.path_and_query = Some(target);
    Ok(Uri::from_parts(parts)?)
}
