//! Validates the hosts of apps: each must be a host name and belong to one app only.
use std::collections::HashMap;

use url::Url;

use super::{AppConfig, app::host_and_port};

/// What is wrong with the host of an app. Errors name only keys that are set.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum AppHostError {
    #[error(
        "apps.host of {0}: {1:?} is not a lower-case host name, with a port if need be, such as \
         grafana.example.org"
    )]
    NotAName(String, String),
    #[error("{}", .0.sentence())]
    Taken(Box<HostCollision>),
}

/// Two parts of the configuration with the same host.
#[derive(Debug, PartialEq, Eq)]
pub struct HostCollision {
    app: String,
    host: String,
    source: HostSource,
    other: HostOwner,
}

/// The keys that determine an app's host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HostSource {
    /// `apps.host`.
    Own,
    /// `apps.id` in front of `gateway.apps_domain`.
    Domain,
}

/// The owner of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
enum HostOwner {
    PublicUrl,
    App(String, HostSource),
}

impl HostSource {
    fn of(app: &AppConfig) -> Self {
        if app.host.is_some() {
            Self::Own
        } else {
            Self::Domain
        }
    }

    fn keys(self, app: &str) -> String {
        match self {
            Self::Own => format!("apps.host of {app}"),
            Self::Domain => format!("apps.id {app:?} with gateway.apps_domain"),
        }
    }

    fn remedy(self) -> &'static str {
        match self {
            Self::Own => "change that apps.host, or remove it",
            Self::Domain => {
                "change that apps.id or gateway.apps_domain, or give the app an apps.host"
            }
        }
    }
}

impl HostCollision {
    fn sentence(&self) -> String {
        let keys = self.source.keys(&self.app);
        let other = match &self.other {
            HostOwner::PublicUrl => "gateway.public_url".to_owned(),
            HostOwner::App(app, source) => source.keys(app),
        };
        let remedy = self.source.remedy();
        format!(
            "{keys}: the host {} is also that of {other}; {remedy}",
            self.host
        )
    }
}

/// Checks that each host is a host name and belongs to one app only.
pub(super) fn validate(
    apps: &[AppConfig],
    public: &Url,
    apps_domain: &str,
) -> Result<(), AppHostError> {
    let main = public.host_str().unwrap_or_default().to_ascii_lowercase();
    let mut owners = HashMap::from([(main, HostOwner::PublicUrl)]);
    for app in apps.iter().filter(|app| app.path.is_none()) {
        if let Some(text) = app.host.as_deref()
            && host_and_port(text).is_none()
        {
            return Err(AppHostError::NotAName(app.id.clone(), text.to_owned()));
        }
        let origin = app.origin(public, apps_domain);
        let host = origin.host_str().unwrap_or_default().to_ascii_lowercase();
        let source = HostSource::of(app);
        let owner = HostOwner::App(app.id.clone(), source);
        if let Some(other) = owners.insert(host.clone(), owner) {
            return Err(AppHostError::Taken(Box::new(HostCollision {
                app: app.id.clone(),
                host,
                source,
                other,
            })));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn app(id: &str, host: Option<&str>) -> AppConfig {
        serde_json::from_value(serde_json::json!({
            "id": id, "name": id, "project": "p", "url": "http://127.0.0.1:3000", "host": host,
        }))
        .expect("shape")
    }

    #[test]
    fn finding_o12_a_collision_of_hosts_names_the_keys_that_are_set() {
        let check = |apps: &[AppConfig]| {
            let public = "https://portico.example.org".parse().expect("url");
            let refused = validate(apps, &public, "example.org");
            refused.expect_err("one host twice").to_string()
        };
        // nothing sets apps.host here
        let message = check(&[app("portico", None)]);
        assert_eq!(
            message,
            "apps.id \"portico\" with gateway.apps_domain: the host portico.example.org is also that of \
             gateway.public_url; change that apps.id or gateway.apps_domain, or give the app an apps.host"
        );
        for host in ["portico.example.org", "portico.example.org:8443"] {
            let message = check(&[app("grafana", Some(host))]);
            assert!(
                message.starts_with("apps.host of grafana: the host portico"),
                "{message}"
            );
            assert!(message.contains("gateway.public_url"), "{message}");
            assert!(!message.contains("apps_domain"), "{message}");
        }
        let message = check(&[app("a", None), app("b", Some("a.example.org"))]);
        assert!(message.starts_with("apps.host of b: "), "{message}");
        assert!(
            message.contains("apps.id \"a\" with gateway.apps_domain"),
            "{message}"
        );
    }
}
