//! `portico init --add`: adds clusters and missing certificates to a directory that init wrote.
use super::arguments::InitArgs;
use super::certificates::{Authority, gateway_names, kube_auth_names};
use super::cluster_files::{self, Webhook};
use super::configuration;
use super::directory::{Staging, group_of};
use super::error::InitError;
use super::installation::{API_SERVERS_CA, CONFIGURATION, SERVERS_CA, write_server, write_units};
use super::roles::{RoleSpec, Roles};
use super::settings::{
    Cluster, Problems, certificates, clusters, default_kube_auth_url, kube_auth_url_problem, roles,
};
use super::steps::{self, Step};
use super::systemd;
use crate::config::Config;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use portico_domain::cluster::ClusterRecord;
use portico_runtime::config::load;
use std::path::{Path, PathBuf};
use url::Url;

/// An existing directory, and what is to be added to it.
pub(super) struct Addition {
    out: PathBuf,
    text: String,
    config: Config,
    pub clusters: Vec<Cluster>,
    kube_auth_url: Url,
    kube_auth_ca: Option<String>,
    api_server_dir: String,
    roles: Roles,
}

impl Addition {
    /// Reads the directory.
    ///
    /// # Errors
    /// If init did not write it, or an option cannot be used.
    pub fn new(args: &InitArgs) -> Result<Self, InitError> {
        let out = std::path::absolute(&args.out).map_err(|source| InitError::Read {
            path: args.out.clone(),
            source,
        })?;
        let path = out.join(CONFIGURATION);
        if !path.exists() {
            return Err(InitError::NothingToAddTo(path));
        }
        let text = read(&path)?;
        let config: Config = load(&[path], Vec::new())?;
        let known = webhook_of(&out, &config)?;
        let (url_before, ca_before) = known.unzip();
        let mut problems = Problems::default();
        let taken: Vec<String> = config.clusters.iter().map(|one| one.name.clone()).collect();
        let new = clusters(&args.clusters, &taken, &mut problems);
        let ca_file = args.kube_auth_ca_file.as_deref();
        let ca_given = ca_file.map(certificates).transpose();
        let ca_given = ca_given.map_err(|problem| InitError::Options(vec![problem]))?;
        let kube_auth_url = args
            .kube_auth_url
            .clone()
            .or(url_before)
            .or_else(|| default_kube_auth_url(config.public_url()?));
        let Some(kube_auth_url) = kube_auth_url else {
            return Err(InitError::Options(vec![
                "--kube-auth-url is missing".to_owned(),
            ]));
        };
        problems.0.extend(kube_auth_url_problem(&kube_auth_url));
        if !problems.0.is_empty() {
            return Err(InitError::Options(problems.0));
        }
        Ok(Self {
            roles: with_known_ids(roles(args), &config),
            out,
            text,
            config,
            clusters: new,
            kube_auth_url,
            kube_auth_ca: ca_given.or(ca_before),
            api_server_dir: args.api_server_dir.trim_end_matches('/').to_owned(),
        })
    }

    /// Writes what is missing; returns the files and the remaining steps.
    ///
    /// # Errors
    /// The first error; the directory is unchanged then.
    pub fn write(
        &self,
        program: &Path,
        now: Timestamp,
    ) -> Result<(Vec<PathBuf>, Vec<Step>), InitError> {
        let records = self.records()?;
        let staging = Staging::new(&self.out, group_of(&self.out.join(CONFIGURATION)))?;
        self.server_certificates(&staging, now)?;
        let missing: Vec<(&ClusterRecord, String)> = records
            .iter()
            .filter_map(|record| {
                let directory = self.directory(record);
                let place = self
                    .out
                    .join("clusters")
                    .join(&directory)
                    .join("api-server");
                (!place.exists()).then_some((record, directory))
            })
            .collect();
        if !missing.is_empty() {
            let ca_pem = match &self.kube_auth_ca {
                Some(pem) => pem.clone(),
                None => read(&self.out.join(format!("tls/{SERVERS_CA}.crt")))?,
            };
            let webhook = Webhook {
                url: &self.kube_auth_url,
                ca_pem: &ca_pem,
                directory: &self.api_server_dir,
            };
            for cluster in &self.clusters {
                cluster_files::write(&staging, cluster, &webhook, &self.roles)?;
                cluster_files::write_entry(&staging, cluster)?;
                let unit = systemd::bootstrap(&self.out, cluster, &self.roles, program);
                write_units(&staging, unit)?;
            }
            let authority = self.authority(API_SERVERS_CA, now)?;
            for (record, directory) in missing {
                cluster_files::write_webhook(&staging, &directory, record, &webhook, &authority)?;
            }
        }
        let files = staging.commit()?;
        if files.is_empty() {
            return Err(InitError::NothingToAdd(self.out.clone()));
        }
        let steps =
            steps::of_addition(&self.out, &self.clusters, &self.api_server_dir, &self.roles);
        Ok((files, steps))
    }

