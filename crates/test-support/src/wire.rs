//! Requests that no HTTP library would send.
use std::{net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// Returns the response to these bytes, until the gateway closes the connection or sends nothing
/// for a while.
pub async fn exchange(gateway: SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(gateway).await.expect("gateway");
    stream.write_all(request).await.expect("written");
    let mut answer = Vec::new();
    let mut part = [0; 4096];
    while let Ok(Ok(read)) =
        tokio::time::timeout(Duration::from_secs(2), stream.read(&mut part)).await
    {
        if read == 0 {
            break;
        }
        answer.extend_from_slice(&part[..read]);
    }
    String::from_utf8_lossy(&answer).into_owned()
}

/// Returns the JSON in a response's body, which is sent whole.
pub fn json(answer: &str) -> serde_json::Value {
    let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
    serde_json::from_str(body).unwrap_or_else(|_| panic!("no JSON in {answer}"))
}
