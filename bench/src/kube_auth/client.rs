//! Persistent connections to a webhook, as an API server has them.
use crate::kube_auth::expected::Expected;
use crate::kube_auth::pki::{Pki, SERVER_NAME};
use anyhow::{Context as _, Result, bail};
use bytes::Bytes;
use http::{Request, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::ServerName;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use uuid::Uuid;

type Body = Full<Bytes>;

/// A review to send, and the expected response.
#[derive(Clone, Debug)]
pub struct Ask {
    body: Bytes,
    expected: Expected,
}

impl Ask {
    /// Returns a review in the format of Kubernetes 1.20.
    pub fn new(token: &str, expected: Expected) -> Self {
        let body = format!(
            r#"{{"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","metadata":{{"creationTimestamp":null}},"spec":{{"token":"{token}","audiences":["https://kubernetes.default.svc"]}},"status":{{"user":{{}}}}}}"#
        );
        Self {
            body: body.into(),
            expected,
        }
    }

    /// Returns the same review with another expected response.
    pub fn expecting(&self, expected: Expected) -> Self {
        Self {
            body: self.body.clone(),
            expected,
        }
    }
}

/// An API server of one cluster.
#[derive(Clone)]
pub struct ApiServer {
    cluster: Uuid,
    http1: Arc<rustls::ClientConfig>,
    http2: Arc<rustls::ClientConfig>,
}

/// One end of a persistent connection; HTTP/2's can be cloned for more streams.
pub struct Sender {
    protocol: Protocol,
    head: Request<()>,
}

enum Protocol {
    Http1(http1::SendRequest<Body>),
    Http2(http2::SendRequest<Body>),
}

/// The connection itself. It must be polled along with the requests.
pub type Driver = futures::future::BoxFuture<'static, hyper::Result<()>>;

impl ApiServer {
    /// Returns the API server of `cluster`.
    pub fn new(pki: &Pki, cluster: Uuid) -> Result<Self> {
        Ok(Self {
            cluster,
            http1: pki.api_server(cluster, b"http/1.1")?,
            http2: pki.api_server(cluster, b"h2")?,
        })
    }

    /// Returns a connection for one request at a time.
    pub async fn http1(&self, server: SocketAddr) -> Result<(Sender, Driver)> {
        let stream = TokioIo::new(connect(&self.http1, server).await?);
        let (sender, connection) = http1::handshake(stream).await?;
        let head = self.head(server, false)?;
        let protocol = Protocol::Http1(sender);
        Ok((Sender { protocol, head }, Box::pin(connection)))
    }

    /// Returns a connection for many.
    pub async fn http2(&self, server: SocketAddr) -> Result<(Sender, Driver)> {
        let stream = TokioIo::new(connect(&self.http2, server).await?);
        let (sender, connection) = http2::handshake(TokioExecutor::new(), stream).await?;
        let head = self.head(server, true)?;
        let protocol = Protocol::Http2(sender);
        Ok((Sender { protocol, head }, Box::pin(connection)))
    }

    fn head(&self, server: SocketAddr, absolute: bool) -> Result<Request<()>> {
        let path = format!("/clusters/{}/tokenreview?timeout=30s", self.cluster);
        let authority = format!("{SERVER_NAME}:{}", server.port());
        let request = Request::post(if absolute {
            Uri::try_from(format!("https://{authority}{path}"))?
        } else {
            Uri::try_from(path)?
        });
        let request = if absolute {
            request
        } else {
            request.header(header::HOST, authority)
        };
        Ok(request
            .header(header::ACCEPT, "application/json, */*")
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::USER_AGENT, "kube-apiserver/v1.20.2")
            .body(())?)
    }
}

async fn connect(
    config: &Arc<rustls::ClientConfig>,
    server: SocketAddr,
) -> Result<tokio_rustls::client::TlsStream<TcpStream>> {
    let stream = TcpStream::connect(server).await?;
    stream.set_nodelay(true)?;
    let name = ServerName::try_from(SERVER_NAME)?;
    let connector = TlsConnector::from(Arc::clone(config));
    connector
        .connect(name, stream)
        .await
        .context("TLS handshake")
}

impl Sender {
    /// Returns another stream of the same connection; HTTP/1.1 has none.
    pub fn stream(&self) -> Option<Self> {
        match &self.protocol {
            Protocol::Http1(_) => None,
            Protocol::Http2(sender) => Some(Self {
                protocol: Protocol::Http2(sender.clone()),
                head: self.head.clone(),
            }),
        }
    }

    /// Sends the review and compares the response.
    pub async fn ask(&mut self, ask: &Ask) -> Result<Bytes> {
        let request = self.head.clone().map(|()| Full::new(ask.body.clone()));
        let response = match &mut self.protocol {
            Protocol::Http1(sender) => {
                sender.ready().await?;
                sender.send_request(request).await?
            }
            Protocol::Http2(sender) => {
                sender.ready().await?;
                sender.send_request(request).await?
            }
        };
        let status = response.status();
        let answer = response.into_body().collect().await?.to_bytes();
        if status != StatusCode::OK {
            bail!("status {status}: {}", String::from_utf8_lossy(&answer));
        }
        ask.expected.check(&answer)?;
        Ok(answer)
    }
}
