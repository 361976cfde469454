//! A gate in front of the real Keystone. When shut, it accepts connections and drops them, as a
//! proxy without a server behind it does: an outage that ends when the test decides.
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// The gate; its connections end with it.
#[derive(Debug)]
pub struct Gate {
    address: SocketAddr,
    open: watch::Sender<bool>,
    turned_away: Arc<AtomicUsize>,
    _tasks: JoinSet<()>,
}

impl Gate {
    /// Returns an open gate.
    pub async fn start(keystone_url: &str) -> Self {
        let upstream = reqwest::Url::parse(keystone_url).unwrap();
        let upstream = upstream.socket_addrs(|| None).unwrap()[0];
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (open, mut opened) = watch::channel(true);
        let turned_away = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&turned_away);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                tokio::select! {
                    biased;
                    changed = opened.changed() => {
                        changed.unwrap();
                        connections.abort_all();
                    }
                    accepted = listener.accept() => {
                        let (mut client, _) = accepted.unwrap();
                        if !*opened.borrow() {
                            counter.fetch_add(1, Ordering::SeqCst);
                            continue;
                        }
                        connections.spawn(async move {
                            let mut server = TcpStream::connect(upstream).await.unwrap();
                            // ends when either side has gone
                            let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
                        });
                    }
                }
            }
        });
        Self {
            address,
            open,
            turned_away,
            _tasks: tasks,
        }
    }

    /// Keystone's URL through the gate.
    pub fn url(&self) -> String {
        format!("http://{}/v3", self.address)
    }

    /// Shuts it, which ends every connection, or opens it again.
    pub fn set_open(&self, open: bool) {
        self.open.send(open).unwrap();
    }

    /// Connections dropped while it was shut.
    pub fn turned_away(&self) -> usize {
        self.turned_away.load(Ordering::SeqCst)
    }
}
