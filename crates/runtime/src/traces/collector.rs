//! The HTTP client that sends spans: with the process's own TLS, from any thread.
use super::config::{TracesConfig, TracesError};
use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use opentelemetry_http::{HttpClient, HttpError};
use tokio::runtime::Handle;

/// Maximum size of the collector's response, in bytes.
const MAX_RESPONSE_BYTES: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct Collector {
    http: reqwest::Client,
    runtime: Handle,
}

impl Collector {
    pub fn new(config: &TracesConfig) -> Result<Self, TracesError> {
        crate::install_crypto_provider();
        let mut builder = reqwest::Client::builder()
            .timeout(config.timeout)
            // with a redirect, the secret headers would be sent to its target
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy();
        if let Some(path) = &config.ca_file {
            let unusable = |reason: String| TracesError::Authority {
                path: path.clone(),
                reason,
            };
            let pem = std::fs::read(path).map_err(|error| unusable(error.to_string()))?;
            let certificates = reqwest::Certificate::from_pem_bundle(&pem)
                .map_err(|error| unusable(error.to_string()))?;
            if certificates.is_empty() {
                return Err(unusable("no certificate in it".to_owned()));
            }
            for certificate in certificates {
                builder = builder.add_root_certificate(certificate);
            }
        }
        let http = builder
            .build()
            .map_err(|error| TracesError::Exporter(error.to_string()))?;
        Ok(Self {
            http,
            runtime: Handle::try_current()
                .map_err(|error| TracesError::Exporter(error.to_string()))?,
        })
    }
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (parts, body) = request.into_parts();
        let request = self
            .http
            .request(parts.method, parts.uri.to_string())
            .headers(parts.headers)
            .body(body);
        // spans are sent from a thread without a runtime
        self.runtime
            .spawn(async move {
                let mut answer = request.send().await?;
                let mut body = Vec::new();
                while let Some(chunk) = answer.chunk().await? {
                    if body.len() + chunk.len() > MAX_RESPONSE_BYTES {
                        break;
                    }
                    body.extend_from_slice(&chunk);
                }
                let mut response = Response::new(Bytes::from(body));
                *response.status_mut() = answer.status();
                *response.headers_mut() = answer.headers().clone();
                Ok(response)
            })
            .await?
    }
}
