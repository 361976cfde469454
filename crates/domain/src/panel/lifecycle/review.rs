//! What a creation would do, before anything is sent.
use super::{Check, CheckLevel, CreationForm, FieldProblem, QuotaProjection};
use crate::identity::Named;
use serde::{Deserialize, Serialize};

/// A creation, checked. Also made for an unfinished form: the quota bars beside it are those of the
/// review.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreationReview {
    /// The form with every default filled in.
    pub effective: CreationForm,
    /// What was set for another reason than that the template has it, as sentences.
    pub adjustments: Vec<String>,
    /// UUID and name; `None`: none is chosen, or it does not exist. Then only `problems` is filled.
    pub template: Option<Named>,
    /// What is created, in the order of the requests.
    pub plan: Vec<PlanLine>,
    /// What a user should know about the plan, as sentences.
    pub notes: Vec<String>,
    /// All labels: the template's, yours, and the result.
    pub labels: Vec<LabelLine>,
    /// The quotas now and after.
    pub quotas: Vec<QuotaProjection>,
    /// All checks, also those that pass.
    pub checks: Vec<Check>,
    /// What is wrong with single fields; nothing can be sent while there is any.
    pub problems: Vec<FieldProblem>,
    /// The body of `POST /clusters`, as indented JSON.
    pub request: String,
    /// The `portico cluster create` line that makes the same cluster.
    pub command: String,
    /// The file as YAML that makes the same cluster.
    pub file: String,
    /// Usual duration in seconds with this template; `None`: not known.
    pub usual_seconds: Option<u64>,
}

impl CreationReview {
    /// Returns whether the creation may be sent.
    pub fn can_be_sent(&self) -> bool {
        self.template.is_some()
            && self.problems.is_empty()
            && self.plan.iter().all(|line| line.refusal.is_none())
            && self
                .checks
                .iter()
                .all(|check| check.level != CheckLevel::Blocks)
    }
}

/// One request of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanLine {
    /// A sentence.
    pub effect: String,
    pub impact: PlanImpact,
    /// Why it cannot be carried out, as a sentence.
    pub refusal: Option<String>,
}

/// What a step means for what runs in the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanImpact {
    None,
    /// Pods move or restart.
    Disruptive,
    /// Nodes disappear, with the data on their disks.
    Destructive,
}

/// One line of the table of labels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelLine {
    pub key: String,
    pub template: Option<String>,
    pub yours: Option<String>,
    pub result: String,
    pub origin: LabelOrigin,
    /// What the label does, if it is known.
    pub meaning: Option<String>,
    /// That it is ignored, invalid, or cannot be changed later, as sentences.
    pub notes: Vec<String>,
}

/// Where the value of a label comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LabelOrigin {
    Template,
    /// Yours; the template has none.
    Added,
    /// Yours, instead of the template's.
    Overridden,
}
