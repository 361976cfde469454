//! Determines which of Portico's hosts a request is for: the main host, an app's, or none.
pub(crate) mod rate_limit;

use std::{collections::HashMap, sync::Arc};

use http::{HeaderValue, Uri, uri::Authority};
use portico_proxy::{
    headers::path_route::PathRoute,
    upstream::{InvalidUpstream, Upstream},
};
use url::Url;

use self::rate_limit::Limits;
use crate::{
    config::{AppConfig, GatewayConfig, LimitsConfig, is_loopback},
    own_paths::HostKind,
};

/// The origins that the gateway serves.
#[derive(Debug)]
pub(crate) struct Hosts {
    main: Arc<str>,
    main_host: String,
    apps: HashMap<String, Arc<App>>,
    /// All hosts with their ports, as browsers write them, so that they need no parsing.
    as_written: foldhash::HashMap<Vec<u8>, Site>,
    /// Trusted apps under paths of the main host.
    on_paths: Vec<Arc<App>>,
    secure: bool,
}

/// An app with the values that routing needs, computed once.
#[derive(Debug)]
pub(crate) struct App {
    pub config: AppConfig,
    /// `scheme://host[:port]`, as browsers write it in `Origin`.
    pub origin: Arc<str>,
    /// The URL at which users open it: the origin, with the path if it has one.
    pub home: String,
    pub upstream: Upstream,
    pub limits: Limits,
}

impl App {
    /// Returns whether the app has a host of its own, with sessions of its own. An app on the main
    /// host uses the main host's session.
    pub fn has_own_host(&self) -> bool {
        self.config.path.is_none()
    }

    /// Returns the app whose session cookie gives access: its own, or `None` for the main host's.
    pub fn cookie_of(&self) -> Option<&str> {
        self.has_own_host().then_some(self.config.id.as_str())
    }
}

/// Returns the upstream of an app, for browsers that request this origin.
fn upstream_of(
    app: &AppConfig,
    origin: &str,
    limits: &LimitsConfig,
) -> Result<Upstream, InvalidUpstream> {
    let urls: Vec<&Url> = app.addresses().collect();
    let config = &app.upstream;
    let mut upstream = Upstream::new(&app.id, &app.name, &urls, origin, config, limits)?;
    upstream.route = app
        .path
        .as_deref()
        .map(|path| PathRoute::new(path, config.strip_prefix.as_deref() == Some(path)));
    Ok(upstream)
}

/// The site that a request's host belongs to.
#[derive(Clone, Debug)]
pub(crate) enum Site {
    Main,
    App(Arc<App>),
}

impl Site {
    /// Returns the kind of host, for the table of the gateway's own paths.
    pub fn kind(&self) -> HostKind {
        match self {
            Self::Main => HostKind::Main,
            Self::App(_) => HostKind::App,
        }
    }
}

impl Hosts {
    pub fn new(config: &GatewayConfig, apps: &[AppConfig]) -> Result<Self, InvalidUpstream> {
        let url = &config.public_url;
        let main_host = url.host_str().unwrap_or_default().to_ascii_lowercase();
        let main: Arc<str> = origin_of(url, &main_host).into();
        let (mut on_hosts, mut on_paths) = (HashMap::new(), Vec::new());
        for app in apps {
            let own = app.origin(url, &config.apps_domain);
            let host = own.host_str().unwrap_or_default().to_ascii_lowercase();
            let origin = match &app.path {
                None => own.origin().ascii_serialization().into(),
                Some(_) => Arc::clone(&main),
            };
            let built = Arc::new(App {
                config: app.clone(),
                home: format!("{origin}{}", app.path.as_deref().unwrap_or_default()),
                upstream: upstream_of(app, &origin, &config.limits)?,
                limits: Limits::new(&app.name, &app.limits),
                origin,
            });
            match &app.path {
                None => {
                    on_hosts.insert(host, built);
                }
                Some(_) => on_paths.push(built),
            }
        }
        let own = on_hosts
            .values()
            .map(|app| (&app.origin, Site::App(Arc::clone(app))));
        let as_written = own
            .chain([(&main, Site::Main)])
            .filter_map(|(origin, site)| {
                Some((origin.split_once("://")?.1.as_bytes().to_vec(), site))
            })
            .collect();
        Ok(Self {
            main,
            main_host,
            apps: on_hosts,
            as_written,
            on_paths,
            secure: url.scheme() == "https",
        })
    }

