//! What the journal and the audit log have of the outcome of a request.
use crate::{
    caller::audit::Outcome,
    service::{
        error::ServiceError,
        lifecycle::{self, Change, DrainBegun, RequestOutcome},
        panel::PanelService,
    },
};
use app::error::UiErrorKind;
use portico_domain::panel::lifecycle::{ChangeOutcome, DeletionOutcome, EnrolmentOutcome};
use portico_lifecycle::rights::Call;
use portico_openstack::rest::Effect;
use tokio::time::timeout;
use uuid::Uuid;

impl PanelService {
    /// Carries out a change whose beginning and outcome are in the cluster's journal.
    pub(super) async fn journalled<T>(
        &self,
        change: Change<'_>,
        work: impl Future<Output = Result<T, ServiceError>>,
        outcome: impl FnOnce(&T) -> (RequestOutcome, Option<String>),
    ) -> Result<T, ServiceError> {
        if !self.may_change_clusters().await {
            // it is refused, which the audit log has; a reader must not fill a journal
            return work.await;
        }
        // a member must not begin journals of clusters that do not exist
        lifecycle::ensure_exists(&self.services, &self.caller, change.cluster).await?;
        let begun = lifecycle::begin(&self.services, &self.caller, change).await?;
        // the journal must be able to tell a change that was cut off from one that is still being sent
        let answer = timeout(lifecycle::CHANGE_TIMEOUT, work).await;
        let answer = answer.unwrap_or_else(|_| Err(took_too_long()));
        if let Some(begun) = begun {
            let (outcome, text) = match &answer {
                Ok(answer) => outcome(answer),
                Err(error) => of_error(error),
            };
            begun.end(&self.caller, outcome, text).await;
        }
        answer
    }

    /// Returns whether Magnum's policy permits changes of the project's clusters to the caller.
    async fn may_change_clusters(&self) -> bool {
        let Ok(access) = self.services.magnum() else {
            return false;
        };
        let viewer = access.viewer(&self.caller).await;
        viewer.is_ok_and(|viewer| viewer.refusal(Call::ChangeCluster, None).is_none())
    }
}

/// Returns that a change was given up, and may have had its effect.
fn took_too_long() -> ServiceError {
    let error = ServiceError::new(
        UiErrorKind::Unavailable,
        "The change was not complete after five minutes. Its outcome is not known.",
    );
    let next_step =
        "Look at the page of the cluster before you send it again: the change may be running.";
    ServiceError {
        effect: Effect::Unknown,
        ..error.next(next_step)
    }
}

/// Returns the outcome of a change of a cluster.
pub(super) fn outcome_of_change(answer: &Result<ChangeOutcome, ServiceError>) -> Outcome {
    match answer {
        Ok(ChangeOutcome::Accepted) => Outcome::Done,
        Ok(ChangeOutcome::Refused { .. }) => Outcome::Refused,
        Ok(ChangeOutcome::Unknown { .. }) => Outcome::Started,
        Err(error) => outcome_of(error),
    }
}

pub(super) fn change<'a>(cluster: Uuid, action: &'a str, target: &'a str) -> Change<'a> {
    Change {
        cluster,
        action,
        target,
        reason: None,
    }
}

pub(super) fn accepted<T>(_: &T) -> (RequestOutcome, Option<String>) {
    (RequestOutcome::Accepted, None)
}

pub(super) fn of_change(outcome: &ChangeOutcome) -> (RequestOutcome, Option<String>) {
    match outcome {
        ChangeOutcome::Accepted => (RequestOutcome::Accepted, None),
        ChangeOutcome::Refused { reason, .. } => (RequestOutcome::Refused, Some(reason.clone())),
        ChangeOutcome::Unknown { reason, .. } => (RequestOutcome::Unknown, Some(reason.clone())),
    }
}

/// Returns the outcome of a drain that has begun: it is open even if its first evictions have failed.
pub(super) fn of_drain(begun: &DrainBegun) -> (RequestOutcome, Option<String>) {
    let failure = begun.failure.as_ref();
    let text = failure.map(|error| error.message.clone());
    (RequestOutcome::Accepted, text)
}

