//! A failure, as a card.
use serde::{Deserialize, Serialize};

/// An explained failure or blockage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureCard {
    /// What failed, such as "The creation failed at: Control plane".
    pub what: String,
    /// Why, in one sentence.
    pub why: String,
    pub responsibility: Responsibility,
    /// What still runs and costs, as a sentence.
    pub remains: String,
    /// The most useful first.
    pub next_steps: Vec<FailureStep>,
    /// Reasons of single node groups: name and Magnum's text.
    pub faults: Vec<(String, String)>,
    /// Magnum's text, as it is.
    pub raw: String,
    /// The request ID of Magnum's answer, for the operator.
    pub request_id: Option<String>,
}

/// Whose responsibility a failure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Responsibility {
    User,
    Operator,
    /// The cloud lacks room, or a service fails; it may recover.
    Cloud,
    Unknown,
}

impl Responsibility {
    /// Returns whose it is, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::User => "You can remedy it",
            Self::Operator => "The operator of the cloud must act",
            Self::Cloud => "The cloud; it may recover",
            Self::Unknown => "Not known",
        }
    }
}

/// One next step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureStep {
    pub action: FailureAction,
    /// The label of its button, or the text where the page has none.
    pub label: String,
}

/// What a next step does. The page has a button for those that it can carry out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureAction {
    /// Open the form with the same values; the failed cluster is deleted first.
    EditAndRetry,
    Retry,
    Wait,
    ShowQuota,
    FreeResources,
    ShowLeftovers,
    ShowHolders,
    Settle,
    TakeOwnership,
    AskForRole,
    RelaxDisruptionBudget,
    ChooseByUuid,
    NewCluster,
    ContactOperator,
}
