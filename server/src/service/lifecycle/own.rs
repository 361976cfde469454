//! Clusters of the viewer's project.
use super::{access::MagnumAccess, error, progress::no_such_cluster, viewer::Viewer};
use crate::service::error::ServiceError;
use portico_cluster_operations::Clients;
use portico_openstack::magnum;
use std::sync::Arc;
use uuid::Uuid;

/// Returns a cluster of the viewer's project.
///
/// # Errors
/// `NotFound`, also for a cluster of another project that an administrator could read; else Magnum's
/// refusal, or that it cannot be asked.
pub async fn cluster(
    clients: &Clients,
    viewer: &Viewer,
    cluster: Uuid,
) -> Result<magnum::Cluster, ServiceError> {
    match clients.magnum.cluster(&viewer.token, cluster).await {
        Ok(found) if viewer.is_of_project(&found) => Ok(found),
        Ok(_) => Err(no_such_cluster()),
        Err(error) if error.is_not_found() => Err(no_such_cluster()),
        Err(error) => Err(error::of_service(&error)),
    }
}

/// Returns a cluster of the viewer's project as its pages follow it, so that all of their viewers cost
/// Magnum one read. It may be some seconds old.
///
/// # Errors
/// Those of [`cluster`].
pub async fn followed(
    access: &MagnumAccess,
    viewer: &Viewer,
    cluster: Uuid,
) -> Result<Arc<magnum::Cluster>, ServiceError> {
    match access.feeds.look(viewer, cluster).await {
        Ok(view) if view.is_gone => Err(no_such_cluster()),
        Ok(view) => Ok(view.cluster),
        Err(error) if error.is_not_found() => Err(no_such_cluster()),
        Err(error) => Err(error::of_service(&error)),
    }
}
