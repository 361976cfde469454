//! The request for an upgrade.
use super::examination::{Examination, refusal};
use crate::{
    caller::Caller,
    service::{
        Services,
        error::ServiceError,
        lifecycle::{
            change::{Sent, send_step},
            feeds::Accepted,
            viewer::Viewer,
        },
    },
};
use jiff::Timestamp;
use portico_cluster_operations::{Clients, inside::Inside, upgrades};
use portico_domain::panel::lifecycle::ChangeOutcome;
use portico_lifecycle::{
    plan::{UpgradeChoice, is_patch, upgrade_with, version_change},
    preflight::Level,
};
use uuid::Uuid;

/// Upgrades what was chosen of a cluster to a template if `typed` is the cluster's name and no check blocks
/// it. For a patch release `typed` may be empty.
///
/// # Errors
/// Those of [`super::options()`], if nothing was sent. Refusals are in the answer.
pub async fn upgrade(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
    (template, choice): (Uuid, &UpgradeChoice),
    typed: &str,
) -> Result<ChangeOutcome, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let target = (template, choice);
    let now = services.clock.now();
    let sent = send(&access.clients, &viewer, cluster, target, typed, now).await?;
    if let Some(accepted) = &sent.accepted {
        access.feeds.accepted(&viewer, cluster, accepted).await;
    }
    Ok(sent.outcome)
}

/// Sends an upgrade with the clients of a cloud.
///
/// # Errors
/// As [`upgrade`].
pub async fn send(
    clients: &Clients,
    viewer: &Viewer,
    cluster: Uuid,
    (template, choice): (Uuid, &UpgradeChoice),
    typed: &str,
    now: Timestamp,
) -> Result<Sent, ServiceError> {
    let examined = Examination::read(clients, viewer, cluster, now).await?;
    let present = &examined.cluster;
    if let Some(reason) = refusal(viewer, present, Some(examined.cloud)) {
        return Ok(Sent::refused(reason));
    }
    let target = examined.target(template, choice);
    let (groups, cloud) = (&examined.groups, examined.cloud);
    // what the page shows does not matter; another name than the cluster's is refused in any case
    let may_be_empty = target.is_some_and(|target| is_patch(present, target, cloud, choice));
    if typed != present.name && !(typed.is_empty() && may_be_empty) {
        return Ok(Sent::not_confirmed(&present.name));
    }
    let step = target.and_then(|target| upgrade_with(present, groups, target, cloud, choice));
    let (Some(target), Some(step)) = (target, step) else {
        let reason = "The project has no such template to upgrade to. It may have been deleted, or the \
                      cluster has it already.";
        return Ok(Sent::refused(reason));
    };
    if let Some(reason) = step.refusal {
        return Ok(Sent::refused(reason));
    }
    // what runs in the cluster warns on the page, and blocks nothing
    let inside = Inside::not_checked("It was checked before.");
    let present_state = examined.present(&inside, choice);
    let checks = upgrades::checks(clients, &viewer.token, present_state, target).await;
    let blocking = checks.0.into_iter().find(|one| one.level == Level::Blocks);
    if let Some(check) = blocking {
        return Ok(Sent::refused(check.text));
    }
    let versions_of = version_change(present, target, choice);
    let present = (cluster, present);
    let mut sent = send_step(clients, viewer, present, &step.action, "the upgrade").await;
    if let Some(Accepted::Change { versions, .. }) = &mut sent.accepted {
        *versions = versions_of;
    }
    Ok(sent)
}
