//! Checks whether Keystone and the API servers respond, and reports the cause if not.
use super::settings::{Cluster, Keystone};
use futures::future::join_all;
use reqwest::redirect::Policy;
use rustls::CertificateError;
use serde::Serialize;
use serde_json::Value;
use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::time::Duration;
use url::Url;

const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum size of a response body, in bytes; neither Keystone's version document nor an API
/// server's is larger.
const MAX_BODY_BYTES: usize = 64 * 1024;

/// A check and its result.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Check {
    pub subject: String,
    pub url: String,
    #[serde(serialize_with = "outcome")]
    pub result: Result<String, Cause>,
}

/// The cause of a failed check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// The host name does not resolve.
    UnknownHost,
    /// Nothing listens there.
    Refused,
    /// No response arrived in time.
    TimedOut,
    /// The certificate is of an authority that is not trusted.
    UnknownAuthority,
    /// The certificate is for other names.
    WrongName,
    /// The certificate has expired, or is not valid yet.
    Expired,
    /// The server does not speak TLS there.
    NotTls,
    /// The TLS handshake failed otherwise.
    Tls(String),
    /// Another service than the expected one responds.
    OtherService(String),
    /// Any other cause.
    Other(String),
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownHost => f.write_str(
                "the host name does not resolve: check its spelling and this machine's DNS",
            ),
            Self::Refused => f.write_str(
                "the connection is refused: check the port, and whether the server runs",
            ),
            Self::TimedOut => write!(
                f,
                "no answer within {} s: check the address, routes and firewalls",
                REQUEST_TIMEOUT.as_secs()
            ),
            Self::UnknownAuthority => f.write_str(
                "its certificate is signed by an authority that is not trusted: name the right one \
                 (--keystone-ca-file, or ca-file= of the cluster)",
            ),
            Self::WrongName => f.write_str(
                "its certificate is for other names: use a name that it holds, or renew it",
            ),
            Self::Expired => f.write_str(
                "its certificate is not valid at this time: renew it, and check both clocks",
            ),
            Self::NotTls => f.write_str("it does not speak TLS: check the port, or use http://"),
            Self::Tls(detail) => write!(f, "the TLS handshake failed: {detail}"),
            Self::OtherService(found) => write!(f, "{found}: check the URL"),
            Self::Other(detail) => f.write_str(detail),
        }
    }
}

impl Check {
    /// Returns one line about the failure, if there is one.
    pub fn failure(&self) -> Option<String> {
        let cause = self.result.as_ref().err()?;
        Some(format!("{} at {}: {cause}", self.subject, self.url))
    }

    /// Returns one line about the result.
    pub fn line(&self) -> String {
        match &self.result {
            Ok(found) => format!("ok    {} at {}: {found}", self.subject, self.url),
            Err(cause) => format!("FAIL  {} at {}: {cause}", self.subject, self.url),
        }
    }
}

fn outcome<S: serde::Serializer>(
    result: &Result<String, Cause>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let value = match result {
        Ok(found) => serde_json::json!({ "ok": true, "found": found }),
        Err(cause) => serde_json::json!({ "ok": false, "cause": cause.to_string() }),
    };
    value.serialize(serializer)
}

/// Runs all checks at once.
pub(super) async fn run(keystone: Option<&Keystone>, clusters: &[Cluster]) -> Vec<Check> {
    let keystone = keystone.map(|keystone| async move {
        Check {
            subject: "Keystone".to_owned(),
            url: keystone.url.to_string(),
            result: self::keystone(&keystone.url, keystone.ca_pem.as_deref()).await,
        }
    });
    let clusters = clusters.iter().map(|cluster| async move {
        Check {
            subject: format!("API server of {}", cluster.spec.name),
            url: cluster.spec.api_url.to_string(),
            result: api_server(&cluster.spec.api_url, cluster.ca_pem.as_deref()).await,
        }
    });
    let (keystone, clusters) = futures::join!(join_all(keystone), join_all(clusters));
    keystone.into_iter().chain(clusters).collect()
}

async fn keystone(url: &Url, ca_pem: Option<&str>) -> Result<String, Cause> {
    let (status, body) = get(url.clone(), ca_pem).await?;
    match body["version"]["id"].as_str() {
        Some(version) if version.starts_with("v3") => Ok(format!("Keystone {version}")),
        Some(version) => Err(Cause::OtherService(format!(
            "it is Keystone's API {version}, not v3"
        ))),
        None => Err(Cause::OtherService(format!(
            "what answers (HTTP {status}) is not Keystone's API"
        ))),
    }
}

