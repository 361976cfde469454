//! What is read about a cluster before an upgrade.
use crate::cluster::connection::Connection;
use crate::cluster::error::ClusterError;
use crate::cluster::kubernetes::{self, Kubernetes};
use crate::cluster::part::Target;
use portico_cluster_operations::certificate::Certificate;
use portico_cluster_operations::inside::{self, Inside};
use portico_cluster_operations::upgrades;
use portico_lifecycle::model::Template;
use portico_lifecycle::plan::UpgradeChoice;
use portico_lifecycle::preflight::{Checks, Reading};
use portico_openstack::magnum::Authority;

/// Checks an upgrade, also what runs in the cluster, as far as the user has access to it.
///
/// # Errors
/// If Magnum cannot be asked.
pub async fn check(
    connection: &Connection,
    target: &Target,
    template: &Template,
    choice: &UpgradeChoice,
) -> Result<Checks, ClusterError> {
    let (clients, token) = (&connection.clients, &connection.token);
    let found = clients.magnum.cluster(token, target.uuid).await?;
    let (inside, authority) = inside(connection, target).await;
    let certificate_days = certificate_days(connection, target, authority).await;
    let present = upgrades::Present {
        cluster: &target.cluster,
        groups: &target.groups,
        template: target.has_template.then_some(&target.template),
        cloud: target.cloud,
        health: found.health_status.as_ref(),
        certificate_days: &certificate_days,
        inside: &inside,
        choice,
    };
    Ok(upgrades::checks(clients, token, present, template).await)
}

/// Returns what runs in the cluster, or why that was not checked, and the authority of its API server (PEM)
/// if it is known.
async fn inside(connection: &Connection, target: &Target) -> (Inside, Option<String>) {
    let unread = |error: String| Inside::not_checked(&kubernetes::sentence(&error));
    let access = match kubernetes::find(connection, target.uuid).await {
        Ok(access) => access,
        Err(error) => return (unread(error.to_string()), None),
    };
    let authority = access.authority.clone();
    let api = match Kubernetes::new(&access) {
        Ok(api) => api,
        Err(error) => return (unread(error.to_string()), authority),
    };
    let inside = match api.authorized().await {
        Ok(api) => inside::read(&api).await,
        Err(error) => unread(error.to_string()),
    };
    (inside, authority)
}

/// Returns the days until the certificate of the authority expires. Magnum gives it to the creator of the
/// cluster only; `known` is the one that the record of the cluster has.
async fn certificate_days(
    connection: &Connection,
    target: &Target,
    known: Option<String>,
) -> Reading<i64> {
    let magnum = &connection.clients.magnum;
    let read = magnum.authority(&connection.token, target.uuid, Authority::Kubernetes);
    let pem = match (read.await, known) {
        (Ok(pem), _) | (Err(_), Some(pem)) => pem,
        (Err(error), None) => {
            return Reading::NotChecked(kubernetes::sentence(&error.to_string()));
        }
    };
    match Certificate::read(&pem) {
        Ok(certificate) => {
            let now = connection.clock.now();
            Reading::Known(certificate.days_left(now.as_second()))
        }
        Err(error) => Reading::NotChecked(kubernetes::sentence(&error.to_string())),
    }
}
