//! The audit log of decisions: one line each, in the target `audit`; it never contains a token.
use crate::decision::{CREDENTIAL_ID, Refusal};
use crate::policy::{Attributes, AuthorizationDecision};
use crate::review::UserInfo;
use portico_openstack::keystone::Error;
use portico_runtime::request_id::RequestId;
use uuid::Uuid;

/// The subject of a decision.
pub(crate) struct Subject<'a> {
    pub cluster: Uuid,
    pub request_id: RequestId,
    /// Twelve hex digits of a keyed hash.
    pub fingerprint: &'a str,
    pub cached: bool,
}

/// A decision.
pub(crate) enum Decision {
    Authenticated(UserInfo),
    /// With the user, if Keystone returned one.
    Refused(Refusal, Option<String>),
    Undecided(Error),
}

impl Decision {
    /// Returns the decision's name in logs and metrics.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Authenticated(_) => "authenticated",
            Self::Refused(..) => "refused",
            Self::Undecided(_) => "undecided",
        }
    }
}

/// Writes the line.
pub(crate) fn record(subject: &Subject<'_>, decision: &Decision) {
    let (user, reason) = match decision {
        Decision::Authenticated(user) => (user.uid.as_str(), String::new()),
        Decision::Refused(refusal, user) => (user.as_deref().unwrap_or(""), refusal.to_string()),
        Decision::Undecided(error) => ("", error.to_string()),
    };
    // what the API server's audit log, under `user.extra`, and Keystone's contain
    let credential = match decision {
        Decision::Authenticated(user) => user.extra.get(CREDENTIAL_ID),
        _ => None,
    };
    let credential = credential.and_then(|ids| ids.first()).map(String::as_str);
    tracing::info!(
        target: "audit",
        // the line has all fields of the request that the span would repeat
        parent: None,
        event = "token_review",
        cluster_id = %subject.cluster,
        // Keystone does not choose a federated ID: escaped, it cannot forge a second line
        user_id = %user.escape_debug(),
        decision = decision.as_str(),
        reason,
        cached = subject.cached,
        request_id = %subject.request_id,
        token = subject.fingerprint,
        credential_id = credential,
    );
}

/// Writes the line of an access review.
pub(crate) fn record_access(
    cluster: Uuid,
    request_id: RequestId,
    attributes: &Attributes,
    decision: AuthorizationDecision,
) {
    tracing::info!(
        target: "audit",
        // the line has all fields of the request that the span would repeat
        parent: None,
        event = "subject_access_review",
        cluster_id = %cluster,
        // IDs and names come from Keystone and from the request: escaped, they cannot forge a second line
        user_id = %attributes.user.uid.escape_debug(),
        user_name = %attributes.user.name.escape_debug(),
        access = %attributes.to_string().escape_debug(),
        decision = if decision.allowed() { "allowed" } else { "no_opinion" },
        rule = decision.allowed_by,
        request_id = %request_id,
    );
}