async fn api_server(url: &Url, ca_pem: Option<&str>) -> Result<String, Cause> {
    let mut version = url.clone();
    version.set_path("/version");
    let (status, body) = get(version, ca_pem).await?;
    if let Some(version) = body["gitVersion"].as_str() {
        return Ok(format!("Kubernetes {version}"));
    }
    // a server that tells its version to known callers only responds with a Status
    if body["kind"] == "Status" {
        return Ok(format!("an API server (HTTP {status})"));
    }
    Err(Cause::OtherService(format!(
        "what answers (HTTP {status}) is not a Kubernetes API server"
    )))
}

async fn get(url: Url, ca_pem: Option<&str>) -> Result<(u16, Value), Cause> {
    let mut builder = reqwest::Client::builder()
        .timeout(REQUEST_TIMEOUT)
        .redirect(Policy::none())
        .no_proxy();
    if let Some(pem) = ca_pem {
        let authorities = reqwest::Certificate::from_pem_bundle(pem.as_bytes());
        builder = builder.tls_built_in_root_certs(false);
        for authority in authorities.map_err(|error| cause(&error))? {
            builder = builder.add_root_certificate(authority);
        }
    }
    let client = builder.build().map_err(|error| cause(&error))?;
    let mut answer = client
        .get(url)
        .send()
        .await
        .map_err(|error| cause(&error))?;
    let status = answer.status().as_u16();
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(|error| cause(&error))? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_BODY_BYTES {
            return Err(Cause::OtherService(
                "its answer is larger than expected".to_owned(),
            ));
        }
    }
    Ok((status, serde_json::from_slice(&body).unwrap_or_default()))
}

/// Reads the chain of causes; reqwest's own message is the same for all of them.
fn cause(error: &reqwest::Error) -> Cause {
    if error.is_timeout() {
        return Cause::TimedOut;
    }
    let mut deepest = error.to_string();
    let mut next: Option<&(dyn StdError + 'static)> = error.source();
    while let Some(inner) = next {
        if let Some(tls) = tls_error(inner) {
            return of_tls(tls);
        }
        if let Some(found) = inner.downcast_ref::<io::Error>().and_then(of_io) {
            return found;
        }
        deepest = inner.to_string();
        if deepest.contains("dns error") || deepest.contains("lookup address") {
            return Cause::UnknownHost;
        }
        next = inner.source();
    }
    Cause::Other(deepest)
}

fn tls_error<'e>(error: &'e (dyn StdError + 'static)) -> Option<&'e rustls::Error> {
    if let Some(found) = error.downcast_ref::<rustls::Error>() {
        return Some(found);
    }
    // one I/O error may hold another, and the source of the first skips what the second holds
    tls_error(error.downcast_ref::<io::Error>()?.get_ref()?)
}

fn of_tls(error: &rustls::Error) -> Cause {
    match error {
        rustls::Error::InvalidCertificate(problem) => match problem {
            CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                Cause::UnknownAuthority
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                Cause::WrongName
            }
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. } => Cause::Expired,
            other => Cause::Tls(other.to_string()),
        },
        rustls::Error::InvalidMessage(_) => Cause::NotTls,
        other => Cause::Tls(other.to_string()),
    }
}

fn of_io(error: &io::Error) -> Option<Cause> {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => Some(Cause::Refused),
        io::ErrorKind::TimedOut => Some(Cause::TimedOut),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    async fn answering(answer: &'static [u8]) -> Url {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let mut head = [0; 1024];
                let _ = client.read(&mut head).await;
                let _ = client.write_all(answer).await;
            }
        });
        Url::parse(&format!("http://{address}/v3")).unwrap()
    }

    #[tokio::test]
    async fn init_names_a_refused_connection_and_an_unknown_host() {
        portico_runtime::install_crypto_provider();
        let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v3", closed.local_addr().unwrap());
        drop(closed);
        let refused = keystone(&Url::parse(&url).unwrap(), None).await;
        assert_eq!(refused, Err(Cause::Refused));
        let nowhere = Url::parse("https://portico.invalid/v3").unwrap();
        assert_eq!(keystone(&nowhere, None).await, Err(Cause::UnknownHost));
    }

    #[tokio::test]
    async fn init_distinguishes_another_service_from_keystone() {
        portico_runtime::install_crypto_provider();
        let page =
            answering(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi");
        let found = keystone(&page.await, None).await.unwrap_err();
        assert!(matches!(found, Cause::OtherService(_)), "{found}");
        let plain = answering(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        let tls = Url::parse(&plain.as_str().replace("http:", "https:")).unwrap();
        assert_eq!(api_server(&tls, None).await, Err(Cause::NotTls));
    }
}
