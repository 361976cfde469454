//! Magnum's states of clusters and node groups, and which of them forbid which operation.
//!
//! The states are `<ACTIVITY>_<PHASE>` in Magnum's `objects/fields.py`; the rules are those of its
//! conductor and API (Magnum 23).
use std::fmt;

use serde::{Deserialize, Serialize};

/// What Magnum does, or did last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    Create,
    Update,
    Delete,
    Rollback,
    Resume,
    Restore,
    Snapshot,
    Check,
    Adopt,
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    InProgress,
    Complete,
    Failed,
}

/// The state of a cluster or of a node group. Other releases and drivers may have further states:
/// those are preserved as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Status {
    Known(Activity, Phase),
    Other(String),
}

const ACTIVITIES: [(Activity, &str); 9] = [
    (Activity::Create, "CREATE"),
    (Activity::Update, "UPDATE"),
    (Activity::Delete, "DELETE"),
    (Activity::Rollback, "ROLLBACK"),
    (Activity::Resume, "RESUME"),
    (Activity::Restore, "RESTORE"),
    (Activity::Snapshot, "SNAPSHOT"),
    (Activity::Check, "CHECK"),
    (Activity::Adopt, "ADOPT"),
];
const PHASES: [(Phase, &str); 3] = [
    (Phase::InProgress, "_IN_PROGRESS"),
    (Phase::Complete, "_COMPLETE"),
    (Phase::Failed, "_FAILED"),
];

impl Status {
    /// Reads a state as Magnum writes it, such as `CREATE_IN_PROGRESS`.
    pub fn parse(text: &str) -> Self {
        let known = PHASES.iter().find_map(|(phase, suffix)| {
            let name = text.strip_suffix(suffix)?;
            let (activity, _) = ACTIVITIES.iter().find(|(_, known)| *known == name)?;
            Some(Self::Known(*activity, *phase))
        });
        known.unwrap_or_else(|| Self::Other(text.to_owned()))
    }

    /// Returns whether Magnum is working on it.
    pub fn is_in_progress(&self) -> bool {
        matches!(self, Self::Known(_, Phase::InProgress))
    }

    /// Returns whether the last operation succeeded.
    pub fn is_complete(&self) -> bool {
        matches!(self, Self::Known(_, Phase::Complete))
    }

    /// Returns whether the last operation failed.
    pub fn is_failed(&self) -> bool {
        matches!(self, Self::Known(_, Phase::Failed))
    }

    /// Returns whether the record is about to disappear or should have disappeared. A node group may
    /// stay in `DELETE_COMPLETE`; it no longer counts.
    pub fn is_deletion(&self) -> bool {
        matches!(self, Self::Known(Activity::Delete, _))
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (activity, phase) = match self {
            Self::Known(activity, phase) => (activity, phase),
            Self::Other(text) => return f.write_str(text),
        };
        for (known, name) in &ACTIVITIES {
            if known == activity {
                f.write_str(name)?;
            }
        }
        for (known, suffix) in &PHASES {
            if known == phase {
                f.write_str(suffix)?;
            }
        }
        Ok(())
    }
}

impl From<String> for Status {
    fn from(text: String) -> Self {
        Self::parse(&text)
    }
}

impl From<Status> for String {
    fn from(status: Status) -> Self {
        status.to_string()
    }
}

/// An operation on an existing cluster or node group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operation {
    /// `PATCH /clusters/{id}`.
    Patch,
    /// `POST /clusters/{id}/actions/resize`.
    Resize,
    /// `POST /clusters/{id}/actions/upgrade`.
    Upgrade,
    /// `PATCH /certificates/{id}`.
    RotateCa,
    /// `PATCH /credentials/{id}`.
    RotateCredential,
    /// `POST /clusters/{id}/nodegroups`; the state is that of the cluster.
    CreateNodeGroup,
    /// `PATCH /clusters/{id}/nodegroups/{id}`; the state is that of the group.
    UpdateNodeGroup,
    /// `DELETE /clusters/{id}/nodegroups/{id}`; the state is that of the cluster.
    DeleteNodeGroup,
    /// `DELETE /clusters/{id}`.
    Delete,
}

/// How Magnum answers an operation that the state forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// 202, and nothing happens.
    AcceptedWithoutEffect,
    /// 400 with a text.
    Refused,
    /// 202, and the state of the running operation is overwritten.
    OverwritesState,
}

/// Why a state forbids an operation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Forbidden {
    /// One or two sentences with the state and the next step.
    pub reason: String,
    /// What Magnum does when it gets the request nevertheless.
    pub answer: Answer,
}

/// Checks whether Magnum acts on an operation in a state.
///
/// # Errors
/// [`Forbidden`] with the state, the next step, and what Magnum would answer.
pub fn check(status: &Status, operation: Operation) -> Result<(), Forbidden> {
    use Activity::{Create, Delete, Update};
    use Phase::{Complete, Failed, InProgress};
    let allowed = match (operation, status) {
        (Operation::Delete, _) => true,
        // Magnum does not check these two: Portico does, because the state would be overwritten
        (Operation::CreateNodeGroup, Status::Known(activity, Complete)) => *activity != Delete,
        (Operation::CreateNodeGroup, Status::Known(Update, Failed)) => true,
        (Operation::DeleteNodeGroup, Status::Known(activity, Complete | Failed)) => {
            *activity != Delete
        }
        (Operation::CreateNodeGroup | Operation::DeleteNodeGroup, _) => false,
        (_, Status::Known(_, Complete)) => true,
        (
            Operation::Resize | Operation::RotateCredential | Operation::UpdateNodeGroup,
            Status::Known(Update, InProgress | Failed),
        ) => true,
        _ => false,
    };
    if allowed {
        return Ok(());
    }
    let answer = match operation {
        Operation::Patch | Operation::Resize | Operation::UpdateNodeGroup | Operation::Delete => {
            Answer::AcceptedWithoutEffect
        }
        Operation::Upgrade | Operation::RotateCa | Operation::RotateCredential => Answer::Refused,
        Operation::CreateNodeGroup | Operation::DeleteNodeGroup => Answer::OverwritesState,
    };
    let next = match (operation, status) {
        (Operation::Upgrade | Operation::RotateCa, Status::Known(Update, Failed)) => {
            "Settle the cluster first: resize a node group to its present size, wait until the state \
             is UPDATE_COMPLETE, and try again."
        }
        (_, Status::Known(Delete, _)) => "It is being deleted or could not be deleted.",
        (_, Status::Known(_, InProgress)) => "Wait until the running operation has finished.",
        (_, Status::Known(Create, Failed)) => "Delete the cluster and create it again.",
        (_, Status::Known(_, Failed)) => {
            "Settle the cluster first: resize a node group to its present size."
        }
        (_, Status::Known(_, Complete) | Status::Other(_)) => "Wait until the state changes.",
    };
    Err(Forbidden {
        reason: format!(
            "Magnum does not {} in the state {status}. {next}",
            verb(operation)
        ),
        answer,
    })
}

fn verb(operation: Operation) -> &'static str {
    match operation {
        Operation::Patch => "change the cluster",
        Operation::Resize => "resize a node group",
        Operation::Upgrade => "upgrade the cluster",
        Operation::RotateCa => "rotate the CA",
        Operation::RotateCredential => "rotate the credential",
        Operation::CreateNodeGroup => "safely create a node group",
        Operation::UpdateNodeGroup => "change a node group",
        Operation::DeleteNodeGroup => "safely delete a node group",
        Operation::Delete => "delete the cluster",
    }
}
