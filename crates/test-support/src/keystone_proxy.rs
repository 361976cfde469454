//! A TCP proxy in front of the real Keystone that counts validations and can become unreachable.
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

const VALIDATION: &[u8] = b"GET /v3/auth/tokens";

pub struct Proxy {
    address: SocketAddr,
    validations: Arc<AtomicUsize>,
    _tasks: JoinSet<()>,
}

impl Proxy {
    pub async fn start(keystone_url: &str) -> Self {
        let upstream = keystone_url
            .strip_prefix("http://")
            .and_then(|rest| rest.split('/').next())
            .unwrap()
            .to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let validations = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&validations);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            // dropped with the proxy, and every connection with it
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(&upstream).await.unwrap();
                connections.spawn(relay(client, server, Arc::clone(&seen)));
            }
        });
        Self {
            address,
            validations,
            _tasks: tasks,
        }
    }

    pub fn url(&self) -> String {
        format!("http://{}/v3", self.address)
    }

    pub fn validations(&self) -> usize {
        self.validations.load(Ordering::SeqCst)
    }
}

async fn relay(client: TcpStream, server: TcpStream, seen: Arc<AtomicUsize>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let requests = async {
        let mut buffer = vec![0; 16 * 1024];
        while let Ok(read @ 1..) = from_client.read(&mut buffer).await {
            // a request is one small write, so its first line is never cut in two
            let found = buffer[..read].windows(VALIDATION.len());
            seen.fetch_add(found.filter(|w| *w == VALIDATION).count(), Ordering::SeqCst);
            if to_server.write_all(&buffer[..read]).await.is_err() {
                break;
            }
        }
    };
    tokio::select! {
        () = requests => {}
        _ = tokio::io::copy(&mut from_server, &mut to_client) => {}
    }
}
