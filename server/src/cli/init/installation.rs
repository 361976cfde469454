//! The files of a new installation.
use super::certificates::{Authority, gateway_names, kube_auth_names};
use super::cluster_files::{self, Webhook};
use super::configuration;
use super::directory::{Access, Staging, contents};
use super::error::InitError;
use super::settings::{GatewayTls, KubeAuthTls, Settings};
use super::steps::{self, Step};
use super::systemd;
use crate::cli::keys;
use crate::config::{Config, Role};
use jiff::Timestamp;
use portico_runtime::config::load;
use std::path::{Path, PathBuf};

pub(super) const CONFIGURATION: &str = "portico.toml";
pub(super) const SERVERS_CA: &str = "ca";
pub(super) const API_SERVERS_CA: &str = "api-servers-ca";

/// Refuses a directory that is not empty.
///
/// # Errors
/// [`InitError::NotEmpty`] with what it found.
pub(super) fn ensure_empty(directory: &Path) -> Result<(), InitError> {
    let found = contents(directory)?;
    if found.is_empty() {
        return Ok(());
    }
    Err(InitError::NotEmpty {
        directory: directory.to_owned(),
        found,
    })
}

/// Writes all files; returns them and the remaining steps.
///
/// # Errors
/// The first error; the directory is unchanged then.
pub(super) fn write(
    settings: &Settings,
    program: &Path,
    now: Timestamp,
) -> Result<(Vec<PathBuf>, Vec<Step>), InitError> {
    ensure_empty(&settings.out)?;
    let staging = Staging::new(&settings.out, settings.group)?;
    let text = configuration::render(settings);
    staging.write(CONFIGURATION, Access::Private, &text)?;
    let config: Config = load(&[staging.path(CONFIGURATION)], Vec::new())?;
    config.validate(&Role::ALL)?;
    keys::generate(&staging.path("keys")).map_err(InitError::Keys)?;
    if let Some(pem) = &settings.keystone.ca_pem {
        staging.write("tls/keystone-ca.crt", Access::Public, pem)?;
    }
    let kube_auth_ca = server_certificates(settings, &staging, now)?;
    let host = settings.public_url.host_str().unwrap_or_default();
    let clients = Authority::generate(&format!("Portico API servers CA, {host}"), now)?;
    write_authority(&staging, API_SERVERS_CA, &clients)?;
    let webhook = Webhook {
        url: &settings.kube_auth_url,
        ca_pem: &kube_auth_ca,
        directory: &settings.api_server_dir,
    };
    for (cluster, record) in settings.clusters.iter().zip(&config.clusters) {
        cluster_files::write(&staging, cluster, &webhook, &settings.roles)?;
        cluster_files::write_webhook(&staging, &cluster.directory, record, &webhook, &clients)?;
        let unit = systemd::bootstrap(&settings.out, cluster, &settings.roles, program);
        write_units(&staging, unit)?;
    }
    write_units(&staging, systemd::units(settings, program))?;
    let steps = steps::of_installation(settings);
    staging.write("STEPS.md", Access::Public, &steps::markdown(&steps))?;
    Ok((staging.commit()?, steps))
}

/// Writes systemd units, by name.
///
/// # Errors
/// [`InitError::Write`].
pub(super) fn write_units(
    staging: &Staging,
    units: impl IntoIterator<Item = (String, String)>,
) -> Result<(), InitError> {
    units.into_iter().try_for_each(|(name, unit)| {
        staging.write(&format!("systemd/{name}"), Access::Public, &unit)
    })
}

/// Writes the certificates of gateway and kube-auth, unless the operator supplies them; returns the
/// authority of kube-auth's.
fn server_certificates(
    settings: &Settings,
    staging: &Staging,
    now: Timestamp,
) -> Result<String, InitError> {
    let gateway = settings.gateway_tls == GatewayTls::Made;
    if let (false, KubeAuthTls::Files { ca_pem, .. }) = (gateway, &settings.kube_auth_tls) {
        return Ok(ca_pem.clone());
    }
    let authority = match &settings.authority {
        Some(own) => {
            let authority = Authority::read(&own.cert_pem, &own.key_pem, now)?;
            let pem = &authority.pair.cert_pem;
            staging.write("tls/ca.crt", Access::Public, pem)?;
            authority
        }
        None => {
            let host = settings.public_url.host_str().unwrap_or_default();
            let authority = Authority::generate(&format!("Portico CA, {host}"), now)?;
            write_authority(staging, SERVERS_CA, &authority)?;
            authority
        }
    };
    if gateway {
        let names = gateway_names(&settings.public_url, &settings.apps_domain);
        write_server(staging, "gateway", &authority, &names)?;
    }
    match &settings.kube_auth_tls {
        KubeAuthTls::Files { ca_pem, .. } => Ok(ca_pem.clone()),
        KubeAuthTls::Made => {
            let names = kube_auth_names(&settings.kube_auth_url);
            write_server(staging, "kube-auth", &authority, &names)?;
            Ok(authority.pair.cert_pem)
        }
    }
}

/// Writes a server's certificate and key, as `tls/NAME.crt` and `tls/NAME.key`.
///
/// # Errors
/// [`InitError::Certificate`] and [`InitError::Write`].
pub(super) fn write_server(
    staging: &Staging,
    name: &str,
    authority: &Authority,
    names: &[String],
) -> Result<(), InitError> {
    let pair = authority.server(names)?;
    staging.write(&format!("tls/{name}.crt"), Access::Public, &pair.cert_pem)?;
    staging.write(&format!("tls/{name}.key"), Access::Private, &pair.key_pem)
}

/// Writes the certificate where the service reads it, and the certificate with its key where only
/// root can.
fn write_authority(staging: &Staging, name: &str, authority: &Authority) -> Result<(), InitError> {
    let pair = &authority.pair;
    staging.write(&format!("tls/{name}.crt"), Access::Public, &pair.cert_pem)?;
    staging.write(&format!("ca/{name}.crt"), Access::Public, &pair.cert_pem)?;
    staging.write(&format!("ca/{name}.key"), Access::Private, &pair.key_pem)
}
