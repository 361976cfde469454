//! An HTTP server inside of the test, for answers that real services do not give on request.
use super::client::{RestClient, ScopedToken};
use super::options::ServiceOptions;
use super::service::Service;
use crate::keystone::{Catalog, CatalogEndpoint};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

/// The token of all tests.
pub const TOKEN: &str = "gAAAA-test-token";
/// The project of all tests.
pub const PROJECT: &str = "915d66fac5204c35aa2ac52c13254e05";

/// A request that the server got.
#[derive(Clone, Debug)]
pub struct Received {
    pub method: String,
    /// The path with its query.
    pub target: String,
    /// By name in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: Value,
}

impl Received {
    /// Returns the path without its query.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap()
    }
}

/// An answer of the server.
#[derive(Clone, Debug)]
pub enum Reply {
    Json(u16, Value),
    /// A status, a header and a body of any kind.
    Raw(u16, &'static str, String),
    /// The connection is closed without an answer.
    Close,
    /// The request is never answered.
    Silence,
}

/// What answers a request.
type Answer = dyn Fn(&Received) -> Reply + Send + Sync;

/// A server; it stops with the test's runtime.
pub struct TestServer {
    address: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl TestServer {
    /// Starts a server that answers with `reply`.
    pub async fn start(reply: impl Fn(&Received) -> Reply + Send + Sync + 'static) -> Self {
        Self::answering(Arc::new(reply)).await
    }

    /// The same for any closure: tasks of a type for each test take long to compile.
    async fn answering(reply: Arc<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let received = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&received);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (reply, log) = (Arc::clone(&reply), Arc::clone(&log));
                tokio::spawn(async move {
                    serve(stream, &*reply, &log).await;
                });
            }
        });
        Self { address, received }
    }

    /// Returns the requests so far.
    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// Returns method and target of the requests so far.
    pub fn calls(&self) -> Vec<String> {
        let calls = self.received().into_iter();
        calls
            .map(|one| format!("{} {}", one.method, one.target))
            .collect()
    }

    /// Returns the URL of a path at this server.
    pub fn url(&self, path: &str) -> Url {
        format!("http://{}{path}", self.address).parse().unwrap()
    }

    /// Returns a token whose catalogue has every service at this server, below the service's name.
    pub fn token(&self) -> ScopedToken {
        let endpoint = |service: Service| CatalogEndpoint {
            service_type: service.types()[0].to_owned(),
            interface: "public".to_owned(),
            region: Some("one".to_owned()),
            url: self.url(&format!("/{}", service.as_str())),
        };
        ScopedToken {
            token: TOKEN.into(),
            project_id: PROJECT.to_owned(),
            catalog: Arc::new(Catalog {
                endpoints: Service::ALL.map(endpoint).into(),
            }),
        }
    }

    /// Returns a client with time limits for tests.
    pub fn client() -> RestClient {
        RestClient::new(ServiceOptions {
            timeout: Duration::from_secs(5),
            change_timeout: Duration::from_millis(700),
            ..ServiceOptions::default()
        })
        .unwrap()
    }
}

async fn serve(mut stream: TcpStream, reply: &Answer, log: &Mutex<Vec<Received>>) {
    while let Some(request) = read(&mut stream).await {
        log.lock().unwrap().push(request.clone());
        let (status, header, body) = match reply(&request) {
            Reply::Json(204, _) => (204, "x-test: 1", String::new()),
            Reply::Json(status, body) => {
                (status, "content-type: application/json", body.to_string())
            }
            Reply::Raw(status, header, body) => (status, header, body),
            Reply::Close => return,
            Reply::Silence => return std::future::pending().await,
        };
        let head = format!(
            "HTTP/1.1 {status} Test\r\nx-openstack-request-id: req-1\r\n{header}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let answer = head + &body;
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn read(stream: &mut TcpStream) -> Option<Received> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..head_end].to_vec()).unwrap();
    let mut lines = head.lines();
    let mut first = lines.next()?.split(' ');
    let (method, target) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let length = headers.get("content-length");
    let length: usize = length.map_or(0, |length| length.parse().unwrap());
    while bytes.len() < head_end + 4 + length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    let body = serde_json::from_slice(&bytes[head_end + 4..]).unwrap_or(Value::Null);
    Some(Received {
        method,
        target,
        headers,
        body,
    })
}
