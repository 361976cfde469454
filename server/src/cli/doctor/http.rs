//! HTTP requests of the checks: small responses, no redirects, and a time limit.
use anyhow::Context as _;
use portico_transport::TransportFault;
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Response};
use std::path::Path;
use std::time::Duration;

/// Time limit for one request.
pub(super) const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum size of a response body, in bytes; no document that a check reads is larger.
const MAX_BODY_BYTES: usize = 256 * 1024;

/// Returns a client that trusts `ca_file` only, if one is given.
pub(super) fn client(ca_file: Option<&Path>) -> anyhow::Result<Client> {
    let mut builder = builder();
    if let Some(path) = ca_file {
        let pem = std::fs::read(path).with_context(|| path.display().to_string())?;
        builder = builder.tls_built_in_root_certs(false);
        for certificate in reqwest::Certificate::from_pem_bundle(&pem)? {
            builder = builder.add_root_certificate(certificate);
        }
    }
    Ok(builder.build()?)
}

/// Returns the common builder of all clients here.
pub(super) fn builder() -> ClientBuilder {
    Client::builder()
        .timeout(REQUEST_TIMEOUT)
        .redirect(Policy::none())
        .http1_only()
        .no_proxy()
}

/// Returns the fault of a request that got no response.
pub(super) fn fault_of(error: &reqwest::Error) -> Option<TransportFault> {
    if error.is_timeout() {
        return Some(TransportFault::Timeout);
    }
    TransportFault::of(error)
}

/// Returns the fault in words, once; else the library's message, without the URL.
pub(super) fn text_of(error: reqwest::Error) -> String {
    match fault_of(&error) {
        Some(fault) => fault.to_string(),
        None => error.without_url().to_string(),
    }
}

/// Returns the beginning of a body; the rest is cut off.
pub(super) async fn body(mut response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_BODY_BYTES {
            body.truncate(MAX_BODY_BYTES);
            break;
        }
    }
    body
}
