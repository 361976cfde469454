//! A request of this machine to the API server of a cluster: GET `/readyz`, without a token, and with the
//! authority of the cluster.
use super::connection::Connection;
use super::kubernetes::{self, ApiError};
use jiff::Timestamp;
use portico_clock::Clock;
use portico_openstack::magnum::{Authority, Cluster};
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, StatusCode};
use serde::Serialize;
use std::time::Duration;
use tokio::time::Instant;
use url::Url;

/// Maximum time for an answer of the API server.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// What this machine sees of the API.
#[derive(Debug, Serialize)]
pub struct ProbeView {
    pub address: String,
    /// Whether the API server answers, and its certificate is accepted.
    pub is_reachable: bool,
    /// `None`: it did not answer, or does not report it without a token.
    pub is_ready: Option<bool>,
    pub milliseconds: u64,
    pub at: Timestamp,
    /// Why it does not answer, or is not ready.
    pub cause: Option<String>,
    /// What could not be checked, as a clause.
    pub note: Option<String>,
}

/// What came of a request.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    is_ready: Option<bool>,
    cause: Option<String>,
    note: Option<String>,
}

/// Asks the API server of a cluster whether it is ready; `None`: Magnum knows no address yet. Nothing secret
/// is sent.
pub async fn probe(connection: &Connection, cluster: &Cluster) -> Option<ProbeView> {
    let address = cluster.api_address.clone()?;
    let authority = authority(connection, cluster).await;
    Some(at_address(address, authority.as_deref(), &connection.clock).await)
}

/// Returns the authority of a cluster in PEM: Magnum's, or the one that a gateway states. `None`: this user
/// gets neither.
async fn authority(connection: &Connection, cluster: &Cluster) -> Option<String> {
    let (magnum, token) = (&connection.clients.magnum, &connection.token);
    let of_magnum = magnum.authority(token, cluster.uuid, Authority::Kubernetes);
    // by default, Magnum gives it to the creator of the cluster only
    if let Ok(pem) = of_magnum.await {
        return Some(pem);
    }
    let access = kubernetes::find(connection, cluster.uuid).await.ok()?;
    access.authority
}

async fn at_address(address: String, authority: Option<&str>, clock: &Clock) -> ProbeView {
    let began = Instant::now();
    let result = match authority {
        Some(pem) => ask(&address, pem).await,
        None => connect(&address).await.map(|()| Answer {
            is_ready: None,
            cause: None,
            note: Some(
                "neither its certificate nor /readyz was checked: Magnum gives the authority of the cluster \
                 to its creator only, and no gateway states it for you"
                    .to_owned(),
            ),
        }),
    };
    let milliseconds = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let is_reachable = result.is_ok();
    let answer = result.unwrap_or_else(|cause| Answer {
        is_ready: None,
        cause: Some(cause),
        note: None,
    });
    ProbeView {
        address,
        is_reachable,
        is_ready: answer.is_ready,
        milliseconds,
        at: clock.now(),
        cause: answer.cause,
        note: answer.note,
    }
}

/// Sends GET `/readyz`.
async fn ask(address: &str, authority: &str) -> Result<Answer, String> {
    let mut url = parsed(address)?;
    url.set_path("/readyz");
    let client = client(authority).map_err(|error| ApiError::of_transport(&error).to_string())?;
    let response = client.get(url).send().await;
    let response = response.map_err(|error| ApiError::of_transport(&error).to_string())?;
    Ok(meaning(response.status()))
}

fn client(authority: &str) -> Result<Client, reqwest::Error> {
    let mut builder = Client::builder()
        .user_agent(concat!("portico/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::none())
        .timeout(PROBE_TIMEOUT)
        .connect_timeout(PROBE_TIMEOUT)
        .tls_built_in_root_certs(false);
    for certificate in Certificate::from_pem_bundle(authority.as_bytes())? {
        builder = builder.add_root_certificate(certificate);
    }
    builder.build()
}

/// Returns what a status of `/readyz` means.
fn meaning(status: StatusCode) -> Answer {
    let answer = |is_ready, cause: Option<String>, note: Option<&str>| Answer {
        is_ready,
        cause,
        note: note.map(str::to_owned),
    };
    match status {
        StatusCode::OK => answer(Some(true), None, None),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => answer(
            None,
            None,
            Some("it does not report /readyz without a token"),
        ),
        StatusCode::NOT_FOUND => answer(None, None, Some("it has no /readyz")),
        status => answer(
            Some(false),
            Some(format!("it answered /readyz with HTTP {}", status.as_u16())),
            None,
        ),
    }
}

fn parsed(address: &str) -> Result<Url, String> {
    let url: Url = address
        .parse()
        .map_err(|error| format!("{address}: {error}"))?;
    match url.host_str() {
        Some(_) => Ok(url),
        None => Err(format!("{address} has no host")),
    }
}

/// Opens a connection to an address, and sends nothing.
///
/// # Errors
/// The cause, in words.
pub async fn connect(address: &str) -> Result<(), String> {
    let url = parsed(address)?;
    let host = url.host_str().unwrap_or_default();
    let port = url.port_or_known_default().unwrap_or(443);
    // a host in brackets is an IPv6 address
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let connecting = tokio::net::TcpStream::connect((host, port));
    match tokio::time::timeout(PROBE_TIMEOUT, connecting).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("no answer within {} s", PROBE_TIMEOUT.as_secs())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
    use tokio::net::TcpListener;

    fn authority() -> String {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        CertifiedIssuer::self_signed(params, key).unwrap().pem()
    }

    #[test]
    fn only_200_is_ready_and_a_refusal_is_an_answer() {
        assert_eq!(meaning(StatusCode::OK).is_ready, Some(true));
        for status in [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN] {
            let answer = meaning(status);
            assert_eq!((answer.is_ready, answer.cause), (None, None), "{status}");
            assert!(answer.note.unwrap().contains("without a token"));
        }
        for status in [StatusCode::INTERNAL_SERVER_ERROR, StatusCode::BAD_GATEWAY] {
            let answer = meaning(status);
            assert_eq!(answer.is_ready, Some(false), "{status}");
            let cause = answer.cause.unwrap();
            assert!(cause.contains(status.as_str()), "{cause}");
        }
    }

    #[tokio::test]
    async fn a_port_that_only_accepts_connections_is_not_an_api_server() {
        portico_runtime::install_crypto_provider();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("https://{}", listener.local_addr().unwrap());
        tokio::spawn(async move {
            while let Ok(accepted) = listener.accept().await {
                // closes the connection
                drop(accepted);
            }
        });
        let clock = Clock::system();
        let checked = at_address(address.clone(), Some(&authority()), &clock).await;
        let unchecked = at_address(address, None, &clock).await;
        assert!(!checked.is_reachable, "{checked:?}");
        assert!(checked.cause.is_some(), "{checked:?}");
        // without the authority, more cannot be said
        assert!(unchecked.is_reachable, "{unchecked:?}");
        assert!(unchecked.note.unwrap().contains("creator only"));
    }

    #[tokio::test]
    async fn an_address_that_cannot_be_read_is_named() {
        for address in ["192.0.2.1:6443", "https://"] {
            let view = at_address(address.to_owned(), None, &Clock::system()).await;
            assert!(!view.is_reachable);
            let cause = view.cause.unwrap();
            assert!(cause.contains(address), "{cause}");
        }
    }
}
