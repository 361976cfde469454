//! The gateway: sign-in, sessions, access rules and the reverse proxy in front of everything.
//!
//! A request's way: `dispatch` (host, path, origin), then one of the own endpoints (`login`,
//! `handover`, `cli`, `endpoints`), or `proxy::routes`: the session of the cookie (`guard`,
//! `session`), the project's Keystone token (`session::tokens`), the signed identity
//! (`session::assertion`, of an app `identity`), and on to the panel or an app (`proxy::forward`).
//!
//! It knows nothing of Kubernetes and serves no page of the panel. Only Keystone says whether a
//! credential is good.
mod access;
mod api_callers;
mod audit;
mod audit_trail;
mod cli;
pub mod config;
mod dispatch;
mod endpoints;
mod federation;
mod forms;
mod forward_auth;
#[cfg(test)]
mod fuzz;
mod guard;
mod handover;
mod hosts;
mod identity;
mod kept_form;
mod limits;
mod login;
mod meters;
mod pages;
mod problem;
mod providers;
mod proxy;
mod router;
pub mod rules;
mod session;
mod sessions;
mod state;
mod tasks;
mod troubles;

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
    api_callers::Accepted,
    config::ConfigError,
    dispatch::dispatch,
    federation::Federations,
    hosts::Hosts,
    identity::Identities,
    login::refusals::HeldRefusals,
    providers::Providers,
    proxy::{
        forward::Forwarder,
        upstream::{InvalidUpstream, Upstream},
    },
    rules::{Rules, RulesError},
    session::{assertion::PANEL, cookie::Cookies, registry::Registry, signing::Signing},
};

/// What the gateway is built from, besides its configuration.
#[derive(Debug)]
pub struct Deps {
    pub store: Store,
    pub keystone: keystone::Client,
    /// `keystone.default_domain`.
    pub default_domain: String,
    /// Signs with `gateway.assertion_key_file`.
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
    /// When a file cannot be read or holds no key.
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
    /// Puts the gateway together; opens no connection.
    ///
    /// # Errors
    /// When the configuration contradicts itself or a file that it names cannot be read.
    pub fn build(config: GatewayConfig, deps: Deps) -> Result<Self, BuildError> {
        config.validate(&deps.apps)?;
        meters::describe();
        let hosts = Hosts::new(&config, &deps.apps)?;
        hosts.warn_of_paths();
        let rules = Rules::load(&deps.apps, &config.providers)?;
        let (url, main) = (&config.panel_url, hosts.main());
        let panel = Upstream::plain(PANEL, "The panel", url, main, &config.limits)?;
        let federations = Federations::build(&config, &deps.keystone)?;
        let demo_password = match &config.demo {
            Some(demo) => {
                tracing::warn!("demo mode: the sign-in page gives the users' password away");
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

    /// Everything that the gateway's listener serves. The listener must put
    /// [`portico_runtime::listener::PeerAddr`] into each request's extensions.
    pub fn service(&self) -> impl HttpService + use<> {
        let trusted = self.0.config.trusted_proxies.clone();
        let continues = Continues::Peers(Arc::new(move |peer| {
            trusted.iter().any(|network| network.contains(&peer))
        }));
        let layer = RequestIdLayer::new(Trust::Nobody).continuing(continues);
        let dispatcher = Arc::new(router::dispatcher(Arc::clone(&self.0)));
        layer.layer(service_fn(move |request: Request<Body>| {
            let dispatcher = Arc::clone(&dispatcher);
            async move { Ok::<_, Infallible>(dispatch(&dispatcher, request).await) }
        }))
    }

    /// The ID of the key that identity is signed with.
    pub fn signing_key_id(&self) -> String {
        self.0.signing.now().kid().to_owned()
    }

    /// Signs identity with another key from now on. What was signed before is good until it
    /// expires, and its public key stays published.
    pub fn replace_signer(&self, signer: Signer) {
        self.0.signing.replace(signer);
        for live in self.0.registry.all() {
            live.signed.lock().clear();
        }
    }

    /// Reads the files of rules again that have changed. A file that cannot be used, or whose tests
    /// fail, changes nothing.
    pub fn reload_rules(&self) -> Vec<Reloaded> {
        let reloaded = self.0.rules.reload();
        if reloaded.iter().any(|one| matches!(one.outcome, Ok(true))) {
            // whatever is open was opened by rules of before: it comes back and is asked again
            for live in self.0.registry.all() {
                live.connections.renew();
            }
        }
        reloaded
    }

    /// Says at `/ready` from now on that nothing more should be sent here, and serves on.
    pub fn leave(&self) {
        self.0.leaving.store(true, Ordering::Relaxed);
    }

    /// Does the gateway's background work until `stop` is cancelled, then closes WebSockets.
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

/// Says what the gateway's metrics mean, and starts at zero what is counted. [`Gateway::build`]
/// does so itself.
pub fn describe_metrics() {
    meters::describe();
}
