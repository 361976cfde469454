//! A stand-in for broken upstreams: it responds with the exact bytes of a script, or not at all.
use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// Returns the response to a request, given the number of earlier connections and of earlier
/// requests on this one.
pub type Script = fn(connection: usize, request: usize) -> Act;

pub enum Act {
    /// Sends this and waits for the next request.
    Answer(&'static [u8]),
    /// Sends this and closes.
    Last(&'static [u8]),
    /// Sends this over and over.
    Forever(&'static [u8]),
}

pub struct Raw {
    pub address: SocketAddr,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Raw {
    pub async fn start(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("port");
        let address = listener.local_addr().expect("address");
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        let noted = Arc::clone(&seen);
        tokio::spawn(async move {
            for connection in 0.. {
                let Ok((stream, _)) = listener.accept().await else {
                    break;
                };
                tokio::spawn(play(stream, connection, script, Arc::clone(&noted)));
            }
        });
        Self { address, seen }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns what it received, a text for each piece that arrived.
    pub fn seen(&self) -> Vec<String> {
        self.seen.lock().expect("seen").clone()
    }
}

async fn play(
    mut stream: TcpStream,
    connection: usize,
    script: Script,
    seen: Arc<Mutex<Vec<String>>>,
) {
    let mut buffer = vec![0; 64 << 10];
    let mut request = 0;
    loop {
        let read = stream.read(&mut buffer).await.unwrap_or(0);
        if read == 0 {
            return;
        }
        let text = String::from_utf8_lossy(&buffer[..read]).into_owned();
        seen.lock().expect("seen").push(text);
        match script(connection, request) {
            Act::Answer(bytes) => {
                if stream.write_all(bytes).await.is_err() {
                    return;
                }
            }
            Act::Last(bytes) => {
                let _ = stream.write_all(bytes).await;
                return;
            }
            Act::Forever(bytes) => while stream.write_all(bytes).await.is_ok() {},
        }
        request += 1;
    }
}
