//! The journal of a cluster: what was requested through Portico, and what was observed.
use crate::panel::Health;
use serde::{Deserialize, Serialize};

/// A page of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterJournal {
    /// The newest first.
    pub rows: Vec<JournalRow>,
    /// To be sent for the page with older entries; `None`: there are none.
    pub older: Option<i64>,
    /// Which entries were changed after they were written, as a sentence.
    pub changed: Option<String>,
    /// Whether it agrees with the audit log; `None`: not compared.
    pub agreement: Option<JournalAgreement>,
    /// What could not be read, as sentences.
    pub gaps: Vec<String>,
}

/// What a comparison of the journal with the audit log has shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalAgreement {
    pub agrees: bool,
    /// As sentences.
    pub text: String,
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalRow {
    /// Unique in the journal.
    pub id: String,
    pub at: i64,
    /// The beginning of the time in which it happened, if that is not known exactly: the cluster was
    /// not observed in between.
    pub since: Option<i64>,
    pub source: JournalSource,
    /// What happened, in a few words.
    pub title: String,
    /// Details, each as a line.
    pub lines: Vec<String>,
    /// Who did it, in words.
    pub by: String,
    /// The name of the user who requested it, or what it follows from.
    pub user: Option<String>,
    /// Whether it was requested by another client of Magnum.
    pub is_outside: bool,
    /// Why the user did it, in the user's words.
    pub reason: Option<String>,
    /// The outcome or the state, in words.
    pub status: String,
    /// Tone of the status.
    pub health: Health,
    /// Of the request through Portico.
    pub request_id: Option<String>,
}

/// Where an entry comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JournalSource {
    /// A request through Portico.
    Request,
    /// A difference between two observations of the cluster in Magnum.
    Observation,
    /// An event of the cluster's stack in Heat.
    Heat,
    /// An event of a node in Kubernetes.
    Kubernetes,
}

impl JournalSource {
    /// Every source.
    pub const ALL: [Self; 4] = [
        Self::Request,
        Self::Observation,
        Self::Heat,
        Self::Kubernetes,
    ];

    /// Returns the name in addresses and in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Observation => "observation",
            Self::Heat => "heat",
            Self::Kubernetes => "kubernetes",
        }
    }

    /// Returns the source in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Request => "Requests through Portico",
            Self::Observation => "Changes in Magnum",
            Self::Heat => "Events of Heat",
            Self::Kubernetes => "Events of nodes",
        }
    }
}
