//! HTTP requests of the checks: small answers, no redirects, and a time limit.
use anyhow::Context as _;
use portico_transport::TransportFault;
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Response};
use std::path::Path;
use std::time::Duration;

/// How long one request may take.
pub(super) const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// No document that a check reads is larger.
const MAX_BODY: usize = 256 * 1024;

/// A client that trusts `ca_file` only, where there is one.
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

/// What every client here starts from.
pub(super) fn builder() -> ClientBuilder {
    Client::builder()
        .timeout(REQUEST_TIMEOUT)
        .redirect(Policy::none())
        .http1_only()
        .no_proxy()
}

/// The fault of a request that got no answer.
pub(super) fn fault_of(error: &reqwest::Error) -> Option<TransportFault> {
    if error.is_timeout() {
        return Some(TransportFault::Timeout);
    }
    TransportFault::of(error)
}

/// The fault in words, once; else what the library says, without the URL.
pub(super) fn text_of(error: reqwest::Error) -> String {
    match fault_of(&error) {
        Some(fault) => fault.to_string(),
        None => error.without_url().to_string(),
    }
}

/// The beginning of a body; what is longer is cut off.
pub(super) async fn body(mut response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_BODY {
            body.truncate(MAX_BODY);
            break;
        }
    }
    body
}
