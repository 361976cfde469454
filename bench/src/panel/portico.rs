//! Portico with all roles in one process, as `portico init` installs it.
use crate::browser::{Browser, Endpoint};
use crate::process::Server;
use anyhow::{Context as _, Result, ensure};
use portico_testkit::{TestEnv, TestUser};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use secrecy::ExposeSecret as _;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use uuid::Uuid;

pub const VIEWER_ROLE: &str = "ROLE_ID_K8S_VIEWER";
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// In the order of [`Ports`].
const PORTS: usize = 4;

/// The program and the browser half that are measured.
pub struct Build<'a> {
    pub portico: &'a Path,
    pub site: &'a Path,
}

/// The only cluster of an installation.
pub struct KnownCluster<'a> {
    pub name: &'a str,
    pub id: Uuid,
    /// The Keystone project that owns it.
    pub project: &'a str,
    pub api_url: &'a str,
    pub ca_pem: &'a str,
}

/// A user's session at the gateway.
pub struct Session {
    /// The `Cookie` line.
    pub cookie: String,
}

/// Ports that were free a moment ago; if another program takes one first, the start reports it.
struct Ports {
    gateway: u16,
    kube_auth: u16,
    panel: u16,
    operator: u16,
}

impl Ports {
    fn free() -> Result<Self> {
        let listeners = [(); PORTS].map(|()| TcpListener::bind("127.0.0.1:0"));
        let mut ports = [0; PORTS];
        for (port, listener) in ports.iter_mut().zip(listeners) {
            *port = listener?.local_addr()?.port();
        }
        let [gateway, kube_auth, panel, operator] = ports;
        Ok(Self {
            gateway,
            kube_auth,
            panel,
            operator,
        })
    }
}

/// The directory that `portico init` writes, and the program that reads it.
pub struct Prepared {
    portico: PathBuf,
    ports: Ports,
    cluster: String,
    /// Settings besides those of `portico init`.
    settings: String,
    dir: TempDir,
}

impl Prepared {
    /// Writes the installation of a cluster; starts nothing.
    pub fn new(env: &TestEnv, build: &Build<'_>, cluster: &KnownCluster<'_>) -> Result<Self> {
        let portico = build.portico.canonicalize();
        let portico =
            portico.with_context(|| format!("{} (build it first)", build.portico.display()))?;
        let site = build.site.canonicalize();
        let site = site.with_context(|| format!("{} (build it first)", build.site.display()))?;
        let prepared = Self {
            portico,
            settings: format!(
                "[shutdown]\nnotice = \"0s\"\n\n[panel]\nsite_root = \"{}\"\n",
                site.display()
            ),
            ports: Ports::free()?,
            cluster: cluster.name.to_owned(),
            dir: tempfile::tempdir()?,
        };
        prepared.install(env, cluster)?;
        Ok(prepared)
    }

    fn install(&self, env: &TestEnv, cluster: &KnownCluster<'_>) -> Result<()> {
        let (place, ports) = (self.place(), &self.ports);
        let authority = self.authority();
        std::fs::write(&authority, cluster.ca_pem)?;
        let mut command = self.command();
        command
            .args(["init", "--yes", "--skip-checks", "--out"])
            .arg(&place);
        let store = format!("sqlite://{}/portico.db", place.display());
        let local = |port: u16| format!("127.0.0.1:{port}");
        let role = |name: &str, id: &str| anyhow::Ok(format!("{name}={}", env.get(id)?));
        let spec = format!(
            "name={},project={},api-url={},ca-file={},id={}",
            cluster.name,
            cluster.project,
            cluster.api_url,
            authority.display(),
            cluster.id
        );
        for (option, value) in [
            ("--keystone-url", env.get("KEYSTONE_URL")?.to_owned()),
            ("--public-url", self.url()),
            ("--apps-domain", "apps.localhost".to_owned()),
            ("--listen", local(ports.gateway)),
            (
                "--kube-auth-url",
                format!("https://{}", local(ports.kube_auth)),
            ),
            ("--panel-listen", local(ports.panel)),
            ("--admin-listen", local(ports.operator)),
            ("--store", store),
            ("--admin-role", role("k8s_admin", "ROLE_ID_K8S_ADMIN")?),
            (
                "--developer-role",
                role("k8s_developer", "ROLE_ID_K8S_DEVELOPER")?,
            ),
            ("--viewer-role", role("k8s_viewer", VIEWER_ROLE)?),
            ("--cluster", spec),
        ] {
            command.args([option, &value]);
        }
        run(&mut command)
    }

