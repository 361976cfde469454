//! What a deletion would remove, and what would stay.
use super::{
    contents::{self, Contents, ReclaimPolicies},
    items::views,
};
use crate::{
    caller::Caller,
    kube::ClusterSnapshot,
    service::{
        Services,
        error::ServiceError,
        lifecycle::{creation::plain_check, error, managed, own, protection, viewer::Viewer},
    },
};
use jiff::Timestamp;
use portico_cluster_operations::{Clients, items, mapping as objects};
use portico_domain::{
    identity::Named,
    panel::lifecycle::{ClusterAction, DeletionInventory, DeletionOptions},
};
use portico_lifecycle::{
    inventory::{self, DeleteOptions, Inventory, Kind},
    model::Cluster,
    preflight::{Checks, DeletionContext, before_deletion},
    rights::Call,
};
use portico_openstack::magnum;
use uuid::Uuid;

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
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
    options: DeletionOptions,
) -> Result<DeletionInventory, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let inside = match contents::open(services, clusters, caller, cluster).await {
        Ok(api) => contents::read(&api, &options).await,
        Err(refusal) => Err(refusal),
    };
    let is_protected = protection::is_protected(access, &viewer, cluster).await;
    let wanted = Wanted {
        cluster,
        options,
        now: services.clock.now(),
    };
    read(&access.clients, &viewer, wanted, inside, is_protected).await
}

/// What the page asks for.
#[derive(Clone, Debug)]
pub struct Wanted {
    pub cluster: Uuid,
    pub options: DeletionOptions,
    pub now: Timestamp,
}

/// Reads the inventory with the clients of a cloud. `inside` is what the cluster's own API states, or why it
/// could not be asked; `is_protected` is an error if the store cannot be read.
///
/// # Errors
/// As [`inventory()`].
pub async fn read(
    clients: &Clients,
    viewer: &Viewer,
    Wanted {
        cluster,
        options,
        now,
    }: Wanted,
    inside: Result<Contents, String>,
    is_protected: Result<bool, ServiceError>,
) -> Result<DeletionInventory, ServiceError> {
    let found = own::cluster(clients, viewer, cluster).await?;
    // what is not offered has no effect on the prediction
    let offered = if inside.is_ok() {
        options
    } else {
        DeletionOptions::default()
    };
    let (contents, options_refusal) = match inside {
        Ok(contents) => (contents, None),
        Err(refusal) => (Contents::default(), Some(refusal)),
    };
    let policies = &contents.policies;
    let mut doomed = look(clients, viewer, &found, &offered, policies).await;
    doomed.gaps.extend(contents.gaps);
    let is_protected = is_protected.unwrap_or_else(|error| {
        doomed.gaps.push(error.message);
        // the server asks again before it sends anything
        false
    });
    // the page compares the name, and the server again
    let name = &doomed.cluster.name;
    let is_reachable = options_refusal.is_none();
    let checks = checks(&doomed.cluster, is_protected, name, is_reachable);
    Ok(DeletionInventory {
        cluster: Named {
            id: doomed.cluster.uuid.clone(),
            name: doomed.cluster.name.clone(),
        },
        goes: views(&doomed.inventory.goes),
        depends: views(&doomed.inventory.depends),
        stays: views(&doomed.inventory.stays),
        options: offered,
        options_refusal,
        partial: contents.partial,
        checks: checks.0.iter().map(plain_check).collect(),
        gaps: doomed.gaps,
        deletion: managed::offer(
            ClusterAction::Delete,
            viewer.refusal(Call::DeleteCluster, None),
        ),
        read_at: now.as_second(),
    })
}

/// Looks for what belongs to a cluster. `policies` are those of its volumes, as far as they are known.
pub async fn look(
    clients: &Clients,
    viewer: &Viewer,
    found: &magnum::Cluster,
    options: &DeletionOptions,
    policies: &ReclaimPolicies,
) -> Doomed {
    let token = &viewer.token;
    let (template, groups) = tokio::join!(
        clients.template_of(token, found),
        clients.groups(token, found.uuid),
    );
    let mut gaps = Vec::new();
    let template = template.unwrap_or_else(|error| {
        gaps.push(format!(
            "What the driver deletes is not known, as the template could not be read. {}",
            error::message(&error)
        ));
        None
    });
    let cluster = clients.model(found, template.as_ref());
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
    let mut items = items::find(clients, token, &cluster, &groups).await;
    gaps.extend(items.gaps);
    for item in &mut items.items {
        if let (Kind::PersistentVolume(reclaim), Some(policy)) =
            (&mut item.kind, policies.get(&item.id))
        {
            *reclaim = *policy;
        }
    }
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
pub fn checks(
    cluster: &Cluster,
    is_protected: bool,
    typed_name: &str,
    is_api_reachable: bool,
) -> Checks {
    before_deletion(&DeletionContext {
        cluster,
        is_protected,
        typed_name,
        is_api_reachable,
        has_creator: None,
    })
}
