//! What runs on a cluster, as far as one look at Magnum shows it.
use jiff::Timestamp;
use portico_lifecycle::model::{Cluster, NodeGroup};
use portico_lifecycle::progress::{
    Followed, Outcome, Progress, ProgressReport, Snapshot, StepState, Typical,
};
use portico_lifecycle::status::{Activity, Phase, Status};
use serde::Serialize;

/// What Portico makes of the state of a cluster, for programs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PorticoView {
    /// Such as `creating`, `running` or `change_failed`.
    pub phase: &'static str,
    /// The step that is running; `None`: nothing runs.
    pub step: Option<String>,
    /// Why the operation does not continue by itself, as a sentence.
    pub blocked_reason: Option<String>,
}

impl PorticoView {
    /// Returns the view of a cluster. Without its node groups, the step is less exact.
    pub fn new(cluster: &Cluster, groups: Option<&[NodeGroup]>, now: Timestamp) -> Self {
        let report = report(cluster, groups, None, now);
        let step = report.as_ref().and_then(current);
        let blocked_reason = match report.map(|report| report.outcome) {
            Some(Outcome::Blocked(text)) => Some(text),
            _ => None,
        };
        Self {
            phase: phase(&cluster.status),
            step,
            blocked_reason,
        }
    }
}

/// Returns the steps of the operation that runs on a cluster; `None`: nothing runs.
pub fn report(
    cluster: &Cluster,
    groups: Option<&[NodeGroup]>,
    create_timeout: Option<u32>,
    now: Timestamp,
) -> Option<ProgressReport> {
    let followed = Followed::running(cluster, create_timeout)?;
    // Magnum does not report when a change began
    let since = match followed {
        Followed::Creation { .. } => cluster.created_at.unwrap_or(now).min(now),
        _ => now,
    };
    let mut progress = Progress::new(followed, cluster.driver.family, since);
    progress.observe(&Snapshot {
        at: now,
        cluster: Some(cluster),
        groups,
        is_api_ready: None,
        nodes: None,
    });
    Some(progress.report(now, &Typical::new()))
}

fn current(report: &ProgressReport) -> Option<String> {
    let is_current = |state: &StepState| {
        matches!(
            state,
            StepState::Running { .. } | StepState::Blocked { .. } | StepState::Failed { .. }
        )
    };
    let mut steps = report.steps.iter();
    let step = steps.find(|step| is_current(&step.state))?;
    Some(step.name.title())
}

/// Returns the word for the state of a step.
pub fn word(state: &StepState) -> &'static str {
    match state {
        StepState::Pending => "pending",
        StepState::Running { .. } => "running",
        StepState::Blocked { .. } => "blocked",
        StepState::Failed { .. } => "failed",
        StepState::Done { .. } => "done",
    }
}

/// Returns what Magnum's state means, in one word for programs.
fn phase(status: &Status) -> &'static str {
    use Activity::{Create, Delete, Rollback, Update};
    match status {
        Status::Known(Create, Phase::InProgress) => "creating",
        Status::Known(Create, Phase::Failed) => "creation_failed",
        Status::Known(Update, Phase::InProgress) => "changing",
        Status::Known(Update, Phase::Failed) => "change_failed",
        Status::Known(Delete, Phase::InProgress) => "deleting",
        Status::Known(Delete, Phase::Failed) => "deletion_failed",
        Status::Known(Delete, Phase::Complete) => "deleted",
        Status::Known(Rollback, Phase::InProgress) => "rolling_back",
        Status::Known(Rollback, Phase::Failed) => "rollback_failed",
        Status::Known(_, Phase::Complete) => "running",
        Status::Known(_, Phase::InProgress) => "busy",
        Status::Known(_, Phase::Failed) => "failed",
        Status::Other(text) if text.is_empty() => "requested",
        Status::Other(_) => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);

    fn cluster(status: &str, reason: Option<&str>) -> Cluster {
        let uuid = "900e3758-8071-430e-a8cf-5c48f428dc0e".to_owned();
        Cluster {
            status: Status::parse(status),
            reason: reason.map(str::to_owned),
            ..Cluster::deleted(uuid, "shop".to_owned())
        }
    }

    fn view(status: &str) -> PorticoView {
        PorticoView::new(&cluster(status, None), None, NOW)
    }

    #[test]
    fn a_cluster_on_which_nothing_runs_has_a_phase_only() {
        for (status, phase) in [
            ("CREATE_COMPLETE", "running"),
            ("UPDATE_COMPLETE", "running"),
            ("CREATE_FAILED", "creation_failed"),
            ("MIGRATE_COMPLETE", "unknown"),
        ] {
            let expected = PorticoView {
                phase,
                ..PorticoView::default()
            };
            assert_eq!(view(status), expected, "{status}");
        }
    }

    #[test]
    fn a_cluster_that_is_created_names_the_step() {
        let creating = view("CREATE_IN_PROGRESS");
        assert_eq!(creating.phase, "creating");
        assert!(creating.step.is_some(), "{creating:?}");
        assert_eq!(view("DELETE_IN_PROGRESS").phase, "deleting");
    }

    #[test]
    fn a_quota_that_is_full_is_the_reason_why_a_creation_does_not_continue() {
        let reason = Some("Quota exceeded for cores: Requested 4, but already used 8 of 10 cores");
        let view = PorticoView::new(&cluster("CREATE_IN_PROGRESS", reason), None, NOW);
        assert!(view.blocked_reason.is_some(), "{view:?}");
    }
}
