//! Errors of calls to an API server.
use super::forbidden::Forbidden;
use http::StatusCode;
use portico_runtime::error_chain;

/// Maximum length of an API server's message, in characters: those of an enrolled cluster are a
/// tenant's, and end up on pages and in the log.
const MAX_MESSAGE_CHARS: usize = 4_000;

/// A call to an API server that returned no usable response.
#[derive(Clone, Debug, thiserror::Error)]
pub enum KubeError {
    /// 403, or a review with the same result.
    #[error("{0}")]
    Refused(Forbidden),
    /// 401: the cluster could not authenticate the user.
    #[error("the cluster could not confirm the credential")]
    Unauthenticated,
    #[error("{0}")]
    NotFound(String),
    /// 409: another client was faster, or the object exists already.
    #[error("{0}")]
    Conflict(String),
    /// 410: a list or watch position is too old.
    #[error("the list position has expired")]
    Expired,
    /// 400, 405, 415, 422.
    #[error("{0}")]
    Invalid(String),
    #[error("{message}")]
    Server { status: u16, message: String },
    #[error("no answer within {0} seconds")]
    Timeout(u64),
    #[error("no connection: {0}")]
    Unreachable(String),
    /// The response violates the API's contract.
    #[error("unreadable answer: {0}")]
    Protocol(String),
    /// A list has more objects than are read.
    #[error("more objects than are read")]
    TooMany,
    /// A file that the cluster's record names cannot be used.
    #[error("the cluster's record cannot be used: {0}")]
    Unconfigured(String),
    /// The user has no token for this project (no role in it).
    #[error("no token for this project")]
    NoToken,
}

impl KubeError {
    /// Reads a `Status` (or another body that came with an error code).
    pub fn from_response(status: StatusCode, body: &[u8]) -> Self {
        let message = serde_json::from_slice::<serde_json::Value>(body)
            .ok()
            .and_then(|value| {
                value
                    .get("message")
                    .and_then(|text| text.as_str())
                    .map(|text| text.chars().take(MAX_MESSAGE_CHARS).collect::<String>())
            })
            .filter(|text| !text.is_empty())
            .unwrap_or_else(|| {
                status
                    .canonical_reason()
                    .unwrap_or("unknown answer")
                    .to_owned()
            });
        match status.as_u16() {
            401 => Self::Unauthenticated,
            403 => Self::Refused(Forbidden::from(message)),
            404 => Self::NotFound(message),
            409 => Self::Conflict(message),
            410 => Self::Expired,
            400 | 405 | 406 | 413 | 415 | 422 => Self::Invalid(message),
            status => Self::Server { status, message },
        }
    }

    /// Returns whether the same call may succeed a moment later.
    pub fn is_outage(&self) -> bool {
        match self {
            Self::Unauthenticated
            | Self::Timeout(_)
            | Self::Unreachable(_)
            | Self::Unconfigured(_)
            | Self::Protocol(_)
            | Self::Server { .. } => true,
            Self::Refused(_)
            | Self::NotFound(_)
            | Self::Conflict(_)
            | Self::Expired
            | Self::Invalid(_)
            | Self::TooMany
            | Self::NoToken => false,
        }
    }

    /// Returns one full sentence about an outage, for users.
    pub fn sentence(&self) -> String {
        match self {
            Self::Refused(message) => format!("The cluster refused this: {message}."),
            Self::Unauthenticated => "The cluster could not confirm your sign-in; its sign-in \
                check (kube-auth) may not be answering."
                .to_owned(),
            Self::NotFound(_) => "The cluster does not have this, or no longer has it.".to_owned(),
            Self::Conflict(message) => format!("The cluster reports a conflict: {message}."),
            Self::Expired => "The list was too old to continue.".to_owned(),
            Self::Invalid(message) => format!("The cluster did not accept the request: {message}."),
            Self::Server { status, message } => {
                format!("The API server answered with an error ({status}): {message}.")
            }
            Self::Timeout(seconds) => format!(
                "The API server did not answer within {seconds} seconds; it or its sign-in check \
                 (kube-auth) may be down."
            ),
            Self::Unreachable(_) => "The API server cannot be reached.".to_owned(),
            Self::Protocol(_) => "The API server's answer could not be read.".to_owned(),
            Self::TooMany => {
                "The cluster has more objects of a kind than Portico reads at once. Delete some of them \
                 with kubectl first."
                    .to_owned()
            }
            Self::Unconfigured(_) => {
                "Portico's record of this cluster is incomplete; its administrators can see why \
                 in the log."
                    .to_owned()
            }
            Self::NoToken => "You have no role in this project.".to_owned(),
        }
    }
}

impl From<kube::Error> for KubeError {
    fn from(error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) => {
                let code =
                    StatusCode::from_u16(status.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
                let body = serde_json::json!({ "message": status.message }).to_string();
                Self::from_response(code, body.as_bytes())
            }
            kube::Error::UpgradeConnection(
                kube::client::UpgradeConnectionError::ProtocolSwitch(status),
            ) => Self::from_response(status, b""),
            kube::Error::HyperError(_) | kube::Error::Service(_) => {
                Self::Unreachable(error_chain(&error))
            }
            other => Self::Protocol(error_chain(&other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_api_servers_words_are_kept_for_a_refusal() {
        let body = br#"{"kind":"Status","message":"pods is forbidden: User \"vera@Default\" cannot delete","code":403}"#;
        let error = KubeError::from_response(StatusCode::FORBIDDEN, body);
        assert!(
            matches!(error, KubeError::Refused(text) if text.message.contains("cannot delete"))
        );
    }

    #[test]
    fn a_long_message_is_cut() {
        let body = serde_json::json!({ "message": "m".repeat(1_000_000) }).to_string();
        let error = KubeError::from_response(StatusCode::BAD_GATEWAY, body.as_bytes());
        assert_eq!(error.to_string().len(), MAX_MESSAGE_CHARS);
    }

    #[test]
    fn an_answer_without_a_status_still_has_a_sentence() {
        let error = KubeError::from_response(StatusCode::BAD_GATEWAY, b"<html>");
        assert!(error.is_outage());
        assert!(error.sentence().contains("502"));
    }
}
