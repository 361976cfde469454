//! The steps of a creation that follow the cluster itself: further node groups, bounds, labels of nodes.
use super::attempt;
use crate::{
    caller::Caller,
    service::{
        Services,
        error::ServiceError,
        lifecycle::{error, progress::no_such_cluster},
    },
};
use app::error::UiErrorKind;
use jiff::Timestamp;
use portico_cluster_operations::{
    mapping as objects,
    steps::{self, StepError},
};
use portico_domain::panel::lifecycle::{PlannedStep, PlannedStepState};
use portico_lifecycle::{
    driver::Cloud,
    model::{Cluster, NodeGroup, Template},
    plan::{Action, PlanContext, Present, Step, plan},
    rights::Call,
    spec::ClusterDocument,
    status::{self, Operation},
};
use portico_store::{AttemptState, CreationAttempt, Store};
use std::collections::BTreeMap;
use uuid::Uuid;

/// Sends the next step of the plan of a creation, such as a further node group, once the cluster is
/// settled.
///
/// # Errors
/// `Conflict` while no step is ready; `Unavailable` with an unknown effect if the response was lost; else those
/// of [`crate::service::lifecycle::list()`].
pub async fn continue_creation(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
) -> Result<(), ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    if let Some(refusal) = viewer.refusal(Call::CreateNodeGroup, None) {
        return Err(ServiceError::not_permitted(refusal));
    }
    let Some(store) = access.attempts.store() else {
        return Err(attempt::no_storage());
    };
    let (clients, token) = (&access.clients, &viewer.token);
    let stored = of_cluster(&store, viewer.project_id(), cluster, services.clock.now()).await?;
    let document = stored.as_ref().and_then(document_of);
    let Some(document) = document else {
        return Err(nothing_remains());
    };
    let (found, groups, cloud) = tokio::join!(
        clients.magnum.cluster(token, cluster),
        clients.detailed_groups(token, cluster),
        clients.offer(token),
    );
    let found = found.map_err(|error| error::of_service(&error))?;
    if !viewer.is_of_project(&found) {
        return Err(no_such_cluster());
    }
    let groups = groups.map_err(|error| error::of_service(&error))?;
    let cloud = cloud.map_err(|error| error::of_service(&error))?;
    if let Some(cut) = groups.cut {
        let text = format!("The list of node groups is incomplete: {cut}.");
        return Err(ServiceError::new(UiErrorKind::Unavailable, text)
            .next("Try again in a minute: nothing was sent."));
    }
    let template = clients.template_of(token, &found).await;
    let template = template.map_err(|error| error::of_service(&error))?;
    let model = clients.model(&found, template.as_ref());
    let groups: Vec<_> = groups.items.iter().map(objects::detailed_group).collect();
    let remaining = remaining(&document, &model, &groups, cloud);
    let planned = planned(&remaining, &model);
    let (Some(step), Some(first)) = (remaining.first(), planned.first()) else {
        complete(&store, viewer.project_id(), cluster).await;
        return Err(nothing_remains());
    };
    match &first.state {
        PlannedStepState::Ready => {}
        PlannedStepState::Waiting => {
            return Err(ServiceError::conflict("The cluster is not settled yet.")
                .next("Wait until the running change has finished."));
        }
        PlannedStepState::Refused(reason) => return Err(ServiceError::conflict(reason.clone())),
    }
    let sent = steps::send(clients, token, &step.action, cluster).await;
    sent.map_err(|error| not_accepted(&error))?;
    if remaining.len() == 1 {
        complete(&store, viewer.project_id(), cluster).await;
    }
    Ok(())
}

/// Returns that Magnum did not accept a step, or that the response was lost.
fn not_accepted(error: &StepError) -> ServiceError {
    match error {
        StepError::Service(error) => error::of_change(
            error,
            "the next step of the creation",
            "Reload the page before you continue: the step may be running.",
        ),
        StepError::Request(_) => ServiceError::invalid(error::sentence(&error.to_string())),
        StepError::Resized { .. } => ServiceError::conflict(error::sentence(&error.to_string())),
    }
}

fn nothing_remains() -> ServiceError {
    ServiceError::conflict("Nothing of the plan of this cluster remains to be sent.")
        .next("Reload the page.")
}

async fn of_cluster(
    store: &Store,
    project_id: &str,
    cluster: Uuid,
    now: Timestamp,
) -> Result<Option<CreationAttempt>, ServiceError> {
    let attempts = store.creation_attempts();
    let found = attempts.of_cluster(project_id, cluster, now);
    found.await.map_err(|error| attempt::of_store(&error))
}

