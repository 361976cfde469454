//! Access to the services of a cloud, such as Magnum, with the user's own token.
use super::pin::Pin;
use super::session::KeystoneSession;
use super::settings::{self, Settings};
use super::sign_in::SignIn;
use crate::direct_error::DirectError;
use crate::{error::CommandError, private_file, terminal::is_interactive};
use portico_clock::Clock;
use portico_domain::identity::Identity;
use portico_openstack::rest::{RestClient, ScopedToken, ServiceOptions};
use url::Url;

/// The cloud and the project that a command acts in. An absent value is that of the environment and
/// of `clouds.yaml`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CloudChoice {
    /// A name in `clouds.yaml`, or `envvars`.
    pub cloud: Option<String>,
    /// A name or an ID.
    pub project: Option<String>,
}

/// A token of the user, and a client for the services of its cloud.
#[derive(Debug)]
pub struct CloudAccess {
    pub cloud: String,
    pub token: ScopedToken,
    pub rest: RestClient,
    /// The gateway, if the cloud is pinned.
    pub gateway: Option<Url>,
}

/// Signs in at the cloud's Keystone: the pinned one where the cloud is pinned, else the one that
/// `clouds.yaml` or the environment names. A cached token is used while Keystone accepts it.
///
/// # Errors
/// If no credentials are configured, or Keystone refuses them or does not respond.
pub async fn cloud_access(
    choice: &CloudChoice,
    clock: &Clock,
) -> Result<CloudAccess, CommandError> {
    let Described {
        cloud,
        settings,
        pin,
        gateway,
    } = described(choice)?;
    let sign_in = SignIn::new(&pin, &settings, is_interactive(), clock)?;
    let client = sign_in.client().clone();
    let cached = KeystoneSession::new(sign_in, clock)?.token().await?;
    let token = ScopedToken::with_catalog(&client, cached.token, cached.project_id).await;
    let options = ServiceOptions {
        region: settings.get("region_name").map(str::to_owned),
        interface: interface(settings.get("interface")),
        ..ServiceOptions::default()
    };
    let rest = RestClient::for_command_line(options, pin.auth_ca.as_deref());
    Ok(CloudAccess {
        token: token.map_err(|source| DirectError::Keystone {
            keystone: pin.auth_url.to_string(),
            source,
        })?,
        rest: rest.map_err(DirectError::from)?,
        gateway,
        cloud,
    })
}

/// Signs in, and returns the user with the roles in the project, as Keystone has them now.
///
/// # Errors
/// As [`cloud_access`].
pub async fn identity(choice: &CloudChoice, clock: &Clock) -> Result<Identity, CommandError> {
    let described = described(choice)?;
    let sign_in = SignIn::new(&described.pin, &described.settings, is_interactive(), clock)?;
    let client = sign_in.client().clone();
    let cached = KeystoneSession::new(sign_in, clock)?.token().await?;
    let details = client.validate(&cached.token).await;
    let details = details.map_err(|source| DirectError::Keystone {
        keystone: described.pin.auth_url.to_string(),
        source,
    })?;
    Ok(details.identity)
}

/// A cloud as the user's settings and its pin describe it.
struct Described {
    cloud: String,
    settings: Settings,
    pin: Pin,
    /// `None`: the cloud is not pinned.
    gateway: Option<Url>,
}

fn described(choice: &CloudChoice) -> Result<Described, CommandError> {
    let variables = settings::variables();
    let of_environment = || settings::cloud_of_environment(&variables);
    let cloud = choice.cloud.clone().or_else(of_environment);
    let cloud = cloud.ok_or(DirectError::NoSettings)?;
    let mut settings = Settings::load(&cloud, variables)?;
    if let Some(project) = &choice.project {
        settings.choose_project(project);
    }
    let pinned = Pin::find(&cloud)?;
    let gateway = pinned.as_ref().map(|pin| pin.gateway.clone());
    let pin = match pinned {
        Some(pin) => pin,
        None => unpinned(&cloud, &settings)?,
    };
    Ok(Described {
        cloud,
        settings,
        pin,
        gateway,
    })
}

/// Older files write `publicURL`.
fn interface(configured: Option<&str>) -> String {
    let configured = configured.unwrap_or("public");
    configured.trim_end_matches("URL").to_owned()
}

/// Describes a cloud that was never pinned: no kubeconfig is involved, so the user's own settings
/// name the Keystone.
fn unpinned(cloud: &str, settings: &Settings) -> Result<Pin, CommandError> {
    let auth_url = settings.auth_url()?.ok_or_else(|| DirectError::NoAuthUrl {
        source_name: settings.source.clone(),
    })?;
    let authority = settings.authority()?.map(|path| {
        private_file::read_shared(&path)?.ok_or_else(|| CommandError::File {
            path,
            source: std::io::ErrorKind::NotFound.into(),
        })
    });
    Ok(Pin {
        cloud: cloud.to_owned(),
        gateway: auth_url.clone(),
        gateway_ca: None,
        auth_ca: authority.transpose()?,
        auth_url,
        clusters: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interface_may_have_its_older_form() {
        for (configured, expected) in [
            (None, "public"),
            (Some("publicURL"), "public"),
            (Some("internal"), "internal"),
        ] {
            assert_eq!(interface(configured), expected);
        }
    }
}
