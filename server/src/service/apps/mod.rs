//! Managed-service apps: their cards, and which of them the panel may query for which user.
mod contents;

use super::error::ServiceError;
use crate::caller::Caller;
use app::error::UiErrorKind;
use futures::{StreamExt, stream};
use gateway::config::{AppConfig, AppKind as Kind};
use portico_assertion::claims::AppAccess;
use portico_domain::{
    access,
    identity::{Identity, Project},
    panel::{AppCard, AppKind, Health},
};
use std::{collections::BTreeMap, time::Duration};
use url::Url;

const CALL_TIMEOUT: Duration = Duration::from_secs(3);
const MAX_CONCURRENT_CALLS: usize = 6;

/// The apps, and the client to query them.
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
            // an app's redirect must not send the panel's own requests elsewhere
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

    /// Returns every rule of the project's apps, for the names of roles.
    pub fn of_project<'a>(&'a self, project: &'a str) -> impl Iterator<Item = &'a AppConfig> {
        self.configured
            .iter()
            .filter(move |app| app.project == project)
    }

    /// Returns the cards of the project's apps; closed ones only for users who may ask for access.
    pub async fn cards(
        &self,
        caller: &Caller,
        with_closed: bool,
        role_names: &BTreeMap<String, String>,
    ) -> Vec<AppCard> {
        let Some(project) = caller.project() else {
            return Vec::new();
        };
        let cards: Vec<_> = self
            .of_project(&project.id)
            .filter(|app| with_closed || caller.app(&app.id).is_some())
            .map(|app| self.card(app, caller, role_names))
            .collect();
        stream::iter(cards)
            .buffered(MAX_CONCURRENT_CALLS)
            .collect()
            .await
    }

    async fn card(
        &self,
        app: &AppConfig,
        caller: &Caller,
        role_names: &BTreeMap<String, String>,
    ) -> AppCard {
        let identity = caller.identity();
        let access = caller.app(&app.id);
        let (health, status) = match access {
            Some(AppAccess::Unknown) => (
                Health::Unknown,
                "Keystone does not answer: you may not have access".to_owned(),
            ),
            Some(_) => self.health(app).await,
            None => (Health::Unknown, "No access".to_owned()),
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
            allowed: access.is_some(),
            opened_by: opened_by(app, identity, role_names),
            closed_by_rule: access.is_none() && access::allowed(&app.allow, identity),
            health,
            status,
        }
    }

    /// Returns the URL of an app: its own address, or the panel's page about it.
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

    /// Returns the URL of an app in one of these projects: its own address, or the panel's page
    /// about it.
    pub fn address(&self, id: &str, projects: &[Project]) -> Option<String> {
        self.configured
            .iter()
            .find(|app| app.id == id && projects.iter().any(|project| project.id == app.project))
            .map(|app| self.link(app))
    }

    /// Returns the app, only if this caller may open it.
    fn open(&self, id: &str, kind: Kind, caller: &Caller) -> Result<&AppConfig, ServiceError> {
        let project = caller.project().map(|project| &project.id);
        let app = self
            .configured
            .iter()
            .find(|app| app.id == id && Some(&app.project) == project)
            .ok_or_else(|| ServiceError::not_found("This project has no such app."))?;
        if app.kind != kind {
            let text = format!("{} has an address of its own.", app.name);
            return Err(ServiceError::not_found(text).next(format!("Open {}.", self.link(app))));
        }
        self.may_be_read(app, caller)?;
        Ok(app)
    }

    /// Returns whether the panel may query an app for this user.
    fn may_be_read(&self, app: &AppConfig, caller: &Caller) -> Result<(), ServiceError> {
        let name = &app.name;
        let page = || app.first_url(&self.public_url, &self.apps_domain);
        match caller.app(&app.id) {
            Some(AppAccess::Open | AppAccess::InPart) => Ok(()),
            Some(AppAccess::SignInAgain) => {
                let text = format!("{name} asks you to confirm who you are.");
                Err(ServiceError::not_permitted(text).next(format!(
                    "Open {}, sign in there, and return to this page.",
                    page()
                )))
            }
            Some(AppAccess::Unknown) => {
                let text = format!("Portico cannot check whether you may open {name}.");
                Err(ServiceError::new(UiErrorKind::Unavailable, text)
                    .next("Keystone does not answer. Try again in a moment."))
            }
            None if access::allowed(&app.allow, caller.identity()) => {
                let text = format!("A rule of {name} denies you access.");
                Err(ServiceError::not_permitted(text).next(format!(
                    "The page at {} names the rule. Ask your administrators about it.",
                    page()
                )))
            }
            None => {
                let text = format!("Your roles do not grant access to {name}.");
                let roles = opened_by(app, caller.identity(), &BTreeMap::new()).join(" or ");
                let next = if roles.is_empty() {
                    "No role in this project grants access.".to_owned()
                } else {
                    format!("It requires the role {roles} in this project.")
                };
                Err(ServiceError::not_permitted(text).next(next))
            }
        }
    }
}

/// Returns the roles that open an app in this project, by name if the viewer may know it.
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

/// Returns the address at which the panel can query the app: over plain HTTP, or with a publicly
/// trusted certificate.
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

/// Returns the app's URL with a path below its own.
fn join(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    url.join(path).unwrap_or(url)
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
}
