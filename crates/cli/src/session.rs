//! Calls to the gateway with the user's session.
use super::{
    CLIENT_ID,
    api::{Cluster, ClusterToken, Clusters, Gateway, MAX_BODY_BYTES, Tokens, WhoAmI},
    error::CommandError,
    private_file,
    profile::{self, Profile},
};
use jiff::Timestamp;
use portico_clock::Clock;
use portico_openstack::rest::REASON;
use reqwest::StatusCode;
use secrecy::{ExposeSecret as _, SecretString};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::time::Duration;
use url::Url;
use url::form_urlencoded::byte_serialize;
use uuid::Uuid;

/// How long before its expiry a token is renewed, so that it does not expire in flight.
const RENEW_AHEAD_SECONDS: i64 = 30;
/// Maximum size of a text, in bytes.
const MAX_TEXT_BYTES: usize = 16 * 1024 * 1024;

/// A request, which is sent again with another token if the first was refused.
struct Outgoing<'a> {
    method: reqwest::Method,
    url: Url,
    body: Option<&'a Value>,
    reason: Option<&'a str>,
    /// Maximum size of the response.
    max_bytes: usize,
    /// Maximum time for the response; `None`: that of the client.
    timeout: Option<Duration>,
}

impl Outgoing<'_> {
    fn new(method: reqwest::Method, url: Url, max_bytes: usize) -> Self {
        Self {
            method,
            url,
            body: None,
            reason: None,
            max_bytes,
            timeout: None,
        }
    }
}

/// A user's session at one gateway; the access token is renewed by one process when it is due.
pub struct Session {
    gateway: Gateway,
    profile: Profile,
    clock: Clock,
}

impl Session {
    pub fn new(profile: Profile, clock: &Clock) -> Result<Self, CommandError> {
        Ok(Self {
            gateway: Gateway::of(&profile)?,
            profile,
            clock: clock.clone(),
        })
    }

    /// Sends `GET /api/v1/clusters`.
    pub async fn clusters(&mut self) -> Result<Vec<Cluster>, CommandError> {
        let url = self.gateway.endpoint("/api/v1/clusters");
        self.call::<Clusters>(reqwest::Method::GET, url)
            .await
            .map(|answer| answer.clusters)
    }

    /// Sends `GET /api/v1/whoami`.
    pub async fn whoami(&mut self) -> Result<WhoAmI, CommandError> {
        let url = self.gateway.endpoint("/api/v1/whoami");
        self.call(reqwest::Method::GET, url).await
    }

    /// Sends `POST /api/v1/clusters/{id}/token`.
    pub async fn cluster_token(&mut self, cluster: Uuid) -> Result<ClusterToken, CommandError> {
        let url = self
            .gateway
            .endpoint(&format!("/api/v1/clusters/{cluster}/token"));
        self.call(reqwest::Method::POST, url).await
    }

    /// Returns the access token, with at least this much of its lifetime left if the gateway grants it.
    pub async fn access_token(&mut self, ahead_seconds: i64) -> Result<SecretString, CommandError> {
        self.renew_ahead(ahead_seconds).await?;
        Ok(self.profile.access_token.clone())
    }

    /// Exchanges a token that was refused for another one, unless another process has done so.
    pub async fn replace_token(&mut self) -> Result<SecretString, CommandError> {
        self.renew().await?;
        Ok(self.profile.access_token.clone())
    }

    /// Sends a `GET` whose response is JSON.
    pub async fn get<T: DeserializeOwned>(&mut self, url: Url) -> Result<T, CommandError> {
        self.call(reqwest::Method::GET, url).await
    }

    /// Sends a `PUT` with a JSON body whose response is JSON; `reason` is for the journal of a cluster.
    pub async fn put<T: DeserializeOwned>(
        &mut self,
        url: Url,
        body: &Value,
        reason: Option<&str>,
    ) -> Result<T, CommandError> {
        let outgoing = Outgoing {
            body: Some(body),
            reason,
            ..Outgoing::new(reqwest::Method::PUT, url, MAX_BODY_BYTES)
        };
        self.parsed(&outgoing).await
    }

    /// Sends a `PUT` without a body that may take long, and whose response is JSON.
    pub async fn put_slowly<T: DeserializeOwned>(
        &mut self,
        url: Url,
        reason: Option<&str>,
        timeout: Duration,
    ) -> Result<T, CommandError> {
        let outgoing = Outgoing {
            reason,
            timeout: Some(timeout),
            ..Outgoing::new(reqwest::Method::PUT, url, MAX_BODY_BYTES)
        };
        self.parsed(&outgoing).await
    }

