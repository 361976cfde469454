//! Changes of node groups that wait: what is left of one with several requests, and one that was queued
//! behind the change that is running. They are read from the cluster's journal, as a replacement is, so that
//! each tab and each replica sees the same and can continue.
mod planned;
mod stored;
#[cfg(test)]
mod tests;

pub use stored::{DISCARD, QUEUE, REST};

use super::{
    planning::{self, call, outdated},
    request::{refusal_of, target_of},
};
use crate::{
    caller::{Caller, audit::note_journal},
    kube::ClusterSnapshot,
    service::{
        Services,
        error::ServiceError,
        lifecycle::{
            access::MagnumAccess,
            change::Sent,
            creation::step as plan_line,
            error,
            journal::{RequestContent, RequestOutcome, entries, last_request, no_journals},
            own,
            pods::PodSource,
            viewer::Viewer,
            words,
        },
    },
};
use app::error::UiErrorKind;
use jiff::Timestamp;
use planned::plan_of;
use portico_cluster_operations::target::Target;
use portico_domain::panel::lifecycle::{
    ChangeOutcome, ChangeQueue, NodeGroupChange, WaitingChange, WaitingState,
};
use portico_lifecycle::{
    rights::Call,
    status::{Activity, Phase, Status},
};
use portico_store::{JournalEntry, JournalKey, JournalSource, NewJournalEntry};
use stored::{Stored, open};
use uuid::Uuid;

/// Maximum length of the texts of a stored change, in characters.
const MAX_TEXT_CHARS: usize = 300;
/// Maximum length of a stored change, in bytes: the newest entries of a journal are read together.
const MAX_CONTENT_BYTES: usize = 64 * 1024;

/// Returns the change that Magnum carries out, and the one that waits.
///
/// # Errors
/// Those of [`super::node_groups()`]; `Unavailable` if the journal cannot be read. Without journals nothing
/// waits.
pub async fn queue_of(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
) -> Result<ChangeQueue, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let target = read(access, &viewer, cluster).await?;
    let entries = entries(access, &viewer, cluster).await?;
    Ok(view(&target, &viewer, &entries, services.clock.now()))
}

async fn read(
    access: &MagnumAccess,
    viewer: &Viewer,
    cluster: Uuid,
) -> Result<Target, ServiceError> {
    let found = own::cluster(&access.clients, viewer, cluster).await?;
    let target = Target::read(&access.clients, &viewer.token, &found).await;
    target.map_err(|error| error::of_service(&error))
}

/// Returns what the page shows, with the newest entries of the journal first.
fn view(target: &Target, viewer: &Viewer, entries: &[JournalEntry], now: Timestamp) -> ChangeQueue {
    let status = &target.cluster.status;
    let running = words::is_busy(status).then(|| {
        match last_request(entries, &viewer.user_id, now) {
            Some(request) => format!("Another change of the cluster is running: {request}."),
            // it may be of another client, or older than what the journal attributes; on Redis there is no journal
            None => format!(
                "Another change of the cluster is running ({status}). Portico has no recent record of a request \
                 for it."
            ),
        }
    });
    let waiting = open(entries).and_then(|stored| waiting(target, viewer, &stored));
    ChangeQueue { running, waiting }
}

/// Returns a change that waits; `None` if the cluster is as it is wanted.
fn waiting(target: &Target, viewer: &Viewer, stored: &Stored) -> Option<WaitingChange> {
    let change = &stored.change;
    let (steps, problem) = match plan_of(target, change) {
        Ok(plan) if plan.is_empty() => return None,
        Ok(plan) => {
            let differences = plan.immutable.first().map(|one| one.remedy.clone());
            (plan.steps, differences)
        }
        Err(problem) => (Vec::new(), Some(problem)),
    };
    let creator = target.cluster.user_id.as_deref();
    let group = target.group(change.group());
    let is_group_busy = group.is_some_and(|group| words::is_busy(&group.status));
    let state = if words::is_busy(&target.cluster.status) || is_group_busy {
        WaitingState::Settling
    } else {
        let refusal = viewer
            .refusal(call(change), creator)
            .or(problem)
            .or_else(|| outdated(target, change))
            .or_else(|| steps.iter().find_map(|step| step.refusal.clone()));
        refusal.map_or(WaitingState::Ready, WaitingState::Refused)
    };
    Some(WaitingChange {
        id: stored.id(),
        group: change.group().to_owned(),
        title: title(change),
        by: stored.request.user_name.clone(),
        reason: stored.request.reason.clone(),
        steps: steps.iter().map(plan_line).collect(),
        state,
    })
}

