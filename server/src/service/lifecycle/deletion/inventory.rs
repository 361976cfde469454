//! What a deletion would remove, and what would stay.
use super::items::views;
use crate::{
    caller::Caller,
    kube::ClusterSnapshot,
    service::{
        Services,
        error::ServiceError,
        lifecycle::{creation::plain_check, error, viewer::Viewer},
    },
};
use jiff::Timestamp;
use portico_cluster_operations::{Clients, items, mapping as objects};
use portico_domain::{
    identity::Named,
    panel::lifecycle::{ActionOffer, ClusterAction, DeletionInventory, DeletionOptions},
};
use portico_lifecycle::{
    inventory::{self, DeleteOptions, Inventory},
    model::Cluster,
    preflight::{Checks, DeletionContext, before_deletion},
    rights::Call,
};
use portico_openstack::magnum;
use uuid::Uuid;

/// Why nothing is deleted through Kubernetes first.
pub const OPTIONS_REFUSAL: &str = "Portico does not delete Services and PersistentVolumeClaims in the cluster: delete \
     them there first, if their load balancers and volumes are to go.";

const INSIDE: &str = "The contents of the cluster were not looked at: volumes and load balancers of workloads are \
     found by their metadata in the cloud.";

/// A cluster to delete, with what belongs to it.
pub struct Doomed {
    pub cluster: Cluster,
    pub inventory: Inventory,
    /// What could not be looked at, as sentences.
    pub gaps: Vec<String>,
}

/// Returns what a deletion would remove, and what would stay.
///
/// # Errors
/// `NotFound` if the project has no such cluster; else those of [`crate::service::lifecycle::list()`].
/// What could not be looked at is in the answer.
pub async fn inventory(
    services: &Services,
    _clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
    options: DeletionOptions,
) -> Result<DeletionInventory, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    read(&access.clients, &viewer, cluster, options).await
}

/// Reads the inventory with the clients of a cloud.
///
/// # Errors
/// As [`inventory()`].
pub async fn read(
    clients: &Clients,
    viewer: &Viewer,
    cluster: Uuid,
    options: DeletionOptions,
) -> Result<DeletionInventory, ServiceError> {
    let found = own(clients, viewer, cluster).await?;
    let mut doomed = look(clients, viewer, &found, options).await;
    doomed.gaps.push(INSIDE.to_owned());
    // the page compares the name, and the server again
    let checks = checks(&doomed.cluster, &doomed.cluster.name);
    Ok(DeletionInventory {
        cluster: Named {
            id: doomed.cluster.uuid.clone(),
            name: doomed.cluster.name.clone(),
        },
        goes: views(&doomed.inventory.goes),
        depends: views(&doomed.inventory.depends),
        stays: views(&doomed.inventory.stays),
        options,
        options_refusal: Some(OPTIONS_REFUSAL.to_owned()),
        checks: checks.0.iter().map(plain_check).collect(),
        gaps: doomed.gaps,
        deletion: ActionOffer {
            action: ClusterAction::Delete,
            refusal: viewer.refusal(Call::DeleteCluster, None),
        },
        read_at: Timestamp::now().as_second(),
    })
}

/// Returns a cluster of the viewer's project.
///
/// # Errors
/// `NotFound`, also for a cluster of another project that an administrator could read.
async fn own(
    clients: &Clients,
    viewer: &Viewer,
    cluster: Uuid,
) -> Result<magnum::Cluster, ServiceError> {
    let found = clients.magnum.cluster(&viewer.token, cluster).await;
    let found = found.map_err(|error| error::of_service(&error))?;
    if found.project_id != viewer.project_id() {
        return Err(elsewhere());
    }
    Ok(found)
}

/// Returns the error about a cluster of another project.
pub fn elsewhere() -> ServiceError {
    ServiceError::not_found("This project has no such cluster.")
        .next("Switch to the project of the cluster, and try again.")
}

/// Looks for what belongs to a cluster.
pub async fn look(
    clients: &Clients,
    viewer: &Viewer,
    found: &magnum::Cluster,
    options: DeletionOptions,
) -> Doomed {
    let token = &viewer.token;
    let (template, groups) = tokio::join!(
        clients.template_of(token, found),
        clients.groups(token, found.uuid),
    );
    let cluster = objects::cluster(found, template.as_ref());
    let mut gaps = Vec::new();
    let groups = match groups {
        Ok(groups) => {
            gaps.extend(
                groups
                    .cut
                    .map(|cut| format!("The list of node groups is incomplete: {cut}.")),
            );
            groups.items.iter().map(objects::group).collect()
        }
        Err(error) => {
            gaps.push(format!(
                "The node groups could not be read. {}",
                error::message(&error)
            ));
            Vec::new()
        }
    };
    let items = items::find(clients, token, &cluster, &groups).await;
    gaps.extend(items.gaps);
    let options = DeleteOptions {
        services_first: options.services_first,
        claims_first: options.claims_first,
    };
    Doomed {
        inventory: inventory::inventory(items.items, cluster.driver.family, options),
        cluster,
        gaps,
    }
}

/// Returns the checks of a deletion with a typed name.
pub fn checks(cluster: &Cluster, typed_name: &str) -> Checks {
    before_deletion(&DeletionContext {
        cluster,
        // no such flag is stored
        is_protected: false,
        typed_name,
        // what is inside of the cluster is found by its metadata in the cloud
        is_api_reachable: true,
        has_creator: None,
    })
}
