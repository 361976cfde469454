//! One line for each decision, in the target `audit`; no token, ever.
use crate::decision::{CREDENTIAL_ID, Refusal};
use crate::policy::{Attributes, Verdict};
use crate::review::UserInfo;
use portico_openstack::keystone::Error;
use portico_runtime::request_id::RequestId;
use uuid::Uuid;

/// What a decision was about.
pub(crate) struct Subject<'a> {
    pub cluster: Uuid,
    pub request_id: RequestId,
    /// Twelve hex digits of a keyed hash.
    pub fingerprint: &'a str,
    pub cached: bool,
}

/// What was decided.
pub(crate) enum Decision {
    Authenticated(UserInfo),
    /// With the user, where Keystone named one.
    Refused(Refusal, Option<String>),
    CannotSay(Error),
}

impl Decision {
    /// The decision's name in logs and metrics.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Authenticated(_) => "authenticated",
            Self::Refused(..) => "refused",
            Self::CannotSay(_) => "cannot_say",
        }
    }
}

/// Writes the line.
pub(crate) fn record(subject: &Subject<'_>, decision: &Decision) {
    let (user, reason) = match decision {
        Decision::Authenticated(user) => (user.uid.as_str(), String::new()),
        Decision::Refused(refusal, user) => (user.as_deref().unwrap_or(""), refusal.to_string()),
        Decision::CannotSay(error) => ("", error.to_string()),
    };
    // what stands in the API server's audit log, under `user.extra`, and in Keystone's
    let credential = match decision {
        Decision::Authenticated(user) => user.extra.get(CREDENTIAL_ID),
        _ => None,
    };
    let credential = credential.and_then(|ids| ids.first()).map(String::as_str);
    tracing::info!(
        target: "audit",
        // the line says all of the request that the span would say once more
        parent: None,
        event = "token_review",
        cluster.id = %subject.cluster,
        // a federated ID is not Keystone's own choice: escaped, it cannot forge a second line
        user.id = %user.escape_debug(),
        decision = decision.as_str(),
        reason,
        cached = subject.cached,
        request.id = %subject.request_id,
        token = subject.fingerprint,
        credential.id = credential,
    );
}

/// Writes the line of an access review.
pub(crate) fn record_access(
    cluster: Uuid,
    request_id: RequestId,
    attributes: &Attributes,
    verdict: Verdict,
) {
    tracing::info!(
        target: "audit",
        // the line says all of the request that the span would say once more
        parent: None,
        event = "subject_access_review",
        cluster.id = %cluster,
        // names come from Keystone and from the request: escaped, they cannot forge a second line
        user.name = %attributes.user.name.escape_debug(),
        access = %attributes.to_string().escape_debug(),
        decision = if verdict.allowed() { "allowed" } else { "no_opinion" },
        rule = verdict.allowed_by,
        request.id = %request_id,
    );
}
