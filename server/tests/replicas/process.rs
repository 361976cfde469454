//! One process of the program that was built with this test, as the gateway only.
use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use http::StatusCode;
use portico_testkit::TestEnv;
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    process::{Child, Command},
};

use crate::{browser::Browser, echo::Echo};

/// What every process of a test has in its browser's address line.
pub const MAIN: &str = "http://localhost:8080";
pub const MAIN_HOST: &str = "localhost";

/// What all processes of one test share: keys, an upstream, a database.
pub struct Shared {
    pub keys: TempDir,
    pub panel: Echo,
    pub database: String,
    pub keystone: String,
    /// Further sections of the configuration.
    pub more: String,
}

pub struct Process {
    pub address: SocketAddr,
    directory: TempDir,
    child: Child,
}

impl Shared {
    pub async fn new(database: String, keystone: &str) -> Self {
        let keys = tempfile::tempdir().expect("directory");
        generate_keys(&keys.path().join("keys")).await;
        Self {
            keys,
            panel: Echo::start().await,
            database,
            keystone: keystone.to_owned(),
            more: String::new(),
        }
    }

    pub fn key(&self, name: &str) -> PathBuf {
        self.keys.path().join("keys").join(name)
    }

    /// Brings the database up to date, as an operator does before the first start.
    pub async fn migrate(&self) {
        let directory = tempfile::tempdir().expect("directory");
        let config = directory.path().join("portico.toml");
        let text = self.config(0, &[self.key("store-1.key")]);
        std::fs::write(&config, text).expect("written");
        let migrated = Command::new(env!("CARGO_BIN_EXE_portico"))
            .args(["--config".as_ref(), config.as_os_str(), "migrate".as_ref()])
            .output()
            .await
            .expect("migrate");
        let message = String::from_utf8_lossy(&migrated.stderr);
        assert!(migrated.status.success(), "{message}");
    }

    fn config(&self, port: u16, keys: &[PathBuf]) -> String {
        format!(
            "[admin]\nlisten = \"127.0.0.1:0\"\n\n\
             [store]\nurl = {:?}\nkey_files = {keys:?}\n\n\
             [keystone]\nurl = {:?}\n\n\
             [gateway]\nlisten = \"127.0.0.1:{port}\"\npublic_url = \"{MAIN}\"\n\
             apps_domain = \"apps.localhost\"\nassertion_key_file = {:?}\npanel_url = {:?}\n\
             panel_sealing_key_file = {:?}\n{}",
            self.database,
            self.keystone,
            self.key("assertion.pem"),
            self.panel.url(),
            self.key("panel.pub"),
            self.more,
        )
    }
}

/// Writes a set of keys into a directory that does not exist yet.
pub async fn generate_keys(directory: &Path) {
    let made = Command::new(env!("CARGO_BIN_EXE_portico"))
        .args(["keys", "generate", "--out"])
        .arg(directory)
        .output()
        .await
        .expect("keys");
    let message = String::from_utf8_lossy(&made.stderr);
    assert!(made.status.success(), "{message}");
}

impl Process {
    /// Starts one and waits until it is ready.
    pub async fn start(shared: &Shared) -> Self {
        let reserved = TcpListener::bind("127.0.0.1:0").await.expect("port");
        let address = reserved.local_addr().expect("address");
        drop(reserved);
        let directory = tempfile::tempdir().expect("directory");
        let config = directory.path().join("portico.toml");
        let text = shared.config(address.port(), &[shared.key("store-1.key")]);
        std::fs::write(&config, text).expect("written");
        let mut process = Self {
            address,
            child: spawn(&directory),
            directory,
        };
        process.ready().await;
        process
    }

    async fn ready(&mut self) {
        for _ in 0..600 {
            if let Some(status) = self.child.try_wait().expect("status") {
                panic!("it ended with {status}: {}", self.log());
            }
            if TcpStream::connect(self.address).await.is_ok() {
                let page = Browser::new(self.address)
                    .open(&format!("{MAIN}/ready"))
                    .await;
                if page.status == StatusCode::OK {
                    return;
                }
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("it is not ready: {}", self.log());
    }

    /// Its output.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("log")).expect("log")
    }

    /// Ends it without a word, as `kill -9` or a lost machine does.
    pub async fn kill(&mut self) {
        self.child.kill().await.expect("killed");
    }

    /// Starts it again where it was.
    pub async fn start_again(&mut self) {
        self.child = spawn(&self.directory);
        self.ready().await;
    }

    /// Names other store keys in its configuration; it looks at once.
    pub fn use_keys(&self, shared: &Shared, keys: &[PathBuf]) {
        let text = shared.config(self.address.port(), keys);
        let config = self.directory.path().join("portico.toml");
        std::fs::write(config, text).expect("written");
        self.hang_up();
    }

    /// SIGHUP.
    pub fn hang_up(&self) {
        let id = self.child.id().and_then(|id| i32::try_from(id).ok());
        let id = rustix::process::Pid::from_raw(id.expect("it runs")).expect("an ID");
        rustix::process::kill_process(id, rustix::process::Signal::HUP).expect("sent");
    }

    /// Waits until its output contains a text so often.
    pub async fn wait_for_log(&self, text: &str, times: usize) {
        for _ in 0..200 {
            if self.log().matches(text).count() >= times {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("no {text:?} {times} times in the output: {}", self.log());
    }

    /// A browser at this process with the cookies of another's.
    pub fn browser_like(&self, other: &Browser) -> Browser {
        let mut browser = Browser::new(self.address);
        let cookie = other.cookie(MAIN_HOST, "portico").expect("cookie");
        browser.set_cookie(MAIN_HOST, "portico", cookie);
        browser
    }

    /// Signs in with a password.
    pub async fn sign_in(&self, env: &TestEnv, name: &str) -> Browser {
        sign_in(self.address, env, name).await
    }

    /// An open WebSocket.
    pub async fn socket(&self, browser: &Browser) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.expect("gateway");
        let head = format!(
            "GET /socket HTTP/1.1\r\nHost: localhost:8080\r\nCookie: {}\r\n\
             Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nUpgrade: websocket\r\n\
             Origin: {MAIN}\r\n\r\n",
            browser.cookie_line(MAIN_HOST)
        );
        stream.write_all(head.as_bytes()).await.expect("written");
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            answer.push(stream.read_u8().await.expect("a head"));
        }
        assert!(answer.starts_with(b"HTTP/1.1 101 "), "no WebSocket");
        stream
    }
}

/// Signs in with a password at what listens there: a process, or a balancer in front of some.
pub async fn sign_in(address: SocketAddr, env: &TestEnv, name: &str) -> Browser {
    let mut browser = Browser::new(address);
    let url = format!("{MAIN}/oauth2/sign_in");
    let page = browser.open(&format!("{url}?rd=/projects/x")).await;
    let fields = [
        ("csrf_token", &*page.field("csrf_token")),
        ("rd", &*page.field("rd")),
        ("name", name),
        ("password", env.get("DEMO_PASSWORD").expect("password")),
        ("domain", "Default"),
    ];
    let page = browser.submit(MAIN, &url, &fields).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    browser
}

fn spawn(directory: &TempDir) -> Child {
    let config = directory.path().join("portico.toml");
    let log = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(directory.path().join("log"))
        .expect("log");
    Command::new(env!("CARGO_BIN_EXE_portico"))
        .args(["--config".as_ref(), config.as_os_str(), "gateway".as_ref()])
        .stdout(Stdio::null())
        .stderr(log)
        .kill_on_drop(true)
        .spawn()
        .expect("started")
}
