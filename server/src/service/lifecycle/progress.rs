//! The running operation of a cluster, read by one poller for all of its viewers.
use super::{
    card,
    conductor::has_conductor,
    enrolment_state::{self, Examined},
    error,
    feeds::{Accepted, View},
    managed::{self, Known},
    node_progress,
    origin::{self, Origin},
    viewer::Viewer,
};
use crate::{
    caller::Caller,
    kube::ClusterSnapshot,
    service::{Services, error::ServiceError},
};
use jiff::{SignedDuration, Timestamp};
use portico_cluster_operations::{Clients, conductor::NO_CONDUCTOR};
use portico_domain::panel::lifecycle::{
    ClusterProgress, EnrolmentState, NodeProgress, Operation, ProgressOutcome, ProgressStep,
    ProgressUpdate, StepState,
};
use portico_lifecycle::progress::{
    Outcome, ProgressReport, StepReport, StepState as EngineState, Typical,
};
use serde::Serialize;
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// Number of bytes of a version.
const VERSION_BYTES: usize = 12;

/// Returns a cluster and its running operation, if that differs from the version that the page has.
/// Viewers that ask within the poll interval share one request to Magnum, made with the token of one of
/// them; a viewer of another project or without `cluster:get` gets nothing of it.
///
/// # Errors
/// `NotFound` if the project has no such cluster and none was deleted recently; else those of
/// [`super::list()`]. While Magnum does not answer, the last state is returned, marked as outdated.
pub async fn progress(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
    version: Option<&str>,
) -> Result<ProgressUpdate, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let looked = match version {
        None => access.feeds.look_anew(&viewer, cluster).await,
        Some(_) => access.feeds.look(&viewer, cluster).await,
    };
    let view = looked.map_err(|error| {
        if error.is_not_found() {
            no_such_cluster()
        } else {
            error::of_service(&error)
        }
    })?;
    let creations = origin::creations(access, viewer.project_id()).await;
    let origin = origin::of(&view.cluster, creations.as_ref(), services.clock.now());
    let examined = Examined {
        cluster: &view.cluster,
        origin,
        deadline: None,
    };
    let enrolment = enrolment_state::of(services, clusters, caller, &viewer, examined).await;
    let typical = access.feeds.durations().typical(&view.model.template);
    let now = services.clock.now();
    let callers = (caller, &viewer);
    let beside = Beside {
        enrolment,
        origin,
        nodes: node_progress::of(services, access, clusters, callers, cluster, &view).await,
    };
    let mut content = content(&view, &viewer, beside, &typical, now);
    name_missing_conductor(&access.clients, &viewer, &mut content).await;
    let is_known = version == Some(content.version.as_str());
    Ok(ProgressUpdate {
        now: now.as_second(),
        observed_at: view.observed_at.as_second(),
        poll_millis: view.poll_millis,
        refresh_millis: view.refresh_millis,
        outdated: view.outdated,
        changed: (!is_known).then(|| Box::new(content)),
    })
}

/// Follows a request that the caller has sent just now and Magnum has accepted, so that its page reports if
/// Magnum does not act on it. Another replica follows it from what the state of the cluster shows.
pub async fn follow(services: &Services, caller: &Caller, cluster: Uuid, request: &Accepted) {
    let Ok(access) = services.magnum() else {
        return;
    };
    if let Ok(viewer) = access.viewer(caller).await {
        access.feeds.accepted(&viewer, cluster, request).await;
    }
}

/// Returns that the caller's project has no such cluster.
pub fn no_such_cluster() -> ServiceError {
    ServiceError::not_found("This project has no such cluster.")
        .next("Open the list of clusters: it may have been deleted, or belongs to another project.")
}

/// What the page shows besides the poller's answer, which depends on the viewer.
struct Beside {
    enrolment: EnrolmentState,
    origin: Origin,
    nodes: Option<NodeProgress>,
}

