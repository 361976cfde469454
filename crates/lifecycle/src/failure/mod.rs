//! Explains failures: what, why, whose responsibility, what still runs and costs, next actions.
mod class;
mod classify;
mod detail;
mod phrases;

use std::collections::BTreeMap;

pub use class::{Class, NextAction, Responsibility};
pub use classify::classify;
pub use detail::{QuotaDetail, admission, quota};

use crate::status::{Activity, Phase, Status};

/// What is known about a failed or blocked cluster. The caller fills it from Magnum's cluster and
/// from what it found in the project.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// The state of the cluster.
    pub status: &'a Status,
    /// `status_reason`.
    pub reason: Option<&'a str>,
    /// `faults`: node group to reason. Heat only.
    pub faults: &'a BTreeMap<String, String>,
    /// `health_status_reason`.
    pub health: &'a BTreeMap<String, String>,
    /// `status_reason` of node groups that failed.
    pub groups: &'a BTreeMap<String, String>,
    /// What exists of the cluster, where the caller counted it.
    pub existing: Option<Existing>,
}

/// Resources of a cluster that exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Existing {
    pub servers: u64,
    pub volumes: u64,
    pub load_balancers: u64,
    pub floating_ips: u64,
}

/// An explained failure, as shown on a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Its class.
    pub class: Class,
    /// The part that failed: a node group or a part of the health report; `None`: the cluster.
    pub part: Option<String>,
    /// Why, in one sentence.
    pub explanation: String,
    /// Who can remedy it.
    pub responsibility: Responsibility,
    /// What still runs and costs.
    pub remains: String,
    /// The most useful first.
    pub next_actions: Vec<NextAction>,
    /// The text of Magnum, as it is.
    pub raw: String,
}

/// Explains a failure by the text that says most about it: a fault or the reason of a node group is
/// preferred to a reason of the cluster that is only general. The health of a cluster that failed with a
/// reason is left out: that its API does not answer is a consequence, and not the reason.
///
/// Returns `None` if nothing has failed and no text was given.
pub fn explain(report: &Report<'_>) -> Option<Failure> {
    let reason = report.reason.filter(|text| !text.trim().is_empty());
    let has_cause = reason.is_some() && report.status.is_failed();
    let reason = reason.map(|text| (None, text));
    let health = (!has_cause).then_some(report.health);
    let parts = [report.faults, report.groups]
        .into_iter()
        .chain(health)
        .flatten()
        .map(|(part, text)| (Some(part.as_str()), text.as_str()));
    let texts: Vec<_> = reason
        .into_iter()
        .chain(parts)
        .filter(|(_, text)| !text.trim().is_empty())
        .collect();
    let specific = texts
        .iter()
        .min_by_key(|(_, text)| generality(classify(text)));
    let (part, raw) = match specific {
        Some((part, text)) => (*part, *text),
        None if report.status.is_failed() => (None, ""),
        None => return None,
    };
    let class = classify(raw);
    Some(Failure {
        class,
        part: part.map(str::to_owned),
        explanation: sentence(class, raw),
        responsibility: class.responsibility(),
        remains: remains(report.status, report.existing),
        next_actions: next_actions(class, report.status),
        raw: raw.to_owned(),
    })
}

/// Returns the explanation of a class, with what the text adds.
pub fn sentence(class: Class, raw: &str) -> String {
    match class {
        Class::Quota => quota(raw).sentence(),
        Class::Admission => format!("{} {}", class.explanation(), admission(raw)),
        _ => class.explanation().to_owned(),
    }
}

fn generality(class: Class) -> u8 {
    match class {
        Class::Unknown => 4,
        Class::Waiting => 3,
        Class::Timeout => 2,
        Class::Machine | Class::ApiUnreachable | Class::Service => 1,
        _ => 0,
    }
}

fn next_actions(class: Class, status: &Status) -> Vec<NextAction> {
    let is_creation = matches!(status, Status::Known(Activity::Create, _));
    let is_update = matches!(status, Status::Known(Activity::Update, _));
    let mut actions: Vec<NextAction> = class
        .next_actions()
        .iter()
        .copied()
        // an existing cluster is not deleted because of a failed change
        .map(|action| match action {
            NextAction::EditAndRetry if !is_creation => NextAction::Retry,
            // a failed creation cannot be sent again as it is: its record exists
            NextAction::Retry if is_creation && status.is_failed() => NextAction::EditAndRetry,
            other => other,
        })
        .collect();
    if is_creation && status.is_failed() {
        actions.push(NextAction::ShowLeftovers);
    }
    if is_update && status.is_failed() {
        actions.push(NextAction::Settle);
    }
    let mut seen = Vec::new();
    actions.retain(|action| {
        let is_new = !seen.contains(action);
        seen.push(*action);
        is_new
    });
    actions
}

/// What still runs and costs after a failure.
fn remains(status: &Status, existing: Option<Existing>) -> String {
    let what = match status {
        Status::Known(Activity::Create, Phase::Failed) => {
            "The cluster cannot be used. What was made of it exists until the cluster is deleted"
        }
        Status::Known(Activity::Create, _) => {
            "The cluster is not ready. What was made of it exists"
        }
        Status::Known(Activity::Delete, _) => "What is not deleted yet still exists",
        Status::Known(_, Phase::Failed) => {
            "The cluster keeps running; the change may be carried out in part. Its resources exist"
        }
        _ => "The cluster keeps running",
    };
    match existing {
        None => format!("{what}, and costs."),
        Some(existing) => {
            let counted = counted(existing);
            if counted.is_empty() {
                format!("{what}; nothing was found in the project.")
            } else {
                format!("{what}, and costs: {}.", counted.join(", "))
            }
        }
    }
}

fn counted(existing: Existing) -> Vec<String> {
    [
        (existing.servers, "server"),
        (existing.volumes, "volume"),
        (existing.load_balancers, "load balancer"),
        (existing.floating_ips, "floating IP"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, name)| {
        let plural = if count == 1 { "" } else { "s" };
        format!("{count} {name}{plural}")
    })
    .collect()
}
