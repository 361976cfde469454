//! Writes down every byte that goes to an upstream.
use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

use crate::echo::Echo;

/// The echo upstream, with what arrives there.
pub struct Recorder {
    pub address: SocketAddr,
    pub echo: Echo,
    heard: Arc<Mutex<Vec<u8>>>,
}

impl Recorder {
    pub async fn start() -> Self {
        let echo = Echo::start().await;
        let upstream = echo.address;
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("port");
        let address = listener.local_addr().expect("address");
        let heard = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&heard);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(pass(stream, upstream, Arc::clone(&all)));
            }
        });
        Self {
            address,
            echo,
            heard,
        }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// How often something stands in what has arrived.
    pub fn count(&self, text: &str) -> usize {
        let heard = self.heard.lock().expect("bytes");
        heard
            .windows(text.len())
            .filter(|window| *window == text.as_bytes())
            .count()
    }
}

async fn pass(client: TcpStream, upstream: SocketAddr, heard: Arc<Mutex<Vec<u8>>>) {
    let Ok(upstream) = TcpStream::connect(upstream).await else {
        return;
    };
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_upstream, mut to_upstream) = upstream.into_split();
    let down = async {
        let _ = tokio::io::copy(&mut from_upstream, &mut to_client).await;
        let _ = to_client.shutdown().await;
    };
    let up = async {
        let mut buffer = vec![0; 16 << 10];
        while let Ok(read @ 1..) = from_client.read(&mut buffer).await {
            // a large body is not kept
            let kept = &buffer[..read.min(4096)];
            heard.lock().expect("bytes").extend_from_slice(kept);
            if to_upstream.write_all(&buffer[..read]).await.is_err() {
                break;
            }
        }
        let _ = to_upstream.shutdown().await;
    };
    tokio::join!(up, down);
}
