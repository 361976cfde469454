//! Managed-service apps: cards, the registry's repositories, Alertmanager's alerts.
use super::error::ServiceError;
use app::error::UiErrorKind;
use futures::{StreamExt, stream};
use gateway::config::{AppConfig, AppKind as Kind};
use jiff::Timestamp;
use portico_domain::{
    access,
    identity::Identity,
    panel::{Alert, AlertsView, AppCard, AppKind, Health, RegistryView, Repository},
};
use serde::{Deserialize, de::DeserializeOwned};
use std::{collections::BTreeMap, time::Duration};
use url::Url;

const CALL_TIMEOUT: Duration = Duration::from_secs(3);
/// The largest answer of an app that is read.
const MAX_ANSWER: usize = 8 * 1024 * 1024;
/// Repositories of one page.
const MAX_REPOSITORIES: usize = 200;
/// Tags that one repository shows.
const MAX_TAGS: usize = 100;
const PARALLEL: usize = 6;

/// The apps, and how to reach them.
pub struct Apps {
    configured: Vec<AppConfig>,
    http: reqwest::Client,
    public_url: Url,
    apps_domain: String,
}

impl Apps {
    pub fn new(
        configured: Vec<AppConfig>,
        public_url: Url,
        apps_domain: String,
    ) -> Result<Self, reqwest::Error> {
        let http = reqwest::Client::builder()
            .connect_timeout(Duration::from_secs(2))
            .timeout(CALL_TIMEOUT)
            // an app's redirect must not lead the panel's own requests anywhere
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()?;
        Ok(Self {
            configured,
            http,
            public_url,
            apps_domain,
        })
    }

    /// Every rule of the project's apps, for the names of roles.
    pub fn of_project<'a>(&'a self, project: &'a str) -> impl Iterator<Item = &'a AppConfig> {
        self.configured
            .iter()
            .filter(move |app| app.project == project)
    }

    /// The cards of the project's apps.
    pub async fn cards(
        &self,
        identity: &Identity,
        role_names: &BTreeMap<String, String>,
    ) -> Vec<AppCard> {
        let Some(project) = &identity.project else {
            return Vec::new();
        };
        let cards: Vec<_> = self
            .of_project(&project.id)
            .map(|app| self.card(app, identity, role_names))
            .collect();
        stream::iter(cards).buffered(PARALLEL).collect().await
    }

    async fn card(
        &self,
        app: &AppConfig,
        identity: &Identity,
        role_names: &BTreeMap<String, String>,
    ) -> AppCard {
        let allowed = access::allowed(&app.allow, identity);
        let (health, status) = if allowed {
            self.health(app).await
        } else {
            (Health::Unknown, "Not open to you".to_owned())
        };
        AppCard {
            id: app.id.clone(),
            name: app.name.clone(),
            description: app.description.clone(),
            kind: match app.kind {
                Kind::Web => AppKind::Web,
                Kind::Registry => AppKind::Registry,
                Kind::Alertmanager => AppKind::Alertmanager,
            },
            url: self.link(app),
            allowed,
            opened_by: opened_by(app, identity, role_names),
            health,
            status,
        }
    }

    /// Where the card leads: the app's own host, or the panel's page about it.
    fn link(&self, app: &AppConfig) -> String {
        if app.kind == Kind::Web {
            match &app.path {
                Some(path) => format!("{path}/"),
                None => app.origin(&self.public_url, &self.apps_domain).to_string(),
            }
        } else {
            format!("/projects/{}/apps/{}", app.project, app.id)
        }
    }

    async fn health(&self, app: &AppConfig) -> (Health, String) {
        let Some(base) = reachable(app) else {
            return (Health::Unknown, "Only the gateway reaches it".to_owned());
        };
        let probe = match app.kind {
            Kind::Web => join(base, ""),
            Kind::Registry => join(base, "v2/"),
            Kind::Alertmanager => join(base, "-/healthy"),
        };
        match self.http.get(probe).send().await {
            Ok(answer) if answer.status().is_server_error() => (
                Health::Failed,
                format!("Answers with an error ({})", answer.status().as_u16()),
            ),
            Ok(_) => (Health::Ok, "Running".to_owned()),
            Err(error) if error.is_timeout() => (Health::Failed, "Answers too slowly".to_owned()),
            Err(_) => (Health::Failed, "Does not answer".to_owned()),
        }
    }

