//! Signing in and out: with Keystone, with OIDC providers, again during a session, and the choice of
//! a project.
pub(crate) mod attempts;
pub(crate) mod demo;
mod establish;
pub(crate) mod keystone;
pub(crate) mod oidc;
pub(crate) mod project;
pub(crate) mod reauthentication;
pub(crate) mod sign_out;
mod wording;

use std::sync::Arc;

use portico_clock::Clock;
use portico_store::Store;
use secrecy::SecretString;
use url::Url;

use self::attempts::Attempts;
use crate::{
    audit::AuditLog,
    authentication::Authentication,
    config::{DemoConfig, KeystoneSignIn, SessionConfig},
    hosts::Hosts,
    http::cookies::Cookies,
    identity_providers::{Providers, federation::Federations},
    sessions::Sessions,
};

/// Establishes, continues and ends sessions.
#[derive(Debug)]
pub(crate) struct SignIn {
    pub session: SessionConfig,
    /// How users sign in with Keystone.
    pub keystone_methods: KeystoneSignIn,
    pub public_url: Url,
    pub demo: Option<DemoConfig>,
    pub demo_password: Option<SecretString>,
    pub default_domain: String,
    pub cookies: Cookies,
    pub store: Store,
    pub clock: Clock,
    pub keystone: portico_openstack::keystone::Client,
    pub hosts: Arc<Hosts>,
    pub providers: Arc<Providers>,
    pub federations: Arc<Federations>,
    pub sessions: Arc<Sessions>,
    pub authentication: Arc<Authentication>,
    pub attempts: Arc<Attempts>,
    pub audit: AuditLog,
}
