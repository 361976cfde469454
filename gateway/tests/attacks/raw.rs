//! Requests as bytes, where a client would tidy them up.
use std::{net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// The first answer on a connection, up to its end.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub body: String,
}

impl Answer {
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

/// The status that represents a connection closed without a response: the listener closes it for an
/// ambiguous message before there is a request to answer.
const CLOSED_STATUS: u16 = 400;

/// Sends bytes and reads until the other side closes. They should ask for that.
pub async fn exchange(address: SocketAddr, request: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).await.expect("gateway");
    // a refusal may come before all is sent
    let _ = stream.write_all(request).await;
    let mut bytes = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut bytes));
    let _ = read.await.expect("an answer in time");
    if bytes.is_empty() {
        return Answer {
            status: CLOSED_STATUS,
            body: String::new(),
        };
    }
    let text = String::from_utf8_lossy(&bytes);
    let status = text
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok())
        .unwrap_or_else(|| panic!("no status in {text:?}"));
    let body = text.split_once("\r\n\r\n").map(|(_, body)| body);
    Answer {
        status,
        body: body.unwrap_or_default().to_owned(),
    }
}
