//! Sends a request to one of an upstream's servers, and to another where nothing can come of it
//! twice.
//!
//! A request whose connection could not be made has not been seen by anybody, so another server
//! may have it, whatever its method, as long as nobody has begun to read its body. Once a byte
//! has been sent, it is sent again only where it asks for something and brings nothing (GET, HEAD,
//! OPTIONS without a body) and a connection that had served before is lost without a byte of an
//! answer (RFC 9110 9.2.2, RFC 9112 9.3.1): once. Never after bytes of an answer.
use std::{error::Error, fmt};

use axum::body::Body;
use http::{
    HeaderMap, Method, Request, Response, Uri, header,
    uri::{PathAndQuery, Scheme},
};
use hyper::body::{Body as _, Incoming};

use super::{
    backend::Backend,
    choice::Tried,
    connector::{BoxError, is_kept_connection_lost},
    kept::{Lease, RequestError},
    request_body::Lender,
    upstream::Upstream,
};
use crate::{config::upstream::HostHeader, meters};

/// How many servers one request is tried with.
const MOST_TRIES: usize = 3;

/// A request, as far as it is the same for every server.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub method: Method,
    pub target: PathAndQuery,
    pub headers: HeaderMap,
}

/// Why there is no response.
#[derive(Debug, thiserror::Error)]
pub(super) enum SendError {
    #[error("no server is healthy")]
    NoneHealthy,
    #[error("the upstream speaks HTTP/2 only, and no WebSocket over it")]
    NoSockets,
    #[error(transparent)]
    Target(#[from] http::Error),
    /// Nobody has seen the request.
    #[error(transparent)]
    Connect(BoxError),
    #[error(transparent)]
    Broken(BoxError),
}

/// An error with all its causes, in one line.
pub(super) struct Causes<'e>(pub &'e dyn Error);

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

/// The body, for as many tries as it can serve.
enum Load {
    /// Nothing, as often as wanted.
    Nothing,
    /// For one try.
    Once(Option<Body>),
    /// For another try while nobody has read it.
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
    /// The response of the first server that has one.
    pub(super) async fn send(
        &self,
        head: Head,
        body: Body,
        socket: bool,
    ) -> Result<(Response<Incoming>, Lease), SendError> {
        let mut load = Load::of(body, self.backends.len() > 1);
        let asks = matches!(head.method, Method::GET | Method::HEAD | Method::OPTIONS);
        let mut may_repeat = asks && !socket && matches!(load, Load::Nothing);
        let mut head = Some(head);
        let mut tried = Tried::default();
        let mut tries = 1;
        let (mut at, mut backend) = self.pick(tried).ok_or(SendError::NoneHealthy)?;
        loop {
            let others = tries < MOST_TRIES.min(self.backends.len());
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
                Ok(answer) => {
                    self.answered(backend);
                    return Ok(answer);
                }
                Err(RequestError::Unsent(error)) => {
                    self.failed(backend, &*error);
                    tried.note(at);
                    let next = self.pick(tried).filter(|_| others && load.is_untouched());
                    let Some(next) = next else {
                        return Err(SendError::Connect(error));
                    };
                    (at, backend) = next;
                    tries += 1;
                    meters::sent_again(&self.id, "connect");
                }
                Err(RequestError::Broken(error)) => {
                    if !may_repeat || !is_kept_connection_lost(&*error) {
                        return Err(SendError::Broken(error));
                    }
                    may_repeat = false;
                    meters::sent_again(&self.id, "kept_connection");
                }
            }
            head = spare;
        }
    }

    /// The request as this server gets it.
    pub(super) fn addressed(
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
        *request.uri_mut() = uri(address.scheme.clone(), authority.clone(), target)?;
        *request.headers_mut() = headers;
        Ok(request)
    }
}

fn uri(
    scheme: Scheme,
    authority: http::uri::Authority,
    target: PathAndQuery,
) -> Result<Uri, http::Error> {
    let mut parts = http::uri::Parts::default();
    parts.scheme = Some(scheme);
    parts.authority = Some(authority);
    parts.path_and_query = Some(target);
    Ok(Uri::from_parts(parts)?)
}
