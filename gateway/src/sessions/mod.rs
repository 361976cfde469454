//! Sessions in the gateway: finds the session of a cookie, manages its Keystone tokens, validates
//! and ends it.
pub(crate) mod assertion;
pub(crate) mod end;
mod federation_renewal;
pub(crate) mod feed;
pub(crate) mod keystone_health;
pub(crate) mod keystone_tokens;
pub(crate) mod live;
mod provider_refresh;
mod provider_revocation;
pub(crate) mod registry;
pub(crate) mod signing;
pub(crate) mod stay_signed_in;
pub(crate) mod validation;

use std::sync::{Arc, Weak};

use portico_clock::Clock;
use portico_openstack::keystone;
use portico_store::Store;

use self::{keystone_health::KeystoneHealth, registry::Registry};
use crate::{
    audit::AuditLog,
    config::SessionConfig,
    identity_providers::{Providers, federation::Federations},
};

/// The sessions of this installation, with their tokens.
#[derive(Debug)]
pub(crate) struct Sessions {
    /// A reference to itself, for tasks that outlive the request that started them.
    pub me: Weak<Sessions>,
    pub config: SessionConfig,
    pub store: Store,
    pub clock: Clock,
    pub keystone: keystone::Client,
    pub keystone_health: Arc<KeystoneHealth>,
    pub registry: Registry,
    pub providers: Arc<Providers>,
    pub federations: Arc<Federations>,
    pub audit: AuditLog,
}

impl Sessions {
    /// Records whether Keystone responds; every session's assertions contain it.
    pub fn set_keystone_answers(&self, answers: bool) {
        if self.keystone_health.set(answers) {
            self.forget_assertions();
        }
    }

    pub fn keystone_answers(&self) -> bool {
        self.keystone_health.answers()
    }

    /// Drops the signed assertions of every session, whose content or key is outdated.
    pub fn forget_assertions(&self) {
        for live in self.registry.all() {
            live.signed.lock().clear();
        }
    }
}
