//! `SubjectAccessReview` of `authorization.k8s.io`, v1 and v1beta1: decides whether a user may
//! carry out a request.
//!
//! The answer is "yes" or no opinion, never a denial: the API server's next authorizer, RBAC in
//! most clusters, then decides.
mod pushed;
mod source;

pub use pushed::PushError;
pub(crate) use pushed::PushedPolicy;
pub use source::PolicyFileError;
pub(crate) use source::{PolicyFile, PolicySource, describe};

use crate::policy::{Attributes, ResourceAttributes, Target, User};
use crate::review::Rest;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub(crate) const KIND: &str = "SubjectAccessReview";

/// The supported API versions; the response must have the version of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) enum ApiVersion {
    #[serde(rename = "authorization.k8s.io/v1")]
    V1,
    #[serde(rename = "authorization.k8s.io/v1beta1")]
    V1Beta1,
}

/// A decoded request.
#[derive(Debug)]
pub(crate) struct AccessReview {
    pub version: ApiVersion,
    pub attributes: Attributes,
}

/// The reason why a body is not a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Invalid {
    #[error("the body is not one JSON object as a SubjectAccessReview must be")]
    Json,
    #[error("kind must be SubjectAccessReview")]
    Kind,
    #[error("apiVersion must be authorization.k8s.io/v1 or authorization.k8s.io/v1beta1")]
    Version,
    #[error("spec must have either resourceAttributes or nonResourceAttributes")]
    Attributes,
}

/// The request's structure. Fields that newer API servers add, selectors among them, are ignored: a
/// policy names none.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope {
    kind: String,
    api_version: String,
    spec: Spec,
    #[serde(flatten)]
    _rest: Rest,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    resource_attributes: Option<Resource>,
    non_resource_attributes: Option<NonResource>,
    user: Option<String>,
    uid: Option<String>,
    groups: Option<Vec<String>>,
    /// The field's name in v1beta1.
    group: Option<Vec<String>>,
    extra: Option<BTreeMap<String, Vec<String>>>,
    #[serde(flatten)]
    _rest: Rest,
}

#[derive(Deserialize)]
struct Resource {
    #[serde(default)]
    verb: String,
    #[serde(default)]
    group: String,
    #[serde(default)]
    resource: String,
    #[serde(default)]
    subresource: String,
    #[serde(default)]
    namespace: String,
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
struct NonResource {
    #[serde(default)]
    verb: String,
    #[serde(default)]
    path: String,
}

impl AccessReview {
    /// Decodes a request's body.
    pub fn decode(body: &[u8]) -> Result<Self, Invalid> {
        let envelope: Envelope = serde_json::from_slice(body).map_err(|_| Invalid::Json)?;
        if envelope.kind != KIND {
            return Err(Invalid::Kind);
        }
        let version = match envelope.api_version.as_str() {
            "authorization.k8s.io/v1" => ApiVersion::V1,
            "authorization.k8s.io/v1beta1" => ApiVersion::V1Beta1,
            _ => return Err(Invalid::Version),
        };
        let spec = envelope.spec;
        let groups = match version {
            ApiVersion::V1 => spec.groups,
            ApiVersion::V1Beta1 => spec.group,
        };
        let user = User {
            name: spec.user.unwrap_or_default(),
            uid: spec.uid.unwrap_or_default(),
            groups: groups.unwrap_or_default(),
            extra: spec.extra.unwrap_or_default(),
        };
        let (verb, target) = match (spec.resource_attributes, spec.non_resource_attributes) {
            (Some(resource), None) => {
                let target = ResourceAttributes {
                    group: resource.group,
                    resource: resource.resource,
                    subresource: resource.subresource,
                    namespace: resource.namespace,
                    name: resource.name,
                };
                (resource.verb, Target::Resource(target))
            }
            (None, Some(path)) => (path.verb, Target::Path(path.path)),
            _ => return Err(Invalid::Attributes),
        };
        Ok(Self {
            version,
            attributes: Attributes { user, verb, target },
        })
    }
}

/// The response. The reason is shown to the user, and so names no other user, project or rule.
#[derive(Debug, Serialize)]
pub(crate) struct Answer {
    #[serde(rename = "apiVersion")]
    version: ApiVersion,
    kind: &'static str,
    status: Status,
}

#[derive(Debug, Serialize)]
struct Status {
    allowed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

impl Answer {
    pub fn allowed(version: ApiVersion) -> Self {
        Self::new(version, true, None)
    }

    pub fn no_opinion(version: ApiVersion, reason: &'static str) -> Self {
        Self::new(version, false, Some(reason))
    }

    fn new(version: ApiVersion, allowed: bool, reason: Option<&'static str>) -> Self {
        Self {
            version,
            kind: KIND,
            status: Status { allowed, reason },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn decode(value: &serde_json::Value) -> Result<AccessReview, Invalid> {
        AccessReview::decode(value.to_string().as_bytes())
    }

    #[test]
    fn each_version_has_its_own_word_for_groups() {
        let spec = json!({"resourceAttributes": {"verb": "get", "resource": "pods", "subresource": "exec",
                "namespace": "shop", "version": "v1", "labelSelector": {"requirements": []}},
            "user": "ada@Default", "groups": ["v1"], "group": ["v1beta1"],
            "extra": {"a": ["b"]}});
        for (version, group) in [("v1", "v1"), ("v1beta1", "v1beta1")] {
            let review = decode(&json!({"kind": "SubjectAccessReview",
                "apiVersion": format!("authorization.k8s.io/{version}"), "spec": spec}))
            .unwrap();
            assert_eq!(review.attributes.user.groups, [group]);
            assert_eq!(review.attributes.to_string(), "get pods/exec in shop");
        }
    }

    #[test]
    fn what_is_missing_of_the_user_is_empty() {
        let review = decode(&json!({"kind": "SubjectAccessReview",
            "apiVersion": "authorization.k8s.io/v1",
            "spec": {"nonResourceAttributes": {"verb": "get", "path": "/healthz"}, "user": "x",
                     "groups": null}}))
        .unwrap();
        assert_eq!(review.attributes.to_string(), "get /healthz");
        assert!(review.attributes.user.groups.is_empty());
    }

    #[test]
    fn what_is_not_a_review_is_refused() {
        let review = |kind: &str, version: &str, spec: serde_json::Value| {
            decode(&json!({"kind": kind, "apiVersion": version, "spec": spec})).map(|_| ())
        };
        let (kind, v1) = ("SubjectAccessReview", "authorization.k8s.io/v1");
        let path = json!({"verb": "get", "path": "/x"});
        let both = json!({"nonResourceAttributes": path, "resourceAttributes": {"verb": "get"}});
        assert_eq!(review(kind, v1, json!({})), Err(Invalid::Attributes));
        assert_eq!(review(kind, v1, both), Err(Invalid::Attributes));
        assert_eq!(review("TokenReview", v1, json!({})), Err(Invalid::Kind));
        assert_eq!(review(kind, "v1", json!({})), Err(Invalid::Version));
        assert_eq!(review(kind, v1, json!([])), Err(Invalid::Json));
        assert_eq!(review(kind, v1, json!({"groups": "x"})), Err(Invalid::Json));
        assert_eq!(AccessReview::decode(b"{").map(|_| ()), Err(Invalid::Json));
    }
}
