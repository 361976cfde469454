//! The program that was built with this test, as the gateway only, in front of a recording
//! upstream and the stack's Keystone.
use std::{
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use http::StatusCode;
use portico_testkit::TestEnv;
use tempfile::TempDir;
use tokio::{
    net::{TcpSocket, TcpStream},
    process::{Child, Command},
};

use crate::{
    browser::Browser,
    certificates::Authority,
    recorder::Recorder,
    wire::{self, Raw},
};

pub const HOST: &str = "localhost";
const PORTICO: &str = env!("CARGO_BIN_EXE_portico");

/// What a test wants otherwise than usual.
#[derive(Default)]
pub struct Wanted<'a> {
    pub tls: bool,
    /// More keys of `[gateway]`.
    pub gateway: &'a str,
    /// More sections.
    pub sections: &'a str,
    /// `shutdown.notice`; none without it.
    pub notice: Option<&'a str>,
}

pub struct Program {
    pub address: SocketAddr,
    pub admin: SocketAddr,
    pub upstream: Recorder,
    pub authority: Authority,
    pub directory: TempDir,
    pub tls: bool,
    env: TestEnv,
    /// Where clients that speak no TLS go.
    plain: SocketAddr,
    child: Child,
}

impl Program {
    /// Starts it and waits until it is ready.
    pub async fn start(wanted: Wanted<'_>) -> Self {
        let mut program = Self::begin(wanted).await;
        program.ready().await;
        program
    }

    /// Starts it.
    pub async fn begin(wanted: Wanted<'_>) -> Self {
        let env = TestEnv::load().expect("the stack's env file");
        let keystone = env.get("KEYSTONE_URL").expect("Keystone").to_owned();
        tls_provider();
        let directory = tempfile::tempdir().expect("directory");
        let upstream = Recorder::start().await;
        let authority = Authority::new();
        let names = ["localhost", "*.apps.localhost"];
        let (cert_file, key_file) = authority.write(directory.path(), "target", &names);
        run(&[
            "keys",
            "generate",
            "--out",
            &text(&directory.path().join("keys")),
        ])
        .await;
        let (address, admin) = (free_address(), free_address());
        let key = |name: &str| directory.path().join("keys").join(name);
        let tls = if wanted.tls {
            format!("tls_cert_file = {cert_file:?}\ntls_key_file = {key_file:?}\n")
        } else {
            String::new()
        };
        let config = format!(
            "[admin]\nlisten = \"{admin}\"\n\n[shutdown]\nnotice = {:?}\n\n\
             [store]\nurl = \"sqlite://{}\"\nkey_files = [{:?}]\n\n\
             [keystone]\nurl = {keystone:?}\n\n\
             [gateway]\nlisten = \"{address}\"\npublic_url = {:?}\n\
             apps_domain = \"apps.localhost\"\nassertion_key_file = {:?}\npanel_url = {:?}\n\
             panel_sealing_key_file = {:?}\n{tls}{}\n\n{}",
            wanted.notice.unwrap_or("0s"),
            directory.path().join("portico.db").display(),
            key("store-1.key"),
            origin(wanted.tls),
            key("assertion.pem"),
            upstream.url(),
            key("panel.pub"),
            wanted.gateway,
            wanted
                .sections
                .replace("UPSTREAM", &upstream.url())
                .replace("ACME", env.get("PROJECT_ID_ACME").expect("a project"),),
        );
        let file = directory.path().join("portico.toml");
        std::fs::write(&file, config).expect("written");
        run(&["--config", &text(&file), "migrate"]).await;
        let plain = if wanted.tls {
            wire::plain_way_to(address, HOST, &authority.pem()).await
        } else {
            address
        };
        Self {
            address,
            admin,
            upstream,
            authority,
            tls: wanted.tls,
            env,
            plain,
            child: spawn(&directory),
            directory,
        }
    }

    async fn ready(&mut self) {
        for _ in 0..600 {
            if let Some(status) = self.child.try_wait().expect("status") {
                panic!("it ended with {status}: {}", self.log());
            }
            if TcpStream::connect(self.address).await.is_ok()
                && self.get("/ready").await == StatusCode::OK
            {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("it is not ready: {}", self.log());
    }

    /// Its main origin.
    pub fn main(&self) -> &'static str {
        origin(self.tls)
    }

    /// The `host:port` of its main origin.
    pub fn authority_of_main(&self) -> &'static str {
        self.main().split_once("://").expect("an origin").1
    }

    /// A browser of a user who has not signed in.
    pub fn browser(&self) -> Browser {
        Browser::new(self.plain)
    }

    /// The status of a stranger's request.
    pub async fn get(&self, path: &str) -> StatusCode {
        let url = format!("{}{path}", self.main());
        self.browser().open(&url).await.status
    }

