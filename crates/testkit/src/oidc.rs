//! A real OpenID Provider of a test's own (npm's `oidc-provider`, see `deploy/demo/oidc-provider`),
//! and a user who signs in at it.
use crate::env::project_root;
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

/// The secret of the client that every provider knows.
pub const CLIENT_SECRET: &str = "portico-secret";
pub const CLIENT_ID: &str = "portico";

/// Ends with the value.
#[derive(Debug)]
pub struct OidcProvider {
    pub issuer: String,
    http: reqwest::Client,
    _process: Child,
}

/// An event at a provider.
#[derive(Clone, Debug)]
pub struct OidcEvent {
    pub kind: String,
    pub detail: Value,
}

impl OidcProvider {
    /// Starts a provider on a free port, for a client with this redirect address; access tokens
    /// live for `ttl` seconds. `public` is the client's public origin.
    ///
    /// # Errors
    /// If it cannot be installed or does not start.
    pub async fn start(redirect: &str, public: &str, ttl: u32) -> Result<Self> {
        let root = project_root();
        let installed = Command::new(root.join("scripts/services/oidc-install.sh"))
            // only the cache of the scripts is used, not a stack's state
            .env("PORTICO_PROFILE", "demo")
            .env(
                "PORTICO_STATE",
                std::env::temp_dir().join("portico-oidc-install"),
            )
            .output()
            .await?;
        if !installed.status.success() {
            bail!(
                "oidc-install.sh: {}",
                String::from_utf8_lossy(&installed.stderr)
            );
        }
        let modules = match std::env::var_os("PORTICO_CACHE") {
            Some(cache) => std::path::PathBuf::from(cache),
            None => std::path::PathBuf::from(std::env::var_os("HOME").context("no HOME")?)
                .join(".cache/portico"),
        }
        .join("oidc-provider/node_modules");
        let clients = json!([{
            "client_id": CLIENT_ID,
            "client_secret": CLIENT_SECRET,
            "redirect_uris": [redirect],
            "post_logout_redirect_uris": [format!("{public}/oauth2/signed_out")],
            "backchannel_logout_uri": format!("{public}/oauth2/backchannel_logout"),
            "backchannel_logout_session_required": true,
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
        }, {
            "client_id": "robot",
            "client_secret": CLIENT_SECRET,
            "redirect_uris": [],
            "grant_types": ["client_credentials"],
            "response_types": [],
        }]);
        let mut process = Command::new("node")
            .arg(root.join("deploy/demo/oidc-provider/provider.mjs"))
            .args(["0", "Corp", &clients.to_string()])
            .env("MODULES", modules)
            .env("ACCESS_TTL", ttl.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let output = process.stdout.take().context("no output")?;
        let mut lines = BufReader::new(output).lines();
        let ready = tokio::time::timeout(Duration::from_secs(30), async {
            while let Some(line) = lines.next_line().await? {
                if let Some(issuer) = line.strip_prefix("ready ") {
                    return Ok(issuer.to_owned());
                }
            }
            bail!("the provider ended")
        });
        let issuer = ready.await.context("the provider does not start")??;
        // a full pipe would stop it
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        let _ = rustls::crypto::ring::default_provider().install_default();
        Ok(Self {
            issuer,
            http: reqwest::Client::new(),
            _process: process,
        })
    }

    /// Controls the provider; see `control` in `provider.mjs`.
    ///
    /// # Errors
    /// If it does not answer.
    pub async fn control(&self, wanted: Value) -> Result<()> {
        let url = format!("{}/test/control", self.issuer);
        let answer = self.http.post(url).json(&wanted).send().await?;
        answer.error_for_status()?;
        Ok(())
    }

    /// Returns the events, oldest first.
    ///
    /// # Errors
    /// If it does not answer.
    pub async fn events(&self) -> Result<Vec<OidcEvent>> {
        let url = format!("{}/test/events", self.issuer);
        let events: Vec<Value> = self.http.get(url).send().await?.json().await?;
        Ok(events
            .into_iter()
            .map(|detail| OidcEvent {
                kind: detail["type"].as_str().unwrap_or_default().to_owned(),
                detail,
            })
            .collect())
    }

    /// Issues a JWT access token (RFC 9068) of a program, for an audience (RFC 8707).
    ///
    /// # Errors
    /// If it does not answer, or refuses.
    pub async fn robot_token(&self, audience: &str) -> Result<String> {
        let answer = self
            .http
            .post(format!("{}/token", self.issuer))
            .basic_auth("robot", Some(CLIENT_SECRET))
            .form(&[("grant_type", "client_credentials"), ("resource", audience)])
            .send()
            .await?;
        let body: Value = answer.json().await?;
        let token = body["access_token"].as_str();
        Ok(token
            .with_context(|| format!("no token: {body}"))?
            .to_owned())
    }

    /// Uses a refresh token as the client does; returns the token endpoint's response.
    ///
    /// # Errors
    /// If it does not answer.
    pub async fn use_refresh_token(&self, token: &str) -> Result<Value> {
        let url = format!("{}/token", self.issuer);
        let fields = [("grant_type", "refresh_token"), ("refresh_token", token)];
        let request = self.http.post(url).form(&fields);
        let request = request.basic_auth(CLIENT_ID, Some(CLIENT_SECRET));
        Ok(request.send().await?.json().await?)
    }

    /// Returns the number of successful refreshes.
    ///
    /// # Errors
    /// If it does not answer.
    pub async fn refreshes(&self) -> Result<usize> {
        let events = self.events().await?;
        let refreshes = events
            .iter()
            .filter(|event| event.kind == "grant" && event.detail["grant"] == "refresh_token");
        Ok(refreshes.count())
    }
}

/// A browser at the provider: it has the provider's cookies and none of the client's.
#[derive(Debug)]
pub struct OidcPerson {
    http: reqwest::Client,
    cookies: BTreeMap<String, String>,
}

impl Default for OidcPerson {
    fn default() -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .expect("a client");
        Self {
            http,
            cookies: BTreeMap::new(),
        }
    }
}

