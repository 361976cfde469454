//! `TokenReview` of `authentication.k8s.io`, v1 and v1beta1: strict decoding, minimal responses.
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The supported API versions. The API server converts nothing: the response must have the version
/// that it was configured with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) enum ApiVersion {
    #[serde(rename = "authentication.k8s.io/v1")]
    V1,
    #[serde(rename = "authentication.k8s.io/v1beta1")]
    V1Beta1,
}

/// A decoded request.
#[derive(Debug)]
pub(crate) struct Review {
    pub version: ApiVersion,
    pub token: SecretString,
    /// Empty: the API server did not name any.
    pub audiences: Vec<String>,
}

/// The reason why a body is not a review. Contains nothing of the body, which may hold a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Invalid {
    #[error("the body is not one JSON object as a TokenReview must be")]
    Json,
    #[error("kind must be TokenReview")]
    Kind,
    #[error("apiVersion must be authentication.k8s.io/v1 or authentication.k8s.io/v1beta1")]
    Version,
}

/// The request's structure. Fields that newer API servers may add are ignored; the relevant ones
/// must have their type.
#[derive(Deserialize)]
struct Envelope {
    kind: String,
    #[serde(rename = "apiVersion")]
    api_version: String,
    spec: Spec,
    #[serde(flatten)]
    _rest: Rest,
}

#[derive(Deserialize)]
struct Spec {
    token: SecretString,
    audiences: Option<Vec<String>>,
    #[serde(flatten)]
    _rest: Rest,
}

/// Ensures that only an object is accepted: serde would also take the fields in order from a list.
#[derive(Deserialize)]
pub(crate) struct Rest {}

impl Review {
    /// Decodes a request's body.
    pub fn decode(body: &[u8]) -> Result<Self, Invalid> {
        let envelope: Envelope = serde_json::from_slice(body).map_err(|_| Invalid::Json)?;
        if envelope.kind != "TokenReview" {
            return Err(Invalid::Kind);
        }
        let version = match envelope.api_version.as_str() {
            "authentication.k8s.io/v1" => ApiVersion::V1,
            "authentication.k8s.io/v1beta1" => ApiVersion::V1Beta1,
            _ => return Err(Invalid::Version),
        };
        Ok(Self {
            version,
            token: envelope.spec.token,
            audiences: envelope.spec.audiences.unwrap_or_default(),
        })
    }
}

/// The response. There is no field for the request's `spec`: a token is never sent back.
#[derive(Debug, Serialize)]
pub(crate) struct Answer {
    #[serde(rename = "apiVersion")]
    version: ApiVersion,
    kind: &'static str,
    status: Status,
}

#[derive(Debug, Serialize)]
struct Status {
    authenticated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<UserInfo>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    audiences: Vec<String>,
}

/// The user of a token, in Kubernetes' terms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct UserInfo {
    pub username: String,
    pub uid: String,
    pub groups: Vec<String>,
    pub extra: BTreeMap<&'static str, Vec<String>>,
}

impl Answer {
    /// Returns a response that authenticates the user, for these audiences.
    pub fn authenticated(version: ApiVersion, user: UserInfo, audiences: Vec<String>) -> Self {
        Self::new(version, true, Some(user), audiences)
    }

    /// Returns a refusal. Without `error`: with one the API server would not cache the response,
    /// and would write the text to its log.
    pub fn refused(version: ApiVersion) -> Self {
        Self::new(version, false, None, Vec::new())
    }

    fn new(
        version: ApiVersion,
        authenticated: bool,
        user: Option<UserInfo>,
        audiences: Vec<String>,
    ) -> Self {
        Self {
            version,
            kind: "TokenReview",
            status: Status {
                authenticated,
                user,
                audiences,
            },
        }
    }
}

#[cfg(test)]
mod tests;
