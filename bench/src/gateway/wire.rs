//! HTTP/1.1 over one persistent connection, with the same few system calls for every contender.
use anyhow::{Context as _, Result, bail, ensure};
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const BUFFER_BYTES: usize = 64 * 1024;

/// A connection for one request at a time.
pub struct KeepAliveConnection {
    stream: TcpStream,
    buffer: Box<[u8]>,
}

/// A response. The body was read to its end; only the part in the first read is stored.
#[derive(Debug)]
pub struct Answer<'k> {
    pub status: u16,
    pub length: usize,
    pub body: &'k [u8],
}

impl Answer<'_> {
    /// Returns a short body as text.
    pub fn text(&self) -> Result<&str> {
        ensure!(self.body.len() == self.length, "the body is too long");
        Ok(std::str::from_utf8(self.body)?)
    }
}

impl KeepAliveConnection {
    /// Connects.
    pub async fn connect(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
        })
    }

    /// Sends a whole request and reads the response.
    pub async fn ask(&mut self, request: &[u8]) -> Result<Answer<'_>> {
        self.stream.write_all(request).await?;
        let (head, read) = self.head().await?;
        let (status, length) = meaning(&self.buffer[..head])?;
        let here = (read - head).min(length);
        let mut left = length - here;
        while left > 0 {
            // the front of the buffer is unchanged
            let rest = &mut self.buffer[read..];
            let room = rest.len().min(left);
            let more = self.stream.read(&mut rest[..room]).await?;
            ensure!(more > 0, "the body was cut off");
            left -= more;
        }
        Ok(Answer {
            status,
            length,
            body: &self.buffer[head..head + here],
        })
    }

    /// Reads a head; returns where it ends and how much was read.
    async fn head(&mut self) -> Result<(usize, usize)> {
        let mut read = 0;
        loop {
            // space is left for what comes after
            let more = self
                .stream
                .read(&mut self.buffer[read..BUFFER_BYTES / 2])
                .await?;
            ensure!(more > 0, "the connection was closed");
            let from = read.saturating_sub(3);
            read += more;
            let found = self.buffer[from..read]
                .windows(4)
                .position(|window| window == b"\r\n\r\n");
            if let Some(at) = found {
                return Ok((from + at + 4, read));
            }
        }
    }

    /// Returns the connection itself, after a switch of protocols.
    pub fn into_stream(self) -> TcpStream {
        self.stream
    }
}

/// Parses the status and the length of the body.
fn meaning(head: &[u8]) -> Result<(u16, usize)> {
    let text = std::str::from_utf8(head).context("a head that is not UTF-8")?;
    let mut lines = text.split("\r\n");
    let status = lines.next().and_then(|line| line.get(9..12));
    let status: u16 = status.context("no status line")?.parse()?;
    if status == 101 {
        return Ok((status, 0));
    }
    let length = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim())
    });
    match length {
        Some(length) => Ok((status, length.parse()?)),
        None => bail!("an answer without Content-Length: {text}"),
    }
}

/// Returns the GET request that every contender gets.
pub fn get(host: &str, path: &str, cookie: &str) -> Vec<u8> {
    format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: portico-bench\r\nAccept: */*\r\nCookie: {cookie}\r\n\r\n"
    )
    .into_bytes()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]
mod tests {
    use super::*;

    #[test]
    fn status_and_length_are_read_from_a_head() {
        let head = b"HTTP/1.1 200 OK\r\nServer: x\r\ncontent-length: 12\r\n\r\n";
        assert_eq!(meaning(head).unwrap(), (200, 12));
        assert!(meaning(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
        let switched = b"HTTP/1.1 101 Switching Protocols\r\n\r\n";
        assert_eq!(meaning(switched).unwrap(), (101, 0));
    }
}