    /// Sends a `DELETE` whose response is JSON.
    pub async fn delete<T: DeserializeOwned>(&mut self, url: Url) -> Result<T, CommandError> {
        self.call(reqwest::Method::DELETE, url).await
    }

    /// Sends a `GET` whose response is a text of up to 16 MiB.
    pub async fn text(&mut self, url: Url) -> Result<String, CommandError> {
        let outgoing = Outgoing::new(reqwest::Method::GET, url, MAX_TEXT_BYTES);
        let (status, body) = self.answer(&outgoing).await?;
        match status.is_success() {
            true => Ok(body),
            false => Err(self.gateway.refused(&body, status)),
        }
    }

    /// Returns a URL below the gateway's.
    pub fn endpoint(&self, path: &str) -> Url {
        self.gateway.endpoint(path)
    }

    async fn call<T: DeserializeOwned>(
        &mut self,
        method: reqwest::Method,
        url: Url,
    ) -> Result<T, CommandError> {
        self.parsed(&Outgoing::new(method, url, MAX_BODY_BYTES))
            .await
    }

    async fn parsed<T: DeserializeOwned>(
        &mut self,
        outgoing: &Outgoing<'_>,
    ) -> Result<T, CommandError> {
        let (status, body) = self.answer(outgoing).await?;
        match status.is_success() {
            true => self.gateway.parse(status, &body),
            false => Err(self.gateway.refused(&body, status)),
        }
    }

    /// Returns the response to a request; a 401 is an error.
    async fn answer(
        &mut self,
        outgoing: &Outgoing<'_>,
    ) -> Result<(StatusCode, String), CommandError> {
        self.renew_ahead(RENEW_AHEAD_SECONDS).await?;
        let mut answer = self.attempt(outgoing).await?;
        if answer.0 == StatusCode::UNAUTHORIZED {
            // ended early, or renewed by another process meanwhile
            self.renew().await?;
            answer = self.attempt(outgoing).await?;
        }
        match answer.0 {
            StatusCode::UNAUTHORIZED => Err(self.ended("the gateway no longer knows it")),
            _ => Ok(answer),
        }
    }

    async fn attempt(&self, outgoing: &Outgoing<'_>) -> Result<(StatusCode, String), CommandError> {
        let mut request = self
            .gateway
            .client
            .request(outgoing.method.clone(), outgoing.url.clone())
            .bearer_auth(self.profile.access_token.expose_secret());
        if let Some(body) = outgoing.body {
            request = request.json(body);
        }
        if let Some(timeout) = outgoing.timeout {
            request = request.timeout(timeout);
        }
        if let Some(reason) = outgoing.reason {
            let encoded: String = byte_serialize(reason.as_bytes()).collect();
            request = request.header(REASON, encoded);
        }
        self.gateway.send_within(request, outgoing.max_bytes).await
    }

    async fn renew_ahead(&mut self, seconds: i64) -> Result<(), CommandError> {
        if self.profile.access_expires_at - seconds <= self.clock.now().as_second() {
            self.renew().await?;
        }
        Ok(())
    }

    /// Exchanges the refresh token, which is valid once: one process does, and the others read its
    /// result.
    async fn renew(&mut self) -> Result<(), CommandError> {
        let _lock = private_file::lock(&profile::path(&self.profile.gateway)?).await?;
        let current =
            Profile::load(&self.profile.gateway)?.ok_or_else(|| CommandError::NoSession {
                gateway: self.gateway.name(),
            })?;
        if current.access_token.expose_secret() != self.profile.access_token.expose_secret() {
            self.profile = current;
            return Ok(());
        }
        let form = [
            ("grant_type", "refresh_token"),
            ("client_id", CLIENT_ID),
            ("refresh_token", current.refresh_token.expose_secret()),
        ];
        let tokens = self
            .gateway
            .token(&form)
            .await?
            .map_err(|error| self.ended(&error.to_string()))?;
        self.profile = with_tokens(current.gateway, current.ca, tokens, self.clock.now());
        self.profile.save()
    }

    fn ended(&self, reason: &str) -> CommandError {
        CommandError::SessionEnded {
            gateway: self.gateway.name(),
            reason: reason.to_owned(),
        }
    }
}

/// Returns a profile with the tokens that the token endpoint has issued now.
pub fn with_tokens(gateway: Url, ca: Option<String>, tokens: Tokens, now: Timestamp) -> Profile {
    Profile {
        gateway,
        ca,
        access_token: tokens.access_token,
        access_expires_at: now.as_second().saturating_add(tokens.expires_in),
        refresh_token: tokens.refresh_token,
    }
}