pub(super) fn of_deletion(outcome: &DeletionOutcome) -> (RequestOutcome, Option<String>) {
    match outcome {
        DeletionOutcome::Accepted(_) => (RequestOutcome::Accepted, None),
        DeletionOutcome::AlreadyGone => (
            RequestOutcome::Accepted,
            Some("Magnum no longer had the cluster.".to_owned()),
        ),
        DeletionOutcome::Refused { reason, .. } => (RequestOutcome::Refused, Some(reason.clone())),
        DeletionOutcome::Unknown { reason, .. } => (RequestOutcome::Unknown, Some(reason.clone())),
    }
}

/// Returns what the audit log has of a deletion. What the user accepted is first: a long text is cut at its end.
pub(super) fn deletion_object(typed: &str, accepted: &str) -> String {
    match accepted {
        "" => typed.to_owned(),
        accepted => format!("({accepted}) {typed}"),
    }
}

/// Returns what the journal has of an enrolment; `None` if it is too early, as the page tries again.
pub(super) fn of_enrolment(outcome: &EnrolmentOutcome) -> Option<(RequestOutcome, Option<String>)> {
    match outcome {
        EnrolmentOutcome::Enrolled { .. } => Some((RequestOutcome::Accepted, None)),
        EnrolmentOutcome::WaitingForConfiguration(_) => Some((
            RequestOutcome::Accepted,
            Some("The API server has to be configured.".to_owned()),
        )),
        EnrolmentOutcome::Refused { reason, .. } => {
            Some((RequestOutcome::Refused, Some(reason.clone())))
        }
        EnrolmentOutcome::Later { .. } => None,
    }
}

/// Returns what the journal has of a change that was not accepted.
fn of_error(error: &ServiceError) -> (RequestOutcome, Option<String>) {
    let outcome = match outcome_of(error) {
        Outcome::Started => RequestOutcome::Unknown,
        Outcome::Refused => RequestOutcome::Refused,
        Outcome::Done | Outcome::Failed => RequestOutcome::Failed,
    };
    (outcome, Some(error.message.clone()))
}

/// Returns what the audit log has of a change that was not accepted: its response may be lost.
pub(super) fn outcome_of(error: &ServiceError) -> Outcome {
    match (error.effect, error.kind) {
        (Effect::Unknown, _) => Outcome::Started,
        (Effect::None, UiErrorKind::NotPermitted) => Outcome::Refused,
        (Effect::None, _) => Outcome::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drain_whose_first_evictions_have_failed_is_open_with_the_reason() {
        let failed = ServiceError::new(UiErrorKind::Unavailable, "It does not answer.");
        let begun = DrainBegun {
            failure: Some(failed),
        };
        let (outcome, text) = of_drain(&begun);
        assert!(outcome.may_have_effect());
        assert_eq!(text.as_deref(), Some("It does not answer."));
    }

    #[test]
    fn the_audit_log_has_what_was_accepted_also_with_a_long_name() {
        let accepted = "accepted: Services of other namespaces may be left";
        let object = deletion_object(&"shop".repeat(100), accepted);
        assert!(object.starts_with(&format!("({accepted}) shop")));
        assert_eq!(deletion_object("shop", ""), "shop");
    }

    #[test]
    fn a_lost_response_is_recorded_as_an_unknown_outcome() {
        let failed = ServiceError::new(UiErrorKind::Unavailable, "It does not answer.");
        let lost = ServiceError {
            effect: Effect::Unknown,
            ..failed.clone()
        };
        let forbidden = ServiceError::not_permitted("Ask an administrator.");
        let late = took_too_long();
        for (error, journal, audit) in [
            (&late, RequestOutcome::Unknown, Outcome::Started),
            (&failed, RequestOutcome::Failed, Outcome::Failed),
            (&lost, RequestOutcome::Unknown, Outcome::Started),
            (&forbidden, RequestOutcome::Refused, Outcome::Refused),
        ] {
            assert_eq!(of_error(error), (journal, Some(error.message.clone())));
            assert_eq!(outcome_of(error), audit);
        }
    }
}
