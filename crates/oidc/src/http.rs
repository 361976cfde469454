//! HTTP calls to a provider: bounded in size and time, to known hosts, without redirects.
use std::time::Duration;

use ::http::{Request, Response};
use futures::{FutureExt as _, StreamExt as _, future::BoxFuture};
use openidconnect::{AsyncHttpClient, HttpRequest, HttpResponse};
use reqwest::{Certificate, redirect};
use url::Url;

use crate::{
    error::Error,
    settings::{InvalidSettings, Settings, is_loopback},
};

/// Maximum size of a response body, in bytes.
const MAX_BODY_BYTES: usize = 1 << 20;

/// A client for one provider.
#[derive(Clone, Debug)]
pub(crate) struct Http {
    client: reqwest::Client,
    /// Host names that requests may go to, in lower case.
    hosts: Vec<String>,
    /// Whether the issuer itself is on this machine, without TLS.
    plain: bool,
}

impl Http {
    pub fn new(settings: &Settings) -> Result<Self, InvalidSettings> {
        let issuer = Url::parse(&settings.issuer)
            .map_err(|_| InvalidSettings::Issuer(settings.issuer.clone()))?;
        // fails if the process has installed one already, which is fine
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("portico/", env!("CARGO_PKG_VERSION")))
            .no_proxy()
            // a redirect would send codes and secrets to its target
            .redirect(redirect::Policy::none())
            .timeout(settings.timeout)
            .connect_timeout(settings.timeout.min(Duration::from_secs(3)))
            .pool_idle_timeout(Duration::from_secs(4));
        if let Some(pem) = &settings.ca {
            let certificates = Certificate::from_pem_bundle(pem.as_bytes())
                .map_err(|error| InvalidSettings::Authority(error.to_string()))?;
            if certificates.is_empty() {
                return Err(InvalidSettings::Authority("there is none".to_owned()));
            }
            builder = builder.tls_built_in_root_certs(false);
            for certificate in certificates {
                builder = builder.add_root_certificate(certificate);
            }
        }
        let client = builder
            .build()
            .map_err(|error| InvalidSettings::Client(error.to_string()))?;
        let own = issuer.host_str().unwrap_or_default().to_ascii_lowercase();
        let hosts = settings
            .endpoint_hosts
            .iter()
            .map(|host| host.to_ascii_lowercase())
            .chain([own])
            .collect();
        Ok(Self {
            client,
            hosts,
            plain: issuer.scheme() == "http" && is_loopback(&issuer),
        })
    }

    /// Returns whether an address from the provider may be used.
    pub fn allows(&self, url: &Url) -> bool {
        let scheme =
            url.scheme() == "https" || (self.plain && url.scheme() == "http" && is_loopback(url));
        let host = url.host_str().unwrap_or_default().to_ascii_lowercase();
        scheme
            && self.hosts.contains(&host)
            && url.username().is_empty()
            && url.password().is_none()
    }

    /// Sends a request that `openidconnect` has built.
    pub async fn send(&self, request: HttpRequest) -> Result<HttpResponse, Error> {
        let url = Url::parse(&request.uri().to_string())
            .map_err(|_| Error::Unusable("an endpoint is not a URL".to_owned()))?;
        if !self.allows(&url) {
            return Err(Error::Unusable(format!(
                "{} is not among the hosts of this provider",
                url.host_str().unwrap_or("an address without a host")
            )));
        }
        let request = reqwest::Request::try_from(request)
            .map_err(|error| Error::Unusable(error.to_string()))?;
        let answer = self
            .client
            .execute(request)
            .await
            .map_err(|error| unavailable(&error))?;
        let status = answer.status();
        if status.is_server_error() {
            return Err(Error::Unavailable(format!("it answers {status}")));
        }
        if status.is_redirection() {
            return Err(Error::Unusable(format!(
                "{} redirects, which is not followed",
                url.path()
            )));
        }
        let headers = answer.headers().clone();
        let mut body = Vec::new();
        let mut chunks = answer.bytes_stream();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|error| unavailable(&error))?;
            if body.len() + chunk.len() > MAX_BODY_BYTES {
                return Err(Error::Unusable("an answer is larger than 1 MiB".to_owned()));
            }
            body.extend_from_slice(&chunk);
        }
        let mut response = Response::new(body);
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        Ok(response)
    }

    /// Reads a JSON document.
    pub async fn json<T: serde::de::DeserializeOwned>(&self, url: &Url) -> Result<T, Error> {
        let request = Request::get(url.as_str())
            .header(::http::header::ACCEPT, "application/json")
            .body(Vec::new())
            .map_err(|error| Error::Unusable(error.to_string()))?;
        let answer = self.send(request).await?;
        if !answer.status().is_success() {
            return Err(Error::Unusable(format!(
                "{} answers {}",
                url.path(),
                answer.status()
            )));
        }
        serde_json::from_slice(answer.body())
            .map_err(|error| Error::Unusable(format!("{}: {error}", url.path())))
    }
}

impl<'c> AsyncHttpClient<'c> for Http {
    type Error = Error;
    type Future = BoxFuture<'c, Result<HttpResponse, Error>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        self.send(request).boxed()
    }
}

fn unavailable(error: &reqwest::Error) -> Error {
    // reqwest's message contains the URL, which may hold a code: report the kind of failure only
    let what = if error.is_timeout() {
        "no answer in time"
    } else if error.is_connect() {
        "no connection can be made"
    } else {
        "the connection was closed early"
    };
    Error::Unavailable(what.to_owned())
}
