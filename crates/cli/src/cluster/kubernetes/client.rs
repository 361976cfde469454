//! The client of an API server: plain JSON over HTTPS, within limits of time and size.
use super::access::{Access, TokenSource};
use super::error::ApiError;
use crate::token_cache::Cached;
use portico_clock::Clock;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::redirect::Policy;
use reqwest::tls::TlsInfo;
use reqwest::{Certificate, Method};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::Mutex;
use url::Url;

/// Maximum time for an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);
/// Maximum time for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum size of an answer.
const MAX_BODY_BYTES: usize = 16 * 1024 * 1024;
/// Objects in one answer.
const PAGE_SIZE: &str = "250";
/// Maximum number of answers that make up a list.
const MAX_PAGES: usize = 40;
/// How long before its expiry a token is replaced.
const RENEW_AHEAD_SECONDS: i64 = 60;

/// A client of one API server with tokens of one user.
pub struct Kubernetes {
    http: reqwest::Client,
    base: Url,
    source: TokenSource,
    token: Mutex<Cached>,
    clock: Clock,
}

/// An answer, whatever its status.
pub struct Answer {
    pub status: u16,
    /// Null if it is not JSON.
    pub body: Value,
    /// The server's certificate (DER); `None` over plain HTTP.
    pub certificate: Option<Vec<u8>>,
}

impl Answer {
    fn into_body(self) -> Result<Value, ApiError> {
        if !(200..300).contains(&self.status) {
            return Err(ApiError::of_answer(self.status, &self.body));
        }
        if self.body.is_null() {
            return Err(ApiError::Malformed("it is not JSON"));
        }
        Ok(self.body)
    }
}

impl Kubernetes {
    /// Makes a client; sends no request yet. The authority of the cluster replaces the public ones.
    ///
    /// # Errors
    /// [`ApiError::Client`] if the authority cannot be used.
    pub fn new(access: &Access) -> Result<Self, ApiError> {
        let failed = |error: reqwest::Error| ApiError::Client(error.to_string());
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("portico/", env!("CARGO_PKG_VERSION")))
            // a redirect would send the token to its target
            .redirect(Policy::none())
            .timeout(ANSWER_TIMEOUT)
            .connect_timeout(CONNECT_TIMEOUT)
            .tls_info(true);
        if let Some(authority) = &access.authority {
            builder = builder.tls_built_in_root_certs(false);
            for certificate in Certificate::from_pem_bundle(authority.as_bytes()).map_err(failed)? {
                builder = builder.add_root_certificate(certificate);
            }
        }
        Ok(Self {
            http: builder.build().map_err(failed)?,
            base: access.api_url.clone(),
            source: access.source.clone(),
            token: Mutex::new(access.token.clone()),
            clock: access.clock.clone(),
        })
    }

    /// Sends a GET, and returns the answer with any status.
    ///
    /// # Errors
    /// If there is no answer, or no token.
    pub async fn answer(&self, path: &str) -> Result<Answer, ApiError> {
        self.send(Method::GET, path, &[], None).await
    }

    /// Reads an object.
    ///
    /// # Errors
    /// If the API server cannot be asked or refuses.
    pub async fn get(&self, path: &str) -> Result<Value, ApiError> {
        self.send(Method::GET, path, &[], None).await?.into_body()
    }

    /// Reads all objects of a list; `query` selects them.
    ///
    /// # Errors
    /// If the API server cannot be asked or refuses; [`ApiError::TooMany`] if the list does not end.
    pub async fn list(&self, path: &str, query: &[(&str, &str)]) -> Result<Vec<Value>, ApiError> {
        self.authorized().await?.list(path, query).await
    }

    /// Creates an object, and returns it.
    ///
    /// # Errors
    /// If the API server cannot be asked or refuses.
    pub async fn create(&self, path: &str, object: &Value) -> Result<Value, ApiError> {
        let answer = self.send(Method::POST, path, &[], Some(object)).await?;
        answer.into_body()
    }

    /// Deletes an object, with what belongs to it, without waiting for its end; with `uid`, exactly that one: a
    /// newer object with the same name stays.
    ///
    /// # Errors
    /// If the API server cannot be asked or refuses.
    pub async fn delete(&self, path: &str, uid: Option<&str>) -> Result<(), ApiError> {
        let options = delete_options(uid);
        let answer = self.send(Method::DELETE, path, &[], Some(&options)).await?;
        answer.into_body().map(drop)
    }

    /// Creates an object, and returns the answer with any status.
    ///
    /// # Errors
    /// If there is no answer, or no token.
    pub async fn submit(&self, path: &str, object: &Value) -> Result<Answer, ApiError> {
        self.send(Method::POST, path, &[], Some(object)).await
    }

    /// Changes an object with a JSON merge patch, and returns it.
    ///
    /// # Errors
    /// If the API server cannot be asked or refuses.
    pub async fn patch(&self, path: &str, change: &Value) -> Result<Value, ApiError> {
        let answer = self.send(Method::PATCH, path, &[], Some(change)).await?;
        answer.into_body()
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Result<Answer, ApiError> {
        let raw = self
            .authorized()
            .await?
            .send(method, path, query, body)
            .await?;
        Ok(raw.parsed())
    }

    /// Returns the client with one token: for several requests within its lifetime.
    ///
    /// # Errors
    /// If there is no token.
    pub async fn authorized(&self) -> Result<Authorized<'_>, ApiError> {
        Ok(Authorized {
            http: &self.http,
            base: &self.base,
            token: self.token().await?,
        })
    }

    /// Returns the token, or another one shortly before its end.
    async fn token(&self) -> Result<SecretString, ApiError> {
        let mut token = self.token.lock().await;
        let left = token.expires_at.as_second() - self.clock.now().as_second();
        if left < RENEW_AHEAD_SECONDS {
            *token = self.source.token(&self.clock).await?;
        }
        Ok(token.token.clone())
    }
}

