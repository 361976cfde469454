//! Portico with all roles in one process, as `portico init` installs it, in front of an API server
//! of the run's own; and users of the real Keystone.
use super::fill::Admin;
use crate::browser::{Browser, Endpoint};
use crate::process::Server;
use anyhow::{Context as _, Result, ensure};
use portico_testkit::{KeystoneAdmin, KubeApiServer, TestEnv, TestUser, project_root};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use secrecy::ExposeSecret as _;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use uuid::Uuid;

const CLUSTER: &str = "bench";
const ADMIN_TOKEN: &str = "bench-administrator";
const VIEWER_ROLE: &str = "ROLE_ID_K8S_VIEWER";
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// Neither is of use without controllers: the first waits for service accounts, the second marks
/// each new node as not ready.
const WITHOUT_CONTROLLERS: &str =
    "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition";
/// In the order of [`Ports`].
const PORTS: usize = 4;

/// A project of the run's own, and users who may see everything in its cluster.
pub struct People {
    keystone: KeystoneAdmin,
    pub project: String,
    pub users: Vec<TestUser>,
}

impl People {
    /// Creates them in the Keystone of the stack.
    pub async fn create(env: &TestEnv, count: usize) -> Result<Self> {
        let keystone = KeystoneAdmin::sign_in(env).await?;
        let project = keystone.create_project("bench").await?;
        let mut people = Self {
            keystone,
            project,
            users: Vec::new(),
        };
        for _ in 0..count {
            let user = people.keystone.create_user("bench").await?;
            let role = env.get(VIEWER_ROLE)?;
            people
                .keystone
                .grant(&user.id, &people.project, role)
                .await?;
            people.users.push(user);
        }
        Ok(people)
    }

    /// Deletes them.
    pub async fn delete(self) -> Result<()> {
        for user in &self.users {
            self.keystone.delete_user(&user.id).await?;
        }
        self.keystone.delete_project(&self.project).await
    }
}

/// A user's session at the gateway.
pub struct Session {
    /// The `Cookie` line.
    pub cookie: String,
}

/// The program and the browser half that are measured.
pub struct Build<'a> {
    pub portico: &'a Path,
    pub site: &'a Path,
}

/// Everything behind the browser. It ends with the value.
pub struct Installation {
    pub server: Server,
    pub kubernetes: KubeApiServer,
    pub admin: Admin,
    pub cluster: Uuid,
    pub project: String,
    /// The address in browsers' address bars.
    pub url: String,
    pub gateway: Endpoint,
    pub certificate: PathBuf,
    operator: SocketAddr,
    _dir: TempDir,
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

impl Installation {
    /// Starts etcd, the API server and Portico.
    pub async fn start(env: &TestEnv, build: &Build<'_>, people: &People) -> Result<Self> {
        let dir = tempfile::tempdir()?;
        let portico = build.portico.canonicalize();
        let portico =
            portico.with_context(|| format!("{} (build it first)", build.portico.display()))?;
        let site = build.site.canonicalize();
        let site = site.with_context(|| format!("{} (build it first)", build.site.display()))?;
        let ports = Ports::free()?;
        let url = format!("https://localhost:{}", ports.gateway);
        let tokens = dir.path().join("tokens.csv");
        let group = "system:masters";
        std::fs::write(&tokens, format!("{ADMIN_TOKEN},bench,bench,{group}\n"))?;
        let mut flags = vec![
            format!("--token-auth-file={}", tokens.display()),
            WITHOUT_CONTROLLERS.to_owned(),
            "--event-ttl=24h".to_owned(),
            "--profiling=false".to_owned(),
        ];
        let mut kubernetes = KubeApiServer::start(env, &flags).await?;
        let cluster = Uuid::new_v4();
        let place = Place {
            dir: &dir.path().join("portico"),
            portico: &portico,
        };
        place.install(env, &kubernetes, cluster, &people.project, &ports)?;
        flags.extend(place.webhook_flags()?);
        kubernetes.restart_with(&flags).await?;
        grant_rights(env, &kubernetes).await?;
        let sealing_key = place.dir.join("keys/kube-auth-1.pub");
        let admin = Admin::new(kubernetes.cluster(cluster, &sealing_key)?, ADMIN_TOKEN);
        let server = place.start(&site).await?;
        let certificate = place.dir.join("tls/gateway.crt");
        let started = Self {
            server,
            kubernetes,
            admin,
            cluster,
            project: people.project.clone(),
            url,
            gateway: endpoint(&place.dir.join("tls/ca.crt"), ports.gateway)?,
            certificate,
            operator: ([127, 0, 0, 1], ports.operator).into(),
            _dir: dir,
        };
        started.wait().await?;
        Ok(started)
    }

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

