//! Errors of calls to services.
use super::microversion::{Microversion, VersionRange};
use super::names::AmbiguousName;
use super::options::EndpointError;
use super::service::Service;
use crate::keystone::error::Unavailable;
use std::fmt;

/// A failed call: where, why, and whether it may have changed something nonetheless.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    pub service: Service,
    /// The call's name in logs and metrics.
    pub operation: &'static str,
    /// The service's own ID of the request (`x-openstack-request-id`), by which the cloud's
    /// operators find it in their logs; `None` if there was no answer.
    pub request_id: Option<String>,
    /// The status of the answer; `None` if there was none.
    pub status: Option<u16>,
    /// Whether the request may have had its effect although the call failed.
    pub effect: Effect,
    pub kind: ErrorKind,
}

/// What a failed call did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: it was refused, not sent, or only reads.
    None,
    /// Unknown: it was sent, and the answer was lost or reports a fault inside the service. It
    /// must not be repeated before a look at what exists.
    Unknown,
}

/// Why a call failed. Texts are the service's own, without the token and of limited length.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ErrorKind {
    /// There is no endpoint that may be called.
    #[error("{0}")]
    Endpoint(#[from] EndpointError),
    /// The cloud's version of the service lacks a feature; nothing was sent.
    #[error(transparent)]
    NotAvailable(#[from] NotAvailable),
    /// Portico and the service have no version in common.
    #[error("it offers the versions {0} only, which Portico does not support")]
    Incompatible(VersionRange),
    /// 401: the token is expired, revoked or malformed.
    #[error("it does not accept the token")]
    InvalidToken,
    /// 403: the policy of the service does not allow it.
    #[error("it forbids this{}", detail(.0))]
    Forbidden(String),
    /// The project has reached a quota.
    #[error("a quota is used up{}", detail(.0))]
    QuotaExceeded(String),
    /// 404, in the service's own format.
    #[error("not found{}", detail(.0))]
    NotFound(String),
    /// Several objects have the requested name.
    #[error(transparent)]
    Ambiguous(#[from] AmbiguousName),
    /// 409: the object's state or another object does not permit it.
    #[error("it conflicts with the present state{}", detail(.0))]
    Conflict(String),
    /// 400 and the like, or a request that was not sent because the service could only refuse it.
    #[error("the request is invalid{}", detail(.0))]
    Invalid(String),
    /// 5xx in the service's own format: it failed inside.
    #[error("it failed with status {status}{}", detail(.message))]
    Fault { status: u16, message: String },
    /// No connection, no answer in time, or an outage that a proxy reports.
    #[error("it is unavailable: {0}")]
    Unavailable(Unavailable),
    /// An answer that the service does not give: another one may be listening there.
    #[error("its answer cannot be understood: {0}")]
    Malformed(&'static str),
}

fn detail(message: &str) -> String {
    match message.is_empty() {
        true => String::new(),
        false => format!(": {message}"),
    }
}

/// A feature for which the cloud's version of a service is too old.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not available: needs {needs}, this cloud has {offers} ({feature})")]
pub struct NotAvailable {
    /// The feature in words.
    pub feature: &'static str,
    pub needs: Microversion,
    /// The highest version that the cloud offers.
    pub offers: Microversion,
}

impl Error {
    pub(crate) fn new(
        service: Service,
        operation: &'static str,
        kind: impl Into<ErrorKind>,
    ) -> Self {
        Self {
            service,
            operation,
            request_id: None,
            status: None,
            effect: Effect::None,
            kind: kind.into(),
        }
    }

    /// Returns whether the service (or this client for it) refused the request; with every other
    /// error the state is unknown.
    pub fn is_refusal(&self) -> bool {
        !matches!(
            self.kind,
            ErrorKind::Fault { .. } | ErrorKind::Unavailable(_) | ErrorKind::Malformed(_)
        )
    }

    /// Returns whether the object does not exist, or is not visible with this token.
    pub fn is_not_found(&self) -> bool {
        matches!(self.kind, ErrorKind::NotFound(_))
    }

    /// Returns what to do about it, as an imperative for users; `None` if the message itself is
    /// all that is known.
    pub fn next_step(&self) -> Option<&'static str> {
        if self.effect == Effect::Unknown {
            return Some("look at what exists before you repeat it: it may have taken effect");
        }
        Some(match &self.kind {
            ErrorKind::InvalidToken => "sign in again",
            ErrorKind::Forbidden(_) => {
                "ask a project administrator for a role that includes this action"
            }
            ErrorKind::QuotaExceeded(_) => {
                "delete what is not needed, or ask the cloud's operator for more"
            }
            ErrorKind::Ambiguous(_) => "use the ID instead of the name",
            ErrorKind::NotAvailable(_) => "ask the cloud's operator for an upgrade of the service",
            ErrorKind::Fault { .. } => {
                "report the request ID to the cloud's operator, who finds it in the service's log"
            }
            ErrorKind::Unavailable(_) => "try again in a minute",
            ErrorKind::Endpoint(_) | ErrorKind::Incompatible(_) | ErrorKind::Malformed(_) => {
                "report it to Portico's operator"
            }
            ErrorKind::NotFound(_) | ErrorKind::Conflict(_) | ErrorKind::Invalid(_) => return None,
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.service, self.kind)?;
        match &self.request_id {
            Some(id) => write!(f, " (request {id})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}
