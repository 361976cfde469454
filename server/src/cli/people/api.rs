//! Calls to the gateway: OAuth's token endpoints and those of the command line's API.
use super::{
    CLIENT_ID,
    error::PeopleError,
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

/// More than any answer has.
const LONGEST_ANSWER: usize = 1024 * 1024;
/// The sealing key is known already; a gateway that is slow to repeat it keeps nobody.
const KEY_TIMEOUT: Duration = Duration::from_secs(4);

/// A gateway with the authority that was pinned for it.
#[derive(Clone)]
pub struct Gateway {
    url: Url,
    pub(super) client: Client,
}

/// What the token endpoint answers (RFC 6749 section 5.1).
#[derive(Deserialize)]
pub struct Tokens {
    pub access_token: SecretString,
    pub expires_in: i64,
    pub refresh_token: SecretString,
}

/// What the device authorization endpoint answers (RFC 8628 section 3.2).
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

/// One cluster that the person may ask a token for.
#[derive(Clone, Deserialize)]
pub struct Cluster {
    pub id: Uuid,
    #[serde(deserialize_with = "shown")]
    pub name: String,
    #[serde(deserialize_with = "shown")]
    pub api_url: String,
    /// Base64 of the PEM, as kubeconfigs hold it.
    pub ca_data: Option<String>,
    /// What tokens for it are sealed to; older gateways do not say.
    pub sealing_key: Option<PublishedKey>,
    /// The project in whose name the user reaches it; older gateways do not say.
    #[serde(default)]
    pub project: Option<Project>,
}

/// Whose session it is, as `GET /api/v1/whoami` answers.
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

/// When a session ends unless it is renewed.
#[derive(Deserialize)]
pub struct WhoAmISession {
    pub expires_at: Timestamp,
}

/// Names are shown in terminals.
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

/// What the token endpoint said: tokens, or an OAuth error to act on.
pub type Granted = Result<Tokens, OAuthError>;

impl Gateway {
    /// `ca` is PEM; without it the public authorities count.
    pub fn new(url: Url, ca: Option<&str>) -> Result<Self, PeopleError> {
        let unreachable = |source| PeopleError::Unreachable {
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

    /// The gateway that a profile belongs to.
    pub fn of(profile: &Profile) -> Result<Self, PeopleError> {
        Self::new(profile.gateway.clone(), profile.ca.as_deref())
    }

    pub fn name(&self) -> String {
        profile::display(&self.url)
    }

    /// An address below the gateway's.
    pub fn endpoint(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        url.set_path(path);
        url
    }

    pub(super) async fn send(
        &self,
        request: RequestBuilder,
    ) -> Result<(StatusCode, String), PeopleError> {
        let unreachable = |source: reqwest::Error| PeopleError::Unreachable {
            gateway: self.name(),
            source: source.without_url(),
        };
        // without it the gateway takes a GET for somebody's browser, and answers with a page
        let request = request.header(reqwest::header::ACCEPT, "application/json");
        let mut response = request.send().await.map_err(unreachable)?;
        let status = response.status();
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
            if body.len() + chunk.len() > LONGEST_ANSWER {
                return Err(PeopleError::Answer {
                    gateway: self.name(),
                    detail: "more than 1 MiB".to_owned(),
                });
            }
            body.extend_from_slice(&chunk);
        }
        let body = String::from_utf8_lossy(&body).into_owned();
        if status.is_server_error() {
            return Err(PeopleError::Unavailable {
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
    ) -> Result<T, PeopleError> {
        serde_json::from_str(body).map_err(|error| PeopleError::Answer {
            gateway: self.name(),
            detail: format!("HTTP {}, {error}", status.as_u16()),
        })
    }

    /// `GET /ping`: whether a gateway answers there at all, before a person is sent to it.
    pub async fn ping(&self) -> Result<(), PeopleError> {
        let (status, _) = self.send(self.client.get(self.endpoint("/ping"))).await?;
        if status.is_success() {
            return Ok(());
        }
        Err(PeopleError::Answer {
            gateway: self.name(),
            detail: format!("HTTP {}", status.as_u16()),
        })
    }

    /// `POST /oauth2/token`.
    pub async fn token(&self, form: &[(&str, &str)]) -> Result<Granted, PeopleError> {
        let (status, body) = self
            .send(self.client.post(self.endpoint("/oauth2/token")).form(form))
            .await?;
        if status.is_success() {
            self.parse(status, &body).map(Ok)
        } else {
            self.parse(status, &body).map(Err)
        }
    }

    /// `POST /oauth2/device`: starts a device sign-in.
    pub async fn device_authorization(
        &self,
        form: &[(&str, &str)],
    ) -> Result<DeviceAuthorization, PeopleError> {
        let (status, body) = self
            .send(self.client.post(self.endpoint("/oauth2/device")).form(form))
            .await?;
        if status.is_success() {
            self.parse(status, &body)
        } else {
            let refused: OAuthError = self.parse(status, &body)?;
            Err(PeopleError::Refused {
                gateway: self.name(),
                message: refused.to_string(),
            })
        }
    }

    /// `GET /api/v1/clusters` with a Keystone token: the clusters that take it.
    pub async fn clusters_of_token(
        &self,
        token: &SecretString,
    ) -> Result<Vec<Cluster>, PeopleError> {
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

    /// `GET /api/v1/clusters/{id}/sealing-key`: what tokens for a cluster are sealed to now.
    pub async fn sealing_key(&self, cluster: Uuid) -> Result<PublishedKey, PeopleError> {
        let path = format!("/api/v1/clusters/{cluster}/sealing-key");
        let request = self.client.get(self.endpoint(&path)).timeout(KEY_TIMEOUT);
        let (status, body) = self.send(request).await?;
        if !status.is_success() {
            return Err(self.refused(&body, status));
        }
        let answer: SealingKey = self.parse(status, &body)?;
        if answer.cluster != cluster || answer.sealing_key.key().is_err() {
            return Err(PeopleError::Answer {
                gateway: self.name(),
                detail: "a sealing key that contradicts itself".to_owned(),
            });
        }
        Ok(answer.sealing_key)
    }

    pub(super) fn refused(&self, body: &str, status: StatusCode) -> PeopleError {
        PeopleError::Refused {
            gateway: self.name(),
            message: refusal(body, status),
        }
    }

    /// `POST /oauth2/revoke` (RFC 7009): a token that is unknown there is revoked already.
    pub async fn revoke(&self, token: &SecretString) -> Result<(), PeopleError> {
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

/// The gateway's own words for a refusal, when it gave any.
fn refusal(body: &str, status: StatusCode) -> String {
    #[derive(Deserialize)]
    struct Refusal {
        message: Option<String>,
        error_description: Option<String>,
        error: Option<String>,
    }
    serde_json::from_str::<Refusal>(body)
        .ok()
        .and_then(|refusal| {
            refusal
                .message
                .or(refusal.error_description)
                .or(refusal.error)
        })
        .unwrap_or_else(|| format!("HTTP {}", status.as_u16()))
}
