//! What still exists of a cluster after its deletion.
use super::{
    contents::ReclaimPolicies,
    inventory::look,
    items::{fate, remembered},
    request::forget_record,
};
use crate::{
    caller::Caller,
    kube::ClusterSnapshot,
    service::{
        Services,
        error::ServiceError,
        lifecycle::{error, progress::no_such_cluster, viewer::Viewer},
    },
};
use jiff::Timestamp;
use portico_cluster_operations::{Clients, items};
use portico_domain::{
    identity::Named,
    panel::lifecycle::{
        ActionOffer, ClusterAction, DeletionOptions, DeletionRecord, LeftoverItem, Leftovers,
    },
};
use portico_lifecycle::{
    inventory::{self, Inventory, Item, Kind, deletion_command},
    model::Cluster,
};
use uuid::Uuid;

/// Returns what still exists of a cluster in the caller's project. `record` comes from the page: it
/// selects among what the caller's token may see, and permits nothing. Once Magnum no longer has a
/// cluster that the caller has deleted, the record of its enrolment is removed.
///
/// # Errors
/// Those of [`crate::service::lifecycle::list()`]. What could not be looked at is in the answer.
pub async fn leftovers(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
    record: Option<&DeletionRecord>,
) -> Result<Leftovers, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let record = record.filter(|record| record.cluster == cluster);
    let enrolled = clusters.get(cluster).filter(|known| {
        known.is_of_magnum() && known.record().owner_project == viewer.project_id()
    });
    let known = Known {
        record,
        name: enrolled.map(|known| known.record().name.clone()),
        api_address: enrolled.map(|known| known.record().api_url.clone()),
    };
    let mut leftovers = read(
        &access.clients,
        &viewer,
        cluster,
        &known,
        services.clock.now(),
    )
    .await?;
    if enrolled.is_some() {
        // who deletes a cluster need not remove its record too
        let is_removed = leftovers.is_gone
            && record.is_some()
            && forget_record(services, clusters, caller, cluster).await;
        leftovers.record = (!is_removed).then(|| offer(leftovers.is_gone));
    }
    Ok(leftovers)
}

/// What is known about a cluster that Magnum may not have any longer.
#[derive(Clone, Debug, Default)]
pub struct Known<'a> {
    pub record: Option<&'a DeletionRecord>,
    /// Its name in the record of its enrolment.
    pub name: Option<String>,
    pub api_address: Option<String>,
}

fn offer(is_gone: bool) -> ActionOffer {
    ActionOffer {
        action: ClusterAction::RemoveRecord,
        refusal: (!is_gone).then(|| {
            "Magnum still has this cluster, so its record cannot be removed yet. Wait until it is deleted."
                .to_owned()
        }),
    }
}

/// Reads the leftovers with the clients of a cloud.
///
/// # Errors
/// If Magnum cannot be asked, so that it is not known whether the cluster exists.
pub async fn read(
    clients: &Clients,
    viewer: &Viewer,
    cluster: Uuid,
    known: &Known<'_>,
    now: Timestamp,
) -> Result<Leftovers, ServiceError> {
    let before = known.record.map(remembered).unwrap_or_default();
    let found = match clients.magnum.cluster(&viewer.token, cluster).await {
        Ok(found) if viewer.is_of_project(&found) => Some(found),
        Ok(_) => return Err(no_such_cluster()),
        Err(error) if error.is_not_found() => None,
        Err(error) => return Err(error::of_service(&error)),
    };
    let is_gone = found.is_none();
    let (name, existing, gaps) = match &found {
        Some(found) => {
            let (options, none) = (DeletionOptions::default(), ReclaimPolicies::new());
            let doomed = look(clients, viewer, found, &options, &none).await;
            let lists = [
                doomed.inventory.goes,
                doomed.inventory.depends,
                doomed.inventory.stays,
            ];
            let items = lists.into_iter().flatten().map(|(item, _)| item);
            (doomed.cluster.name, items.collect(), doomed.gaps)
        }
        None => {
            let model = forgotten(cluster, known);
            let found = items::find(clients, &viewer.token, &model, &[]).await;
            (model.name, found.items, found.gaps)
        }
    };
    Ok(Leftovers {
        cluster: Named {
            id: cluster.to_string(),
            name,
        },
        is_gone,
        items: items_of(&before, existing),
        gaps,
        record: None,
        read_at: now.as_second(),
    })
}

fn items_of(before: &Inventory, mut existing: Vec<Item>) -> Vec<LeftoverItem> {
    // it existed before the cluster, so its existence tells nothing
    existing.retain(|item| item.kind != Kind::ExistingNetwork);
    let left = inventory::leftovers(before, existing);
    let items = left.into_iter().map(|leftover| LeftoverItem {
        kind: leftover.item.kind.name().to_owned(),
        command: deletion_command(&leftover.item),
        id: leftover.item.id,
        name: leftover.item.name,
        predicted: leftover.predicted.map(fate),
        text: leftover.text,
    });
    items.collect()
}

/// Returns a cluster that Magnum has forgotten, as far as its items are found by it.
fn forgotten(cluster: Uuid, known: &Known<'_>) -> Cluster {
    let name = known.record.map(|record| record.name.clone());
    let name = name.or_else(|| known.name.clone());
    let driver_id = known.record.and_then(|record| record.driver_id.clone());
    Cluster {
        driver_id,
        api_address: known.api_address.clone(),
        ..Cluster::deleted(
            cluster.to_string(),
            name.unwrap_or_else(|| cluster.to_string()),
        )
    }
}
