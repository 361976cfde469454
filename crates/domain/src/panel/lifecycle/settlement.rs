//! The way out of a failed change of a cluster.
use super::{FailureCard, PlanLine};
use crate::identity::Named;
use serde::{Deserialize, Serialize};

/// What would settle a cluster whose last change has failed, before anything is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settlement {
    /// UUID and name.
    pub cluster: Named,
    /// The state in words.
    pub status: String,
    /// Whether the last change has failed; else there is nothing to settle.
    pub is_needed: bool,
    /// Why the change has failed; `None`: it has not.
    pub failure: Option<FailureCard>,
    /// What is sent: the request for the present size of a node group. `None`: no group can be resized.
    pub step: Option<PlanLine>,
    /// The size that the request has, with which it is sent; `None`: no group can be resized.
    pub size: Option<SettledSize>,
    /// The request to Magnum as it is sent, such as `POST /clusters/…/actions/resize`.
    pub request: Option<String>,
    /// What the request does, as sentences.
    pub effects: Vec<String>,
    /// Why the viewer cannot send it, as a sentence: the policy, the driver, or the state.
    pub refusal: Option<String>,
}

/// The size of a node group that a request to settle a cluster has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettledSize {
    /// The name of the node group.
    pub group: String,
    pub nodes: u32,
}

impl Settlement {
    /// Returns whether the request may be sent.
    pub fn can_be_sent(&self) -> bool {
        let step = self.step.as_ref();
        self.is_needed && self.refusal.is_none() && step.is_some_and(|step| step.refusal.is_none())
    }
}