/// A client of one API server with one token.
pub struct Authorized<'a> {
    http: &'a reqwest::Client,
    base: &'a Url,
    token: SecretString,
}

/// An answer as it came.
pub struct RawAnswer {
    pub status: u16,
    pub body: Vec<u8>,
    /// The server's certificate (DER); `None` over plain HTTP.
    certificate: Option<Vec<u8>>,
}

impl RawAnswer {
    fn parsed(self) -> Answer {
        Answer {
            status: self.status,
            body: serde_json::from_slice(&self.body).unwrap_or(Value::Null),
            certificate: self.certificate,
        }
    }
}

impl Authorized<'_> {
    /// Sends a GET, and returns the answer with any status.
    ///
    /// # Errors
    /// If there is no answer.
    pub async fn get(&self, path: &str, query: &[(&str, &str)]) -> Result<RawAnswer, ApiError> {
        self.send(Method::GET, path, query, None).await
    }

    /// Reads all objects of a list, as [`Kubernetes::list`] does.
    ///
    /// # Errors
    /// As [`Kubernetes::list`].
    pub async fn list(&self, path: &str, query: &[(&str, &str)]) -> Result<Vec<Value>, ApiError> {
        let mut items = Vec::new();
        let mut next = String::new();
        for _ in 0..MAX_PAGES {
            let mut page = query.to_vec();
            page.push(("limit", PAGE_SIZE));
            if !next.is_empty() {
                page.push(("continue", next.as_str()));
            }
            let answer = self.send(Method::GET, path, &page, None).await?;
            let mut body = answer.parsed().into_body()?;
            let found = body.get_mut("items").map(Value::take);
            match found {
                Some(Value::Array(found)) => items.extend(found),
                // an empty list of Go
                Some(Value::Null) => {}
                _ => return Err(ApiError::Malformed("it is not a list")),
            }
            let token = body.pointer("/metadata/continue").and_then(Value::as_str);
            next = token.unwrap_or_default().to_owned();
            if next.is_empty() {
                return Ok(items);
            }
        }
        Err(ApiError::TooMany)
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Result<RawAnswer, ApiError> {
        let mut url = self.base.clone();
        url.set_path(&format!("{}{path}", self.base.path().trim_end_matches('/')));
        let is_patch = method == Method::PATCH;
        let mut request = self
            .http
            .request(method, url)
            .query(query)
            .header(ACCEPT, "application/json, text/plain;q=0.9")
            .bearer_auth(self.token.expose_secret());
        if is_patch {
            request = request.header(CONTENT_TYPE, "application/merge-patch+json");
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let failed = |error: reqwest::Error| ApiError::of_transport(&error);
        let mut response = request.send().await.map_err(failed)?;
        let tls = response.extensions().get::<TlsInfo>();
        let certificate = tls.and_then(TlsInfo::peer_certificate).map(<[u8]>::to_vec);
        let status = response.status().as_u16();
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            if bytes.len() + chunk.len() > MAX_BODY_BYTES {
                return Err(ApiError::Malformed("it is larger than 16 MiB"));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(RawAnswer {
            status,
            body: bytes,
            certificate,
        })
    }
}

fn delete_options(uid: Option<&str>) -> Value {
    let mut options = json!({
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "propagationPolicy": "Background",
    });
    if let Some(uid) = uid {
        options["preconditions"] = json!({"uid": uid});
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_with_a_uid_is_deleted_by_it() {
        assert_eq!(delete_options(Some("u1"))["preconditions"]["uid"], "u1");
        assert_eq!(delete_options(None).get("preconditions"), None);
    }
}
