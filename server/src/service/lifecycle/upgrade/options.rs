//! What a cluster can be upgraded to, and what the upgrade to one template would do.
use super::{
    examination::{Examination, refusal},
    inside,
};
use crate::{
    caller::Caller,
    kube::ClusterSnapshot,
    service::{
        Services,
        error::ServiceError,
        lifecycle::{creation::plain_check, managed, viewer::Viewer, words},
    },
};
use jiff::Timestamp;
use portico_cluster_operations::{
    Clients, settling,
    upgrades::{self, Inside},
};
use portico_domain::{
    identity::Named,
    panel::lifecycle::{ClusterAction, LabelDifference, UpgradeOptions, UpgradeReview},
};
use portico_lifecycle::{
    capabilities::{Feature, capability},
    model::Template,
    plan::{label_changes, upgrade_to},
};
use uuid::Uuid;

/// Returns the templates to which a cluster can be upgraded, and what the upgrade to one of them would do.
///
/// # Errors
/// `NotFound` if the project has no such cluster; else those of [`crate::service::lifecycle::list()`].
pub async fn options(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
    template: Option<Uuid>,
) -> Result<UpgradeOptions, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let inside = match template {
        Some(_) => inside::read(services, clusters, caller, cluster).await,
        None => Inside::default(),
    };
    read(&access.clients, &viewer, cluster, template, &inside).await
}

/// Does the same with the clients of a cloud. `inside` is what runs in the cluster.
///
/// # Errors
/// As [`options()`].
pub async fn read(
    clients: &Clients,
    viewer: &Viewer,
    cluster: Uuid,
    template: Option<Uuid>,
    inside: &Inside,
) -> Result<UpgradeOptions, ServiceError> {
    let examined = Examination::read(clients, viewer, cluster).await?;
    let review = match template.and_then(|id| examined.target(id)) {
        Some(target) => review(clients, viewer, &examined, target, inside).await,
        None => None,
    };
    let present = &examined.cluster;
    let refused = refusal(viewer, present, Some(examined.cloud));
    let name = examined.template.as_ref().map(|one| one.name.clone());
    Ok(UpgradeOptions {
        cluster: Named {
            id: present.uuid.clone(),
            name: present.name.clone(),
        },
        version: managed::version(&examined.found),
        template: Named {
            id: present.template.clone(),
            name: name.unwrap_or_else(|| present.template.clone()),
        },
        driver: words::driver(present.driver),
        targets: examined.targets(),
        upgrade: managed::offer(ClusterAction::Upgrade, refused),
        needs_settling: settling::is_needed(&present.status),
        review: review.map(Box::new),
        gaps: examined.gaps,
        read_at: Timestamp::now().as_second(),
    })
}

async fn review(
    clients: &Clients,
    viewer: &Viewer,
    examined: &Examination,
    target: &Template,
    inside: &Inside,
) -> Option<UpgradeReview> {
    let (cluster, cloud) = (&examined.cluster, examined.cloud);
    let step = upgrade_to(cluster, target, cloud)?;
    let present = examined.present(inside);
    let checks = upgrades::checks(clients, &viewer.token, present, target).await;
    let labels = label_changes(cluster, target, cloud);
    Some(UpgradeReview {
        target: examined.target_view(target)?,
        effect: step.effect,
        labels: labels
            .into_iter()
            .map(|change| LabelDifference {
                key: change.key,
                present: change.present,
                target: change.target,
                is_applied: change.is_applied,
            })
            .collect(),
        labels_rule: capability(cluster.driver, cloud, Feature::TemplateLabelsOnUpgrade).reason,
        checks: checks.0.iter().map(plain_check).collect(),
    })
}
