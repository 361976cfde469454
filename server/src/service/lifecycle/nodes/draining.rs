//! The drain of a node before it is removed: cordon it, and evict its pods as PodDisruptionBudgets permit.
//!
//! That it was begun, and when, is in the cluster's journal, and how far it is in Kubernetes: a page that is
//! opened later shows it and can continue it. The evictions are those of [`object::drain`]: each request
//! evicts a few pods, so that a drain runs only while its user is there. After [`TIME_LIMIT`] nothing is
//! evicted any longer, until the user begins again.
mod begin;
mod request;
#[cfg(test)]
mod tests;

pub use begin::{DrainBegun, begin_drain};
pub use request::DrainRequest;

use super::{
    reading::{Found, find},
    removal::{name_of, node_with},
    replacement::is_present,
};
use crate::{
    caller::{
        Caller,
        audit::{self, Outcome},
    },
    kube::{Api, ClusterSnapshot},
    service::{
        Services,
        error::ServiceError,
        lifecycle::{
            access::MagnumAccess,
            inside::UserApi,
            journal::{RequestContent, timed_requests},
            own, pods,
            viewer::Viewer,
        },
        object::{self, state_change},
    },
};
use app::error::UiErrorKind;
use jiff::{SignedDuration, Timestamp};
use portico_cluster_operations::inside;
use portico_domain::panel::{
    DrainOptions, DrainProgress, DrainState, ObjectRef, ResourceRef, StateChange,
    lifecycle::{NodeDrain, NodeDrainStage},
};
use portico_lifecycle::{placement::names, plan::ChosenNode, preflight::Reading, rights::Call};
use std::time::Duration;
use uuid::Uuid;

/// The action of its requests in the journal and in the audit log.
pub const DRAIN: &str = "drain_node";
/// How long pods are evicted after a drain was begun.
const TIME_LIMIT: SignedDuration = SignedDuration::from_mins(10);
/// How long to wait for the API server when the page only shows a drain.
const PATIENCE: Duration = Duration::from_secs(8);

/// A drain that was begun and not stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenDrain {
    pub request: DrainRequest,
    pub begun_at: Timestamp,
}

impl OpenDrain {
    fn ends_at(&self) -> Timestamp {
        self.begun_at
            .checked_add(TIME_LIMIT)
            .unwrap_or(Timestamp::MAX)
    }
}

/// Returns the drain of a cluster that was begun and not stopped; the node may have left since. `except` is
/// the ID of a request that is left out.
///
/// # Errors
/// `Unavailable` if there is no journal, or it cannot be read.
pub async fn open(
    access: &MagnumAccess,
    viewer: &Viewer,
    cluster: Uuid,
    except: Option<&str>,
) -> Result<Option<OpenDrain>, ServiceError> {
    let requests = timed_requests(access, viewer, cluster, DRAIN, except).await?;
    Ok(open_among(&requests))
}

/// Returns the drain that was begun and not stopped, of requests of which the newest are first.
fn open_among(requests: &[(Timestamp, RequestContent)]) -> Option<OpenDrain> {
    let mut sent = requests.iter().filter_map(|(at, request)| {
        let parsed = request.target.parse::<DrainRequest>().ok();
        let open = OpenDrain {
            request: parsed?,
            begun_at: *at,
        };
        request.outcome.may_have_effect().then_some(open)
    });
    sent.next().filter(|last| !last.request.is_stop)
}

/// Returns what the drain of a node is about, for the journal, before it is begun.
///
/// # Errors
/// Those of [`super::nodes()`]; `Invalid` if the cluster has no such node.
pub async fn planned_drain(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
    server: &str,
) -> Result<DrainRequest, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let found = find(&access.clients, &viewer, cluster).await?;
    let node = node_with(&found, server).map_err(ServiceError::invalid)?;
    Ok(DrainRequest {
        is_stop: false,
        server: server.to_owned(),
        name: name_of(node, server).to_owned(),
    })
}

