//! The protection of a cluster from deletion: a record in Portico's store, which every deletion through
//! the panel respects, from its pages and from the command line. Magnum has nothing like it.
#[cfg(test)]
mod tests;

use super::{access::MagnumAccess, own, viewer::Viewer};
use crate::{
    caller::Caller,
    service::{Services, error::ServiceError},
};
use app::error::UiErrorKind;
use jiff::Timestamp;
use portico_cluster_operations::Clients;
use portico_domain::panel::lifecycle::{DeleteProtection, Protected};
use portico_lifecycle::rights::Call;
use portico_openstack::magnum::Cluster;
use portico_store::{ClusterProtection, ProtectedCluster, Store, StoreError};
use uuid::Uuid;

const NOTE: &str = "The protection is Portico's own: this panel deletes the cluster neither from its pages nor \
                    for portico cluster delete with the session of portico login. Other clients of Magnum \
                    ignore it, such as openstack coe, and portico cluster delete with OS_* or --cloud.";

/// Returns whether a cluster of the caller's project is protected from deletion.
///
/// # Errors
/// `NotFound` if the project has no such cluster; `Unavailable` if the store cannot be read; else those of
/// [`super::list()`].
pub async fn protection(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
) -> Result<DeleteProtection, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let found = own::followed(access, &viewer, cluster).await?;
    let store = store_of(access);
    let protection = read(store.as_ref(), &viewer, cluster).await?;
    Ok(view(&found, protection, &viewer, store.is_some()))
}

/// Protects a cluster, or removes its protection if `typed` is its name.
///
/// # Errors
/// `NotPermitted` for users who may not delete the cluster; `Invalid` for another typed name; else those
/// of [`protection`].
pub async fn set_protection(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
    is_on: bool,
    typed: &str,
) -> Result<DeleteProtection, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let store = store_of(access).ok_or_else(no_store)?;
    let wanted = Wanted { is_on, typed };
    let now = services.clock.now();
    change(&access.clients, &store, &viewer, cluster, wanted, now).await
}

/// What a user wants.
#[derive(Clone, Copy, Debug)]
struct Wanted<'a> {
    is_on: bool,
    typed: &'a str,
}

async fn change(
    clients: &Clients,
    store: &Store,
    viewer: &Viewer,
    cluster: Uuid,
    wanted: Wanted<'_>,
    now: Timestamp,
) -> Result<DeleteProtection, ServiceError> {
    let found = own::cluster(clients, viewer, cluster).await?;
    if let Some(refusal) = refusal(&found, viewer) {
        return Err(ServiceError::not_permitted(refusal));
    }
    if !wanted.is_on && wanted.typed != found.name {
        return Err(ServiceError::invalid(format!(
            "The typed name is not that of the cluster, {}. The cluster is still protected.",
            found.name
        ))
        .next("Type the name of the cluster, and try again."));
    }
    let (protections, key) = (store.cluster_protections(), key(viewer, cluster));
    let changed = if wanted.is_on {
        protections.protect(&key, &viewer.user_id, now).await
    } else {
        protections.remove(&key).await
    };
    changed.map_err(|error| of_store(&error, "The protection was not changed"))?;
    let protection = read(Some(store), viewer, cluster).await?;
    Ok(view(&found, protection, viewer, true))
}

/// Returns whether a cluster is protected. Without a SQL database none is.
///
/// # Errors
/// `Unavailable` if the store cannot be read.
pub async fn is_protected(
    access: &MagnumAccess,
    viewer: &Viewer,
    cluster: Uuid,
) -> Result<bool, ServiceError> {
    let protection = read(store_of(access).as_ref(), viewer, cluster).await?;
    Ok(protection.is_some())
}

/// Returns whether a cluster that was just created has become protected.
pub async fn was_protected(services: &Services, caller: &Caller, cluster: Uuid) -> bool {
    let Ok(access) = services.magnum() else {
        return false;
    };
    let Ok(viewer) = access.viewer(caller).await else {
        return false;
    };
    matches!(is_protected(access, &viewer, cluster).await, Ok(true))
}

/// Protects a cluster that a creation has made. A failure is logged: the cluster exists nonetheless.
pub async fn protect_new(store: &Store, viewer: &Viewer, cluster: Uuid, now: Timestamp) {
    let protections = store.cluster_protections();
    let key = key(viewer, cluster);
    if let Err(error) = protections.protect(&key, &viewer.user_id, now).await {
        tracing::error!(
            %error,
            cluster_id = %cluster,
            project_id = key.project_id,
            "a new cluster is not protected from deletion, although its form asks for it"
        );
    }
}

/// Removes the protection of a cluster that Magnum no longer has.
pub async fn forget(access: &MagnumAccess, viewer: &Viewer, cluster: Uuid) {
    let Some(store) = store_of(access) else {
        return;
    };
    let removed = store.cluster_protections();
    if let Err(error) = removed.remove(&key(viewer, cluster)).await {
        tracing::warn!(%error, cluster_id = %cluster, "the protection of a deleted cluster stays stored");
    }
}

fn store_of(access: &MagnumAccess) -> Option<Store> {
    access.attempts.store()
}

fn key(viewer: &Viewer, cluster: Uuid) -> ProtectedCluster {
    ProtectedCluster {
        project_id: viewer.project_id().to_owned(),
        cluster,
    }
}

async fn read(
    store: Option<&Store>,
    viewer: &Viewer,
    cluster: Uuid,
) -> Result<Option<ClusterProtection>, ServiceError> {
    let Some(store) = store else {
        return Ok(None);
    };
    let protection = store.cluster_protections().get(&key(viewer, cluster)).await;
    protection.map_err(|error| of_store(&error, "It is not known whether the cluster is protected"))
}

fn refusal(found: &Cluster, viewer: &Viewer) -> Option<String> {
    let creator = Some(found.user_id.as_str()).filter(|id| !id.is_empty());
    viewer.refusal(Call::DeleteCluster, creator)
}

fn view(
    found: &Cluster,
    protection: Option<ClusterProtection>,
    viewer: &Viewer,
    has_store: bool,
) -> DeleteProtection {
    let without_store = || {
        let error = no_store();
        (!has_store).then_some(error.message)
    };
    let delete_refusal = refusal(found, viewer);
    DeleteProtection {
        cluster_name: found.name.clone(),
        protected: protection.map(|protection| Protected {
            since: protection.protected_at.as_second(),
            by: if protection.user_id == viewer.user_id {
                "you"
            } else {
                "another user of the project"
            }
            .to_owned(),
        }),
        note: NOTE.to_owned(),
        refusal: delete_refusal.clone().or_else(without_store),
        delete_refusal,
    }
}

fn no_store() -> ServiceError {
    ServiceError::new(
        UiErrorKind::Unavailable,
        "Portico cannot protect clusters here: its store is Redis.",
    )
    .next("Ask the operator to use SQLite or PostgreSQL in store.url.")
}

/// Returns an error of the store; `what` is its effect, without a period.
fn of_store(error: &StoreError, what: &str) -> ServiceError {
    ServiceError {
        cause: Some(error.to_string()),
        ..ServiceError::new(
            UiErrorKind::Unavailable,
            format!("{what}: Portico's store does not answer."),
        )
        .next("Try again in a minute.")
    }
}
