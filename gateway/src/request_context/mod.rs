//! What is known about a request before a handler runs.
pub(crate) mod common_headers;
pub(crate) mod forwarded_request;
pub(crate) mod navigation;
pub(crate) mod unreadable_hops;

use std::{net::SocketAddr, sync::Arc};

use http::{HeaderValue, Method, Request};
use ipnet::IpNet;
use portico_request::client_address::{ClientAddress, client_address, is_trusted};
use portico_runtime::{listener::PeerAddr, request_id};
use portico_store::Session;
use uuid::Uuid;

use self::{
    common_headers::CommonHeaders, forwarded_request::ForwardedRequest, navigation::is_navigation,
    unreadable_hops::UnreadableHops,
};
use crate::{
    hosts::{Hosts, Site},
    own_paths::{AUTH, AUTH_REDIRECT, EXT_AUTHZ, SIGN_IN, START},
};

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

/// Reads the context of requests.
#[derive(Debug)]
pub(crate) struct RequestContexts {
    hosts: Arc<Hosts>,
    /// `gateway.trusted_proxies`.
    trusted_proxies: Vec<IpNet>,
    /// Proxies about which a warning was logged.
    unreadable_hops: UnreadableHops,
}

impl RequestContexts {
    pub fn new(hosts: Arc<Hosts>, trusted_proxies: Vec<IpNet>) -> Self {
        Self {
            hosts,
            trusted_proxies,
            unreadable_hops: UnreadableHops::default(),
        }
    }

    /// Returns `gateway.trusted_proxies`.
    pub fn trusted_proxies(&self) -> &[IpNet] {
        &self.trusted_proxies
    }

    /// Returns the context of a request to `site`.
    pub fn context<B>(
        &self,
        site: Site,
        request: &Request<B>,
        common: &CommonHeaders<'_>,
    ) -> Context {
        let peer = request.extensions().get::<PeerAddr>();
        let peer: Option<SocketAddr> = peer.map(|peer| peer.0);
        let trusted = &self.trusted_proxies;
        let client = client_address(peer, request.headers(), trusted).unwrap_or_else(|fault| {
            self.unreadable_hops.note(&fault);
            ClientAddress::Unknown
        });
        Context {
            site,
            request_id: request_id::current().map(|id| id.0),
            client,
            trusted_proxy: peer.is_some_and(|peer| is_trusted(peer.ip(), trusted)),
            navigation: is_navigation(&self.method_of(request), common),
            user_agent: common.user_agent.cloned(),
        }
    }

    /// Returns whether a request's peer is one of `gateway.trusted_proxies`. A peer without an
    /// address, such as one at a unix socket, is not.
    fn is_of_a_trusted_proxy<B>(&self, request: &Request<B>) -> bool {
        let peer = request.extensions().get::<PeerAddr>();
        peer.is_some_and(|peer| is_trusted(peer.0.ip(), &self.trusted_proxies))
    }

    /// Returns the site of a request: that of its `Host`, or, for an authorization request of a
    /// trusted proxy under Portico's own or an internal name, the one that it asks about.
    pub fn site_of<B>(&self, request: &Request<B>, common: &CommonHeaders<'_>) -> Option<Site> {
        let site = self.hosts.resolve(request.uri(), common.host);
        let path = request.uri().path();
        let may_be_another = match &site {
            // the proxy sends the app's own name, which no header overrides
            Some(Site::App(_)) => false,
            Some(Site::Main) => decides(path),
            None => decides(path) || begins_sign_in(path),
        };
        if !may_be_another || !self.is_of_a_trusted_proxy(request) {
            return site;
        }
        let forwarded = ForwardedRequest::of(request.headers()).ok();
        let named = forwarded.and_then(|forwarded| self.hosts.named(forwarded.host.as_deref()?));
        named.or(site)
    }

    /// Returns the method of the user's request: for an authorization request of a trusted proxy,
    /// the one that the proxy forwards.
    pub fn method_of<B>(&self, request: &Request<B>) -> Method {
        let path = request.uri().path();
        let forwarded = (decides(path) || begins_sign_in(path))
            .then(|| {
                self.is_of_a_trusted_proxy(request)
                    .then(|| ForwardedRequest::of(request.headers()).ok())
            })
            .flatten()
            .flatten();
        let method = forwarded.and_then(|forwarded| forwarded.method);
        method.unwrap_or_else(|| request.method().clone())
    }
}

/// Returns whether other proxies ask for a decision at this path. These endpoints check the origin
/// of the request that they are asked about, not of the authorization request.
pub(crate) fn decides(path: &str) -> bool {
    path == AUTH || path == AUTH_REDIRECT || path.starts_with(EXT_AUTHZ)
}

fn begins_sign_in(path: &str) -> bool {
    path == SIGN_IN || path == START
}