async fn complete(store: &Store, project_id: &str, cluster: Uuid) {
    let completed = store
        .creation_attempts()
        .complete(project_id, cluster)
        .await;
    if let Err(error) = completed {
        tracing::warn!(%error, cluster_id = %cluster, "a finished creation stays open");
    }
}

/// Returns the steps that remain of the stored creation of a cluster; none for one that was not created
/// here.
///
/// # Errors
/// If the store cannot be asked.
pub async fn stored_steps(
    store: &Store,
    project_id: &str,
    cluster: &Cluster,
    groups: &[NodeGroup],
    cloud: Cloud,
    now: Timestamp,
) -> Result<Vec<PlannedStep>, ServiceError> {
    let Ok(uuid) = cluster.uuid.parse() else {
        return Ok(Vec::new());
    };
    let stored = of_cluster(store, project_id, uuid, now).await?;
    let Some(document) = stored.as_ref().and_then(document_of) else {
        return Ok(Vec::new());
    };
    let remaining = remaining(&document, cluster, groups, cloud);
    // without its groups, a cluster is not complete
    if remaining.is_empty() && cluster.status.is_complete() && !groups.is_empty() {
        complete(store, project_id, uuid).await;
    }
    Ok(planned(&remaining, cluster))
}

/// Returns the specification of a creation of which something may remain.
fn document_of(stored: &CreationAttempt) -> Option<ClusterDocument> {
    match stored.state {
        AttemptState::Accepted(_) | AttemptState::Created(_) => {
            let value = serde_json::from_str(&stored.specification).ok()?;
            ClusterDocument::read(value).ok()
        }
        AttemptState::NotSent | AttemptState::Unknown | AttemptState::Complete(_) => None,
    }
}

/// Returns the steps from a new cluster to its specification. What a user has changed since, such as the
/// size of a group, is not changed back.
fn remaining(
    document: &ClusterDocument,
    cluster: &Cluster,
    groups: &[NodeGroup],
    cloud: Cloud,
) -> Vec<Step> {
    let template = template_of(cluster);
    let context = PlanContext {
        template: &template,
        cloud,
        prune: false,
    };
    let present = Present { cluster, groups };
    let mut steps = plan(Some(present), document, context).steps;
    steps.retain(|step| match step.action {
        Action::CreateGroup(_) | Action::SetBounds { .. } | Action::SetLabelsAndTaints(_) => true,
        Action::Create
        | Action::Resize { .. }
        | Action::RemoveNodes { .. }
        | Action::Upgrade { .. }
        | Action::DeleteGroup { .. } => false,
    });
    steps
}

/// Returns the cluster's own template as far as a plan without an upgrade needs it.
fn template_of(cluster: &Cluster) -> Template {
    Template {
        uuid: cluster.template.clone(),
        name: cluster.template.clone(),
        driver: cluster.driver,
        flavor: cluster.flavor.clone(),
        master_flavor: cluster.master_flavor.clone(),
        keypair: cluster.keypair.clone(),
        network: None,
        subnet: None,
        has_floating_ips: cluster.has_floating_ips,
        has_load_balancer: cluster.has_load_balancer,
        docker_volume_size: cluster.docker_volume_size,
        labels: BTreeMap::new(),
        image_version: None,
        distribution: None,
        network_driver: None,
        is_hidden: false,
        has_proxy: false,
    }
}

/// Returns how far each step is: only the first can be sent, and only to a settled cluster.
fn planned(steps: &[Step], cluster: &Cluster) -> Vec<PlannedStep> {
    let states = steps.iter().enumerate().map(|(index, step)| PlannedStep {
        effect: step.effect.clone(),
        state: if cluster.status.is_in_progress() {
            PlannedStepState::Waiting
        } else if let Some(refusal) = &step.refusal {
            PlannedStepState::Refused(refusal.clone())
        } else if index > 0 {
            PlannedStepState::Waiting
        } else {
            state(cluster, &step.action)
        },
    });
    states.collect()
}

