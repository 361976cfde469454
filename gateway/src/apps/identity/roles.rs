//! The app's own roles: a user gets the first one that they hold by their roles in projects and
//! their groups.
use std::sync::Arc;

use portico_domain::access::{RoleInProject, Rule};

use super::{Stopped, UpstreamIdentity, refusal::Refusal};
use crate::{
    config::{AppRole, IdentityConfig},
    sessions::live::Live,
};

/// The app's roles, the highest first.
#[derive(Debug)]
pub(super) struct Roles {
    roles: Vec<AppRole>,
    default: Option<Arc<str>>,
}

impl Roles {
    pub fn new(config: &IdentityConfig) -> Self {
        Self {
            roles: config.roles.clone(),
            default: config.default_role.as_deref().map(Arc::from),
        }
    }
}

impl UpstreamIdentity {
    /// Returns the user's role in the app; `None` where the app has no role for them.
    pub(super) async fn app_role<'r>(
        &self,
        roles: &'r Roles,
        live: &Live,
    ) -> Result<Option<&'r str>, Stopped> {
        for role in &roles.roles {
            if self.holds(&role.holders, live).await? {
                return Ok(Some(&role.value));
            }
        }
        match &roles.default {
            Some(default) => Ok(Some(default)),
            None if roles.roles.is_empty() => Ok(None),
            None => Err(Refusal::NoRole.into()),
        }
    }

    async fn holds(&self, holders: &[Rule], live: &Live) -> Result<bool, Stopped> {
        let root = live.root();
        if let Some(provider) = &root.provider {
            let profile = &provider.profile;
            let mut groups = holders.iter().filter_map(Rule::group);
            if groups.any(|rule| rule.holds(&provider.id, &profile.groups, &profile.roles)) {
                return Ok(true);
            }
        }
        let roles: Vec<RoleInProject> = holders.iter().filter_map(Rule::role).cloned().collect();
        Ok(self.sessions.fitting(&roles, live).await?.is_some())
    }
}
