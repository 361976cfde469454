//! Access to the API server of a pinned cluster, for commands that call it themselves.
use super::pin::{Pin, PinnedCluster};
use super::services::CloudChoice;
use super::session::KeystoneSession;
use super::settings::{self, Settings};
use super::sign_in::SignIn;
use crate::direct_error::DirectError;
use crate::error::CommandError;
use crate::terminal::is_interactive;
use crate::token_cache::Cached;
use portico_clock::Clock;
use portico_domain::identity::User;
use uuid::Uuid;

/// A pinned cluster, a new token for it, and the user of the token.
#[derive(Debug)]
pub struct PinnedAccess {
    pub cluster: PinnedCluster,
    pub token: Cached,
    pub user: User,
}

/// Signs in at the pinned Keystone and seals the token for a cluster. `None`: the cloud is not pinned, or
/// the cluster is not one of its clusters. The address and the sealing key are those of the pin.
///
/// # Errors
/// If no credentials are configured, or Keystone refuses them or does not respond; if the cluster does not
/// accept the project.
pub async fn pinned_access(
    choice: &CloudChoice,
    cluster: Uuid,
    clock: &Clock,
) -> Result<Option<PinnedAccess>, CommandError> {
    let variables = settings::variables();
    let of_environment = || settings::cloud_of_environment(&variables);
    let Some(cloud) = choice.cloud.clone().or_else(of_environment) else {
        return Ok(None);
    };
    let Some(pin) = Pin::find(&cloud)? else {
        return Ok(None);
    };
    let Ok(pinned) = pin.cluster(cluster) else {
        return Ok(None);
    };
    let mut settings = Settings::load(&cloud, variables)?;
    if let Some(project) = &choice.project {
        settings.choose_project(project);
    }
    let sign_in = SignIn::new(&pin, &settings, is_interactive(), clock)?;
    let client = sign_in.client().clone();
    let session = KeystoneSession::new(sign_in, clock)?;
    let token = super::seal(&pin, pinned, &settings, &session, clock).await?;
    let own = session.token().await?;
    let details = client.validate(&own.token).await;
    let details = details.map_err(|source| DirectError::Keystone {
        keystone: pin.auth_url.to_string(),
        source,
    })?;
    Ok(Some(PinnedAccess {
        cluster: pinned.clone(),
        token,
        user: details.identity.user,
    }))
}