/// Returns what the page shows.
fn content(
    view: &View,
    viewer: &Viewer,
    beside: Beside,
    typical: &Typical,
    now: Timestamp,
) -> ClusterProgress {
    let following = view.following.as_ref();
    let report = following.map(|one| one.report(now, typical));
    let is_deletion = following.is_some_and(|one| one.is_deletion());
    let outcome = match &report {
        Some(report) => outcome(report, is_deletion),
        None if view.is_gone => ProgressOutcome::Disappeared,
        None => ProgressOutcome::Succeeded,
    };
    let known = Known {
        cluster: &view.cluster,
        model: &view.model,
        template_name: view.template_name.as_deref(),
        enrolment: beside.enrolment,
        origin: beside.origin,
        remaining: &view.remaining,
        cloud: view.cloud,
        is_gone: view.is_gone,
    };
    let failed = failed_step(report.as_ref());
    let (position, _) = report.as_ref().map_or((0, 0), ProgressReport::position);
    let mut content = ClusterProgress {
        version: String::new(),
        cluster: managed::row(known, viewer, now),
        groups: view.groups.iter().map(managed::group_row).collect(),
        operation: following.map_or(Operation::None, |one| one.operation()),
        failure: needs_card(&outcome)
            .then(|| card::card(&view.model, &view.groups, failed.as_deref()))
            .flatten(),
        outcome,
        position,
        percent: report.as_ref().and_then(|report| report.percent),
        since: following.map(|one| one.since().as_second()),
        stalled: report.as_ref().and_then(|report| report.stalled.clone()),
        steps: report
            .iter()
            .flat_map(|report| &report.steps)
            .map(step)
            .collect(),
        remaining: view.remaining.clone(),
        nodes: beside.nodes,
    };
    content.version = version_of(&content);
    content
}

/// Adds to a request on which Magnum does not act that no conductor answers, where the user may know it.
async fn name_missing_conductor(clients: &Clients, viewer: &Viewer, content: &mut ClusterProgress) {
    let ProgressOutcome::NotActedOn(text) = &mut content.outcome else {
        return;
    };
    if has_conductor(clients, viewer).await == Some(false) {
        text.push(' ');
        text.push_str(NO_CONDUCTOR);
        content.version = version_of(&*content);
    }
}

