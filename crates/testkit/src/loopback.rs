//! A TCP proxy in front of the stack's Keystone, under an address of the test's own: it counts
//! requests, and can become unreachable and return.
use crate::TestEnv;
use anyhow::{Context, Result};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

const SIGN_IN: &[u8] = b"POST /v3/auth/tokens";

/// Ends with the value, and every connection with it.
#[derive(Debug)]
pub struct KeystoneProxy {
    address: SocketAddr,
    seen: Arc<Seen>,
    _tasks: JoinSet<()>,
}

#[derive(Debug, Default)]
struct Seen {
    requests: AtomicUsize,
    sign_ins: AtomicUsize,
    held: AtomicUsize,
    away: AtomicBool,
    silent: AtomicBool,
}

impl KeystoneProxy {
    /// Listens on a free port.
    ///
    /// # Errors
    /// If there is none, or no Keystone is known.
    pub async fn start(env: &TestEnv) -> Result<Self> {
        let upstream = env
            .get("KEYSTONE_URL")?
            .strip_prefix("http://")
            .and_then(|rest| rest.split('/').next())
            .context("KEYSTONE_URL is not http://host:port/v3")?
            .to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let seen = Arc::new(Seen::default());
        let shared = Arc::clone(&seen);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                if shared.away.load(Ordering::SeqCst) {
                    continue;
                }
                if shared.silent.load(Ordering::SeqCst) {
                    shared.held.fetch_add(1, Ordering::SeqCst);
                    connections.spawn(hold(client));
                    continue;
                }
                if let Ok(server) = TcpStream::connect(&upstream).await {
                    connections.spawn(relay(client, server, Arc::clone(&shared)));
                }
            }
        });
        Ok(Self {
            address,
            seen,
            _tasks: tasks,
        })
    }

    /// Keystone's URL through this proxy.
    pub fn url(&self) -> String {
        format!("http://{}/v3", self.address)
    }

    /// Returns the number of token requests.
    pub fn sign_ins(&self) -> usize {
        self.seen.sign_ins.load(Ordering::SeqCst)
    }

    /// Returns the number of all requests.
    pub fn requests(&self) -> usize {
        self.seen.requests.load(Ordering::SeqCst)
    }

    /// Returns the number of connections that it accepted without responding.
    pub fn held(&self) -> usize {
        self.seen.held.load(Ordering::SeqCst)
    }

    /// Sets whether it accepts new connections without responding.
    pub fn set_silent(&self, silent: bool) {
        self.seen.silent.store(silent, Ordering::SeqCst);
    }

    /// Sets whether it closes every new connection at once.
    pub fn set_away(&self, away: bool) {
        self.seen.away.store(away, Ordering::SeqCst);
    }
}

async fn hold(client: TcpStream) {
    std::future::pending::<()>().await;
    drop(client);
}

async fn relay(client: TcpStream, server: TcpStream, seen: Arc<Seen>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let requests = async {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(read @ 1..) = from_client.read(&mut buffer).await {
            let sent = &buffer[..read];
            // a request begins a small write, so its first line is never cut in two
            let count = |line: &[u8]| sent.windows(line.len()).filter(|w| *w == line).count();
            seen.requests
                .fetch_add(count(b" HTTP/1.1\r\n"), Ordering::SeqCst);
            seen.sign_ins.fetch_add(count(SIGN_IN), Ordering::SeqCst);
            if to_server.write_all(sent).await.is_err() {
                break;
            }
        }
    };
    tokio::select! {
        () = requests => {}
        _ = tokio::io::copy(&mut from_server, &mut to_client) => {}
    }
}
