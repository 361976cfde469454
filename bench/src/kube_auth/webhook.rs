//! The release build of `portico kube-auth`, configured for one cluster.
use crate::kube_auth::pki::{Pki, server_files};
use crate::process::Server;
use anyhow::{Context as _, Result};
use jiff::Timestamp;
use portico_assertion::{PrivateKey, cluster_token};
use portico_runtime::tls::TlsFiles;
use secrecy::{ExposeSecret as _, SecretString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;
use uuid::Uuid;

/// Keystone tokens outlive every cluster token here.
const KEYSTONE_TOKEN_TTL: Duration = Duration::from_secs(3600);

/// The folder of a run: certificates, keys and the cluster that they are for.
pub struct Workplace {
    pub dir: TempDir,
    pub pki: Pki,
    pub cluster: Uuid,
    key: PrivateKey,
    portico: PathBuf,
}

/// The differences between the webhooks of a run.
pub struct Settings<'s> {
    pub name: &'s str,
    pub keystone_url: &'s str,
    /// The project whose tokens the cluster accepts.
    pub project: &'s str,
    pub cache_ttl: Duration,
}

impl Workplace {
    /// Creates keys and certificates for the program at `portico`.
    pub fn create(portico: &Path) -> Result<Self> {
        let portico = portico
            .canonicalize()
            .with_context(|| format!("{} (build it first)", portico.display()))?;
        let dir = tempfile::tempdir()?;
        let key = PrivateKey::generate();
        key.write_new(&dir.path().join("kube-auth.key"))?;
        key.public().write_new(&dir.path().join("kube-auth.pub"))?;
        Ok(Self {
            pki: Pki::create(dir.path())?,
            dir,
            cluster: Uuid::new_v4(),
            key,
            portico,
        })
    }

    /// Starts a webhook. It logs as in production: JSON, an audit line for each review.
    pub async fn start(&self, settings: &Settings<'_>) -> Result<Server> {
        let dir = self.dir.path();
        let file = dir.join(format!("{}.toml", settings.name));
        std::fs::write(&file, self.configuration(settings)?)?;
        let mut command = Command::new(&self.portico);
        command.arg("--config").arg(&file).arg("kube-auth");
        // the environment could hold other settings
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("PORTICO_") {
                command.env_remove(name);
            }
        }
        Server::start(&mut command, &dir.join(format!("{}.log", settings.name))).await
    }

    fn configuration(&self, settings: &Settings<'_>) -> Result<String> {
        let dir = self.dir.path().display();
        let TlsFiles {
            cert_file,
            key_file,
            client_ca_file,
            ..
        } = server_files(self.dir.path());
        let client_ca_file = client_ca_file.context("no file for the authority")?;
        Ok(format!(
            r#"
[log]
level = "info"
format = "json"

[admin]
listen = "127.0.0.2:0"

[keystone]
url = "{keystone}"

[kube_auth]
listen = "127.0.0.1:0"
tls_cert_file = "{cert}"
tls_key_file = "{key}"
client_ca_file = "{ca}"
key_files = ["{dir}/kube-auth.key"]
cache_ttl = "{ttl}ms"
# what is measured is the program and not this limit
keystone_calls_per_second = 1000000

[[clusters]]
id = "{cluster}"
name = "bench"
owner_project = "{project}"
api_url = "https://127.0.0.1:6443"
sealing_key_file = "{dir}/kube-auth.pub"
"#,
            keystone = settings.keystone_url,
            cert = cert_file.display(),
            key = key_file.display(),
            ca = client_ca_file.display(),
            ttl = settings.cache_ttl.as_millis(),
            cluster = self.cluster,
            project = settings.project,
        ))
    }

    /// Returns a cluster token, as the gateway makes it; each is a different text.
    pub fn seal(&self, keystone_token: &SecretString) -> Result<String> {
        let now = Timestamp::now();
        let sealed = cluster_token::seal(
            self.key.public(),
            self.cluster,
            keystone_token,
            now.checked_add(KEYSTONE_TOKEN_TTL)?,
            now,
        )?;
        Ok(sealed.token.expose_secret().to_owned())
    }

    /// Returns the ID of the key that tokens are sealed to.
    pub fn kid(&self) -> &str {
        self.key.kid()
    }
}