/// Returns a change in words.
fn title(change: &NodeGroupChange) -> String {
    let target = target_of(change);
    match change {
        NodeGroupChange::Create(_) => format!("Add {target}"),
        NodeGroupChange::Resize { .. } => format!("Resize {target}"),
        NodeGroupChange::Settings { .. } => format!("Change {target}"),
        NodeGroupChange::Delete { .. } => format!("Delete {target}"),
    }
}

/// Returns the number of requests of a change that may have several; 1 for others.
pub async fn number_of_steps(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
    change: &NodeGroupChange,
) -> usize {
    let may_have_several = match change {
        NodeGroupChange::Resize { min, max, .. } => min.is_some() || max.is_some(),
        NodeGroupChange::Settings { .. } => true,
        NodeGroupChange::Create(_) | NodeGroupChange::Delete { .. } => false,
    };
    if !may_have_several {
        return 1;
    }
    let steps = async {
        let access = services.magnum().ok()?;
        let viewer = access.viewer(caller).await.ok()?;
        let target = read(access, &viewer, cluster).await.ok()?;
        Some(plan_of(&target, change).ok()?.steps.len())
    };
    steps.await.unwrap_or(1)
}

/// Records what is left of a change after one of its requests was sent. A failure is logged: the page that
/// has sent it continues nevertheless.
pub async fn record_rest(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
    change: &NodeGroupChange,
    (steps, reason): (usize, &str),
) {
    let stored = stored(caller, REST, change, (steps, reason));
    if let Err(error) = append(services, caller, cluster, &stored).await {
        tracing::warn!(
            cluster_id = %cluster,
            error = error.message,
            "what is left of a change is not in the journal"
        );
    }
}

/// Queues a change behind the one that is running. It is sent when a page continues it.
///
/// # Errors
/// Those of [`super::node_groups()`]; `Unavailable` without a journal. Refusals are in the answer.
pub async fn queue(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
    change: &NodeGroupChange,
    reason: &str,
) -> Result<ChangeOutcome, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let target = read(access, &viewer, cluster).await?;
    let known = entries(access, &viewer, cluster).await?;
    let first = open(&known).and_then(|stored| waiting(&target, &viewer, &stored));
    let source = PodSource::Kubernetes {
        services,
        clusters,
        caller,
    };
    let acceptable = acceptable(access, &viewer, &target, change, first.as_ref(), source);
    let steps = match acceptable.await {
        Ok(steps) => steps,
        Err(refused) => return Ok(refused),
    };
    let stored = stored(caller, QUEUE, change, (steps, reason));
    append(services, caller, cluster, &stored).await?;
    Ok(ChangeOutcome::Accepted)
}

/// Returns the number of requests of a change that can be queued; else why it is refused.
async fn acceptable(
    access: &MagnumAccess,
    viewer: &Viewer,
    target: &Target,
    change: &NodeGroupChange,
    first: Option<&WaitingChange>,
    source: PodSource<'_>,
) -> Result<usize, ChangeOutcome> {
    if let NodeGroupChange::Delete { group, typed } = change
        && typed != group
    {
        let reason = format!("The typed name is not that of the node group, {group}.");
        return Err(Sent::refused(reason).outcome);
    }
    if let Some(first) = first {
        let reason = format!(
            "Another change waits already: {}. Continue or discard it first.",
            first.title
        );
        return Err(Sent::refused(reason).outcome);
    }
    if let Some(reason) = outdated(target, change) {
        return Err(Sent::outdated(reason).outcome);
    }
    // as it is when the running change has finished
    let mut settled = target.clone();
    settled.cluster.status = Status::Known(Activity::Update, Phase::Complete);
    let planned = planning::plan(&access.clients, viewer, &settled, change, source).await;
    if let Some(reason) = refusal_of(&planned, change) {
        return Err(Sent::refused(reason).outcome);
    }
    Ok(planned.plan.steps.len())
}

