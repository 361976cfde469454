//! The outcomes of requests that change a cluster.
use super::{error, feeds::Accepted, viewer::Viewer};
use portico_cluster_operations::{
    Clients,
    steps::{self, StepError},
};
use portico_domain::panel::lifecycle::ChangeOutcome;
use portico_lifecycle::{model::Cluster, plan::Action, progress::Followed};
use portico_openstack::rest::{Effect, Error};
use uuid::Uuid;

const NOTHING_SENT: &str = "Nothing was sent. Correct it and try again.";
const REVIEW_AGAIN: &str = "Nothing was sent. Look at the change from the present state, and send it again if you still want it.";

/// What came of a request for a change.
#[derive(Debug)]
pub struct Sent {
    pub outcome: ChangeOutcome,
    /// What is to be followed now.
    pub accepted: Option<Accepted>,
}

/// Sends the request of a step of a plan; `before` is the cluster as it was read, and `what` the change with an
/// article, such as "the upgrade".
pub async fn send_step(
    clients: &Clients,
    viewer: &Viewer,
    (cluster, before): (Uuid, &Cluster),
    action: &Action,
    what: &str,
) -> Sent {
    match steps::send(clients, &viewer.token, action, cluster).await {
        Ok(()) => {
            let followed = Followed::of_step(action, before);
            Sent::accepted(followed.map(|followed| Accepted::Change {
                followed,
                family: before.driver.family,
                versions: None,
            }))
        }
        Err(error) => Sent::failed_step(&error, what),
    }
}

impl Sent {
    /// Returns that Magnum has accepted a change.
    pub fn accepted(accepted: Option<Accepted>) -> Self {
        Self {
            outcome: ChangeOutcome::Accepted,
            accepted,
        }
    }

    /// Returns that nothing was sent, with the reason as a sentence.
    pub fn refused(reason: impl Into<String>) -> Self {
        Self::ended(ChangeOutcome::Refused {
            reason: reason.into(),
            next_step: Some(NOTHING_SENT.to_owned()),
            request_id: None,
        })
    }

    /// Returns that nothing was sent, because the state that the user has reviewed is not the present one.
    pub fn outdated(reason: impl Into<String>) -> Self {
        Self::ended(ChangeOutcome::Refused {
            reason: reason.into(),
            next_step: Some(REVIEW_AGAIN.to_owned()),
            request_id: None,
        })
    }

    /// Returns that the typed name is another one than the cluster's.
    pub fn not_confirmed(name: &str) -> Self {
        Self::refused(format!(
            "The typed name is not that of the cluster, {name}."
        ))
    }

    /// Returns that Magnum did not accept a request; `what` is it with an article, such as "the upgrade".
    pub fn failed(error: &Error, what: &str) -> Self {
        if error.effect == Effect::Unknown {
            return Self::ended(ChangeOutcome::Unknown {
                reason: format!("The response to {what} was lost. {}", error::message(error)),
                next_step:
                    "Look at the page of the cluster before you send it again: the change may be \
                            running."
                        .to_owned(),
            });
        }
        Self::ended(ChangeOutcome::Refused {
            reason: error::message(error),
            next_step: Some(error::next_step(error)),
            request_id: error.request_id.clone(),
        })
    }

    /// Returns that the request of a step was not accepted.
    fn failed_step(error: &StepError, what: &str) -> Self {
        match error {
            StepError::Service(error) => Self::failed(error, what),
            StepError::Request(_) => Self::refused(error::sentence(&error.to_string())),
            StepError::Resized { .. } => Self::outdated(error::sentence(&error.to_string())),
        }
    }

    fn ended(outcome: ChangeOutcome) -> Self {
        Self {
            outcome,
            accepted: None,
        }
    }
}