    /// Signs in with a password.
    pub async fn sign_in(&self, name: &str) -> Browser {
        let mut browser = self.browser();
        let url = format!("{}/oauth2/sign_in", self.main());
        let page = browser.open(&format!("{url}?rd=/projects/x")).await;
        let fields = [
            ("csrf_token", &*page.field("csrf_token")),
            ("rd", &*page.field("rd")),
            ("name", name),
            ("password", self.env.get("DEMO_PASSWORD").expect("password")),
            ("domain", "Default"),
        ];
        let page = browser.submit(self.main(), &url, &fields).await;
        assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
        browser
    }

    /// The `Cookie` header of a user who has signed in.
    pub async fn cookie(&self, name: &str) -> String {
        self.sign_in(name).await.cookie_line(HOST)
    }

    /// A connection for HTTP/1.1.
    pub async fn connect(&self) -> Raw {
        self.connect_for(b"http/1.1").await
    }

    /// A connection for one protocol; in clear the client's first bytes say which.
    pub async fn connect_for(&self, protocol: &[u8]) -> Raw {
        if self.tls {
            let pem = self.authority.pem();
            let stream = wire::tls(self.address, HOST, &pem, protocol).await;
            Box::new(stream.expect("handshake"))
        } else {
            Box::new(TcpStream::connect(self.address).await.expect("connected"))
        }
    }

    /// A head of HTTP/1.1 without the empty line at its end.
    pub fn head(&self, request_line: &str, cookie: &str) -> String {
        format!(
            "{request_line} HTTP/1.1\r\nHost: {}\r\nOrigin: {}\r\nCookie: {cookie}\r\n",
            self.authority_of_main(),
            self.main(),
        )
    }

    /// What the admin port answers: status and body.
    pub async fn admin(&self, path: &str) -> Option<(StatusCode, String)> {
        TcpStream::connect(self.admin).await.ok()?;
        let page = Browser::new(self.admin)
            .open(&format!("http://{}{path}", self.admin))
            .await;
        Some((page.status, page.body))
    }

    /// Waits until so many connections are open at its door.
    pub async fn has_connections(&self, count: u32) {
        let name = "portico_listener_connections{listener=\"gateway\"} ";
        let mut open = String::new();
        for _ in 0..300 {
            let (_, metrics) = self.admin("/metrics").await.expect("metrics");
            let line = metrics.lines().find_map(|line| line.strip_prefix(name));
            line.expect("the gauge").clone_into(&mut open);
            if open == count.to_string() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("{open} connections are open, not {count}");
    }

    /// Its output.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("log")).expect("log")
    }

    /// Waits until its output contains a text.
    pub async fn says(&self, words: &str) {
        for _ in 0..400 {
            if self.log().contains(words) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("no {words:?} in the output: {}", self.log());
    }

    /// Its resident memory in MiB (proc_pid_status(5)).
    pub fn memory(&self) -> u64 {
        let id = self.child.id().expect("it runs");
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).expect("status");
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
        kib.expect("VmRSS") / 1024
    }

    /// SIGTERM.
    pub fn terminate(&self) {
        let id = self.child.id().and_then(|id| i32::try_from(id).ok());
        let id = rustix::process::Pid::from_raw(id.expect("it runs")).expect("an ID");
        rustix::process::kill_process(id, rustix::process::Signal::TERM).expect("sent");
    }

    /// Waits for its end.
    pub async fn ended(&mut self) -> ExitStatus {
        let ended = tokio::time::timeout(Duration::from_secs(20), self.child.wait()).await;
        ended.expect("it continues").expect("status")
    }
}

fn origin(tls: bool) -> &'static str {
    if tls {
        "https://localhost:8443"
    } else {
        "http://localhost:8080"
    }
}

fn text(path: &Path) -> String {
    path.to_str().expect("text").to_owned()
}

async fn run(arguments: &[&str]) {
    let done = Command::new(PORTICO).args(arguments).output().await;
    let done = done.expect("started");
    let message = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{arguments:?}: {message}");
}

fn spawn(directory: &TempDir) -> Child {
    let config: PathBuf = directory.path().join("portico.toml");
    let log = std::fs::File::create(directory.path().join("log")).expect("log");
    Command::new(PORTICO)
        .args(["--config".as_ref(), config.as_os_str(), "gateway".as_ref()])
        .stdout(Stdio::null())
        .stderr(log)
        .kill_on_drop(true)
        .spawn()
        .expect("started")
}

/// Returns an address of loopback at which nothing listens. Its port stays reserved: neither the next
/// call nor a test that runs at the same time gets it, and the program may still listen at it.
fn free_address() -> SocketAddr {
    let socket = TcpSocket::new_v4().expect("socket");
    socket.set_reuseaddr(true).expect("option");
    let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    socket.bind(any_port).expect("port");
    Box::leak(Box::new(socket)).local_addr().expect("address")
}

fn tls_provider() {
    // an error only says that there is one already
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// Counts connections that the machine may hold open in this test.
pub fn raise_file_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    let _ = setrlimit(Resource::Nofile, limit);
}
