//! Decides about each request for the panel or an app, and forwards it with [`portico_proxy`].
pub(crate) mod cloud_api;
mod namespace_candidates;
mod oidc_only_user;
mod panel_audit;
mod pass_on;
mod project;
pub(crate) mod routes;

use std::sync::{Arc, Weak};

use portico_clock::Clock;
use portico_proxy::{forward::Forwarder, upstream::Upstream};
use portico_store::Store;
use tokio_util::task::TaskTracker;

pub(crate) use namespace_candidates::NamespaceCandidateCache;

use super::{
    authorization::Authorization, bearer::BearerAuthentication, handover::Handovers,
    identity::UpstreamIdentity, saved_form::SavedForms,
};
use crate::{
    audit::AuditLog,
    authentication::Authentication,
    hosts::Hosts,
    identity_providers::Providers,
    sessions::{Sessions, assertion::Assertions},
};

/// Forwards requests to the panel and the apps.
#[derive(Debug)]
pub(crate) struct ReverseProxy {
    /// A reference to itself, for requests that are completed after their client has disconnected.
    pub me: Weak<ReverseProxy>,
    pub forwarder: Arc<Forwarder>,
    /// Requests that may change something at the panel; a stop waits for them.
    pub changes: TaskTracker,
    pub panel: Upstream,
    pub store: Store,
    pub clock: Clock,
    pub hosts: Arc<Hosts>,
    pub providers: Arc<Providers>,
    pub sessions: Arc<Sessions>,
    pub assertions: Arc<Assertions>,
    pub authentication: Arc<Authentication>,
    pub authorization: Arc<Authorization>,
    pub bearer_authentication: Arc<BearerAuthentication>,
    pub upstream_identity: Arc<UpstreamIdentity>,
    pub handovers: Arc<Handovers>,
    pub saved_forms: Arc<SavedForms>,
    pub audit: AuditLog,
    pub namespace_candidates: NamespaceCandidateCache,
}
