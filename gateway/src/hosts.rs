//! Which of our hosts a request is for: the main one, an app's, or none.
use std::{collections::HashMap, sync::Arc};

use http::{HeaderMap, Uri, header, uri::Authority};
use url::Url;

use crate::{
    config::{AppConfig, GatewayConfig},
    proxy::upstream::{InvalidUpstream, Upstream},
};

/// The origins that the gateway serves.
#[derive(Debug)]
pub(crate) struct Hosts {
    main: Arc<str>,
    main_host: String,
    apps: HashMap<String, Arc<App>>,
    secure: bool,
}

/// An app with what routing needs, worked out once.
#[derive(Debug)]
pub(crate) struct App {
    pub config: AppConfig,
    /// `scheme://host[:port]`, as browsers write it in `Origin`.
    pub origin: Arc<str>,
    pub upstream: Upstream,
}

/// What a request's host stands for.
#[derive(Clone, Debug)]
pub(crate) enum Site {
    Main,
    App(Arc<App>),
}

impl Hosts {
    pub fn new(config: &GatewayConfig, apps: &[AppConfig]) -> Result<Self, InvalidUpstream> {
        let url = &config.public_url;
        let apps = apps
            .iter()
            .map(|app| {
                let origin = app.origin(url, &config.apps_domain);
                let host = origin.host_str().unwrap_or_default().to_ascii_lowercase();
                let app = App {
                    config: app.clone(),
                    origin: origin.origin().ascii_serialization().into(),
                    upstream: Upstream::new(&app.id, &app.name, &app.url)?,
                };
                Ok((host, Arc::new(app)))
            })
            .collect::<Result<_, InvalidUpstream>>()?;
        let main_host = url.host_str().unwrap_or_default().to_ascii_lowercase();
        Ok(Self {
            main: origin_of(url, &main_host).into(),
            main_host,
            apps,
            secure: url.scheme() == "https",
        })
    }

    /// The main host's origin.
    pub fn main(&self) -> &Arc<str> {
        &self.main
    }

    /// Whether browsers reach us over HTTPS.
    pub fn secure(&self) -> bool {
        self.secure
    }

    pub fn app(&self, id: &str) -> Option<&Arc<App>> {
        self.apps.values().find(|app| app.config.id == id)
    }

    /// Every app, by name.
    pub fn apps(&self) -> Vec<&Arc<App>> {
        let mut apps: Vec<&Arc<App>> = self.apps.values().collect();
        apps.sort_by(|a, b| a.config.name.cmp(&b.config.name));
        apps
    }

    /// The site of a request; `None` for a host that is not ours, or when the request target
    /// and the `Host` header disagree.
    pub fn resolve(&self, uri: &Uri, headers: &HeaderMap) -> Option<Site> {
        self.named(&request_host(uri, headers)?)
    }

    /// The site of a host name as [`folded`] writes it.
    pub fn named(&self, host: &str) -> Option<Site> {
        if host == self.main_host {
            return Some(Site::Main);
        }
        self.apps.get(host).cloned().map(Site::App)
    }
}

impl Site {
    /// The origin that the site's own pages have.
    pub fn origin<'a>(&'a self, hosts: &'a Hosts) -> &'a str {
        match self {
            Site::Main => hosts.main(),
            Site::App(app) => &app.origin,
        }
    }
}

fn origin_of(public: &Url, host: &str) -> String {
    match public.port() {
        Some(port) => format!("{}://{host}:{port}", public.scheme()),
        None => format!("{}://{host}", public.scheme()),
    }
}

/// The host name asked for.
fn request_host(uri: &Uri, headers: &HeaderMap) -> Option<String> {
    let mut lines = headers.get_all(header::HOST).iter();
    let line = lines.next();
    if lines.next().is_some() {
        return None;
    }
    let from_header = match line {
        Some(value) => Some(value.to_str().ok()?.parse::<Authority>().ok()?),
        None => None,
    };
    let authority = match (uri.authority(), &from_header) {
        (Some(target), Some(header)) if target != header => return None,
        (Some(target), _) => target,
        (None, Some(header)) => header,
        (None, None) => return None,
    };
    folded(authority)
}

/// A host name in the one spelling that is compared: lower case, without port and trailing dot.
pub(crate) fn folded(authority: &Authority) -> Option<String> {
    if authority.as_str().contains('@') {
        return None;
    }
    let host = authority.host();
    Some(host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(public: &str) -> Hosts {
        let config = serde_json::from_value(serde_json::json!({
            "public_url": public, "apps_domain": "apps.example.org",
            "assertion_key_file": "a", "panel_url": "http://127.0.0.1:1",
            "panel_sealing_key_file": "p",
        }))
        .expect("config");
        let app = serde_json::from_value(serde_json::json!({
            "id": "prometheus", "name": "Prometheus", "project": "p",
            "url": "http://127.0.0.1:9090",
        }))
        .expect("app");
        Hosts::new(&config, &[app]).expect("hosts")
    }

    fn resolve(uri: &str, host: &[&str]) -> Option<String> {
        let hosts = hosts("https://portico.example.org");
        let mut headers = HeaderMap::new();
        for line in host {
            headers.append(header::HOST, line.parse().expect("header"));
        }
        hosts
            .resolve(&uri.parse().expect("uri"), &headers)
            .map(|site| site.origin(&hosts).to_owned())
    }

    #[test]
    fn hosts_are_folded_and_the_port_does_not_matter() {
        let main = Some("https://portico.example.org".to_owned());
        for host in [
            "portico.example.org",
            "PORTICO.example.ORG",
            "portico.example.org.",
            "portico.example.org:443",
        ] {
            assert_eq!(resolve("/", &[host]), main, "{host}");
        }
        assert_eq!(
            resolve("/", &["Prometheus.apps.example.org"]),
            Some("https://prometheus.apps.example.org".to_owned())
        );
    }

    #[test]
    fn foreign_and_contradicting_hosts_are_nobody() {
        for host in [
            "evil.example",
            "apps.example.org",
            "x.apps.example.org",
            "prometheus.apps.example.org.evil.example",
            "evil@portico.example.org",
            "127.0.0.1",
        ] {
            assert_eq!(resolve("/", &[host]), None, "{host}");
        }
        assert_eq!(resolve("/", &[]), None);
        assert_eq!(
            resolve("/", &["portico.example.org", "portico.example.org"]),
            None
        );
        assert_eq!(
            resolve("http://evil.example/", &["portico.example.org"]),
            None
        );
    }

    #[test]
    fn origins_keep_the_public_port() {
        let hosts = hosts("http://localhost:8080");
        assert_eq!(&**hosts.main(), "http://localhost:8080");
        assert_eq!(
            &*hosts.app("prometheus").expect("app").origin,
            "http://prometheus.apps.example.org:8080"
        );
    }
}