    /// Returns the flags for the API server, with the files where they are.
    pub fn webhook_flags(&self) -> Result<Vec<String>> {
        let dir = self.place().join("clusters").join(&self.cluster);
        let files = format!("={}/", dir.join("api-server").display());
        let flags = std::fs::read_to_string(dir.join("apiserver.flags"))?;
        let lines = flags
            .lines()
            .map(|line| line.replace("=/etc/kubernetes/portico/", &files));
        Ok(lines.collect())
    }

    /// Returns the public key of its kube-auth.
    pub fn sealing_key(&self) -> PathBuf {
        self.place().join("keys/kube-auth-1.pub")
    }

    /// Seals the cluster's tokens for the kube-auth of another installation, which its API server
    /// asks.
    pub fn seal_for(&mut self, cluster: &KnownCluster<'_>, sealing_key: &Path) {
        // the list replaces that of `portico init`
        self.settings.push_str(&format!(
            "\n[[clusters]]\nid = \"{}\"\nname = \"{}\"\nowner_project = \"{}\"\napi_url = \"{}\"\n\
             ca_file = \"{}\"\nsealing_key_file = \"{}\"\n",
            cluster.id,
            cluster.name,
            cluster.project,
            cluster.api_url,
            self.authority().display(),
            sealing_key.display()
        ));
    }

    /// Adds sections to the configuration.
    pub fn add_settings(&mut self, text: &str) {
        self.settings.push_str(text);
    }

    /// Starts Portico and waits until it responds.
    pub async fn start(self) -> Result<Portico> {
        let place = self.place();
        let more = place.join("bench.toml");
        std::fs::write(&more, &self.settings)?;
        let base = place.join("portico.toml");
        let mut migrate = self.command();
        run(migrate.arg("--config").arg(&base).arg("migrate"))?;
        let mut command = self.command();
        command
            .arg("--config")
            .arg(&base)
            .arg("--config")
            .arg(&more)
            .arg("all");
        let started = Portico {
            server: Server::start(&mut command, &place.join("portico.log")).await?,
            url: self.url(),
            gateway: endpoint(&place.join("tls/ca.crt"), self.ports.gateway)?,
            certificate: place.join("tls/gateway.crt"),
            operator: ([127, 0, 0, 1], self.ports.operator).into(),
            _dir: self.dir,
        };
        started.wait().await?;
        Ok(started)
    }

    fn url(&self) -> String {
        format!("https://localhost:{}", self.ports.gateway)
    }

    fn place(&self) -> PathBuf {
        self.dir.path().join("portico")
    }

    fn authority(&self) -> PathBuf {
        self.dir.path().join("cluster.ca.crt")
    }

    /// Returns the program without the settings that the environment could hold.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.portico);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("PORTICO_") {
                command.env_remove(name);
            }
        }
        command
    }
}

/// The running program. It ends with the value.
pub struct Portico {
    pub server: Server,
    /// The address in browsers' address bars.
    pub url: String,
    pub gateway: Endpoint,
    pub certificate: PathBuf,
    operator: SocketAddr,
    _dir: TempDir,
}

impl Portico {
    async fn wait(&self) -> Result<()> {
        let since = Instant::now();
        while Browser::new(self.gateway.clone())
            .see(&format!("{}/ping", self.url))
            .await
            .is_err()
        {
            ensure!(since.elapsed() < START_TIMEOUT, "Portico does not respond");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Ok(())
    }

    /// Signs a user in on the gateway's page.
    pub async fn sign_in(&self, user: &TestUser) -> Result<Session> {
        let mut browser = Browser::new(self.gateway.clone());
        let url = format!("{}/oauth2/sign_in", self.url);
        let page = browser.see(&format!("{url}?rd=/")).await?;
        let csrf = page.field("csrf_token")?.to_owned();
        let fields = [
            ("csrf_token", csrf.as_str()),
            ("rd", "/"),
            ("name", &user.name),
            ("password", user.password.expose_secret()),
            ("domain", "Default"),
        ];
        let page = browser.submit(&self.url, &url, &fields).await?;
        ensure!(page.status.is_redirection(), "not signed in: {}", page.body);
        let cookie = browser.cookies("localhost");
        ensure!(!cookie.is_empty(), "no session");
        Ok(Session { cookie })
    }

    /// Returns its own metrics, as Prometheus reads them.
    pub async fn metrics(&self) -> Result<String> {
        let url = format!("http://{}/metrics", self.operator);
        Ok(Browser::new(self.operator).see(&url).await?.body)
    }
}

fn endpoint(authority: &Path, port: u16) -> Result<Endpoint> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(authority)?)?;
    let config = rustls::ClientConfig::builder()
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Endpoint::with_tls(([127, 0, 0, 1], port).into(), config))
}

fn run(command: &mut Command) -> Result<()> {
    let output = command.output().context("portico")?;
    let message = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}: {message}");
    Ok(())
}
