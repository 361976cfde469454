//! Direct mode: the plugin signs in at Keystone itself, with `OS_*` or `clouds.yaml`, and seals the
//! token to the cluster's key here. For CI and for machines without a browser.
//!
//! [`pin`] alone determines the addresses; [`settings`] determine who signs in.
mod clouds_yaml;
mod cluster_access;
mod method;
mod pin;
mod refusals;
mod services;
mod session;
mod settings;
mod sign_in;

pub use crate::direct_error::DirectError;
pub use cluster_access::pinned_access;
pub use pin::{Pin, PinnedCluster};
pub use services::{CloudAccess, CloudChoice, cloud_access, identity};

use super::{
    error::CommandError,
    exec_info::ExecInfo,
    login_arguments::LoginArgs,
    private_file, profile,
    refresh_detection::{TokenHolder, TokenHolders},
    terminal::{is_interactive, say},
    token_cache::{Cached, TokenCache},
};
use portico_assertion::cluster_token;
use portico_clock::Clock;
use portico_openstack::KeystoneConfig;
use portico_openstack::keystone::{Client, IssuedToken};
use session::KeystoneSession;
use settings::Settings;
use sign_in::SignIn;
use url::Url;
use uuid::Uuid;

/// Returns the cloud that the environment selects, if it is pinned: no flag is needed then.
pub fn pinned_by_environment() -> Result<Option<String>, CommandError> {
    match settings::cloud_of_environment(&settings::variables()) {
        Some(cloud) => Ok(Pin::find(&cloud)?.map(|pin| pin.cloud)),
        None => Ok(None),
    }
}

/// Returns whether a command names a cloud, by an option or by the environment.
pub fn is_selected(choice: &CloudChoice) -> bool {
    choice.cloud.is_some() || settings::cloud_of_environment(&settings::variables()).is_some()
}

/// Signs in with the environment's settings (`OS_CLOUD`, `OS_*`), at this Keystone and no other.
/// For operators: nothing is pinned or stored.
pub async fn sign_in_at(
    keystone: &KeystoneConfig,
    clock: &Clock,
) -> Result<(Client, IssuedToken), CommandError> {
    let variables = settings::variables();
    let cloud = settings::cloud_of_environment(&variables).ok_or(DirectError::NoSettings)?;
    let authority = keystone.ca_file.as_ref().map(|path| {
        std::fs::read_to_string(path).map_err(|source| CommandError::File {
            path: path.clone(),
            source,
        })
    });
    let pin = Pin {
        gateway: keystone.url.clone(),
        gateway_ca: None,
        auth_url: keystone.url.clone(),
        auth_ca: authority.transpose()?,
        clusters: Vec::new(),
        cloud,
    };
    let settings = Settings::load(&pin.cloud, variables)?;
    let sign_in = SignIn::new(&pin, &settings, is_interactive(), clock)?;
    let issued = sign_in.token(None).await?;
    Ok((sign_in.client().clone(), issued))
}

/// Returns a token for one pinned cluster.
pub async fn credential(
    cloud: &str,
    cluster: Uuid,
    asked: &ExecInfo,
    clock: &Clock,
) -> Result<Cached, CommandError> {
    let pin = Pin::load(cloud)?;
    let pinned = pin.cluster(cluster)?;
    check_server(&pin, pinned, asked)?;
    let settings = Settings::load(cloud, settings::variables())?;
    let sign_in = SignIn::new(
        &pin,
        &settings,
        asked.interactive && is_interactive(),
        clock,
    )?;
    let mut parts: Vec<String> = vec!["direct".to_owned(), pin.gateway.to_string()];
    parts.extend(sign_in.parts());
    parts.push(cluster.to_string());
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let session = KeystoneSession::new(sign_in, clock)?;
    let cache = TokenCache::open(&parts, clock)?;
    let holder = TokenHolder::parent().filter(|_| asked.from_kubectl);
    let holders = cache.beside("holders").map(TokenHolders::read);
    let (Some(holder), Some(mut holders)) = (holder, holders) else {
        return cache
            .get(async || seal(&pin, pinned, &settings, &session, clock).await)
            .await;
    };
    if let Some(known) = cache.known()?
        && holders.was_refused(&holder, &known, clock.now())
    {
        // one request to Keystone and the gateway, no sign-in: was it the token, or the cluster?
        let key = pin.sealing_key(pinned).await?;
        if session.is_still_valid().await? && key.kid() == pinned.sealing_key.kid {
            holders.confirmed(clock.now());
        } else {
            cache.forget(&known)?;
        }
    }
    let token = cache
        .get(async || seal(&pin, pinned, &settings, &session, clock).await)
        .await?;
    holders.add(holder, &token);
    Ok(token)
}

/// Verifies the server: a kubeconfig could name this plugin with an attacker's server, which would
/// get a token that is valid at the real one for some minutes.
fn check_server(pin: &Pin, pinned: &PinnedCluster, asked: &ExecInfo) -> Result<(), DirectError> {
    if !asked.from_kubectl {
        return Ok(());
    }
    let (cluster, cloud) = (pinned.name.clone(), pin.cloud.clone());
    let Some(server) = &asked.server else {
        return Err(DirectError::NoClusterInfo { cluster, cloud });
    };
    let same = |a: &str, b: &str| match (Url::parse(a), Url::parse(b)) {
        (Ok(a), Ok(b)) => a.as_str().trim_end_matches('/') == b.as_str().trim_end_matches('/'),
        _ => false,
    };
    if same(server, &pinned.api_url) {
        return Ok(());
    }
    Err(DirectError::OtherServer {
        cluster,
        cloud,
        asked: server.clone(),
        pinned: pinned.api_url.clone(),
    })
}

