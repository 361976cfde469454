//! The gateway: sign-in, sessions, access rules and the reverse proxy in front of all upstreams.
//!
//! A request passes through `dispatch` (host, path, origin), then to one of the gateway's own
//! endpoints (the table is `own_paths`), or to `proxy::routes`: the session of the cookie
//! (`authentication`, `session`), the access rules (`rules`), the project's Keystone token
//! (`session::tokens`), the signed identity (`session::assertion`, for apps `identity`), and on to
//! the panel or an app ([`portico_proxy`]).
//!
//! It has no Kubernetes code and serves no page of the panel. Only Keystone decides whether a
//! credential is valid.
mod access;
mod audit;
mod audit_trail;
mod authentication;
mod bearer;
mod cli;
pub mod config;
mod diagnostics;
mod dispatch;
mod endpoints;
mod error_response;
mod extract;
mod federation;
mod forms;
mod forward_auth;
#[cfg(test)]
mod fuzz;
mod handover;
mod hosts;
mod identity;
mod limits;
mod login;
mod metrics;
mod own_paths;
mod pages;
mod providers;
mod proxy;
mod router;
mod rules;
mod saved_form;
mod session;
mod sessions;
mod state;
mod tasks;

use std::{
    convert::Infallible,
    path::{Path, PathBuf},
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
};

use axum::body::Body;
use http::Request;
use portico_access_policy::RulesError;
use portico_assertion::{PublicKey, Signer, keys::KeyError};
use portico_domain::cluster::ClusterRecord;
use portico_openstack::keystone;
use portico_runtime::{
    listener::HttpService,
    request_id::{RequestIdLayer, Trust},
    secret_file::SecretFileError,
    traces::Continues,
};
use portico_store::Store;
use secrecy::SecretString;
use tokio_util::sync::CancellationToken;
use tower::{Layer as _, service_fn};

pub use config::{
    AppConfig, AppKind, DemoConfig, DemoUser, GatewayConfig, ProviderConfig, ProviderKind,
    SessionConfig, StaySignedIn,
};
pub use rules::Reloaded;
pub use sessions::device::words as device_in_words;
pub use state::Cluster;

use crate::{
    access::unreadable_hops::UnreadableHops,
    bearer::Accepted,
    config::ConfigError,
    dispatch::dispatch,
    federation::Federations,
    hosts::Hosts,
    identity::Identities,
    login::refusals::HeldRefusals,
    providers::Providers,
    rules::Rules,
    session::{assertion::PANEL, cookie::Cookies, registry::Registry, signing::Signing},
};
use portico_proxy::forward::Forwarder;
use portico_proxy::upstream::{InvalidUpstream, Upstream};

/// The dependencies of the gateway, besides its configuration.
#[derive(Debug)]
pub struct Deps {
    pub store: Store,
    pub keystone: keystone::Client,
    /// `keystone.default_domain`.
    pub default_domain: String,
    /// The signer with the key in `gateway.assertion_key_file`.
    pub signer: Signer,
    pub clusters: Vec<Cluster>,
    pub apps: Vec<AppConfig>,
}

/// Why the gateway cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Upstream(#[from] InvalidUpstream),
    #[error(transparent)]
    Rules(#[from] RulesError),
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error("the system has no randomness to give")]
    Randomness,
    #[error(transparent)]
    Secret(SecretFileError),
    #[error("{path}: {source}")]
    File {
        path: PathBuf,
        source: std::io::Error,
    },
}

/// The gateway, ready to be served.
#[derive(Clone, Debug)]
pub struct Gateway(state::Shared);

impl Cluster {
    /// Reads the key and certificate files that a record names.
    ///
    /// # Errors
    /// [`BuildError::Key`] for the sealing key, [`BuildError::File`] for the certificate file.
    pub fn read(record: ClusterRecord) -> Result<Self, BuildError> {
        let sealing_key = PublicKey::read(&record.sealing_key_file)?;
        let ca = record.ca_file.as_deref().map(read).transpose()?;
        Ok(Self {
            record,
            sealing_key,
            ca,
        })
    }
}