    /// Returns every cluster, the new ones included, as it will be in the configuration.
    fn records(&self) -> Result<Vec<ClusterRecord>, InitError> {
        let new: String = self.clusters.iter().map(configuration::cluster).collect();
        let file = tempfile::NamedTempFile::new().and_then(|file| {
            std::fs::write(file.path(), format!("{}\n{new}", self.text))?;
            Ok(file)
        });
        let file = file.map_err(|source| InitError::Write {
            path: std::env::temp_dir(),
            source,
        })?;
        let config: Config = load(&[file.path().to_owned()], Vec::new())?;
        config.validate(&config.configured_roles())?;
        Ok(config.clusters)
    }

    /// Returns the directory of a cluster below `clusters`: that of its authority, else its name.
    fn directory(&self, record: &ClusterRecord) -> String {
        let new = self.clusters.iter().find(|one| one.spec.id == record.id);
        if let Some(cluster) = new {
            return cluster.directory.clone();
        }
        let directory = record.ca_file.as_deref().and_then(Path::parent);
        directory
            .filter(|directory| {
                directory
                    .parent()
                    .is_some_and(|one| one.ends_with("clusters"))
            })
            .and_then(Path::file_name)
            .map_or_else(
                || record.name.clone(),
                |name| name.to_string_lossy().into_owned(),
            )
    }

    /// Makes the certificates that the configuration names below `tls` and that do not exist.
    fn server_certificates(&self, staging: &Staging, now: Timestamp) -> Result<(), InitError> {
        let config = &self.config;
        let missing = |cert: Option<&PathBuf>, name: &str| {
            let own = self.out.join(format!("tls/{name}.crt"));
            let key = self.out.join(format!("tls/{name}.key"));
            cert == Some(&own) && !own.exists() && !key.exists()
        };
        let gateway = config.gateway.as_ref();
        if let Some(section) = gateway
            && missing(section.tls_cert_file.as_ref(), "gateway")
        {
            let names = gateway_names(&section.public_url, &section.apps_domain);
            write_server(
                staging,
                "gateway",
                &self.authority(SERVERS_CA, now)?,
                &names,
            )?;
        }
        let kube_auth = config.kube_auth.as_ref();
        if missing(kube_auth.map(|section| &section.tls_cert_file), "kube-auth") {
            let names = kube_auth_names(&self.kube_auth_url);
            write_server(
                staging,
                "kube-auth",
                &self.authority(SERVERS_CA, now)?,
                &names,
            )?;
        }
        Ok(())
    }

    fn authority(&self, name: &str, now: Timestamp) -> Result<Authority, InitError> {
        let cert = self.out.join(format!("ca/{name}.crt"));
        let key = self.out.join(format!("ca/{name}.key"));
        for file in [&cert, &key] {
            if !file.exists() {
                return Err(InitError::NoAuthority(file.clone()));
            }
        }
        Authority::read(&read(&cert)?, &read(&key)?, now)
    }
}

/// Returns kube-auth's URL and authority, from the webhook kubeconfig of an existing cluster.
fn webhook_of(out: &Path, config: &Config) -> Result<Option<(Url, String)>, InitError> {
    for cluster in &config.clusters {
        let path = out
            .join("clusters")
            .join(&cluster.name)
            .join("api-server/webhook.kubeconfig");
        if !path.exists() {
            continue;
        }
        let unusable = |detail: &str| InitError::Content {
            path: path.clone(),
            detail: format!(
                "{detail}; name kube-auth with --kube-auth-url and --kube-auth-ca-file"
            ),
        };
        let document: serde_json::Value =
            serde_norway::from_str(&read(&path)?).map_err(|error| unusable(&error.to_string()))?;
        let entry = &document["clusters"][0]["cluster"];
        let url = entry["server"]
            .as_str()
            .and_then(|url| Url::parse(url).ok());
        let pem = entry["certificate-authority-data"]
            .as_str()
            .and_then(|data| String::from_utf8(STANDARD.decode(data).ok()?).ok());
        let (Some(mut url), Some(pem)) = (url, pem) else {
            return Err(unusable("it does not name kube-auth and its authority"));
        };
        url.set_path("/");
        return Ok(Some((url, pem)));
    }
    Ok(None)
}

/// Returns the IDs of roles that the options name without them, where the configuration knows the
/// names.
fn with_known_ids(roles: Roles, config: &Config) -> Roles {
    let known = |role: RoleSpec| {
        let names = config.panel.as_ref().map(|panel| &panel.role_names);
        let found = names.and_then(|names| names.iter().find(|(_, name)| **name == role.name));
        let id = role.id.or_else(|| found.map(|(id, _)| id.clone()));
        RoleSpec {
            name: role.name,
            id,
        }
    };
    Roles {
        admin: known(roles.admin),
        developer: known(roles.developer),
        viewer: known(roles.viewer),
    }
}

fn read(path: &Path) -> Result<String, InitError> {
    std::fs::read_to_string(path).map_err(|source| InitError::Read {
        path: path.to_owned(),
        source,
    })
}