    /// The app, only if this person may open it.
    fn open(&self, id: &str, kind: Kind, identity: &Identity) -> Result<&AppConfig, ServiceError> {
        let project = identity.project.as_ref().map(|project| &project.id);
        let app = self
            .configured
            .iter()
            .find(|app| app.id == id && app.kind == kind && Some(&app.project) == project)
            .ok_or_else(|| ServiceError::not_found("This project has no such app."))?;
        if access::allowed(&app.allow, identity) {
            return Ok(app);
        }
        let roles = opened_by(app, identity, &BTreeMap::new()).join(" or ");
        Err(
            ServiceError::not_permitted(format!("{} is not open to your roles.", app.name))
                .next(format!("It opens with the role {roles} in this project.")),
        )
    }

    /// The registry's repositories with their tags.
    pub async fn registry(
        &self,
        id: &str,
        identity: &Identity,
        role_names: &BTreeMap<String, String>,
    ) -> Result<RegistryView, ServiceError> {
        #[derive(Deserialize)]
        struct Catalog {
            repositories: Option<Vec<String>>,
        }
        let app = self.open(id, Kind::Registry, identity)?;
        let path = format!("v2/_catalog?n={}", MAX_REPOSITORIES + 1);
        let catalog: Catalog = self.read(app, &path).await?;
        let mut names = catalog.repositories.unwrap_or_default();
        let truncated = names.len() > MAX_REPOSITORIES;
        names.truncate(MAX_REPOSITORIES);
        let repositories = stream::iter(names)
            .map(|name| async move {
                let tags = self.tags(app, &name).await;
                Repository {
                    name,
                    tags: super::overview::reading(tags),
                }
            })
            .buffered(PARALLEL)
            .collect()
            .await;
        Ok(RegistryView {
            app: self.card(app, identity, role_names).await,
            repositories,
            truncated,
        })
    }

    async fn tags(&self, app: &AppConfig, repository: &str) -> Result<Vec<String>, ServiceError> {
        #[derive(Deserialize)]
        struct Tags {
            tags: Option<Vec<String>>,
        }
        let tags: Tags = self
            .read(app, &format!("v2/{repository}/tags/list"))
            .await?;
        let mut tags = tags.tags.unwrap_or_default();
        tags.sort_unstable();
        tags.truncate(MAX_TAGS);
        Ok(tags)
    }

    /// Alertmanager's alerts.
    pub async fn alerts(
        &self,
        id: &str,
        identity: &Identity,
        role_names: &BTreeMap<String, String>,
    ) -> Result<AlertsView, ServiceError> {
        let app = self.open(id, Kind::Alertmanager, identity)?;
        Ok(AlertsView {
            alerts: self.alerts_of(app).await?,
            app: self.card(app, identity, role_names).await,
        })
    }

    /// Firing alerts of every Alertmanager that this person may open, with the app's name.
    pub async fn firing(
        &self,
        identity: &Identity,
    ) -> Vec<(String, Result<Vec<Alert>, ServiceError>)> {
        let Some(project) = &identity.project else {
            return Vec::new();
        };
        let mut looks = Vec::new();
        for app in self.of_project(&project.id) {
            if app.kind == Kind::Alertmanager && access::allowed(&app.allow, identity) {
                looks.push(self.firing_of(app));
            }
        }
        stream::iter(looks).buffered(PARALLEL).collect().await
    }

    async fn firing_of(&self, app: &AppConfig) -> (String, Result<Vec<Alert>, ServiceError>) {
        let alerts = self.alerts_of(app).await.map(|mut alerts| {
            alerts.retain(|alert| alert.state == "active");
            alerts
        });
        (app.name.clone(), alerts)
    }

    async fn alerts_of(&self, app: &AppConfig) -> Result<Vec<Alert>, ServiceError> {
        let found: Vec<RawAlert> = self.read(app, "api/v2/alerts").await?;
        let mut alerts: Vec<_> = found.into_iter().map(alert).collect();
        alerts.sort_by(|a, b| (severity(a), &a.name).cmp(&(severity(b), &b.name)));
        Ok(alerts)
    }

