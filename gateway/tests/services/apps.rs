//! Real programs behind the gateway that ask for a password, and get it from `[apps.identity]`.
use std::{
    net::TcpListener,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use http::{Method, StatusCode};
use portico_testkit::TestEnv;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    net::TcpStream,
    process::{Child, Command},
};

use crate::support::{
    browser::Page,
    stack::{APP, Stack, Wanted},
};

const PASSWORD: &str = "for-this-test-only";
/// The bcrypt hash of [`PASSWORD`], at the lowest cost.
const PASSWORD_HASH: &str = "$2b$04$LRQtdyWs2gTgSHuiRyFJ6.zReLS6FO0pPK57bCDPsYQlBjD.5PPTq";
/// Debian's Alertmanager reads its templates from a fixed path; the script mounts an overlay over
/// that directory, as the stack does.
const OVERLAY_SCRIPT: &str = "mount -t overlay overlay -o \"lowerdir=$0/usr/share:/usr/share\" /usr/share \
                        && exec \"$0/usr/bin/prometheus-alertmanager\" \"$@\"";

/// A program in a directory of its own; it ends with the value.
struct Program {
    url: String,
    dir: TempDir,
    _process: Child,
}

/// Where the stack has unpacked its programs, beside those of Kubernetes.
fn unpacked() -> PathBuf {
    let env = TestEnv::load().expect("the stack's env file");
    let kubectl = PathBuf::from(env.get("KUBECTL").expect("KUBECTL"));
    let cache = kubectl.ancestors().nth(3).expect("the cache");
    cache.join("debian")
}

impl Program {
    /// Starts what `command` makes of the directory and the address to listen on.
    async fn start(command: impl FnOnce(&Path, &str) -> Command) -> Self {
        let dir = tempfile::tempdir().expect("directory");
        let free = TcpListener::bind("127.0.0.1:0").expect("port");
        let address = free.local_addr().expect("address").to_string();
        drop(free);
        let users = format!("basic_auth_users: {{ portico: \"{PASSWORD_HASH}\" }}\n");
        std::fs::write(dir.path().join("web.yml"), users).expect("written");
        let process = command(dir.path(), &address)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("started");
        let listens = async {
            while TcpStream::connect(&address).await.is_err() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let in_time = tokio::time::timeout(Duration::from_secs(30), listens).await;
        in_time.expect("it does not listen");
        Self {
            url: format!("http://{address}"),
            dir,
            _process: process,
        }
    }

    /// What a user gets who opens a path of the program through the gateway.
    async fn opened(&self, identity: Value, path: &str) -> Page {
        let stack = Stack::start(Wanted {
            app: json!({ "url": self.url, "identity": identity }),
            ..Wanted::default()
        })
        .await;
        let (_, session) = stack.session(&["k8s_admin"]).await;
        let (mut browser, _) = stack.at_app(&session).await;
        browser.call(Method::GET, &format!("{APP}{path}"), "").await
    }

    fn credentials(&self) -> Value {
        let secret = |name: &str, text: &str| {
            let path = self.dir.path().join(name);
            std::fs::write(&path, text).expect("written");
            let owner = std::fs::Permissions::from_mode(0o600);
            std::fs::set_permissions(&path, owner).expect("permissions");
            path
        };
        json!({
            "kind": "basic",
            "user_file": secret("user", "portico"),
            "password_file": secret("password", PASSWORD),
        })
    }
}

/// With the password it opens, and without it the program itself refuses.
async fn opens_with_its_password(program: &Program, path: &str) -> Value {
    let page = program.opened(program.credentials(), path).await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    for other in [json!({ "kind": "none" }), json!({})] {
        let refused = program.opened(other, path).await;
        assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "the control case");
    }
    page.json()
}

#[tokio::test]
async fn prometheus_opens_with_its_password() {
    let program = Program::start(|dir, address| {
        std::fs::write(dir.join("prometheus.yml"), "scrape_configs: []\n").expect("written");
        let mut command = Command::new(unpacked().join("usr/bin/prometheus"));
        command
            .arg(format!("--config.file={}/prometheus.yml", dir.display()))
            .arg(format!("--storage.tsdb.path={}/data", dir.display()))
            .arg(format!("--web.config.file={}/web.yml", dir.display()))
            .arg(format!("--web.listen-address={address}"));
        command
    })
    .await;
    let body = opens_with_its_password(&program, "/api/v1/status/buildinfo").await;
    assert_eq!(body["status"], "success");
}

#[tokio::test]
async fn alertmanager_opens_with_its_password() {
    let program = Program::start(|dir, address| {
        let config = "route: { receiver: nobody }\nreceivers: [{ name: nobody }]\n";
        std::fs::write(dir.join("alertmanager.yml"), config).expect("written");
        let mut command = Command::new("unshare");
        command
            .args([
                "--mount",
                "--propagation",
                "private",
                "sh",
                "-c",
                OVERLAY_SCRIPT,
            ])
            .arg(unpacked())
            .arg(format!("--config.file={}/alertmanager.yml", dir.display()))
            .arg(format!("--storage.path={}/data", dir.display()))
            .arg(format!("--web.config.file={}/web.yml", dir.display()))
            .arg(format!("--web.listen-address={address}"))
            .arg("--cluster.listen-address=");
        command
    })
    .await;
    let body = opens_with_its_password(&program, "/api/v2/status").await;
    assert!(body["versionInfo"]["version"].is_string(), "{body}");
}

#[tokio::test]
async fn a_container_registry_opens_with_its_password() {
    let program = Program::start(|dir, address| {
        let config = format!(
            "version: 0.1\n\
             storage: {{ filesystem: {{ rootdirectory: \"{data}/data\" }} }}\n\
             http: {{ addr: \"{address}\" }}\n\
             auth: {{ htpasswd: {{ realm: registry, path: \"{data}/htpasswd\" }} }}\n",
            data = dir.display()
        );
        std::fs::write(dir.join("registry.yml"), config).expect("written");
        std::fs::write(dir.join("htpasswd"), format!("portico:{PASSWORD_HASH}\n"))
            .expect("written");
        let mut command = Command::new(unpacked().join("usr/bin/docker-registry"));
        command
            .arg("serve")
            .arg(dir.join("registry.yml"))
            .env("OTEL_TRACES_EXPORTER", "none");
        command
    })
    .await;
    let body = opens_with_its_password(&program, "/v2/_catalog").await;
    assert_eq!(body["repositories"], json!([]));
}
