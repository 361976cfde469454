//! Many idle WebSockets: an upstream that holds them, and the clients.
use super::portico::{APP, APP_HOST, Person, Workplace};
use super::wire::KeepAliveConnection;
use crate::process::Server;
use anyhow::{Context as _, Result, ensure};
use portico_runtime::open_files;
use std::net::SocketAddr;
use std::process::Command;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// The path of the upstream that switches to a WebSocket.
const PATH: &str = "/socket";
const MAX_CONCURRENT_HANDSHAKES: usize = 64;
/// An upper bound on the gateway's open files that are not sockets.
const OTHER_FILES: u64 = 400;
/// A text frame with `ping`, masked with zeros (RFC 6455, 5.2).
const PING: &[u8] = b"\x81\x84\0\0\0\0ping";

/// Runs the upstream as a separate process: accepts every handshake, and echoes all data.
pub async fn serve() -> Result<()> {
    open_files::raise();
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    eprintln!("listening on http://{}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(async move {
            // a client that disconnects early ends its own connection only
            let _ = echo(stream).await;
        });
    }
}

async fn echo(mut stream: TcpStream) -> Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        ensure!(head.len() < 16 * 1024, "an endless head");
        head.push(stream.read_u8().await?);
    }
    let answer = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\
                  Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
    stream.write_all(answer.as_bytes()).await?;
    let mut buffer = [0; 64];
    loop {
        let read = stream.read(&mut buffer).await?;
        if read == 0 {
            return Ok(());
        }
        stream.write_all(&buffer[..read]).await?;
    }
}

/// Several gateways that hold the sockets together, since one process may not have enough open
/// files.
pub struct Fleet {
    gateways: Vec<Server>,
    sockets: Vec<TcpStream>,
    upstream: Server,
}

impl Fleet {
    /// Starts gateways for this number of sockets and opens them.
    pub async fn open(place: &Workplace, person: &Person, count: usize) -> Result<Self> {
        let upstream = upstream(place).await?;
        let limit = open_files::raise();
        // each socket is one file towards the client and one towards the upstream
        let each = usize::try_from(limit.saturating_sub(OTHER_FILES) / 2)?;
        ensure!(
            each > 0 && count < each * 2,
            "no more than {limit} files may be open"
        );
        let processes = count.div_ceil(each);
        let mut fleet = Self {
            gateways: Vec::new(),
            sockets: Vec::with_capacity(count),
            upstream,
        };
        for number in 0..processes {
            let name = format!("sockets-{number}");
            let gateway = place.start(&name, fleet.upstream.address, "").await?;
            let session = person.sign_in(gateway.address).await?;
            let share = (count - fleet.sockets.len()).div_ceil(processes - number);
            let mut opened = open_all(gateway.address, &session.cookie, share).await?;
            fleet.sockets.append(&mut opened);
            fleet.gateways.push(gateway);
        }
        Ok(fleet)
    }

    /// Returns the number of gateways.
    pub fn processes(&self) -> usize {
        self.gateways.len()
    }

    /// Returns the resident memory of all gateways, in MB.
    pub fn rss_mb(&self) -> Result<f64> {
        self.gateways.iter().map(Server::rss_mb).sum()
    }

    /// Sends a frame on every `every`th socket, and reads it back.
    pub async fn ping(&mut self, every: usize) -> Result<usize> {
        let mut answered = 0;
        for socket in self.sockets.iter_mut().step_by(every) {
            socket.write_all(PING).await?;
            let mut back = [0; PING.len()];
            tokio::time::timeout(Duration::from_secs(5), socket.read_exact(&mut back))
                .await
                .context("a socket does not answer")??;
            ensure!(back == PING, "a socket answers something else");
            answered += 1;
        }
        Ok(answered)
    }

    /// Truncates the logs.
    pub fn take_logs(&self) -> Result<()> {
        for gateway in &self.gateways {
            gateway.take_log_lines("")?;
        }
        Ok(())
    }
}

async fn upstream(place: &Workplace) -> Result<Server> {
    let mut command = Command::new(std::env::current_exe()?);
    Server::start(command.arg("sockets"), &place.log("socket-upstream")).await
}

async fn open_all(gateway: SocketAddr, cookie: &str, count: usize) -> Result<Vec<TcpStream>> {
    let request = format!(
        "GET {PATH} HTTP/1.1\r\nHost: {APP_HOST}\r\nCookie: {cookie}\r\nConnection: Upgrade\r\n\
         Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOrigin: {APP}\r\n\r\n"
    );
    let mut sockets = Vec::with_capacity(count);
    while sockets.len() < count {
        let mut opening = JoinSet::new();
        for _ in 0..MAX_CONCURRENT_HANDSHAKES.min(count - sockets.len()) {
            let request = request.clone();
            opening.spawn(async move {
                let mut connection = KeepAliveConnection::connect(gateway).await?;
                let status = connection.ask(request.as_bytes()).await?.status;
                ensure!(status == 101, "no WebSocket: {status}");
                Ok(connection.into_stream())
            });
        }
        for socket in opening.join_all().await {
            sockets.push(socket?);
        }
    }
    Ok(sockets)
}

/// Returns the memory of this number of idle sockets, once it is stable.
pub async fn measure(place: &Workplace, person: &Person, count: usize) -> Result<(f64, usize)> {
    let mut fleet = Fleet::open(place, person, count).await?;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let rss = fleet.rss_mb()?;
    fleet.ping(100).await?;
    Ok((rss, fleet.processes()))
}