    /// Logs at startup which apps run on the panel's own origin.
    pub fn warn_of_paths(&self) {
        for app in &self.on_paths {
            tracing::warn!(
                upstream = app.config.id,
                path = app.config.path,
                "this app's scripts run on the panel's own origin (apps.trusted): a tenant must \
                 never control it"
            );
        }
    }

    /// Returns the main host's origin.
    pub fn main(&self) -> &Arc<str> {
        &self.main
    }

    /// Returns whether the public URL is on this machine.
    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.main_host)
    }

    /// Returns whether browsers reach Portico over HTTPS.
    pub fn secure(&self) -> bool {
        self.secure
    }

    pub fn app(&self, id: &str) -> Option<&Arc<App>> {
        self.all().find(|app| app.config.id == id)
    }

    fn all(&self) -> impl Iterator<Item = &Arc<App>> {
        self.apps.values().chain(&self.on_paths)
    }

    /// Returns every app, sorted by name.
    pub fn apps(&self) -> Vec<&Arc<App>> {
        let mut apps: Vec<&Arc<App>> = self.all().collect();
        apps.sort_by(|a, b| a.config.name.cmp(&b.config.name));
        apps
    }

    /// Returns the apps of a project.
    pub fn of_project(&self, project: &str) -> impl Iterator<Item = &Arc<App>> {
        self.all().filter(move |app| app.config.project == project)
    }

    /// Returns the site of a request; `None` for an unknown host, or when the request target and
    /// the `Host` header disagree.
    pub fn resolve(&self, uri: &Uri, header: HostHeader<'_>) -> Option<Site> {
        let site = match as_written(uri, header).and_then(|host| self.as_written.get(host)) {
            Some(site) => site.clone(),
            None => self.named(&request_host(uri, header)?)?,
        };
        if matches!(site, Site::Main) {
            let mut on_paths = self.on_paths.iter();
            let app = on_paths.find(|app| app.config.has_path(uri.path()));
            return Some(app.map_or(Site::Main, |app| Site::App(Arc::clone(app))));
        }
        Some(site)
    }

    /// Returns the site of a host name in the form of [`folded`].
    pub fn named(&self, host: &str) -> Option<Site> {
        if host == self.main_host {
            return Some(Site::Main);
        }
        self.apps.get(host).cloned().map(Site::App)
    }
}

impl Site {
    /// Returns the origin of the site's own pages.
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

/// The `Host` header of a request, with its first line.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HostHeader<'r> {
    Missing,
    One(&'r HeaderValue),
    Several(&'r HeaderValue),
}

impl<'r> HostHeader<'r> {
    /// Adds a further line.
    pub fn and(self, line: &'r HeaderValue) -> Self {
        match self {
            Self::Missing => Self::One(line),
            Self::One(first) | Self::Several(first) => Self::Several(first),
        }
    }

    pub fn first(self) -> Option<&'r HeaderValue> {
        match self {
            Self::Missing => None,
            Self::One(first) | Self::Several(first) => Some(first),
        }
    }
}

/// Returns the requested host and port, where they are unambiguous.
fn as_written<'r>(uri: &'r Uri, header: HostHeader<'r>) -> Option<&'r [u8]> {
    match (uri.authority(), header) {
        (Some(target), HostHeader::Missing) => Some(target.as_str().as_bytes()),
        (None, HostHeader::One(line)) => Some(line.as_bytes()),
        _ => None,
    }
}

/// Returns the requested host name.
fn request_host(uri: &Uri, header: HostHeader<'_>) -> Option<String> {
    let from_header = match header {
        HostHeader::Missing => None,
        HostHeader::One(value) => Some(value.to_str().ok()?.parse::<Authority>().ok()?),
        HostHeader::Several(_) => return None,
    };
    let authority = match (uri.authority(), &from_header) {
        (Some(target), Some(header)) if target != header => return None,
        (Some(target), _) => target,
        (None, Some(header)) => header,
        (None, None) => return None,
    };
    folded(authority)
}

/// Returns a host name normalized for comparison: lower case, without port and trailing dot.
pub(crate) fn folded(authority: &Authority) -> Option<String> {
    if authority.as_str().contains('@') {
        return None;
    }
    let host = authority.host();
    Some(host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase())
}

#[cfg(test)]
mod tests;