impl Gateway {
    /// Builds the gateway; opens no connection.
    ///
    /// # Errors
    /// [`BuildError::Config`], [`BuildError::Upstream`] and [`BuildError::Rules`] for an invalid
    /// configuration, [`BuildError::Key`], [`BuildError::Secret`] and [`BuildError::File`] for a file
    /// that it names, [`BuildError::Randomness`] if the system's source of randomness fails.
    pub fn build(config: GatewayConfig, deps: Deps) -> Result<Self, BuildError> {
        config.validate(&deps.apps)?;
        metrics::describe();
        let hosts = Hosts::new(&config, &deps.apps)?;
        hosts.warn_of_paths();
        let rules = Rules::load(&deps.apps, &config.providers)?;
        let (url, main) = (&config.panel_url, hosts.main());
        let panel = Upstream::plain(PANEL, "The panel", url, main, &config.limits)?;
        let federations = Federations::build(&config, &deps.keystone)?;
        let demo_password = match &config.demo {
            Some(demo) => {
                tracing::warn!("demo mode: the sign-in page shows the users' password");
                let password = read(&demo.password_file)?;
                Some(SecretString::from(password.trim().to_owned()))
            }
            None => None,
        };
        let gateway = state::Gateway {
            cookies: Cookies {
                secure: hosts.secure(),
            },
            hosts,
            registry: Registry::new(deps.store.clone(), config.session.idle),
            store: deps.store,
            keystone: deps.keystone,
            default_domain: deps.default_domain,
            signing: Signing::new(deps.signer),
            panel,
            rules,
            panel_key: PublicKey::read(&config.panel_sealing_key_file)?,
            identities: Identities::build(&deps.apps, &deps.clusters)?,
            clusters: deps.clusters,
            forwarder: Forwarder::default(),
            api_callers: Accepted::new().map_err(|_| BuildError::Randomness)?,
            federations,
            demo_password,
            providers: Providers::build(&config)?,
            me: Weak::new(),
            keystone_answers: AtomicBool::new(true),
            leaving: AtomicBool::new(false),
            waiting: config.connections.waiting(),
            unreadable_hops: UnreadableHops::default(),
            refusals: HeldRefusals::new(config.keystone.refusal_time),
            config,
        };
        Ok(Self(Arc::new_cyclic(|me| state::Gateway {
            me: me.clone(),
            ..gateway
        })))
    }

    /// Returns the service for the gateway's listener. The listener must put
    /// [`portico_runtime::listener::PeerAddr`] into each request's extensions.
    pub fn service(&self) -> impl HttpService + use<> {
        let trusted = self.0.config.trusted_proxies.clone();
        let continues = Continues::Peers(Arc::new(move |peer| {
            trusted.iter().any(|network| network.contains(&peer))
        }));
        let layer = RequestIdLayer::new(Trust::NoPeer).continuing(continues);
        let dispatcher = Arc::new(router::dispatcher(Arc::clone(&self.0)));
        layer.layer(service_fn(move |request: Request<Body>| {
            let dispatcher = Arc::clone(&dispatcher);
            async move { Ok::<_, Infallible>(dispatch(&dispatcher, request).await) }
        }))
    }

    /// Returns the ID of the key that signs identity.
    pub fn signing_key_id(&self) -> String {
        self.0.signing.now().kid().to_owned()
    }

    /// Signs identity with another key from now on. Earlier signatures are valid until they expire,
    /// and their public key stays published.
    pub fn replace_signer(&self, signer: Signer) {
        self.0.signing.replace(signer);
        for live in self.0.registry.all() {
            live.signed.lock().clear();
        }
    }

    /// Reads rules files again that have changed. A file that is invalid, or whose tests fail,
    /// changes nothing.
    pub fn reload_rules(&self) -> Vec<Reloaded> {
        let reloaded = self.0.rules.reload();
        if reloaded.iter().any(|one| matches!(one.outcome, Ok(true))) {
            // open connections were permitted by the previous rules: clients reconnect and are
            // checked again
            for live in self.0.registry.all() {
                live.connections.renew();
            }
        }
        reloaded
    }

    /// Answers 503 at `/ready` from now on, so that no more requests are sent here, and continues
    /// to serve.
    pub fn leave(&self) {
        self.0.leaving.store(true, Ordering::Relaxed);
    }

    /// Runs the gateway's background tasks until `stop` is cancelled, then closes WebSockets.
    pub async fn run(&self, stop: CancellationToken) {
        tasks::run(Arc::clone(&self.0), stop).await;
    }
}

fn read(path: &Path) -> Result<String, BuildError> {
    std::fs::read_to_string(path).map_err(|source| BuildError::File {
        path: path.to_owned(),
        source,
    })
}

/// Registers the help texts of the gateway's metrics, and starts counters at zero.
/// [`Gateway::build`] does so itself.
pub fn describe_metrics() {
    metrics::describe();
}
