//! The shared state of all handlers, built once.
use std::{
    net::SocketAddr,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
};

use http::{HeaderValue, Request, header};
use portico_assertion::PublicKey;
use portico_domain::cluster::ClusterRecord;
use portico_openstack::keystone;
use portico_runtime::{listener::PeerAddr, request_id::RequestId};
use portico_store::{Session, Store};
use secrecy::SecretString;
use tokio::sync::Semaphore;
use uuid::Uuid;

use crate::{
    access::{navigation::is_navigation, unreadable_hops::UnreadableHops},
    bearer::Accepted,
    config::GatewayConfig,
    federation::Federations,
    hosts::{Hosts, Site},
    identity::Identities,
    login::refusals::HeldRefusals,
    providers::Providers,
    rules::Rules,
    session::{cookie::Cookies, registry::Registry, signing::Signing},
};
use portico_proxy::forward::Forwarder;
use portico_proxy::upstream::Upstream;
use portico_request::client_address::{ClientAddress, client_address, is_trusted};

/// A cluster with the key that its tokens are sealed to.
#[derive(Clone, Debug)]
pub struct Cluster {
    pub record: ClusterRecord,
    pub sealing_key: PublicKey,
    /// The API server's certificate authority in PEM, for kubeconfigs.
    pub ca: Option<String>,
}

/// The gateway's parts.
#[derive(Debug)]
pub(crate) struct Gateway {
    /// A reference to itself, for tasks that outlive the request that started them.
    pub me: Weak<Gateway>,
    pub config: GatewayConfig,
    pub hosts: Hosts,
    pub store: Store,
    pub keystone: keystone::Client,
    pub default_domain: String,
    pub signing: Signing,
    pub panel: Upstream,
    pub panel_key: PublicKey,
    /// The access rules of the apps.
    pub rules: Rules,
    pub clusters: Vec<Cluster>,
    pub forwarder: Forwarder,
    pub registry: Registry,
    pub cookies: Cookies,
    /// How identity is passed to each app.
    pub identities: Identities,
    pub federations: Federations,
    /// Recently verified bearer tokens of API callers.
    pub api_callers: Accepted,
    pub demo_password: Option<SecretString>,
    pub providers: Providers,
    /// Whether Keystone responded to the last request.
    pub keystone_answers: AtomicBool,
    /// Whether the process is about to stop: no more requests should be sent here.
    pub leaving: AtomicBool,
    /// Permits for requests that wait for a response.
    pub waiting: Semaphore,
    /// Proxies about which a warning was logged.
    pub unreadable_hops: UnreadableHops,
    /// Refused sign-ins whose responses are delayed.
    pub refusals: HeldRefusals,
}

/// A gateway shared by all requests.
pub(crate) type Shared = Arc<Gateway>;

/// What is known about a request before a handler runs.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    pub site: Site,
    pub request_id: Option<Uuid>,
    pub client: ClientAddress,
    /// Whether the request comes from one of `gateway.trusted_proxies`.
    pub trusted_proxy: bool,
    /// Whether a browser is opening a page.
    pub navigation: bool,
    user_agent: Option<HeaderValue>,
}

impl Context {
    pub fn of<B>(gateway: &Gateway, site: Site, request: &Request<B>) -> Self {
        let extensions = request.extensions();
        let peer: Option<SocketAddr> = extensions.get::<PeerAddr>().map(|peer| peer.0);
        let trusted = &gateway.config.trusted_proxies;
        let client = client_address(peer, request.headers(), trusted).unwrap_or_else(|fault| {
            gateway.unreadable_hops.note(&fault);
            ClientAddress::Unknown
        });
        Self {
            site,
            request_id: extensions.get::<RequestId>().map(|id| id.0),
            client,
            trusted_proxy: gateway.is_of_a_trusted_proxy(request),
            navigation: is_navigation(&gateway.method_of(request), request.headers()),
            user_agent: request.headers().get(header::USER_AGENT).cloned(),
        }
    }

    /// Returns the context of the gateway's own work.
    pub fn internal() -> Self {
        Self {
            site: Site::Main,
            request_id: None,
            client: ClientAddress::Internal,
            trusted_proxy: false,
            navigation: false,
            user_agent: None,
        }
    }

    /// Returns the context with the client address and user agent of a session.
    pub fn of_session(self, session: &Session) -> Self {
        Self {
            client: session.address.parse().ok().into(),
            user_agent: HeaderValue::from_str(&session.user_agent).ok(),
            ..self
        }
    }

    /// Returns the user agent for the list of sessions, shortened and without special characters.
    pub fn user_agent(&self) -> String {
        self.user_agent
            .as_ref()
            .and_then(|value| value.to_str().ok())
            .map(|text| text.chars().filter(|c| !c.is_control()).take(256).collect())
            .unwrap_or_default()
    }

    pub fn request_id_text(&self) -> String {
        self.request_id.map(|id| id.to_string()).unwrap_or_default()
    }

    pub fn address_text(&self) -> String {
        self.client.text()
    }
}

impl Gateway {
    /// Records whether Keystone responds; every session's assertions contain it.
    pub fn set_keystone_answers(&self, answers: bool) {
        if self.keystone_answers.swap(answers, Ordering::Relaxed) != answers {
            for live in self.registry.all() {
                live.signed.lock().clear();
            }
            if answers {
                tracing::info!("Keystone answers again");
            } else {
                tracing::warn!("Keystone does not answer");
            }
        }
    }

    /// Returns whether a request's peer is one of `gateway.trusted_proxies`. A peer without an
    /// address, such as one at a unix socket, is not.
    pub fn is_of_a_trusted_proxy<B>(&self, request: &Request<B>) -> bool {
        let peer = request.extensions().get::<PeerAddr>();
        peer.is_some_and(|peer| is_trusted(peer.0.ip(), &self.config.trusted_proxies))
    }

    /// Returns whether the public URL is on this machine.
    pub fn is_loopback(&self) -> bool {
        let host = self.config.public_url.host_str().unwrap_or_default();
        crate::config::is_loopback(host)
    }

    pub fn keystone_answers(&self) -> bool {
        self.keystone_answers.load(Ordering::Relaxed)
    }
}
