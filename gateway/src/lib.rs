//! The gateway: sign-in, sessions, access rules and the reverse proxy in front of all upstreams.
//!
//! A request passes through `dispatch` (host, path, origin), then to one of the gateway's own
//! endpoints (the table is `own_paths`), or to `apps::proxy`: the session of the cookie
//! (`authentication`, `sessions`), the access rules (`apps::authorization`), the project's Keystone
//! token (`sessions::keystone_tokens`), the signed identity (`sessions::assertion`, for apps
//! `apps::identity`), and on to the panel or an app ([`portico_proxy`]).
//!
//! It has no Kubernetes code and serves no page of the panel. Only Keystone decides whether a
//! credential is valid.
#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        reason = "tests start servers and clients beside them, and wait"
    )
)]
mod account;
mod apps;
mod audit;
mod authentication;
mod browser_state;
mod build_error;
mod client_api;
mod clusters;
mod composition;
pub mod config;
mod dispatch;
mod endpoints;
#[cfg(test)]
mod fuzz;
mod hosts;
mod http;
mod identity_providers;
mod metrics;
mod own_paths;
mod pages;
mod request_context;
mod router;
mod sessions;
mod sign_in;
mod tasks;

use std::{convert::Infallible, sync::Arc};

use ::http::Request;
use axum::body::Body;
use portico_assertion::{PublicKey, Signer};
use portico_domain::enrolled_cluster::EnrolledCluster;
use portico_runtime::{
    listener::HttpService,
    request_id::{RequestIdLayer, Trust},
    traces::Continues,
};
use tokio_util::sync::CancellationToken;
use tower::{Layer as _, service_fn};

pub use account::sessions::device::words as device_in_words;
pub use apps::authorization::Reloaded;
pub use build_error::BuildError;
pub use clusters::Cluster;
pub use composition::Deps;
pub use config::{
    AppConfig, AppKind, DemoConfig, DemoUser, GatewayConfig, ProviderConfig, ProviderKind,
    SessionConfig, StaySignedIn,
};

use crate::{composition::Parts, dispatch::dispatch};

/// The gateway, ready to be served.
#[derive(Clone, Debug)]
pub struct Gateway(Arc<Parts>);

impl Gateway {
    /// Builds the gateway; opens no connection.
    ///
    /// # Errors
    /// [`BuildError::Config`], [`BuildError::Upstream`] and [`BuildError::Rules`] for an invalid
    /// configuration, [`BuildError::Key`], [`BuildError::Secret`] and [`BuildError::File`] for a file
    /// that it names, [`BuildError::Randomness`] if the system's source of randomness fails.
    pub fn build(config: GatewayConfig, deps: Deps) -> Result<Self, BuildError> {
        Ok(Self(Arc::new(Parts::build(config, deps)?)))
    }

    /// Returns the service for the gateway's listener. The listener must put
    /// [`portico_runtime::listener::PeerAddr`] into each request's extensions.
    pub fn service(&self) -> impl HttpService + use<> {
        let trusted = self.0.request_contexts.trusted_proxies().to_vec();
        let continues = Continues::Peers(Arc::new(move |peer| {
            trusted.iter().any(|network| network.contains(&peer))
        }));
        let layer = RequestIdLayer::new(Trust::NoPeer).continuing(continues);
        let dispatcher = Arc::new(router::dispatcher(Arc::clone(&self.0)));
        layer.layer(service_fn(move |request: Request<Body>| {
            let dispatcher = Arc::clone(&dispatcher);
            // boxed before the layer: what it wraps around a future moves the future each time
            Box::pin(async move { Ok::<_, Infallible>(dispatch(&dispatcher, request).await) })
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
        self.0.sessions.forget_assertions();
    }

    /// Reads rules files again that have changed. A file that is invalid, or whose tests fail,
    /// changes nothing.
    pub fn reload_rules(&self) -> Vec<Reloaded> {
        let reloaded = self.0.authorization.rules.reload();
        if reloaded.iter().any(|one| matches!(one.outcome, Ok(true))) {
            // open connections were permitted by the previous rules: clients reconnect and are
            // checked again
            for live in self.0.sessions.registry.all() {
                live.connections.renew();
            }
        }
        reloaded
    }

    /// Replaces the enrolled clusters, whose tokens are sealed to this key. Those of the
    /// configuration stay, and have precedence.
    pub fn replace_enrolled_clusters(
        &self,
        enrolled: Vec<EnrolledCluster>,
        sealing_key: &PublicKey,
    ) {
        self.0.clusters.replace_enrolled(enrolled, sealing_key);
    }

    /// Answers 503 at `/ready` from now on, so that no more requests are sent here, and continues
    /// to serve.
    pub fn leave(&self) {
        self.0.handlers.readiness.leave();
    }

    /// Runs the gateway's background tasks until `stop` is cancelled, then closes WebSockets.
    pub async fn run(&self, stop: CancellationToken) {
        tasks::run(Arc::clone(&self.0), stop).await;
    }
}

/// Registers the help texts of the gateway's metrics, and starts counters at zero.
/// [`Gateway::build`] does so itself.
pub fn describe_metrics() {
    metrics::describe();
}
