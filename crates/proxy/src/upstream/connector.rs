//! Opens connections to one backend: TCP, TLS over TCP, or a unix socket.
use std::{
    future::Future,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use http::Uri;
use hyper_util::{
    client::legacy::connect::{Connected, Connection, HttpConnector},
    rt::TokioIo,
};
use rustls::ClientConfig;
use rustls_pki_types::ServerName;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpStream, UnixStream},
};
use tokio_rustls::{TlsConnector, client::TlsStream};
use tower::Service;

use crate::upstream::address::Way;
use crate::upstream::connection_reuse::Turns;

pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The TLS settings of one backend.
#[derive(Clone, Debug)]
pub(crate) struct Tls {
    pub config: Arc<ClientConfig>,
    pub name: ServerName<'static>,
    /// Whether HTTP/2 is required.
    pub only_http2: bool,
}

/// Opens connections to one backend, whatever address the request has: a pool of its connections
/// serves no other backend.
#[derive(Clone, Debug)]
pub(crate) struct Connector(Arc<Target>);

#[derive(Debug)]
struct Target {
    way: Way,
    tcp: HttpConnector,
    tls: Option<Tls>,
    within: Duration,
    /// Whether requests are answered one after the other (HTTP/1.1), so that a connection lost
    /// between two of them can be distinguished from one lost during a response.
    in_turn: bool,
}

impl Connector {
    pub fn new(way: Way, tls: Option<Tls>, within: Duration, in_turn: bool) -> Self {
        let mut tcp = HttpConnector::new();
        tcp.set_connect_timeout(Some(within));
        tcp.set_nodelay(true);
        Self(Arc::new(Target {
            way,
            tcp,
            tls,
            within,
            in_turn,
        }))
    }
}

impl Connector {
    /// Opens a connection.
    async fn open(&self) -> Result<TokioIo<UpstreamIo>, BoxError> {
        let within = self.0.within;
        match tokio::time::timeout(within, self.0.connect()).await {
            Ok(connected) => connected.map(TokioIo::new),
            Err(_) => Err(format!("no connection within {within:?}").into()),
        }
    }
}

impl Target {
    async fn connect(&self) -> Result<UpstreamIo, BoxError> {
        let stream = match &self.way {
            Way::Unix(path) => Stream::Unix(UnixStream::connect(path).await?),
            Way::Tcp(address) => {
                let tcp = self.tcp.clone().call(address.clone()).await?.into_inner();
                match &self.tls {
                    None => Stream::Tcp(tcp),
                    Some(tls) => tls.handshake(tcp).await?,
                }
            }
        };
        let http2 = stream.has_chosen_http2();
        Ok(UpstreamIo {
            turns: (self.in_turn && !http2).then(Turns::default),
            stream,
        })
    }
}

impl Tls {
    async fn handshake(&self, tcp: TcpStream) -> Result<Stream, BoxError> {
        let connector = TlsConnector::from(Arc::clone(&self.config));
        let stream = connector.connect(self.name.clone(), tcp).await?;
        let stream = Stream::Tls(Box::new(stream));
        if self.only_http2 && !stream.has_chosen_http2() {
            return Err("the server does not offer HTTP/2".into());
        }
        Ok(stream)
    }
}

impl Service<Uri> for Connector {
    type Response = TokioIo<UpstreamIo>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        let connector = self.clone();
        Box::pin(async move { connector.open().await })
    }
}

/// An open connection.
#[derive(Debug)]
pub struct UpstreamIo {
    stream: Stream,
    turns: Option<Turns>,
}

#[derive(Debug)]
enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Stream {
    fn has_chosen_http2(&self) -> bool {
        match self {
            Self::Tls(stream) => stream.get_ref().1.alpn_protocol() == Some(b"h2"),
            Self::Tcp(_) | Self::Unix(_) => false,
        }
    }
}

impl Connection for UpstreamIo {
    fn connected(&self) -> Connected {
        let connected = Connected::new();
        if self.stream.has_chosen_http2() {
            connected.negotiated_h2()
        } else {
            connected
        }
    }
}

/// Forwards a call to the stream inside.
macro_rules! stream {
    ($self:expr, $stream:ident => $call:expr) => {
        match &mut $self.stream {
            Stream::Tcp(stream) => {
                let $stream = Pin::new(stream);
                $call
            }
            Stream::Unix(stream) => {
                let $stream = Pin::new(stream);
                $call
            }
            Stream::Tls(stream) => {
                let $stream = Pin::new(stream.as_mut());
                $call
            }
        }
    };
}

impl UpstreamIo {
    fn written(&mut self, result: io::Result<usize>) -> io::Result<usize> {
        if let Some(turns) = &mut self.turns {
            match &result {
                Ok(_) => turns.sent(),
                // the first bytes of a request could not be sent
                Err(_) => {
                    turns.sent();
                    if let Some(lost) = turns.lost() {
                        return Err(lost);
                    }
                }
            }
        }
        result
    }
}

impl AsyncRead for UpstreamIo {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let result = ready!(stream!(this, stream => stream.poll_read(context, buffer)));
        if let Some(turns) = &mut this.turns {
            if result.is_ok() && buffer.filled().len() > before {
                turns.received();
            } else if let Some(lost) = turns.lost() {
                return Poll::Ready(Err(lost));
            }
        }
        Poll::Ready(result)
    }
}

impl AsyncWrite for UpstreamIo {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let result = ready!(stream!(this, stream => stream.poll_write(context, bytes)));
        Poll::Ready(this.written(result))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let result = ready!(stream!(this, stream => stream.poll_write_vectored(context, pieces)));
        Poll::Ready(this.written(result))
    }

    fn is_write_vectored(&self) -> bool {
        match &self.stream {
            Stream::Tcp(stream) => stream.is_write_vectored(),
            Stream::Unix(stream) => stream.is_write_vectored(),
            Stream::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        stream!(self.get_mut(), stream => stream.poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        stream!(self.get_mut(), stream => stream.poll_shutdown(context))
    }
}