/// Evicts some more pods of the node on a server, if it is being drained and the time is not over, and returns
/// how far it is.
///
/// # Errors
/// `NotFound` if its drain was not begun, or was stopped; else as [`begin_drain`].
pub async fn continue_drain(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
    (server, options): (&str, DrainOptions),
) -> Result<NodeDrain, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let found = own::cluster(&access.clients, &viewer, cluster).await?;
    let creator = Some(found.user_id.as_str()).filter(|id| !id.is_empty());
    if let Some(refusal) = viewer.refusal(Call::ResizeCluster, creator) {
        return Err(ServiceError::not_permitted(refusal));
    }
    let open = open(access, &viewer, cluster, None).await?;
    // what the user accepts to lose is about this node
    let open = open.filter(|open| open.request.server == server);
    let open =
        open.ok_or_else(|| ServiceError::not_found("The drain of this node was stopped."))?;
    let (api, _) = services.api_among(clusters, caller, cluster).await?;
    let (node, now) = (open.request.node(), services.clock.now());
    if now < open.ends_at() {
        let progress = step(caller, &api, &node, options).await?;
        return Ok(view(&open, &Ok(progress), &[], now));
    }
    let progress = plan(&api, &node, options).await?;
    let budgets = budgets(&api, &progress).await;
    Ok(view(&open, &Ok(progress), &budgets, now))
}

/// Returns how far the drain of a cluster is, for its page; nothing if none was begun, or the node has left.
pub async fn shown(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    (access, viewer): (&MagnumAccess, &Viewer),
    found: &Found,
) -> Option<NodeDrain> {
    let cluster = found.target.uuid;
    // without a journal none can be begun
    let open = open(access, viewer, cluster, None).await.ok().flatten()?;
    if !is_present(found, &open.request.server) {
        return None;
    }
    let reading = async {
        let opened = services.api_among(clusters, caller, cluster).await;
        let (api, _) = opened.map_err(|error| error.message)?;
        let node = open.request.node();
        let plan = plan(&api, &node, DrainOptions::default()).await;
        let plan = plan.map_err(|error| error.message)?;
        let budgets = budgets(&api, &plan).await;
        Ok::<_, String>((plan, budgets))
    };
    let read = tokio::time::timeout(PATIENCE, reading).await;
    let read = read.unwrap_or_else(|_| Err("The API server did not respond in time.".to_owned()));
    let (progress, budgets) = match read {
        Ok((progress, budgets)) => (Ok(progress), budgets),
        Err(reason) => (Err(reason), Vec::new()),
    };
    Some(view(&open, &progress, &budgets, services.clock.now()))
}

/// Stops a drain whose end is recorded. The node stays cordoned, unless it is to take pods again.
///
/// # Errors
/// As [`begin_drain`].
pub async fn stop_drain(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
    (request, uncordon): (&DrainRequest, bool),
) -> Result<(), ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let found = own::cluster(&access.clients, &viewer, cluster).await?;
    let creator = Some(found.user_id.as_str()).filter(|id| !id.is_empty());
    if let Some(refusal) = viewer.refusal(Call::ResizeCluster, creator) {
        return Err(ServiceError::not_permitted(refusal));
    }
    if !uncordon {
        return Ok(());
    }
    let (api, _) = services.api_among(clusters, caller, cluster).await?;
    let (node, uid) = object_of(&api, &request.node()).await?;
    let answer = state_change::change(&api, &node, &uid, StateChange::Uncordon).await;
    let outcome = match &answer {
        Ok(_) => Outcome::Done,
        Err(error) if error.kind == UiErrorKind::NotPermitted => Outcome::Refused,
        Err(_) => Outcome::Failed,
    };
    let target = audit::target(&node);
    audit::record(caller, "uncordon", cluster, &target, outcome);
    answer.map(|_| ())
}

/// Returns the drain that was begun and not stopped, for the journal.
///
/// # Errors
/// Those of [`super::nodes()`]; `Unavailable` without a journal.
pub async fn running_drain(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
) -> Result<Option<DrainRequest>, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let open = open(access, &viewer, cluster, None).await?;
    Ok(open.map(|open| open.request))
}

async fn step(
    caller: &Caller,
    api: &Api,
    node: &ChosenNode,
    options: DrainOptions,
) -> Result<DrainProgress, ServiceError> {
    let (node, uid) = object_of(api, node).await?;
    object::drain::step(caller, api, &node, &uid, options).await
}

