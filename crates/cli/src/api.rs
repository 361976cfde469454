//! Client of the gateway: OAuth's token endpoints and the command line's API.
use super::{
    CLIENT_ID,
    error::CommandError,
    profile::{self, Profile},
    terminal::one_line,
};
use jiff::Timestamp;
use portico_assertion::keys::PublishedKey;
use portico_domain::identity::{Named, Project};
use reqwest::{Client, RequestBuilder, StatusCode, redirect::Policy};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use std::time::Duration;
use url::Url;
use uuid::Uuid;

/// Maximum size of a response body, in bytes.
pub(super) const MAX_BODY_BYTES: usize = MEBIBYTE;
const MEBIBYTE: usize = 1024 * 1024;
/// Maximum length of a refusal in plain text, in bytes.
const MAX_TEXT_BYTES: usize = 500;
/// Time limit for the request of the sealing key: the key is known already, so a slow gateway must
/// not delay the command.
const KEY_TIMEOUT: Duration = Duration::from_secs(4);

/// A gateway, with its pinned authority.
#[derive(Clone)]
pub struct Gateway {
    url: Url,
    pub(super) client: Client,
}

/// The response of the token endpoint (RFC 6749 section 5.1).
#[derive(Deserialize)]
pub struct Tokens {
    pub access_token: SecretString,
    pub expires_in: i64,
    pub refresh_token: SecretString,
}

/// The response of the device authorization endpoint (RFC 8628 section 3.2).
#[derive(Deserialize)]
pub struct DeviceAuthorization {
    pub device_code: SecretString,
    pub user_code: String,
    pub verification_uri: String,
    pub verification_uri_complete: Option<String>,
    pub expires_in: u64,
    #[serde(default = "default_interval")]
    pub interval: u64,
}

fn default_interval() -> u64 {
    5
}

/// An error of the token endpoint (RFC 6749 section 5.2).
#[derive(Deserialize)]
pub struct OAuthError {
    pub error: String,
    #[serde(default)]
    pub error_description: String,
}

/// A cluster for which the user may request a token.
#[derive(Clone, Deserialize)]
pub struct Cluster {
    pub id: Uuid,
    #[serde(deserialize_with = "shown")]
    pub name: String,
    #[serde(deserialize_with = "shown")]
    pub api_url: String,
    /// Base64 of the PEM, as kubeconfigs hold it.
    pub ca_data: Option<String>,
    /// The key that tokens for it are sealed to; older gateways do not send it.
    pub sealing_key: Option<PublishedKey>,
    /// The project with which the user accesses it; older gateways do not send it.
    #[serde(default)]
    pub project: Option<Project>,
}

/// The owner of the session, as returned by `GET /api/v1/whoami`.
#[derive(Deserialize)]
pub struct WhoAmI {
    pub user: WhoAmIUser,
    pub projects: Vec<Project>,
    pub session: WhoAmISession,
}

/// The user of a session.
#[derive(Deserialize)]
pub struct WhoAmIUser {
    pub id: String,
    pub name: String,
    pub domain: Named,
}

/// When a session expires unless it is renewed.
#[derive(Deserialize)]
pub struct WhoAmISession {
    pub expires_at: Timestamp,
}

/// Deserialises a text to show in a terminal.
fn shown<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    String::deserialize(deserializer).map(|text| one_line(&text))
}

#[derive(Deserialize)]
pub(super) struct Clusters {
    pub clusters: Vec<Cluster>,
}

#[derive(Deserialize)]
struct SealingKey {
    cluster: Uuid,
    sealing_key: PublishedKey,
}

/// A token for one cluster.
#[derive(Deserialize)]
pub struct ClusterToken {
    pub token: SecretString,
    pub expires_at: Timestamp,
}

/// The response of the token endpoint: tokens, or an OAuth error to handle.
pub type Granted = Result<Tokens, OAuthError>;

