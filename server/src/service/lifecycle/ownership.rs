//! The owner of a cluster, what depends on the owner, and the rotation of the cluster's credential.
mod owner;
#[cfg(test)]
mod tests;

use super::{access::MagnumAccess, change::Sent, error, managed, own, viewer::Viewer, words};
use crate::{
    caller::Caller,
    service::{Services, error::ServiceError},
};
use jiff::Timestamp;
use owner::Known;
use portico_cluster_operations::Clients;
use portico_domain::{
    identity::Named,
    panel::lifecycle::{ChangeOutcome, ClusterAction, Ownership},
};
use portico_lifecycle::{
    driver::Cloud,
    model::Cluster,
    ownership::{
        CredentialRefusal, check_credential, dependencies, invalid_credential, rotation_effects,
    },
    rights::Call,
};
use uuid::Uuid;

/// The action of a rotation in the journal and in the audit log.
pub const ROTATE_CREDENTIAL: &str = "rotate_credential";

/// Returns who owns a cluster, what depends on that, and whether the viewer may rotate the credential.
///
/// # Errors
/// `NotFound` if the project has no such cluster; else those of [`super::list()`]. What Keystone does not
/// tell is in the answer.
pub async fn ownership(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
) -> Result<Ownership, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let examined = Examined::read(&access.clients, &viewer, cluster).await?;
    let known = known(access, &viewer, &examined).await;
    Ok(view(&examined, &viewer, known, services.clock.now()))
}

/// Returns from whom to whom a rotation passes the ownership, for the journal; empty: the caller is the
/// owner, or the owner is not known.
///
/// # Errors
/// Those of [`ownership`].
pub async fn passing(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
) -> Result<String, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let examined = Examined::read(&access.clients, &viewer, cluster).await?;
    let known = known(access, &viewer, &examined).await;
    let owner = known.owner.filter(|owner| owner.id != viewer.user_id);
    let user = &caller.identity().user.name;
    Ok(owner.map_or_else(String::new, |owner| format!("{} to {user}", owner.name)))
}

/// Rotates the credential of a cluster if `typed` is its name and the driver can.
///
/// # Errors
/// Those of [`ownership`], if nothing was sent. Refusals are in the answer.
pub async fn rotate_credential(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
    typed: &str,
) -> Result<ChangeOutcome, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let sent = send(&access.clients, &viewer, cluster, typed).await?;
    Ok(sent.outcome)
}

/// A cluster, as far as a rotation of its credential depends on it.
struct Examined {
    uuid: Uuid,
    cluster: Cluster,
    cloud: Cloud,
}

impl Examined {
    async fn read(clients: &Clients, viewer: &Viewer, cluster: Uuid) -> Result<Self, ServiceError> {
        let found = own::cluster(clients, viewer, cluster).await?;
        let token = &viewer.token;
        let (template, cloud) =
            tokio::join!(clients.template_of(token, &found), clients.offer(token));
        let template = template.map_err(|error| error::of_service(&error))?;
        Ok(Self {
            uuid: cluster,
            cluster: clients.model(&found, template.as_ref()),
            cloud: cloud.map_err(|error| error::of_service(&error))?,
        })
    }

    /// Returns the ID of the owner, if Magnum reports it.
    fn owner(&self) -> Option<&str> {
        let owner = self.cluster.user_id.as_deref();
        owner.filter(|id| !id.is_empty())
    }

    fn refusal(&self, viewer: &Viewer) -> Option<String> {
        let refusal = viewer.refusal(Call::RotateCredential, self.owner());
        refusal.or_else(|| {
            let checked = check_credential(&self.cluster, self.cloud);
            checked.err().map(CredentialRefusal::reason)
        })
    }
}

async fn known(access: &MagnumAccess, viewer: &Viewer, examined: &Examined) -> Known {
    match examined.owner() {
        Some(owner) => owner::read(access, viewer, examined.uuid, owner).await,
        None => Known::unreported(),
    }
}

/// Returns what the page shows.
fn view(examined: &Examined, viewer: &Viewer, known: Known, now: Timestamp) -> Ownership {
    let cluster = &examined.cluster;
    let is_own = examined.owner() == Some(viewer.user_id.as_str());
    let family = cluster.driver.family;
    let other = known.owner.as_ref().filter(|_| !is_own);
    let other = other.map(|owner| owner.name.as_str());
    Ownership {
        cluster: Named {
            id: cluster.uuid.clone(),
            name: cluster.name.clone(),
        },
        is_own,
        standing: known.standing,
        invalid_credential: invalid_credential(cluster),
        last_passed: known.last_passed,
        driver: words::driver(cluster.driver),
        dependencies: dependencies(family),
        effects: rotation_effects(family, other),
        rotation: managed::offer(ClusterAction::RotateCredential, examined.refusal(viewer)),
        read_at: now.as_second(),
        owner: known.owner,
    }
}

/// Sends the rotation with the clients of a cloud. Magnum's answer is its result: there is nothing to
/// follow.
///
/// # Errors
/// As [`rotate_credential`].
async fn send(
    clients: &Clients,
    viewer: &Viewer,
    cluster: Uuid,
    typed: &str,
) -> Result<Sent, ServiceError> {
    let examined = Examined::read(clients, viewer, cluster).await?;
    if let Some(reason) = examined.refusal(viewer) {
        return Ok(Sent::refused(reason));
    }
    let name = &examined.cluster.name;
    if typed != name {
        return Ok(Sent::not_confirmed(name));
    }
    let magnum = &clients.magnum;
    match magnum.rotate_credential(&viewer.token, cluster).await {
        Ok(()) => Ok(Sent::accepted(None)),
        Err(error) => Ok(Sent::failed(&error, "the rotation of the credential")),
    }
}
