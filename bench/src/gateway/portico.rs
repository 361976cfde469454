//! The release build of `portico gateway`, with an app behind it, and users who sign in.
use super::upstream::SMALL;
use crate::browser::Browser;
use crate::process::{Server, wrapped};
use anyhow::{Context as _, Result, ensure};
use portico_testkit::{KeystoneAdmin, OidcPerson, TestEnv, TestUser};
use secrecy::ExposeSecret as _;
use std::fs::Permissions;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The address in browsers' address bars; the gateway listens elsewhere.
pub const MAIN: &str = "http://localhost:8080";
pub const APP: &str = "http://bench.apps.localhost:8080";
pub const APP_HOST: &str = "bench.apps.localhost:8080";
/// The app, as the audience of assertions.
pub const APP_ID: &str = "bench";
const ROLE: &str = "ROLE_ID_K8S_DEVELOPER";

/// The format of the program's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// The program's default.
    Human,
    Json,
}

impl LogFormat {
    /// Returns the line of the configuration.
    fn setting(self) -> &'static str {
        match self {
            Self::Human => "",
            Self::Json => "format = \"json\"",
        }
    }
}

/// Keys and configurations of a run.
pub struct Workplace {
    pub dir: TempDir,
    portico: PathBuf,
    keystone: String,
    project: String,
    role: String,
}

impl Workplace {
    /// Creates keys and configurations for the program at `portico` and the Keystone of a stack.
    pub fn create(portico: &Path, env: &TestEnv) -> Result<Self> {
        let portico = portico
            .canonicalize()
            .with_context(|| format!("{} (build it first)", portico.display()))?;
        let dir = tempfile::tempdir()?;
        // Apache's child processes run as an unprivileged user; the keys are files of the
        // benchmark's user
        std::fs::set_permissions(dir.path(), Permissions::from_mode(0o711))?;
        let place = Self {
            dir,
            portico,
            keystone: env.get("KEYSTONE_URL")?.to_owned(),
            project: env.get("PROJECT_ID_ACME")?.to_owned(),
            role: env.get(ROLE)?.to_owned(),
        };
        let keys = place.dir.path().join("keys");
        place.run(
            Command::new(&place.portico)
                .args(["keys", "generate", "--out"])
                .arg(keys),
        )?;
        Ok(place)
    }

    /// Returns the log file of a server.
    pub fn log(&self, name: &str) -> PathBuf {
        self.dir.path().join(format!("{name}.log"))
    }

    /// Starts a gateway in front of an app at `upstream`, with further sections in its
    /// configuration. It logs as in production: an access log entry for each request, in JSON.
    pub async fn start(&self, name: &str, upstream: SocketAddr, more: &str) -> Result<Server> {
        let mut command = self.gateway(name, upstream, LogFormat::Json, more, &[])?;
        Server::start(&mut command, &self.log(name)).await
    }

    /// Starts the same with another log format.
    pub async fn start_logging(
        &self,
        name: &str,
        upstream: SocketAddr,
        format: LogFormat,
    ) -> Result<Server> {
        let mut command = self.gateway(name, upstream, format, "", &[])?;
        Server::start(&mut command, &self.log(name)).await
    }

    /// Returns the command that runs a gateway, behind `wrapper` (a program and its arguments) if
    /// there is one. Its configuration and its database exist already.
    pub fn gateway(
        &self,
        name: &str,
        upstream: SocketAddr,
        format: LogFormat,
        more: &str,
        wrapper: &[String],
    ) -> Result<Command> {
        let file = self.dir.path().join(format!("{name}.toml"));
        std::fs::write(&file, self.configuration(name, upstream, format, more))?;
        self.run(self.command(&file).arg("migrate"))?;
        let mut command = wrapped(wrapper, &self.portico);
        command.arg("--config").arg(&file).arg("gateway");
        clean(&mut command);
        Ok(command)
    }

    fn command(&self, file: &Path) -> Command {
        let mut command = Command::new(&self.portico);
        command.arg("--config").arg(file);
        command
    }

    fn run(&self, command: &mut Command) -> Result<()> {
        let output = clean(command).output().context("portico")?;
        let message = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{command:?}: {message}");
        Ok(())
    }