impl Gateway {
    /// Makes a client. `ca` is PEM; without it the public authorities are trusted.
    pub fn new(url: Url, ca: Option<&str>) -> Result<Self, CommandError> {
        let unreachable = |source| CommandError::Unreachable {
            gateway: profile::display(&url),
            source,
        };
        let mut builder = Client::builder()
            .timeout(Duration::from_secs(30))
            .connect_timeout(Duration::from_secs(10))
            .redirect(Policy::none())
            .user_agent(concat!("portico/", env!("CARGO_PKG_VERSION")));
        if let Some(ca) = ca {
            for certificate in
                reqwest::Certificate::from_pem_bundle(ca.as_bytes()).map_err(unreachable)?
            {
                builder = builder.add_root_certificate(certificate);
            }
        }
        let client = builder.build().map_err(unreachable)?;
        Ok(Self { url, client })
    }

    /// Returns the gateway of a profile.
    pub fn of(profile: &Profile) -> Result<Self, CommandError> {
        Self::new(profile.gateway.clone(), profile.ca.as_deref())
    }

    pub fn name(&self) -> String {
        profile::display(&self.url)
    }

    /// Returns a URL below the gateway's.
    pub fn endpoint(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        url.set_path(path);
        url
    }

    pub(super) async fn send(
        &self,
        request: RequestBuilder,
    ) -> Result<(StatusCode, String), CommandError> {
        self.send_within(request, MAX_BODY_BYTES).await
    }

