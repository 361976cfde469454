//! Two gateways, as a load balancer has them, each with connections and a memory of its own.
use portico_testkit::TestEnv;
use secrecy::ExposeSecret as _;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::support::{
    browser::Browser,
    database::{Database, own_prefix, own_schema},
    stack::{MAIN_HOST, Stack, Wanted},
};

pub struct Pair {
    pub env: TestEnv,
    pub one: Stack,
    pub other: Stack,
    pub database: String,
    _running: Vec<DropGuard>,
}

/// PostgreSQL, or Redis where `PORTICO_TEST_STORE` says so.
pub async fn database() -> String {
    match std::env::var("PORTICO_TEST_STORE").as_deref() {
        Ok("redis") => own_prefix(),
        _ => own_schema().await,
    }
}

impl Pair {
    pub async fn start() -> Self {
        let env = TestEnv::load().expect("the stack's env file");
        let database = database().await;
        Self::on(env, database.clone(), database).await
    }

    /// For a test that has a hand in the tables.
    pub async fn on_postgres() -> Self {
        let env = TestEnv::load().expect("the stack's env file");
        let database = own_schema().await;
        Self::on(env, database.clone(), database).await
    }

    /// The two with ways of their own to the database.
    pub async fn on(env: TestEnv, one: String, other: String) -> Self {
        let keystone = env.get("KEYSTONE_URL").expect("Keystone").to_owned();
        let start = async |database: &str| {
            let stack = Stack::start(Wanted {
                keystone: &keystone,
                database: Database::At(database),
                gateway: json!({ "session": { "stay_signed_in": "offered" } }),
                ..Wanted::default()
            })
            .await;
            let stop = CancellationToken::new();
            let (gateway, until) = (stack.gateway.clone(), stop.clone());
            tokio::spawn(async move { gateway.run(until).await });
            (stack, stop.drop_guard())
        };
        let (first, running) = start(&one).await;
        let (second, also_running) = start(&other).await;
        // until both have read the feed once, which shows nowhere
        tokio::time::sleep(std::time::Duration::from_millis(400)).await;
        Self {
            env,
            one: first,
            other: second,
            database: one,
            _running: vec![running, also_running],
        }
    }

    /// A session with a browser at each of the two.
    pub async fn signed_in(&self) -> (Browser, Browser, portico_store::Session) {
        let (secret, session) = self.one.session(&["k8s_admin"]).await;
        let browser = |stack: &Stack| {
            let mut browser = Browser::new(stack.address);
            browser.set_cookie(MAIN_HOST, "portico", secret.expose_secret());
            browser
        };
        (browser(&self.one), browser(&self.other), session)
    }
}

/// An open WebSocket.
pub async fn socket(stack: &Stack, browser: &Browser) -> TcpStream {
    let mut stream = TcpStream::connect(stack.address).await.expect("gateway");
    let head = format!(
        "GET /socket HTTP/1.1\r\nHost: localhost:8080\r\nCookie: {}\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
         Upgrade: websocket\r\nOrigin: http://localhost:8080\r\n\r\n",
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

/// Why the server closed a WebSocket without any other message.
pub async fn close_reason(stream: &mut TcpStream) -> String {
    let mut frame = Vec::new();
    stream.read_to_end(&mut frame).await.expect("readable");
    assert_eq!(frame.first(), Some(&0x88), "no close frame: {frame:?}");
    String::from_utf8_lossy(&frame[4..]).into_owned()
}
