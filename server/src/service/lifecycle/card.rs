//! The card of a failure: what, why, whose responsibility, what still runs and costs, next actions.
use super::words;
use portico_domain::panel::lifecycle::{FailureAction, FailureCard, FailureStep, Responsibility};
use portico_lifecycle::{
    failure::{self, Failure, NextAction, Report},
    model::{Cluster, NodeGroup},
};
use std::collections::BTreeMap;

/// Returns the card of a cluster that failed or whose operation is blocked; `None` if Magnum gives no
/// reason for anything. `step` is the title of the step that failed.
pub fn card(cluster: &Cluster, groups: &[NodeGroup], step: Option<&str>) -> Option<FailureCard> {
    let of_groups: BTreeMap<_, _> = groups
        .iter()
        .filter(|group| group.status.is_failed())
        .filter_map(|group| Some((group.name.clone(), group.reason.clone()?)))
        .collect();
    let failure = explained(cluster, &of_groups)?;
    let state = words::state(&cluster.status);
    let what = match (step, &failure.part) {
        (Some(step), _) => format!("{state} at: {step}"),
        (None, Some(part)) => format!("{state}: {part}"),
        (None, None) => state,
    };
    let mut faults = of_groups;
    // Magnum's own list has precedence
    faults.extend(cluster.faults.clone());
    Some(FailureCard {
        what,
        why: failure.explanation,
        responsibility: responsibility(failure.responsibility),
        remains: failure.remains,
        next_steps: failure.next_actions.into_iter().map(next_step).collect(),
        faults: faults.into_iter().collect(),
        raw: failure.raw,
        request_id: None,
    })
}

/// Returns why a cluster failed, in one sentence; `None` if it did not.
pub fn why(cluster: &Cluster) -> Option<String> {
    if !cluster.status.is_failed() {
        return None;
    }
    explained(cluster, &BTreeMap::new()).map(|failure| failure.explanation)
}

fn explained(cluster: &Cluster, groups: &BTreeMap<String, String>) -> Option<Failure> {
    failure::explain(&Report {
        status: &cluster.status,
        reason: cluster.reason.as_deref(),
        faults: &cluster.faults,
        health: &cluster.health,
        groups,
        existing: None,
    })
}

fn responsibility(whose: failure::Responsibility) -> Responsibility {
    match whose {
        failure::Responsibility::User => Responsibility::User,
        failure::Responsibility::Operator => Responsibility::Operator,
        failure::Responsibility::Cloud => Responsibility::Cloud,
        failure::Responsibility::Unknown => Responsibility::Unknown,
    }
}

fn next_step(action: NextAction) -> FailureStep {
    FailureStep {
        action: match action {
            NextAction::EditAndRetry => FailureAction::EditAndRetry,
            NextAction::Retry => FailureAction::Retry,
            NextAction::Wait => FailureAction::Wait,
            NextAction::ShowQuota => FailureAction::ShowQuota,
            NextAction::FreeResources => FailureAction::FreeResources,
            NextAction::ShowLeftovers => FailureAction::ShowLeftovers,
            NextAction::ShowHolders => FailureAction::ShowHolders,
            NextAction::Settle => FailureAction::Settle,
            NextAction::TakeOwnership => FailureAction::TakeOwnership,
            NextAction::AskForRole => FailureAction::AskForRole,
            NextAction::RelaxDisruptionBudget => FailureAction::RelaxDisruptionBudget,
            NextAction::ChooseByUuid => FailureAction::ChooseByUuid,
            NextAction::NewCluster => FailureAction::NewCluster,
            NextAction::ContactOperator => FailureAction::ContactOperator,
        },
        label: action.label().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures;
    use super::*;
    use portico_cluster_operations::{Drivers, mapping};
    use serde_json::json;

    #[test]
    fn case_19_a_used_up_quota_is_the_users_and_names_the_groups() {
        let failed = fixtures::with(
            "CREATE_FAILED",
            json!({"status_reason": "Quota exceeded for cores: 20 of 20",
                   "faults": {"default-worker": "Quota exceeded for cores: 20 of 20"}}),
        );
        let model = mapping::cluster(&failed, None, &Drivers::default());
        let card = card(&model, &[], Some("Control plane")).unwrap();
        assert_eq!(card.what, "Creation failed at: Control plane");
        assert_eq!(card.why, "The quota of cores is used up (20 of 20).");
        assert_eq!(card.responsibility, Responsibility::User);
        assert_eq!(card.faults.len(), 1);
        assert!(card.remains.contains("costs"), "{}", card.remains);
        let first = card.next_steps.first().unwrap();
        assert_eq!(first.action, FailureAction::ShowQuota);
        assert_eq!(why(&model), Some(card.why));
    }

    #[test]
    fn a_cluster_that_runs_has_no_card() {
        assert_eq!(card(&fixtures::model("CREATE_COMPLETE"), &[], None), None);
        assert_eq!(why(&fixtures::model("CREATE_COMPLETE")), None);
    }
}
