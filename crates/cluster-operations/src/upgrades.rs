//! What an upgrade of a cluster depends on: the templates of the project, and the checks.
use crate::clients::Clients;
use crate::inside::{Inside, removed_by};
use crate::mapping;
use crate::usages::{flavors, usages};
use portico_lifecycle::driver::{Cloud, Family};
use portico_lifecycle::model::{Cluster, NodeGroup, Template};
use portico_lifecycle::plan::UpgradeChoice;
use portico_lifecycle::preflight::{Checks, Reading, UpgradeContext, before_upgrade};
use portico_lifecycle::quota::{Change, FlavorSize, GroupSize, Projection, project, surge};
use portico_openstack::glance::Image;
use portico_openstack::magnum::HealthStatus;
use portico_openstack::rest::{Error, Listing, ScopedToken};

/// A cluster to upgrade.
#[derive(Clone, Copy, Debug)]
pub struct Present<'a> {
    pub cluster: &'a Cluster,
    /// All node groups, the control plane too.
    pub groups: &'a [NodeGroup],
    /// The template that the cluster was made from, if it could be read.
    pub template: Option<&'a Template>,
    pub cloud: Cloud,
    /// `health_status` of the cluster.
    pub health: Option<&'a HealthStatus>,
    /// Days until the certificate of the authority expires.
    pub certificate_days: &'a Reading<i64>,
    pub inside: &'a Inside,
    pub choice: &'a UpgradeChoice,
}

/// Returns the templates that the project may use. With drivers that take the version from the image, the
/// images are read too.
///
/// # Errors
/// If Magnum cannot be asked. Images that cannot be read leave the versions unknown.
pub async fn templates(clients: &Clients, token: &ScopedToken) -> Result<Listing<Template>, Error> {
    let listing = clients.magnum.templates(token).await?;
    let mut templates: Vec<_> = listing
        .items
        .iter()
        .map(|template| mapping::template(template, &clients.drivers))
        .collect();
    let needs_images = |template: &Template| template.driver.family == Family::CapiHelm;
    if templates.iter().any(needs_images)
        && let Ok(images) = clients.glance.images(token).await
    {
        for (template, read) in templates.iter_mut().zip(&listing.items) {
            let wanted = read.image_id.as_deref();
            template.image_version = wanted.and_then(|one| image_version(&images.items, one));
        }
    }
    Ok(Listing {
        items: templates,
        cut: listing.cut,
    })
}

/// Returns the property `kube_version` of an image that a template names by ID or by name.
pub fn image_version(images: &[Image], wanted: &str) -> Option<String> {
    let by_id = images.iter().find(|image| image.id == wanted);
    let image = by_id.or_else(|| images.iter().find(|image| image.name == wanted));
    image?.kube_version().map(str::to_owned)
}

/// Checks an upgrade.
pub async fn checks(
    clients: &Clients,
    token: &ScopedToken,
    present: Present<'_>,
    target: &Template,
) -> Checks {
    let surge = surge_of(clients, token, present).await;
    before_upgrade(&UpgradeContext {
        cluster: present.cluster,
        target,
        cloud: present.cloud,
        present: present.template,
        is_healthy: match present.health {
            Some(HealthStatus::Healthy) => Reading::Known(true),
            Some(HealthStatus::Unhealthy) => Reading::Known(false),
            _ => Reading::NotChecked("Magnum has not measured it.".to_owned()),
        },
        unready_nodes: present.inside.unready_nodes.clone(),
        blocking_budgets: present.inside.blocking_budgets.clone(),
        bare_pods: present.inside.bare_pods.clone(),
        local_data_pods: present.inside.local_data_pods.clone(),
        removed_apis: removed_by(&present.inside.deprecated_apis, target.kubernetes_version()),
        surge: &surge,
        certificate_days: present.certificate_days.clone(),
        choice: present.choice,
    })
}

/// Compares one more node in each group with the quotas.
async fn surge_of(clients: &Clients, token: &ScopedToken, present: Present<'_>) -> Vec<Projection> {
    let (flavors, usages) = tokio::join!(flavors(clients, token), usages(clients, token, None));
    let sizes: Vec<_> = present
        .groups
        .iter()
        .filter_map(|group| {
            let flavor = flavors.get(group.flavor.as_deref()?)?;
            Some(group_size(present.cluster, *flavor, group.node_count))
        })
        .collect();
    project(&usages, &surge(&sizes), &Change::new())
}

/// Returns the size of a group of an existing cluster.
pub fn group_size(cluster: &Cluster, flavor: FlavorSize, nodes: u32) -> GroupSize {
    let boot = cluster.labels.get("boot_volume_size");
    GroupSize {
        nodes: nodes.into(),
        flavor,
        boot_volume_gib: boot.and_then(|size| size.parse().ok()).unwrap_or_default(),
        etcd_volume_gib: 0,
        docker_volume_gib: cluster.docker_volume_size.unwrap_or_default().into(),
    }
}