/// Returns a version of a content: the same content has the same in every replica.
fn version_of<T: Serialize>(content: &T) -> String {
    // it has no maps with keys that JSON cannot write
    let json = serde_json::to_vec(content).unwrap_or_default();
    let digest = Sha256::digest(json);
    digest
        .iter()
        .take(VERSION_BYTES)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn outcome(report: &ProgressReport, is_deletion: bool) -> ProgressOutcome {
    match &report.outcome {
        Outcome::Running => ProgressOutcome::Running,
        Outcome::Blocked(text) => ProgressOutcome::Blocked(text.clone()),
        Outcome::Succeeded if is_deletion => ProgressOutcome::Disappeared,
        Outcome::Succeeded => ProgressOutcome::Succeeded,
        Outcome::Failed => ProgressOutcome::Failed,
        Outcome::NotActedOn(text) => ProgressOutcome::NotActedOn(text.clone()),
        Outcome::Unconfirmed(text) => ProgressOutcome::Unconfirmed(text.clone()),
        Outcome::Disappeared => ProgressOutcome::Disappeared,
    }
}

fn needs_card(outcome: &ProgressOutcome) -> bool {
    matches!(
        outcome,
        ProgressOutcome::Failed | ProgressOutcome::Blocked(_)
    )
}

/// Returns the title of the step that failed or is blocked.
fn failed_step(report: Option<&ProgressReport>) -> Option<String> {
    let stopped = |step: &&StepReport| {
        matches!(
            step.state,
            EngineState::Failed { .. } | EngineState::Blocked { .. }
        )
    };
    report?
        .steps
        .iter()
        .find(stopped)
        .map(|step| step.name.title())
}

fn step(step: &StepReport) -> ProgressStep {
    ProgressStep {
        title: step.name.title(),
        state: match step.state {
            EngineState::Pending => StepState::Pending,
            EngineState::Running { since } => StepState::Running {
                since: since.as_second(),
            },
            EngineState::Blocked { since } => StepState::Blocked {
                since: since.as_second(),
            },
            EngineState::Failed { since } => StepState::Failed {
                since: since.as_second(),
            },
            EngineState::Done { took } => StepState::Done {
                seconds: seconds(took),
            },
        },
        reason: step.reason.clone(),
        explanation: step.explanation.clone(),
        usual_seconds: step.typical.map(seconds),
    }
}

fn seconds(duration: SignedDuration) -> u64 {
    u64::try_from(duration.as_secs()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::{fixtures, following::Following, stand_in::creating, viewer::tests::viewer};
    use super::*;
    use portico_clock::Clock;
    use portico_cluster_operations::{Drivers, mapping};
    use portico_openstack::magnum;
    use serde_json::json;
    use std::sync::Arc;

    fn view(cluster: magnum::Cluster, now: Timestamp) -> View {
        let model = mapping::cluster(&cluster, None, &Drivers::default());
        let mut following = Following::next(None, &model, None, now);
        if let Some(following) = &mut following {
            following.look(Some(&model), Some(&[]), now);
        }
        View {
            cluster: Arc::new(cluster),
            model: Arc::new(model),
            template_name: Some("small".to_owned()),
            groups: Arc::default(),
            following,
            remaining: Vec::new(),
            cloud: None,
            inspection: None,
            is_gone: false,
            observed_at: now,
            outdated: None,
            poll_millis: 2_000,
            refresh_millis: None,
        }
    }

    fn shown(view: &View, user: &str, now: Timestamp) -> ClusterProgress {
        let viewer = viewer(user, &["member"]);
        content(
            view,
            &viewer,
            Beside {
                enrolment: EnrolmentState::WaitingForApi,
                origin: Origin::Portico,
                nodes: None,
            },
            &Typical::new(),
            now,
        )
    }

    #[test]
    fn the_version_changes_with_the_content_only() {
        let now = Clock::system().now();
        let cluster = serde_json::from_value(creating()).unwrap();
        let creating = view(cluster, now);
        let first = shown(&creating, "ada", now);
        assert_eq!(first.operation, Operation::Creation);
        assert_eq!(first.outcome, ProgressOutcome::Running);
        assert!(!first.steps.is_empty() && first.position > 0);
        let later = now + SignedDuration::from_secs(2);
        assert_eq!(first.version, shown(&creating, "ada", later).version);
        // another user may do something else
        assert_ne!(first.version, shown(&creating, "bob", now).version);
        let complete = view(fixtures::with("CREATE_COMPLETE", json!({})), now);
        assert_ne!(first.version, shown(&complete, "ada", now).version);
    }

    #[test]
    fn case_21_a_step_without_an_end_is_reported_as_stalled() {
        let now = Clock::system().now();
        let cluster = serde_json::from_value(creating()).unwrap();
        let stalled = shown(
            &view(cluster, now),
            "ada",
            now + SignedDuration::from_mins(25),
        );
        let text = stalled.stalled.unwrap();
        assert!(text.contains("25 minutes"), "{text}");
    }

    #[test]
    fn case_20_a_failed_creation_has_a_card_also_for_those_who_come_later() {
        let failed = fixtures::with(
            "CREATE_FAILED",
            json!({"status_reason": "Quota exceeded for cores: 20 of 20"}),
        );
        let now = Clock::system().now();
        let failed = shown(&view(failed, now), "ada", now);
        assert_eq!(failed.outcome, ProgressOutcome::Failed);
        let card = failed.failure.unwrap();
        assert!(
            card.what.starts_with("Creation failed at: "),
            "{}",
            card.what
        );
        assert!(card.why.contains("cores"), "{}", card.why);
    }

    #[test]
    fn nothing_runs_on_a_settled_cluster() {
        let now = Clock::system().now();
        let settled = view(fixtures::with("CREATE_COMPLETE", json!({})), now);
        let settled = shown(&settled, "ada", now);
        assert_eq!(settled.operation, Operation::None);
        assert!(settled.is_settled() && settled.steps.is_empty());
    }
}
