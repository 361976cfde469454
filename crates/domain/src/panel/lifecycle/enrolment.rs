//! The enrolment of a cluster that Magnum made (ADR 0022).
use crate::identity::Named;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Whether a cluster can be used through Portico.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EnrolmentState {
    /// It has a record, from an enrolment or from the operator.
    Enrolled,
    /// It has a record, and its API server has not answered yet whether it asks kube-auth.
    NotChecked,
    /// It has a record, and its API server does not ask kube-auth yet: see
    /// [`ApiServerConfiguration`].
    WaitingForConfiguration,
    /// Its API does not answer yet. It can be enrolled when it does.
    WaitingForApi,
    /// Its API answers, Portico made it, and the viewer may enrol it: the page does so by itself.
    Ready,
    /// Its API answers, and the viewer may enrol it; another client made it, so the user decides.
    Offered,
    /// A run is in progress.
    Running,
    /// It cannot be enrolled, or not by the viewer: a sentence.
    NotOffered(String),
}

/// How an enrolment ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EnrolmentOutcome {
    /// The cluster can be opened, within a few seconds.
    Enrolled { cluster: Uuid },
    /// The record exists; the API server has to be configured.
    WaitingForConfiguration(Box<ApiServerConfiguration>),
    /// It is too early, or another run is in progress: the page tries again after so many seconds.
    Later { reason: String, seconds: u32 },
    /// It was refused, or a step failed.
    Refused {
        reason: String,
        next_step: Option<String>,
    },
}

/// The answer to the removal of the record of an enrolled cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovedRecord {
    /// Whether there was a record.
    pub existed: bool,
}

/// What the API server of a cluster needs that others made, line by line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiServerConfiguration {
    /// UUID and name.
    pub cluster: Named,
    /// Whether reviews of this API server have arrived at kube-auth; `None`: not known.
    pub is_configured: Option<bool>,
    /// Why this is needed, as sentences.
    pub introduction: Vec<String>,
    /// In the order in which they are used: files, flags, commands.
    pub blocks: Vec<ConfigurationBlock>,
    /// How to check that it works, as sentences.
    pub verification: Vec<String>,
}

/// A file, a list of flags, or commands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigurationBlock {
    /// Such as "Flags of kube-apiserver".
    pub title: String,
    /// The path of the file on the machines of the control plane, with its mode; `None`: not a file.
    pub path: Option<String>,
    /// What to do with it, as a sentence.
    pub text: String,
    /// The exact lines, to be copied. No secret is in them.
    pub lines: String,
}
