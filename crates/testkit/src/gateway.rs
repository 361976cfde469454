//! A test's own gateway process, from the program that was built with the test, in front of the
//! stack's Keystone and for the stack's clusters.
use crate::{KeystoneProxy, TestEnv, program};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::process::{Child, Command};

/// Maximum number of ports that are tried.
const MAX_PORTS: usize = 3;
const PORT_IN_USE: &str = "is in use by another process";

/// Ends with the value.
#[derive(Debug)]
pub struct OwnGateway {
    pub url: String,
    /// The authority of its certificate.
    pub ca_file: PathBuf,
    process: Child,
    directory: TempDir,
    config: PathBuf,
}

impl OwnGateway {
    /// Starts it and waits until it answers.
    ///
    /// # Errors
    /// If it does not.
    pub async fn start(env: &TestEnv) -> Result<Self> {
        let mut started = Self::start_once(env).await;
        for _ in 1..MAX_PORTS {
            match &started {
                // a connection of another test has the port that was free a moment ago
                Err(error) if error.to_string().contains(PORT_IN_USE) => {
                    started = Self::start_once(env).await;
                }
                _ => break,
            }
        }
        started
    }

    async fn start_once(env: &TestEnv) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let port = free_port().await?;
        let config = directory.path().join("portico.toml");
        std::fs::write(&config, configuration(env, directory.path(), port)?)?;
        let migrated = Command::new(program("portico")?)
            .args(["--config".as_ref(), config.as_os_str(), "migrate".as_ref()])
            .output()
            .await?;
        if !migrated.status.success() {
            bail!("migrate: {}", String::from_utf8_lossy(&migrated.stderr));
        }
        let mut gateway = Self {
            url: format!("https://localhost:{port}"),
            ca_file: env.get("PORTICO_CA_FILE")?.into(),
            process: spawn(&config, directory.path())?,
            directory,
            config,
        };
        gateway.wait().await?;
        Ok(gateway)
    }

    /// Starts it again with other texts in its configuration.
    ///
    /// # Errors
    /// If it does not come back.
    pub async fn restart_with(&mut self, replacements: &[(&str, &str)]) -> Result<()> {
        let mut text = std::fs::read_to_string(&self.config)?;
        for (old, new) in replacements {
            if !text.contains(old) {
                bail!("the configuration has no {old}");
            }
            text = text.replace(old, new);
        }
        std::fs::write(&self.config, text)?;
        self.stop().await?;
        self.process = spawn(&self.config, self.directory.path())?;
        self.wait().await
    }

    /// Ends it before the value does.
    ///
    /// # Errors
    /// If it cannot be ended.
    pub async fn stop(&mut self) -> Result<()> {
        Ok(self.process.kill().await?)
    }

    async fn wait(&mut self) -> Result<()> {
        // a second installation fails, and means that there is one already
        let _ = rustls::crypto::ring::default_provider().install_default();
        let pem = std::fs::read(&self.ca_file)?;
        let client = reqwest::Client::builder()
            .add_root_certificate(reqwest::Certificate::from_pem(&pem)?)
            .build()?;
        let deadline = Instant::now() + Duration::from_secs(30);
        let url = format!("{}/ping", self.url);
        while Instant::now() < deadline {
            if client.get(&url).send().await.is_ok() {
                return Ok(());
            }
            if let Some(status) = self.process.try_wait()? {
                let log = self.directory.path().join("log");
                bail!(
                    "the gateway ended with {status}: {}",
                    std::fs::read_to_string(log)?
                );
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        bail!("the gateway does not answer at {url}")
    }
}

fn spawn(config: &Path, directory: &Path) -> Result<Child> {
    let log = std::fs::File::create(directory.join("log"))?;
    let arguments = ["--config".as_ref(), config.as_os_str(), "gateway".as_ref()];
    Ok(Command::new(program("portico")?)
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(log)
        .kill_on_drop(true)
        .spawn()?)
}

async fn free_port() -> Result<u16> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    Ok(listener.local_addr()?.port())
}

fn configuration(env: &TestEnv, directory: &Path, port: u16) -> Result<String> {
    let installation = env.installation();
    let installation = installation
        .to_str()
        .context("the state's path is not text")?;
    let directory = directory
        .to_str()
        .context("the path of the directory is not UTF-8")?;
    let cluster = |name: &str, id: &str, project: &str, api: &str, ca: &str| -> Result<String> {
        Ok(format!(
            "[[clusters]]\nid = \"{}\"\nname = \"{name}\"\nowner_project = \"{}\"\napi_url = \"{}\"\n\
             ca_file = \"{}\"\nsealing_key_file = \"{installation}/keys/kube-auth-1.pub\"\n\n",
            env.get(id)?,
            env.get(project)?,
            env.get(api)?,
            env.get(ca)?,
        ))
    };
    let acme = cluster(
        "acme-prod",
        "CLUSTER_ID",
        "PROJECT_ID_ACME",
        "KUBE_API_URL",
        "KUBE_CA_FILE",
    )?;
    let globex = cluster(
        "globex-dev",
        "CLUSTER2_ID",
        "PROJECT_ID_GLOBEX",
        "KUBE2_API_URL",
        "KUBE2_CA_FILE",
    )?;
    Ok(format!(
        "[admin]\nlisten = \"127.0.0.1:0\"\n\n\
         [store]\nurl = \"sqlite://{directory}/portico.db\"\nkey_files = [\"{installation}/keys/store-1.key\"]\n\n\
         [keystone]\nurl = \"{keystone}\"\n\n\
         [gateway]\nlisten = \"127.0.0.1:{port}\"\npublic_url = \"https://localhost:{port}\"\n\
         apps_domain = \"apps.localhost\"\nassertion_key_file = \"{installation}/keys/assertion.pem\"\n\
         panel_url = \"http://127.0.0.1:9\"\npanel_sealing_key_file = \"{installation}/keys/panel.pub\"\n\
         tls_cert_file = \"{installation}/tls/gateway.crt\"\ntls_key_file = \"{installation}/tls/gateway.key\"\n\n\
         {acme}{globex}",
        keystone = env.get("KEYSTONE_URL")?,
    ))
}

/// The fixture of most tests of the command line: the stack, and a gateway and a Keystone of the
/// test's own.
#[derive(Debug)]
pub struct Cloud {
    pub env: TestEnv,
    pub gateway: OwnGateway,
    pub keystone: KeystoneProxy,
}

impl Cloud {
    /// Starts both.
    ///
    /// # Errors
    /// If one does not start.
    pub async fn start() -> Result<Self> {
        let env = TestEnv::load()?;
        Ok(Self {
            gateway: OwnGateway::start(&env).await?,
            keystone: KeystoneProxy::start(&env).await?,
            env,
        })
    }
}
