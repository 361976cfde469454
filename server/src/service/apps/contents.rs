//! Contents that the panel reads from apps for users: a registry's repositories, Alertmanager's
//! alerts.
use super::{Apps, MAX_CONCURRENT_CALLS, join, reachable};
use crate::{
    caller::Caller,
    service::{error::ServiceError, overview::reading},
};
use app::error::UiErrorKind;
use futures::{StreamExt, stream};
use gateway::config::{AppConfig, AppKind as Kind};
use jiff::Timestamp;
use portico_assertion::claims::AppAccess;
use portico_domain::{
    identity::Named,
    panel::{Alert, AlertsView, Reading, RegistryView, Repository},
};
use serde::{Deserialize, de::DeserializeOwned};
use std::collections::BTreeMap;

/// Maximum size of an app's response body, in bytes.
const MAX_BODY_BYTES: usize = 8 * 1024 * 1024;
/// Maximum number of repositories on one page.
const MAX_REPOSITORIES: usize = 200;
/// Maximum number of tags of one repository.
const MAX_TAGS: usize = 100;
const BY_REPOSITORY: &str = "This registry has rules for single repositories, so the panel does \
     not list tags. Use your registry client.";

impl Apps {
    /// Returns the registry's repositories with their tags.
    pub async fn registry(
        &self,
        id: &str,
        caller: &Caller,
        role_names: &BTreeMap<String, String>,
    ) -> Result<RegistryView, ServiceError> {
        #[derive(Deserialize)]
        struct Catalog {
            repositories: Option<Vec<String>>,
        }
        let app = self.open(id, Kind::Registry, caller)?;
        let in_part = caller.app(id) == Some(AppAccess::InPart);
        let path = format!("{}?n={}", app.kind.first_path(), MAX_REPOSITORIES + 1);
        let catalog: Catalog = self.read(app, &path).await?;
        let mut names = catalog.repositories.unwrap_or_default();
        let truncated = names.len() > MAX_REPOSITORIES;
        names.truncate(MAX_REPOSITORIES);
        let repositories = stream::iter(names)
            .map(|name| async move {
                let tags = if in_part {
                    Reading::NotPermitted(BY_REPOSITORY.to_owned().into())
                } else {
                    reading(self.tags(app, &name).await)
                };
                Repository { name, tags }
            })
            .buffered(MAX_CONCURRENT_CALLS)
            .collect()
            .await;
        Ok(RegistryView {
            app: self.card(app, caller, role_names).await,
            host: app.authority(&self.public_url, &self.apps_domain),
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
        caller: &Caller,
        role_names: &BTreeMap<String, String>,
    ) -> Result<AlertsView, ServiceError> {
        let app = self.open(id, Kind::Alertmanager, caller)?;
        Ok(AlertsView {
            alerts: self.alerts_of(app).await?,
            app: self.card(app, caller, role_names).await,
        })
    }

    /// Returns the firing alerts of every Alertmanager that this caller may open, with the app.
    pub async fn firing(&self, caller: &Caller) -> Vec<(Named, Result<Vec<Alert>, ServiceError>)> {
        let Some(project) = caller.project() else {
            return Vec::new();
        };
        let looks: Vec<_> = self
            .of_project(&project.id)
            .filter(|app| app.kind == Kind::Alertmanager && caller.app(&app.id).is_some())
            .map(|app| async {
                let named = Named {
                    id: app.id.clone(),
                    name: app.name.clone(),
                };
                (named, self.firing_of(app, caller).await)
            })
            .collect();
        stream::iter(looks)
            .buffered(MAX_CONCURRENT_CALLS)
            .collect()
            .await
    }

    async fn firing_of(
        &self,
        app: &AppConfig,
        caller: &Caller,
    ) -> Result<Vec<Alert>, ServiceError> {
        self.may_be_read(app, caller)?;
        let mut alerts = self.alerts_of(app).await?;
        alerts.retain(|alert| alert.state == "active");
        Ok(alerts)
    }

    async fn alerts_of(&self, app: &AppConfig) -> Result<Vec<Alert>, ServiceError> {
        let found: Vec<RawAlert> = self.read(app, app.kind.first_path()).await?;
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
            .get(join(base, path.trim_start_matches('/')))
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
            if body.len() + chunk.len() > MAX_BODY_BYTES {
                return Err(outage("the answer is too large".to_owned()));
            }
            body.extend_from_slice(&chunk);
        }
        serde_json::from_slice(&body).map_err(|error| outage(error.to_string()))
    }
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