    /// Returns a path of the cluster's pages.
    pub fn path(&self, below: &str) -> String {
        format!(
            "/projects/{}/clusters/{}{below}",
            self.project, self.cluster
        )
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

    /// Returns the number of watches of a resource that the API server serves, by its own metrics.
    pub async fn watches(&self, resource: &str) -> Result<usize> {
        let metrics = self
            .kubernetes
            .kubectl(&["get", "--raw", "/metrics"])
            .await?;
        Ok(sum(&metrics, |line| {
            // the name has changed in Kubernetes 1.23
            let names = [
                "apiserver_longrunning_gauge{",
                "apiserver_longrunning_requests{",
            ];
            names.iter().any(|name| line.starts_with(name))
                && line.contains(&format!("resource=\"{resource}\""))
                && line.contains("verb=\"WATCH\"")
        }))
    }

    /// Returns the number of shared watches that Portico has, by its own metrics.
    pub async fn shared_watches(&self) -> Result<usize> {
        let url = format!("http://{}/metrics", self.operator);
        let page = Browser::new(self.operator).see(&url).await?;
        Ok(sum(&page.body, |line| {
            line.starts_with("portico_panel_shared_watches{kind=\"shared\"}")
        }))
    }
}

/// Adds the values of the chosen lines of metrics.
fn sum(metrics: &str, is_wanted: impl Fn(&str) -> bool) -> usize {
    let lines = metrics.lines().filter(|line| is_wanted(line));
    lines
        .filter_map(|line| line.rsplit_once(' ')?.1.parse::<usize>().ok())
        .sum()
}

/// Binds the roles for viewers in the whole cluster. The pre-defined roles are aggregated by a
/// controller; their parts are bound instead.
async fn grant_rights(env: &TestEnv, kubernetes: &KubeApiServer) -> Result<()> {
    let roles = project_root().join("scripts/seed/roles.yaml");
    kubernetes
        .kubectl(&["apply", "--filename", &roles.display().to_string()])
        .await?;
    let group = format!("--group={}", env.get(VIEWER_ROLE)?);
    for role in ["portico-view-workloads", "portico-cluster-reader"] {
        let role = format!("--clusterrole={role}");
        let name = role.replace("--clusterrole=", "bench-");
        kubernetes
            .kubectl(&["create", "clusterrolebinding", &name, &role, &group])
            .await?;
    }
    Ok(())
}

fn endpoint(authority: &Path, port: u16) -> Result<Endpoint> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(authority)?)?;
    let config = rustls::ClientConfig::builder()
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Endpoint::with_tls(([127, 0, 0, 1], port).into(), config))
}

/// The directory that `portico init` writes.
struct Place<'a> {
    dir: &'a Path,
    portico: &'a Path,
}

impl Place<'_> {
    fn install(
        &self,
        env: &TestEnv,
        kubernetes: &KubeApiServer,
        cluster: Uuid,
        project: &str,
        ports: &Ports,
    ) -> Result<()> {
        let authority = self.dir.with_extension("ca.crt");
        std::fs::write(&authority, &kubernetes.ca_pem)?;
        let mut command = self.command();
        command
            .args(["init", "--yes", "--skip-checks", "--out"])
            .arg(self.dir);
        let store = format!("sqlite://{}/portico.db", self.dir.display());
        let local = |port: u16| format!("127.0.0.1:{port}");
        let role = |name: &str, id: &str| anyhow::Ok(format!("{name}={}", env.get(id)?));
        let spec = format!(
            "name={CLUSTER},project={project},api-url={},ca-file={},id={cluster}",
            kubernetes.url,
            authority.display()
        );
        for (option, value) in [
            ("--keystone-url", env.get("KEYSTONE_URL")?.to_owned()),
            (
                "--public-url",
                format!("https://localhost:{}", ports.gateway),
            ),
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
    fn webhook_flags(&self) -> Result<Vec<String>> {
        let dir = self.dir.join("clusters").join(CLUSTER);
        let files = format!("={}/", dir.join("api-server").display());
        let flags = std::fs::read_to_string(dir.join("apiserver.flags"))?;
        let lines = flags
            .lines()
            .map(|line| line.replace("=/etc/kubernetes/portico/", &files));
        Ok(lines.collect())
    }

    async fn start(&self, site: &Path) -> Result<Server> {
        let more = self.dir.join("bench.toml");
        let settings = format!(
            "[shutdown]\nnotice = \"0s\"\n\n[panel]\nsite_root = \"{}\"\n",
            site.display()
        );
        std::fs::write(&more, settings)?;
        let base = self.dir.join("portico.toml");
        let mut migrate = self.command();
        run(migrate.arg("--config").arg(&base).arg("migrate"))?;
        let mut command = self.command();
        command
            .arg("--config")
            .arg(&base)
            .arg("--config")
            .arg(&more)
            .arg("all");
        Server::start(&mut command, &self.dir.join("portico.log")).await
    }

    /// Returns the program without the settings that the environment could hold.
    fn command(&self) -> Command {
        let mut command = Command::new(self.portico);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("PORTICO_") {
                command.env_remove(name);
            }
        }
        command
    }
}

fn run(command: &mut Command) -> Result<()> {
    let output = command.output().context("portico")?;
    let message = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}: {message}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::sum;

    #[test]
    fn metrics_of_one_name_are_added() {
        let metrics = "# HELP a text 7\na{kind=\"x\"} 2\na{kind=\"y\"} 3\nb 4\n";
        assert_eq!(sum(metrics, |line| line.starts_with("a{")), 5);
        assert_eq!(sum(metrics, |line| line.starts_with("c{")), 0);
    }
}
