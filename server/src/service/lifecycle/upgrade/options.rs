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
use portico_cluster_operations::{Clients, inside::Inside, settling, upgrades};
use portico_domain::{
    identity::Named,
    panel::lifecycle::{
        ClusterAction, LabelDifference, UpgradeOptions, UpgradeReview, UpgradeSelection,
    },
};
use portico_lifecycle::{
    capabilities::{Feature, capability},
    model::Template,
    plan::{UpgradeChoice, is_patch, label_changes, upgrade_with},
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
    choice: &UpgradeChoice,
) -> Result<UpgradeOptions, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let inside = match template {
        Some(_) => inside::read(services, clusters, caller, cluster).await,
        None => Inside::not_checked("No template is chosen."),
    };
    let target = template.map(|template| (template, choice));
    let now = services.clock.now();
    read(&access.clients, &viewer, cluster, target, &inside, now).await
}

/// Does the same with the clients of a cloud. `inside` is what runs in the cluster, `chosen` the template and
/// what of the cluster is upgraded.
///
/// # Errors
/// As [`options()`].
pub async fn read(
    clients: &Clients,
    viewer: &Viewer,
    cluster: Uuid,
    chosen: Option<(Uuid, &UpgradeChoice)>,
    inside: &Inside,
    now: Timestamp,
) -> Result<UpgradeOptions, ServiceError> {
    let examined = Examination::read(clients, viewer, cluster, now).await?;
    let target = chosen.and_then(|(id, choice)| Some((examined.target(id, choice)?, choice)));
    let review = match target {
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
        groups: examined.single_groups(),
        has_batch_size: examined.has_batch_size(),
        upgrade: managed::offer(ClusterAction::Upgrade, refused),
        is_busy: words::is_busy(&present.status),
        needs_settling: settling::is_needed(&present.status),
        review: review.map(Box::new),
        gaps: examined.gaps,
        read_at: now.as_second(),
    })
}

async fn review(
    clients: &Clients,
    viewer: &Viewer,
    examined: &Examination,
    (target, choice): (&Template, &UpgradeChoice),
    inside: &Inside,
) -> Option<UpgradeReview> {
    let (cluster, cloud) = (&examined.cluster, examined.cloud);
    let step = upgrade_with(cluster, &examined.groups, target, cloud, choice)?;
    let present = examined.present(inside, choice);
    let checks = upgrades::checks(clients, &viewer.token, present, target).await;
    let labels = match choice.group {
        // the template stays
        Some(_) => Vec::new(),
        None => label_changes(cluster, target, cloud),
    };
    let mut view = examined.target_view(target)?;
    view.refusal = view.refusal.or(step.refusal);
    Some(UpgradeReview {
        target: view,
        selection: UpgradeSelection {
            group: choice.group.clone(),
            max_batch_size: choice.max_batch_size,
        },
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
        needs_name: !is_patch(cluster, target, cloud, choice),
    })
}
