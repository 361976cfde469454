//! The protection of a cluster from deletion, for `portico cluster apply` and `diff`.
use super::{
    check::CloudRequest,
    pass_on::{CloudRefusal, of_panel},
};
use crate::{
    caller::{
        Caller,
        audit::{self, Outcome},
    },
    service::{
        Services,
        error::ServiceError,
        lifecycle::{
            journal::{Change, RequestOutcome, begin},
            protection,
        },
    },
};
use app::error::UiErrorKind;
use axum::http::StatusCode;
use portico_domain::panel::lifecycle::DeleteProtection;
use serde::Deserialize;
use uuid::Uuid;

const PROTECT: &str = "protect_cluster";
const UNPROTECT: &str = "unprotect_cluster";

/// The body of a change.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    is_on: bool,
    /// The name of the cluster, as the file has it: it counts as typed.
    name: String,
}

/// Returns whether a cluster of the caller's project is protected.
///
/// # Errors
/// If the project has no such cluster, or Magnum or the store does not answer.
pub async fn cloud_protection(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
) -> Result<DeleteProtection, CloudRefusal> {
    let found = protection::protection(services, caller, cluster).await;
    found.map_err(refusal)
}

/// Protects a cluster, or removes its protection, with entries in its journal and in the audit log. A cluster
/// that is as wanted is not changed.
///
/// # Errors
/// If the body is invalid, the user may not delete the cluster, the cluster has another name, the change
/// cannot be recorded, or Magnum or the store does not answer.
pub async fn set_cloud_protection(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
    request: &CloudRequest,
) -> Result<DeleteProtection, CloudRefusal> {
    let wanted = wanted(&request.body)?;
    let action = if wanted.is_on { PROTECT } else { UNPROTECT };
    let audited = |outcome| audit::record(caller, action, cluster, &wanted.name, outcome);
    // a user who may not change it must not fill the journal
    let found = cloud_protection(services, caller, cluster).await;
    let found = found.inspect_err(|refusal| {
        audited(match refusal.status {
            StatusCode::SERVICE_UNAVAILABLE => Outcome::Failed,
            _ => Outcome::Refused,
        });
    })?;
    if let Some(reason) = &found.refusal {
        audited(Outcome::Refused);
        return Err(CloudRefusal::new(StatusCode::FORBIDDEN, reason.as_str()));
    }
    if found.protected.is_some() == wanted.is_on {
        return Ok(found);
    }
    let entry = Change {
        cluster,
        action,
        target: "",
        reason: request.reason.as_deref(),
    };
    let begun = begin(services, caller, entry).await.map_err(of_panel)?;
    let changed =
        protection::set_protection(services, caller, cluster, wanted.is_on, &wanted.name).await;
    let (outcome, text, logged) = outcome(&changed);
    if let Some(begun) = begun {
        begun.end(caller, outcome, text).await;
    }
    audited(logged);
    changed.map_err(refusal)
}

/// Reads the body of a change.
///
/// # Errors
/// 400 for anything else.
fn wanted(body: &[u8]) -> Result<Wanted, CloudRefusal> {
    serde_json::from_slice(body).map_err(|error| {
        let detail =
            format!("The body is not an object with is_on and name: {error}. Nothing was changed.");
        CloudRefusal::new(StatusCode::BAD_REQUEST, detail)
    })
}

/// Returns what the journal and the audit log have about a change.
fn outcome(
    changed: &Result<DeleteProtection, ServiceError>,
) -> (RequestOutcome, Option<String>, Outcome) {
    match changed {
        Ok(_) => (RequestOutcome::Accepted, None, Outcome::Done),
        Err(error) => {
            let text = Some(error.message.clone());
            match error.kind {
                UiErrorKind::NotPermitted | UiErrorKind::Invalid => {
                    (RequestOutcome::Refused, text, Outcome::Refused)
                }
                _ => (RequestOutcome::Failed, text, Outcome::Failed),
            }
        }
    }
}

/// Returns an error as a refusal; never 404, from which a client of Magnum concludes that the cluster does not
/// exist.
pub(super) fn refusal(error: ServiceError) -> CloudRefusal {
    let status = match error.kind {
        UiErrorKind::Invalid => Some(StatusCode::BAD_REQUEST),
        UiErrorKind::Conflict => Some(StatusCode::CONFLICT),
        UiErrorKind::NotFound => Some(StatusCode::FORBIDDEN),
        _ => None,
    };
    let refusal = of_panel(error);
    CloudRefusal {
        status: status.unwrap_or(refusal.status),
        ..refusal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_names_the_cluster_and_nothing_else() {
        let read = wanted(br#"{"is_on": false, "name": "shop"}"#).unwrap();
        let expected = Wanted {
            is_on: false,
            name: "shop".to_owned(),
        };
        assert_eq!(read, expected);
        for body in [
            &b""[..],
            b"{}",
            br#"{"is_on": false}"#,
            br#"{"is_on": "yes", "name": "shop"}"#,
            br#"{"is_on": true, "name": "shop", "cluster": "other"}"#,
        ] {
            let refused = wanted(body).unwrap_err();
            assert_eq!(refused.status, StatusCode::BAD_REQUEST);
            assert!(refused.detail.contains("Nothing was changed"));
        }
    }

    #[test]
    fn a_refusal_is_never_404() {
        for (kind, status) in [
            (UiErrorKind::NotFound, StatusCode::FORBIDDEN),
            (UiErrorKind::NotPermitted, StatusCode::FORBIDDEN),
            (UiErrorKind::Invalid, StatusCode::BAD_REQUEST),
            (UiErrorKind::Conflict, StatusCode::CONFLICT),
            (UiErrorKind::Unavailable, StatusCode::SERVICE_UNAVAILABLE),
        ] {
            let refused = refusal(ServiceError::new(kind, "No.").next("Ask."));
            assert_eq!(
                (refused.status, refused.detail.as_str()),
                (status, "No. Ask.")
            );
        }
    }

    #[test]
    fn a_wrong_name_is_a_refusal_in_the_journal_and_an_outage_a_failure() {
        let of = |kind| {
            let (outcome, text, _) = outcome(&Err(ServiceError::new(kind, "No.")));
            assert_eq!(text.as_deref(), Some("No."));
            outcome
        };
        assert_eq!(of(UiErrorKind::Invalid), RequestOutcome::Refused);
        assert_eq!(of(UiErrorKind::NotPermitted), RequestOutcome::Refused);
        assert_eq!(of(UiErrorKind::Unavailable), RequestOutcome::Failed);
    }
}