fn state(cluster: &Cluster, action: &Action) -> PlannedStepState {
    let operation = match action {
        Action::CreateGroup(_) => Operation::CreateNodeGroup,
        _ => Operation::UpdateNodeGroup,
    };
    match status::check(&cluster.status, operation) {
        Ok(()) => PlannedStepState::Ready,
        Err(forbidden) => PlannedStepState::Refused(forbidden.reason),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::lifecycle::error::tests::failed;
    use portico_lifecycle::{
        driver::{ApiVersion, Driver, Evidence, Family},
        model::Bounds,
        status::Status,
    };
    use portico_openstack::{
        keystone::error::Unavailable,
        rest::{Effect, ErrorKind},
    };
    use serde_json::json;

    const CLOUD: Cloud = Cloud {
        api: ApiVersion(14),
        release: None,
    };

    fn document() -> ClusterDocument {
        ClusterDocument::read(json!({
            "apiVersion": "portico.dev/v1alpha1", "kind": "Cluster", "metadata": {"name": "shop"},
            "spec": {"template": "k8s", "nodeGroups": [
                {"name": "default-worker", "replicas": 2},
                {"name": "gpu", "replicas": 1},
                {"name": "batch", "replicas": 1}
            ]}
        }))
        .unwrap()
    }

    fn cluster(status: &str) -> Cluster {
        Cluster {
            uuid: "900e3758-8071-430e-a8cf-5c48f428dc0e".to_owned(),
            name: "shop".to_owned(),
            template: "f7617ea3-8060-4dd2-9479-e441e1a40404".to_owned(),
            driver: Driver {
                family: Family::ClusterApi,
                evidence: Evidence::TemplateField,
            },
            status: Status::parse(status),
            reason: None,
            faults: BTreeMap::new(),
            health: BTreeMap::new(),
            keypair: None,
            flavor: None,
            master_flavor: None,
            master_count: 1,
            network: None,
            subnet: None,
            has_floating_ips: false,
            has_load_balancer: false,
            docker_volume_size: None,
            labels: BTreeMap::new(),
            driver_id: None,
            api_address: None,
            version: None,
            user_id: None,
            created_at: None,
            updated_at: None,
        }
    }

    fn workers(name: &str, node_count: u32) -> NodeGroup {
        NodeGroup {
            uuid: format!("uuid-of-{name}"),
            name: name.to_owned(),
            role: "worker".to_owned(),
            is_default: name == "default-worker",
            flavor: None,
            node_count,
            bounds: Some(Bounds::default()),
            status: Status::parse("CREATE_COMPLETE"),
            reason: None,
            node_labels: BTreeMap::new(),
            node_taints: Vec::new(),
        }
    }

    fn steps_of(status: &str, groups: &[NodeGroup]) -> Vec<PlannedStep> {
        let cluster = cluster(status);
        let steps = remaining(&document(), &cluster, groups, CLOUD);
        planned(&steps, &cluster)
    }

    #[test]
    fn one_node_group_after_another_is_ready_when_the_cluster_is_settled() {
        let default = workers("default-worker", 2);
        let running = steps_of("CREATE_IN_PROGRESS", std::slice::from_ref(&default));
        assert_eq!(running.len(), 2);
        assert_eq!(running[0].state, PlannedStepState::Waiting);
        let settled = steps_of("CREATE_COMPLETE", std::slice::from_ref(&default));
        assert_eq!(settled[0].state, PlannedStepState::Ready);
        assert!(settled[0].effect.contains("gpu"), "{}", settled[0].effect);
        assert_eq!(settled[1].state, PlannedStepState::Waiting);
        let groups = [default, workers("gpu", 1), workers("batch", 1)];
        assert_eq!(steps_of("UPDATE_COMPLETE", &groups), []);
    }

    #[test]
    fn a_size_that_was_changed_since_is_not_changed_back() {
        let groups = [
            workers("default-worker", 5),
            workers("gpu", 3),
            workers("batch", 1),
        ];
        assert_eq!(steps_of("UPDATE_COMPLETE", &groups), []);
    }

    #[test]
    fn a_step_whose_response_is_lost_has_an_unknown_effect() {
        let mut lost = failed(ErrorKind::Unavailable(Unavailable::Timeout));
        lost.effect = Effect::Unknown;
        let described = not_accepted(&StepError::from(lost));
        assert_eq!(described.effect, Effect::Unknown);
        assert!(described.message.contains("was lost"), "{described}");
        let refused = failed(ErrorKind::Conflict("It is busy.".to_owned()));
        let described = not_accepted(&StepError::from(refused));
        assert_eq!(described.effect, Effect::None);
        assert_eq!(described.kind, UiErrorKind::Conflict);
    }

    #[test]
    fn a_failed_cluster_gets_no_further_group() {
        let found = steps_of("CREATE_FAILED", &[workers("default-worker", 2)]);
        let PlannedStepState::Refused(reason) = &found[0].state else {
            panic!("{found:?}");
        };
        assert!(reason.contains("CREATE_FAILED"), "{reason}");
    }
}
