//! A TCP proxy in front of a real service that counts requests of one kind.
use anyhow::{Context, Result};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// The proxy; dropped, it ends with all its connections.
#[derive(Debug)]
pub struct CountingProxy {
    address: SocketAddr,
    path: String,
    counted: Arc<AtomicUsize>,
    _tasks: JoinSet<()>,
}

impl CountingProxy {
    /// Starts the proxy in front of a plain HTTP `url`; counts requests whose first line starts
    /// with `kind`, for example `POST /v3/auth/tokens`.
    ///
    /// # Errors
    /// If `url` is not plain HTTP, or no port can be had.
    pub async fn start(url: &str, kind: &'static str) -> Result<Self> {
        let rest = url.strip_prefix("http://").context("not http://")?;
        let (upstream, path) = match rest.split_once('/') {
            Some((upstream, path)) => (upstream.to_owned(), format!("/{path}")),
            None => (rest.to_owned(), String::new()),
        };
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let counted = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&counted);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                let Ok(server) = TcpStream::connect(&upstream).await else {
                    continue;
                };
                connections.spawn(relay(client, server, kind, Arc::clone(&seen)));
            }
        });
        Ok(Self {
            address,
            path,
            counted,
            _tasks: tasks,
        })
    }

    /// Returns the service's URL, through here.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, self.path)
    }

    /// Returns how many requests of the kind have passed.
    pub fn counted(&self) -> usize {
        self.counted.load(Ordering::SeqCst)
    }
}

async fn relay(client: TcpStream, server: TcpStream, kind: &str, seen: Arc<AtomicUsize>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let requests = async {
        let mut buffer = vec![0; 16 * 1024];
        while let Ok(read @ 1..) = from_client.read(&mut buffer).await {
            // a request is one small write, so its first line is never cut in two
            let found = buffer[..read].windows(kind.len());
            seen.fetch_add(
                found.filter(|window| *window == kind.as_bytes()).count(),
                Ordering::SeqCst,
            );
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
