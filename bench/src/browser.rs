//! A browser without a screen: cookies by host, and what a page's form needs.
use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use url::Url;

/// A connection, encrypted or not.
pub trait Connection: AsyncRead + AsyncWrite + Send + Unpin {}

impl<C: AsyncRead + AsyncWrite + Send + Unpin> Connection for C {}

/// The address of a server, whatever its hosts are called.
#[derive(Clone)]
pub struct Endpoint {
    address: SocketAddr,
    tls: Option<Arc<ClientConfig>>,
}

impl Endpoint {
    /// Returns the address of a server that speaks TLS.
    pub fn with_tls(address: SocketAddr, config: ClientConfig) -> Self {
        let tls = Some(Arc::new(config));
        Self { address, tls }
    }

    /// Connects for one of its hosts.
    pub async fn connect(&self, host: &str) -> Result<Box<dyn Connection>> {
        let stream = TcpStream::connect(self.address).await?;
        let Some(tls) = &self.tls else {
            return Ok(Box::new(stream));
        };
        let name = ServerName::try_from(host.to_owned())?;
        let connector = TlsConnector::from(Arc::clone(tls));
        Ok(Box::new(connector.connect(name, stream).await?))
    }
}

impl From<SocketAddr> for Endpoint {
    fn from(address: SocketAddr) -> Self {
        Self { address, tls: None }
    }
}

/// A user's browser. Every host is at the same address.
pub struct Browser {
    server: Endpoint,
    jar: HashMap<String, BTreeMap<String, String>>,
}

/// A response.
pub struct Page {
    pub status: StatusCode,
    pub body: String,
    headers: HeaderMap,
    url: Url,
}

impl Page {
    /// Returns the target of a redirect.
    pub fn location(&self) -> Result<Url> {
        let location = self.headers.get(header::LOCATION);
        let location = location.with_context(|| format!("{} from {}", self.status, self.url))?;
        Ok(self.url.join(location.to_str()?)?)
    }

    /// Returns the value of a form's field.
    pub fn field(&self, name: &str) -> Result<&str> {
        let marker = format!("name=\"{name}\" value=\"");
        let rest = self.body.split_once(&marker);
        let (_, rest) = rest.with_context(|| format!("no field {name} at {}", self.url))?;
        Ok(rest.split('"').next().unwrap_or_default())
    }
}

impl Browser {
    pub fn new(server: impl Into<Endpoint>) -> Self {
        Self {
            server: server.into(),
            jar: HashMap::new(),
        }
    }

    /// Opens a page; follows no redirect.
    pub async fn open(&mut self, url: &str) -> Result<Page> {
        self.send(url, None).await
    }

    /// Sends a form from a page of the origin `from`.
    pub async fn submit(&mut self, from: &str, url: &str, fields: &[(&str, &str)]) -> Result<Page> {
        let body = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(fields)
            .finish();
        self.send(url, Some((from, body))).await
    }

    async fn send(&mut self, url: &str, form: Option<(&str, String)>) -> Result<Page> {
        let url = Url::parse(url)?;
        let host = url.host_str().context("no host")?.to_owned();
        let request = Request::builder()
            .uri(&url[url::Position::BeforePath..url::Position::AfterQuery])
            .header(header::HOST, url.authority())
            .header(header::ACCEPT, "text/html,application/xhtml+xml,*/*;q=0.8")
            .header(header::COOKIE, self.cookies(&host))
            .header("sec-fetch-mode", "navigate")
            .header("sec-fetch-dest", "document");
        let request = match form {
            None => request.body(Full::new(Bytes::new()))?,
            Some((from, body)) => request
                .method(http::Method::POST)
                .header(header::ORIGIN, from)
                .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
                .body(Full::new(Bytes::from(body)))?,
        };
        let stream = TokioIo::new(self.server.connect(&host).await?);
        let (mut sender, connection) = http1::handshake(stream).await?;
        let connection = tokio::spawn(connection);
        let (parts, body) = sender.send_request(request).await?.into_parts();
        let body = body.collect().await?.to_bytes();
        connection.abort();
        self.keep(&host, &parts.headers)?;
        Ok(Page {
            status: parts.status,
            body: String::from_utf8_lossy(&body).into_owned(),
            headers: parts.headers,
            url,
        })
    }

    fn keep(&mut self, host: &str, headers: &HeaderMap) -> Result<()> {
        for line in headers.get_all(header::SET_COOKIE) {
            let mut parts = line.to_str()?.split(';').map(str::trim);
            let pair = parts.next().and_then(|pair| pair.split_once('='));
            let (name, value) = pair.context("a cookie without a value")?;
            let jar = self.jar.entry(host.to_owned()).or_default();
            let over = parts.any(|part| part.eq_ignore_ascii_case("max-age=0"));
            if over || value.is_empty() {
                jar.remove(name);
            } else {
                jar.insert(name.to_owned(), value.to_owned());
            }
        }
        Ok(())
    }

    /// Returns the `Cookie` line for a host.
    pub fn cookies(&self, host: &str) -> String {
        let cookies = self.jar.get(host).into_iter().flatten();
        let pairs: Vec<String> = cookies
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        pairs.join("; ")
    }

    /// Opens a page that must exist.
    pub async fn see(&mut self, url: &str) -> Result<Page> {
        let page = self.open(url).await?;
        ensure!(page.status.is_success(), "{url}: {}", page.status);
        Ok(page)
    }
}
