//! Errors of a request to an API server.
use crate::error::CommandError;
use portico_runtime::root_cause;
use serde_json::Value;
use std::error::Error;

/// The reason why a request has no result. The message is one clause; it has no token.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    #[error("the API server does not answer ({0})")]
    Unreachable(String),
    #[error("the certificate of the API server is not accepted ({0})")]
    Certificate(String),
    #[error("the client for the API server cannot be built ({0})")]
    Client(String),
    #[error("there is no token for the cluster ({0})")]
    Token(#[from] CommandError),
    #[error("the API server does not accept your token (HTTP 401)")]
    Unauthorized,
    #[error("your roles do not permit it ({0})")]
    Forbidden(String),
    #[error("the API server does not have it ({0})")]
    NotFound(String),
    #[error("the API server answered with HTTP {status} ({message})")]
    Refused { status: u16, message: String },
    #[error("the answer of the API server is not understood ({0})")]
    Malformed(&'static str),
    #[error("the cluster has more objects of a kind than the command reads")]
    TooMany,
}

impl ApiError {
    /// Returns the error for a request without an answer.
    pub fn of_transport(error: &reqwest::Error) -> Self {
        let first: &dyn Error = error;
        let mut chain = std::iter::successors(Some(first), |&one| one.source());
        if chain.any(|one| one.to_string().contains("peer certificate")) {
            Self::Certificate(root_cause(error))
        } else {
            Self::Unreachable(root_cause(error))
        }
    }

    /// Returns the error for an answer; `body` is a Status of Kubernetes, or null.
    pub fn of_answer(status: u16, body: &Value) -> Self {
        let message = body.get("message").and_then(Value::as_str);
        let message = message.unwrap_or("without a message").to_owned();
        match status {
            401 => Self::Unauthorized,
            403 => Self::Forbidden(message),
            404 => Self::NotFound(message),
            _ => Self::Refused { status, message },
        }
    }

    /// Returns whether the object or the API does not exist.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::NotFound(_))
    }

    /// Returns whether it is not known if the request was carried out.
    pub fn is_uncertain(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::Malformed(_) => true,
            Self::Refused { status, .. } => *status >= 500,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_answer_is_explained_with_the_servers_message() {
        let body = json!({"kind": "Status", "message": "nodes is forbidden"});
        let forbidden = ApiError::of_answer(403, &body);
        assert_eq!(
            forbidden.to_string(),
            "your roles do not permit it (nodes is forbidden)"
        );
        assert!(ApiError::of_answer(404, &body).is_not_found());
        let failed = ApiError::of_answer(503, &Value::Null);
        assert!(failed.to_string().contains("HTTP 503"), "{failed}");
        assert!(failed.is_uncertain() && !forbidden.is_uncertain());
    }
}