async fn plan(
    api: &Api,
    node: &ChosenNode,
    options: DrainOptions,
) -> Result<DrainProgress, ServiceError> {
    let (node, _) = object_of(api, node).await?;
    object::drain::plan(api, &node, options).await
}

/// Returns the budgets that may hold back the pods that have not left: those of their namespaces that permit
/// no disruption now. None if they cannot be read.
async fn budgets(api: &Api, progress: &DrainProgress) -> Vec<String> {
    if progress.is_done() {
        return Vec::new();
    }
    let Reading::Known(mut budgets) = inside::blocking_budgets(&UserApi(api.clone())).await else {
        return Vec::new();
    };
    budgets.retain(|budget| {
        let leaving = progress.pods.iter();
        let mut leaving = leaving.filter(|pod| pod.state != DrainState::Stays);
        let namespace = budget.split_once('/').map(|(namespace, _)| namespace);
        leaving.any(|pod| Some(pod.namespace.as_str()) == namespace)
    });
    budgets
}

/// Returns the node in Kubernetes of a server, with its UID.
async fn object_of(api: &Api, node: &ChosenNode) -> Result<(ObjectRef, String), ServiceError> {
    let found = pods::node_of(api, node).await;
    let found = found.map_err(ServiceError::conflict)?;
    let text = |key: &str| {
        let value = found["metadata"][key].as_str();
        value.unwrap_or_default().to_owned()
    };
    let object = ObjectRef {
        resource: ResourceRef::core("nodes"),
        namespace: None,
        name: text("name"),
    };
    Ok((object, text("uid")))
}

/// Returns what the page shows of a drain; `budgets` are those that may hold pods back.
pub fn view(
    open: &OpenDrain,
    progress: &Result<DrainProgress, String>,
    budgets: &[String],
    now: Timestamp,
) -> NodeDrain {
    let DrainRequest { server, name, .. } = &open.request;
    let (stage, text) = match progress {
        Err(reason) => {
            let text = format!("How far the drain is, is not known. {reason}");
            (NodeDrainStage::Unknown, text)
        }
        Ok(progress) => stage(name, progress, budgets, now >= open.ends_at()),
    };
    let pods = progress.as_ref().map(|progress| {
        let leaving = progress.pods.iter();
        let leaving = leaving.filter(|pod| pod.state != DrainState::Stays);
        leaving.cloned().collect()
    });
    NodeDrain {
        name: name.clone(),
        server: server.clone(),
        stage,
        text,
        ends_at: open.ends_at().as_second(),
        pods: pods.unwrap_or_default(),
    }
}

fn stage(
    name: &str,
    progress: &DrainProgress,
    budgets: &[String],
    is_over: bool,
) -> (NodeDrainStage, String) {
    let of = |state: DrainState| {
        let pods = progress.pods.iter().filter(|pod| pod.state == state);
        pods.map(|pod| format!("{}/{}", pod.namespace, pod.name))
            .collect::<Vec<_>>()
    };
    if progress.is_done() {
        let text = format!("{name} is drained: only pods that belong to it are left.");
        return (NodeDrainStage::Drained, text);
    }
    if progress.is_stuck() {
        let text = format!(
            "These pods stay until you decide, for the reason named with each: {}.",
            names(&of(DrainState::NeedsUser))
        );
        return (NodeDrainStage::NeedsUser, text);
    }
    let blocked = of(DrainState::Blocked);
    let remaining = progress.remaining();
    let budgets = match (blocked.is_empty(), budgets.is_empty()) {
        (false, _) => format!(" PodDisruptionBudgets hold back {}.", names(&blocked)),
        (true, false) => format!(
            " These PodDisruptionBudgets permit no disruption now: {}.",
            names(budgets)
        ),
        (true, true) => String::new(),
    };
    if is_over {
        let text = format!(
            "{name} was not drained within {} minutes, and nothing is evicted any longer: {remaining} pods \
             are left.{budgets}",
            TIME_LIMIT.as_mins()
        );
        return (NodeDrainStage::TimedOut, text);
    }
    let text = format!("{remaining} pods have to leave {name}.{budgets}");
    (NodeDrainStage::Draining, text)
}