    /// Sends a request whose response may be as long as this.
    pub(super) async fn send_within(
        &self,
        request: RequestBuilder,
        max_bytes: usize,
    ) -> Result<(StatusCode, String), CommandError> {
        let unreachable = |source: reqwest::Error| CommandError::Unreachable {
            gateway: self.name(),
            source: source.without_url(),
        };
        // without it, the gateway takes a GET for a browser's and responds with a page
        let request = request.header(reqwest::header::ACCEPT, "application/json");
        let mut response = request.send().await.map_err(unreachable)?;
        let status = response.status();
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
            if body.len() + chunk.len() > max_bytes {
                return Err(CommandError::Answer {
                    gateway: self.name(),
                    detail: format!("more than {} MiB", max_bytes / MEBIBYTE),
                });
            }
            body.extend_from_slice(&chunk);
        }
        let body = String::from_utf8_lossy(&body).into_owned();
        if status.is_server_error() {
            return Err(CommandError::Unavailable {
                gateway: self.name(),
                status: status.as_u16(),
            });
        }
        Ok((status, body))
    }

    pub(super) fn parse<T: DeserializeOwned>(
        &self,
        status: StatusCode,
        body: &str,
    ) -> Result<T, CommandError> {
        serde_json::from_str(body).map_err(|error| CommandError::Answer {
            gateway: self.name(),
            detail: format!("HTTP {}, {error}", status.as_u16()),
        })
    }

    /// Sends `GET /ping`: checks that a gateway responds there, before the user is sent to it.
    pub async fn ping(&self) -> Result<(), CommandError> {
        let (status, _) = self.send(self.client.get(self.endpoint("/ping"))).await?;
        if status.is_success() {
            return Ok(());
        }
        Err(CommandError::Answer {
            gateway: self.name(),
            detail: format!("HTTP {}", status.as_u16()),
        })
    }

    /// Sends `POST /oauth2/token`.
    pub async fn token(&self, form: &[(&str, &str)]) -> Result<Granted, CommandError> {
        let (status, body) = self
            .send(self.client.post(self.endpoint("/oauth2/token")).form(form))
            .await?;
        if status.is_success() {
            self.parse(status, &body).map(Ok)
        } else {
            self.parse(status, &body).map(Err)
        }
    }

    /// Sends `POST /oauth2/device`: starts a device sign-in.
    pub async fn device_authorization(
        &self,
        form: &[(&str, &str)],
    ) -> Result<DeviceAuthorization, CommandError> {
        let (status, body) = self
            .send(self.client.post(self.endpoint("/oauth2/device")).form(form))
            .await?;
        if status.is_success() {
            self.parse(status, &body)
        } else {
            let refused: OAuthError = self.parse(status, &body)?;
            Err(CommandError::Refused {
                gateway: self.name(),
                message: refused.to_string(),
            })
        }
    }

    /// Sends `GET /api/v1/clusters` with a Keystone token: the clusters that accept it.
    pub async fn clusters_of_token(
        &self,
        token: &SecretString,
    ) -> Result<Vec<Cluster>, CommandError> {
        let mut value = reqwest::header::HeaderValue::from_str(token.expose_secret())
            .unwrap_or_else(|_| reqwest::header::HeaderValue::from_static(""));
        value.set_sensitive(true);
        let request = self.client.get(self.endpoint("/api/v1/clusters"));
        let (status, body) = self.send(request.header("x-auth-token", value)).await?;
        if !status.is_success() {
            return Err(self.refused(&body, status));
        }
        self.parse::<Clusters>(status, &body)
            .map(|answer| answer.clusters)
    }

    /// Sends `GET /api/v1/clusters/{id}/sealing-key`: the current key that tokens for a cluster
    /// are sealed to.
    pub async fn sealing_key(&self, cluster: Uuid) -> Result<PublishedKey, CommandError> {
        let path = format!("/api/v1/clusters/{cluster}/sealing-key");
        let request = self.client.get(self.endpoint(&path)).timeout(KEY_TIMEOUT);
        let (status, body) = self.send(request).await?;
        if !status.is_success() {
            return Err(self.refused(&body, status));
        }
        let answer: SealingKey = self.parse(status, &body)?;
        if answer.cluster != cluster || answer.sealing_key.key().is_err() {
            return Err(CommandError::Answer {
                gateway: self.name(),
                detail: "a sealing key that contradicts itself".to_owned(),
            });
        }
        Ok(answer.sealing_key)
    }

    pub(super) fn refused(&self, body: &str, status: StatusCode) -> CommandError {
        CommandError::Refused {
            gateway: self.name(),
            message: refusal(body, status),
        }
    }

    /// Sends `POST /oauth2/revoke` (RFC 7009): an unknown token counts as revoked.
    pub async fn revoke(&self, token: &SecretString) -> Result<(), CommandError> {
        let form = [("client_id", CLIENT_ID), ("token", token.expose_secret())];
        self.send(
            self.client
                .post(self.endpoint("/oauth2/revoke"))
                .form(&form),
        )
        .await
        .map(drop)
    }
}

impl std::fmt::Display for OAuthError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.error_description.is_empty() {
            out.write_str(&self.error)
        } else {
            out.write_str(&self.error_description)
        }
    }
}

/// Returns the gateway's message about a refusal, if there is one.
fn refusal(body: &str, status: StatusCode) -> String {
    #[derive(Deserialize)]
    struct Refusal {
        message: Option<String>,
        error_description: Option<String>,
        error: Option<String>,
        /// In the format of Magnum.
        #[serde(default)]
        errors: Vec<Detail>,
    }
    #[derive(Deserialize)]
    struct Detail {
        detail: String,
    }
    // the panel's files are refused in one line of text
    let plain = || {
        let text = one_line(body.trim());
        let is_text = !text.is_empty() && text.len() <= MAX_TEXT_BYTES && !text.starts_with('<');
        is_text.then_some(text)
    };
    serde_json::from_str::<Refusal>(body)
        .ok()
        .and_then(|refusal| {
            refusal
                .message
                .or(refusal.error_description)
                .or(refusal.error)
                .or(refusal.errors.into_iter().next().map(|first| first.detail))
        })
        .or_else(plain)
        .unwrap_or_else(|| format!("HTTP {}", status.as_u16()))
}