impl OidcPerson {
    /// Goes through the provider's pages as `login`; returns the address at the client to which it
    /// redirects. A user who is signed in there already is not prompted again.
    ///
    /// # Errors
    /// If the provider does something else.
    pub async fn sign_in(&mut self, authorization: &str, login: &str) -> Result<String> {
        let password = format!("{login}-pw");
        self.walk(authorization, &[("login", login), ("password", &password)])
            .await
    }

    /// Denies the request on the provider's page.
    ///
    /// # Errors
    /// If the provider does something else.
    pub async fn cancel(&mut self, authorization: &str) -> Result<String> {
        self.walk(authorization, &[("cancel", "1")]).await
    }

    /// Signs out at the provider; returns the address to which it redirects.
    ///
    /// # Errors
    /// If the provider does something else.
    pub async fn sign_out(&mut self, end_session: &str) -> Result<String> {
        let (_, page) = self.get(end_session).await?;
        let fields = hidden_fields(&page);
        let action = between(&page, "action=\"", "\"").context("no form to sign out")?;
        let request = self.http.post(action).form(&fields);
        let (location, page) = self.send(request).await?;
        location.with_context(|| format!("no way back: {page}"))
    }

    async fn walk(&mut self, start: &str, fields: &[(&str, &str)]) -> Result<String> {
        let origin = reqwest::Url::parse(start)?;
        let mut at = origin.clone();
        for _ in 0..10 {
            if at.origin() != origin.origin() {
                return Ok(at.into());
            }
            let (location, page) = self.get(at.as_str()).await?;
            let location = match location {
                Some(location) => location,
                None if at.path().starts_with("/interaction/") => {
                    let request = self.http.post(at.clone()).form(fields);
                    let (location, page) = self.send(request).await?;
                    location.with_context(|| format!("not signed in: {page}"))?
                }
                None => bail!("the provider says: {page}"),
            };
            at = at.join(&location)?;
        }
        bail!("too many redirects")
    }

    async fn get(&mut self, url: &str) -> Result<(Option<String>, String)> {
        self.send(self.http.get(url)).await
    }

    async fn send(&mut self, request: reqwest::RequestBuilder) -> Result<(Option<String>, String)> {
        let line: Vec<String> = self
            .cookies
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let answer = request
            .header("cookie", line.join("; "))
            .header("accept", "text/html")
            .send()
            .await?;
        for line in answer.headers().get_all("set-cookie") {
            let pair = line.to_str()?.split(';').next().unwrap_or_default();
            if let Some((name, value)) = pair.split_once('=') {
                if value.is_empty() {
                    self.cookies.remove(name);
                } else {
                    self.cookies.insert(name.to_owned(), value.to_owned());
                }
            }
        }
        let location = answer
            .headers()
            .get("location")
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned);
        Ok((location, answer.text().await?))
    }
}

fn hidden_fields(page: &str) -> Vec<(String, String)> {
    page.split("<input")
        .skip(1)
        .filter_map(|input| {
            Some((
                between(input, "name=\"", "\"")?.to_owned(),
                between(input, "value=\"", "\"")?.to_owned(),
            ))
        })
        .collect()
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    text.split_once(before)?
        .1
        .split_once(after)
        .map(|(found, _)| found)
}