    fn configuration(
        &self,
        name: &str,
        upstream: SocketAddr,
        format: LogFormat,
        more: &str,
    ) -> String {
        format!(
            r#"
[log]
level = "info"
{format}

[admin]
listen = "127.0.0.2:0"

[store]
url = "sqlite://{dir}/{name}.db"
key_files = ["{dir}/keys/store-1.key"]

[keystone]
url = "{keystone}"

[gateway]
listen = "127.0.0.1:0"
public_url = "{MAIN}"
apps_domain = "apps.localhost"
assertion_key_file = "{dir}/keys/assertion.pem"
panel_url = "http://127.0.0.1:9"
panel_sealing_key_file = "{dir}/keys/panel.pub"

[[apps]]
id = "{APP_ID}"
name = "Bench"
project = "{project}"
url = "http://{upstream}"
allow = [{{ role = "{role}", project = "{project}" }}]
{more}
"#,
            format = format.setting(),
            dir = self.dir.path().display(),
            keystone = self.keystone,
            project = self.project,
            role = self.role,
        )
    }
}

/// Clears the environment, which could hold other settings.
fn clean(command: &mut Command) -> &mut Command {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("PORTICO_") {
            command.env_remove(name);
        }
    }
    command
}

/// A user in the real Keystone who exists as long as the run.
pub struct Person {
    admin: KeystoneAdmin,
    pub user: TestUser,
}

impl Person {
    /// Creates a user, with the role that opens the app.
    pub async fn create(env: &TestEnv) -> Result<Self> {
        let admin = KeystoneAdmin::sign_in(env).await?;
        let user = admin.create_user("bench").await?;
        let person = Self { admin, user };
        let project = env.get("PROJECT_ID_ACME")?;
        person
            .admin
            .grant(&person.user.id, project, env.get(ROLE)?)
            .await?;
        Ok(person)
    }

    /// Deletes the user.
    pub async fn delete(self) -> Result<()> {
        self.admin.delete_user(&self.user.id).await
    }

    /// Signs in on the gateway's page and opens the app.
    pub async fn sign_in(&self, gateway: SocketAddr) -> Result<Session> {
        let mut browser = Browser::new(gateway);
        let url = format!("{MAIN}/oauth2/sign_in");
        let page = browser.see(&format!("{url}?rd=/")).await?;
        let csrf = page.field("csrf_token")?.to_owned();
        let fields = [
            ("csrf_token", csrf.as_str()),
            ("rd", "/"),
            ("name", &self.user.name),
            ("password", self.user.password.expose_secret()),
            ("domain", "Default"),
        ];
        let page = browser.submit(MAIN, &url, &fields).await?;
        ensure!(page.status.is_redirection(), "not signed in: {}", page.body);
        let away = browser.open(APP).await?.location()?;
        let form = browser.see(away.as_str()).await?;
        let code = form.field("code")?.to_owned();
        let page = browser
            .submit(MAIN, &format!("{APP}/oauth2/handover"), &[("code", &code)])
            .await?;
        ensure!(page.status.is_redirection(), "no hand-over: {}", page.body);
        // the first page removes the cookies of the redirect, if there was one
        browser.open(&format!("{APP}{}", SMALL.0)).await?;
        let cookie = browser.cookies("bench.apps.localhost");
        ensure!(!cookie.is_empty(), "no session at the app");
        Ok(Session { browser, cookie })
    }
}

/// A signed-in user's session.
pub struct Session {
    browser: Browser,
    /// The `Cookie` line for the app.
    pub cookie: String,
}

impl Session {
    /// Signs out on the gateway's page.
    pub async fn sign_out(&mut self) -> Result<()> {
        let url = format!("{MAIN}/oauth2/sign_out");
        let page = self.browser.see(&url).await?;
        let csrf = page.field("csrf_token")?.to_owned();
        let fields = [("csrf_token", csrf.as_str())];
        let page = self.browser.submit(MAIN, &url, &fields).await?;
        ensure!(page.status.is_success(), "not signed out: {}", page.body);
        Ok(())
    }
}

/// Signs in at the OpenID Provider `corp`; returns the `Cookie` line for the main host.
pub async fn sign_in_at_provider(gateway: SocketAddr) -> Result<String> {
    let mut browser = Browser::new(gateway);
    let start = format!("{MAIN}/oauth2/start?provider=corp&rd=/");
    let away = browser.open(&start).await?.location()?;
    let back = OidcPerson::default()
        .sign_in(away.as_str(), "alice")
        .await?;
    let page = browser.open(&back).await?;
    ensure!(page.status.is_redirection(), "not signed in: {}", page.body);
    Ok(browser.cookies("localhost"))
}