async fn seal(
    pin: &Pin,
    cluster: &PinnedCluster,
    settings: &Settings,
    session: &KeystoneSession<'_>,
    clock: &Clock,
) -> Result<Cached, CommandError> {
    let kept = session.token().await?;
    if !cluster.projects.contains(&kept.project_id) {
        return Err(DirectError::OtherProject {
            cluster: cluster.name.clone(),
            project: kept.project_name,
            cloud: pin.cloud.clone(),
            source_name: settings.source.clone(),
        }
        .into());
    }
    let key = pin.sealing_key(cluster).await?;
    let now = clock.now();
    let sealed = cluster_token::seal(&key, cluster.id, &kept.token, kept.expires_at, now)
        .map_err(DirectError::from)?;
    Ok(Cached::new(sealed.token, sealed.expires_at, now))
}

/// `portico login --cloud`: signs in at Keystone and pins Keystone, the gateway and the clusters.
/// The only way to change a pin.
pub async fn login(cloud: &str, args: &LoginArgs, clock: &Clock) -> Result<(), CommandError> {
    let settings = Settings::load(cloud, settings::variables())?;
    let known = Pin::find(cloud)?;
    let asked = args.url.as_deref().map(profile::gateway_url).transpose()?;
    if let Some(known) = known.as_ref().filter(|_| !args.repin) {
        known.check_auth_url(settings.auth_url()?.as_ref(), &settings.source)?;
        if let Some(asked) = asked.as_ref().filter(|asked| **asked != known.gateway) {
            return Err(DirectError::GatewayChanged {
                cloud: cloud.to_owned(),
                asked: profile::display(asked),
                pinned: profile::display(&known.gateway),
            }
            .into());
        }
    }
    let mut pin = draft(cloud, &settings, known, asked)?;
    if let Some(path) = &args.ca_file {
        pin.gateway_ca = Some(read_pem(path)?);
    }
    if let Some(path) = settings.authority()? {
        pin.auth_ca = Some(read_pem(&path)?);
    }
    let gateway = pin.gateway()?;
    gateway.ping().await?;
    let sign_in = SignIn::new(&pin, &settings, is_interactive(), clock)?;
    let kept = KeystoneSession::new(sign_in, clock)?.sign_in_anew().await?;
    let listed = gateway.clusters_of_token(&kept.token).await?;
    pin.take_over(listed, &kept.project_id);
    pin.save()?;
    profile::forget_tokens()?;
    report(&pin, &kept.project_name);
    Ok(())
}

/// Returns the pin before any request: new values from the settings, the others unchanged.
fn draft(
    cloud: &str,
    settings: &Settings,
    known: Option<Pin>,
    asked: Option<Url>,
) -> Result<Pin, CommandError> {
    let auth_url = settings.auth_url()?;
    if let Some(mut pin) = known {
        if let Some(url) = auth_url.filter(|url| *url != pin.auth_url) {
            (pin.auth_url, pin.auth_ca) = (url, None);
        }
        if let Some(url) = asked.filter(|url| *url != pin.gateway) {
            (pin.gateway, pin.gateway_ca) = (url, None);
            pin.clusters.clear();
        }
        return Ok(pin);
    }
    Ok(Pin {
        cloud: cloud.to_owned(),
        gateway: asked.ok_or_else(|| DirectError::NotPinned(cloud.to_owned()))?,
        gateway_ca: None,
        auth_url: auth_url.ok_or_else(|| DirectError::NoAuthUrl {
            source_name: settings.source.clone(),
        })?,
        auth_ca: None,
        clusters: Vec::new(),
    })
}

fn read_pem(path: &std::path::Path) -> Result<String, CommandError> {
    private_file::read_shared(path)?.ok_or_else(|| CommandError::File {
        path: path.to_owned(),
        source: std::io::ErrorKind::NotFound.into(),
    })
}

fn report(pin: &Pin, project: &str) {
    say(format!(
        "Signed in to the project {project} at Keystone {}.\nPinned for the cloud {}: this Keystone, and the gateway {}.",
        pin.auth_url,
        pin.cloud,
        profile::display(&pin.gateway),
    ));
    let names: Vec<&str> = pin.clusters.iter().map(|c| c.name.as_str()).collect();
    match names.first() {
        Some(first) => say(format!(
            "Clusters: {}. Next: `portico kubeconfig --cloud {} --cluster {first}`",
            names.join(", "),
            pin.cloud
        )),
        None => say(
            "No cluster is open to this project yet; ask your cloud's administrators for a role.",
        ),
    }
}

/// `portico logout --cloud`: revokes the Keystone token of this machine. The pin stays unless
/// `forget` is set.
pub async fn logout(cloud: &str, forget: bool, clock: &Clock) -> Result<(), CommandError> {
    let pin = Pin::load(cloud)?;
    profile::forget_tokens()?;
    let signed_out = match Settings::load(cloud, settings::variables()) {
        Ok(settings) => {
            let sign_in = SignIn::new(&pin, &settings, false, clock)?;
            KeystoneSession::new(sign_in, clock)?.sign_out().await?
        }
        // a cloud that is no longer described can still be forgotten
        Err(_) if forget => false,
        Err(error) => return Err(error.into()),
    };
    if forget {
        private_file::remove(&pin::path(cloud)?)?;
    }
    say(match (signed_out, forget) {
        (true, false) => format!("Signed out of the cloud {cloud}."),
        (false, false) => format!("There was no token of the cloud {cloud} here."),
        (_, true) => format!("Signed out of the cloud {cloud}, which is not pinned any more."),
    });
    Ok(())
}