/// Returns the change that waits and its reason, to continue it; `None` if another one than that with this ID
/// waits, or none.
///
/// # Errors
/// `Unavailable` if there is no journal, or it cannot be read.
pub async fn next(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
    id: &str,
) -> Result<Option<(NodeGroupChange, String)>, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let entries = entries(access, &viewer, cluster).await?;
    let stored = open(&entries).filter(|stored| stored.id() == id);
    Ok(stored.map(|stored| (stored.change, stored.request.reason.unwrap_or_default())))
}

/// Records that the change with this ID is not continued, if it waits; nothing is sent, and what was done
/// stays.
///
/// # Errors
/// `NotPermitted` for users who may not change the cluster; else those of [`next`].
pub async fn discard(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
    id: &str,
) -> Result<(), ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let found = own::cluster(&access.clients, &viewer, cluster).await?;
    let creator = Some(found.user_id.as_str()).filter(|id| !id.is_empty());
    if let Some(refusal) = viewer.refusal(Call::ChangeNodeGroup, creator) {
        return Err(ServiceError::not_permitted(refusal));
    }
    let entries = entries(access, &viewer, cluster).await?;
    let Some(open) = open(&entries).filter(|stored| stored.id() == id) else {
        return Ok(());
    };
    let discarded = stored(caller, DISCARD, &open.change, (open.steps, ""));
    append(services, caller, cluster, &discarded).await
}

fn stored(
    caller: &Caller,
    action: &str,
    change: &NodeGroupChange,
    (steps, reason): (usize, &str),
) -> Stored {
    let user = &caller.identity().user;
    let cut = |text: &str| text.chars().take(MAX_TEXT_CHARS).collect::<String>();
    let reason = Some(reason.trim()).filter(|text| !text.is_empty());
    Stored {
        request: RequestContent {
            action: action.to_owned(),
            target: cut(&target_of(change)),
            user_id: user.id.clone(),
            user_name: user.name.clone(),
            // that of the request whose rest it is would make them one
            request_id: None,
            reason: reason.map(cut),
            outcome: RequestOutcome::Accepted,
            answer: None,
        },
        change: change.clone(),
        steps,
    }
}

async fn append(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
    stored: &Stored,
) -> Result<(), ServiceError> {
    let access = services.magnum()?;
    let store = access.feeds.journal().store().ok_or_else(no_journals)?;
    let project = caller.project().ok_or_else(no_journals)?;
    let key = JournalKey {
        project_id: project.id.clone(),
        cluster,
    };
    let content = serde_json::to_string(stored).unwrap_or_default();
    if content.len() > MAX_CONTENT_BYTES {
        return Err(ServiceError::invalid(
            "The change is too large to wait. Send it when the running change has finished.",
        ));
    }
    let entry = NewJournalEntry {
        source: JournalSource::Request,
        content,
    };
    let journal = store.cluster_journal();
    match journal.append(&key, &entry, services.clock.now()).await {
        Ok(head) => {
            note_journal(caller, head.sequence, &head.hash);
            Ok(())
        }
        Err(error) => {
            tracing::error!(%error, cluster_id = %cluster, "a waiting change was not recorded");
            Err(ServiceError::new(
                UiErrorKind::Unavailable,
                "Portico cannot record the change in the cluster's journal.",
            )
            .next("Try again in a minute."))
        }
    }
}