    async fn read<T: DeserializeOwned>(
        &self,
        app: &AppConfig,
        path: &str,
    ) -> Result<T, ServiceError> {
        let outage = |cause: String| ServiceError {
            cause: Some(cause),
            ..ServiceError::new(
                UiErrorKind::Unavailable,
                format!("{} does not answer.", app.name),
            )
            .next("Try again in a moment.")
        };
        let base = reachable(app)
            .ok_or_else(|| outage("its address is one for the gateway only".to_owned()))?;
        let mut answer = self
            .http
            .get(join(base, path))
            .send()
            .await
            .and_then(reqwest::Response::error_for_status)
            .map_err(|error| outage(error.without_url().to_string()))?;
        let mut body = Vec::new();
        while let Some(chunk) = answer
            .chunk()
            .await
            .map_err(|error| outage(error.without_url().to_string()))?
        {
            if body.len() + chunk.len() > MAX_ANSWER {
                return Err(outage("the answer is too large".to_owned()));
            }
            body.extend_from_slice(&chunk);
        }
        serde_json::from_slice(&body).map_err(|error| outage(error.to_string()))
    }
}

/// The roles that open an app in this project, by name where it may be known.
fn opened_by(
    app: &AppConfig,
    identity: &Identity,
    role_names: &BTreeMap<String, String>,
) -> Vec<String> {
    let project = identity.project.as_ref().map(|project| &project.id);
    let mut names: Vec<_> = app
        .allow
        .iter()
        .filter_map(access::Rule::role)
        .filter(|rule| Some(&rule.project) == project)
        .map(|rule| {
            identity
                .roles
                .iter()
                .find(|role| role.id == rule.role)
                .map(|role| role.name.clone())
                .or_else(|| role_names.get(&rule.role).cloned())
                .unwrap_or_else(|| rule.role.clone())
        })
        .collect();
    names.dedup();
    names
}

/// The address at which the panel, too, can ask the app: in clear, or by a certificate that
/// everybody trusts.
fn reachable(app: &AppConfig) -> Option<&Url> {
    let upstream = &app.upstream;
    let special = upstream.ca_file.is_some()
        || upstream.client_cert_file.is_some()
        || upstream.server_name.is_some();
    app.address().filter(|url| match url.scheme() {
        "http" => true,
        "https" => !special,
        _ => false,
    })
}

/// The app's URL with a path below its own.
fn join(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    url.join(path).unwrap_or(url)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawAlert {
    #[serde(default)]
    labels: BTreeMap<String, String>,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
    status: AlertStatus,
    starts_at: Option<Timestamp>,
}

#[derive(Deserialize)]
struct AlertStatus {
    state: String,
}

fn alert(raw: RawAlert) -> Alert {
    let text = |map: &BTreeMap<String, String>, name: &str| map.get(name).cloned();
    Alert {
        name: text(&raw.labels, "alertname").unwrap_or_else(|| "Alert".to_owned()),
        state: raw.status.state,
        severity: text(&raw.labels, "severity").unwrap_or_default(),
        summary: text(&raw.annotations, "summary")
            .or_else(|| text(&raw.annotations, "description"))
            .or_else(|| text(&raw.annotations, "message"))
            .unwrap_or_default(),
        labels: raw
            .labels
            .into_iter()
            .filter(|(name, _)| name != "alertname" && name != "severity")
            .collect(),
        starts_at: raw.starts_at.map(Timestamp::as_second),
    }
}

fn severity(alert: &Alert) -> u8 {
    match alert.severity.as_str() {
        "critical" | "page" => 0,
        "error" => 1,
        "warning" => 2,
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_added_below_the_apps_own() {
        let at = |base: &str| join(&Url::parse(base).unwrap(), "v2/_catalog?n=3").to_string();
        assert_eq!(
            at("http://127.0.0.1:5000"),
            "http://127.0.0.1:5000/v2/_catalog?n=3"
        );
        assert_eq!(at("http://r/x"), "http://r/x/v2/_catalog?n=3");
    }

    #[test]
    fn an_alert_keeps_its_words() {
        let raw = r#"{"labels":{"alertname":"PodCrashLooping","severity":"warning","namespace":"shop"},
            "annotations":{"summary":"shop/cart keeps crashing"},"status":{"state":"active"},
            "startsAt":"2026-11-21T10:00:00.000Z","fingerprint":"x"}"#;
        let alert = alert(serde_json::from_str(raw).unwrap());
        assert_eq!(alert.name, "PodCrashLooping");
        assert_eq!(alert.labels, [("namespace".to_owned(), "shop".to_owned())]);
        assert!(alert.starts_at.is_some());
    }
}
