//! The context of the checks: the configuration, limited to the roles that are checked.
use crate::config::{Config, Role};
use gateway::config::GatewayConfig;
use portico_clock::Clock;
use portico_kube_auth::KubeAuthConfig;
use portico_openstack::KeystoneConfig;
use portico_store::StoreConfig;
use std::path::PathBuf;

use crate::config::panel::PanelConfig;

/// The configuration and the roles. Checks see a section only if one of its roles is checked:
/// doctor runs as that role's user, which may not read the files of other roles.
pub(super) struct Context {
    pub config: Config,
    /// The files of the configuration.
    pub files: Vec<PathBuf>,
    pub roles: Vec<Role>,
    pub clock: Clock,
}

impl Context {
    /// Makes a context; with `roles` empty, for every role that has a section.
    pub fn new(config: Config, files: Vec<PathBuf>, roles: &[Role], clock: Clock) -> Self {
        let roles = if roles.is_empty() {
            config.configured_roles()
        } else {
            roles.to_vec()
        };
        Self {
            config,
            files,
            roles,
            clock,
        }
    }

    pub fn has(&self, role: Role) -> bool {
        self.roles.contains(&role)
    }

    pub fn gateway(&self) -> Option<&GatewayConfig> {
        self.config
            .gateway
            .as_ref()
            .filter(|_| self.has(Role::Gateway))
    }

    pub fn panel(&self) -> Option<&PanelConfig> {
        self.config.panel.as_ref().filter(|_| self.has(Role::Panel))
    }

    pub fn kube_auth(&self) -> Option<&KubeAuthConfig> {
        self.config
            .kube_auth
            .as_ref()
            .filter(|_| self.has(Role::KubeAuth))
    }

    /// Returns the store's section. It belongs to the gateway; it is also checked if no role has a
    /// section yet.
    pub fn store(&self) -> Option<&StoreConfig> {
        let wanted = self.has(Role::Gateway) || self.roles.is_empty();
        self.config.store.as_ref().filter(|_| wanted)
    }

    /// Returns Keystone's section: every role may use Keystone; its only secret is the service
    /// account's.
    pub fn keystone(&self) -> Option<&KeystoneConfig> {
        self.config.keystone.as_ref()
    }
}
