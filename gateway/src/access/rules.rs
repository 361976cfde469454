//! Decides who may open an app: holders of a role in a project, as Keystone reports it now, or
//! members of a provider's group, as of the last refresh.
use std::{collections::HashSet, sync::Arc};

use portico_domain::access::RoleInProject;

use crate::{
    session::{
        live::{Live, ProjectToken},
        tokens::TokenError,
    },
    state::Gateway,
};

/// What gives a user access to an app.
#[derive(Clone, Debug)]
pub(crate) enum Key {
    /// Roles in a project, through this token.
    Role(Arc<ProjectToken>),
    /// A group of the session's provider.
    Group,
    /// A rule for this user, or for all signed-in users.
    Person,
}

impl Key {
    /// Returns the token whose project and roles are passed to the app.
    pub fn token(&self) -> Option<&ProjectToken> {
        match self {
            Key::Role(token) => Some(token),
            Key::Group | Key::Person => None,
        }
    }
}

impl Gateway {
    /// Returns a token of the session that a rule matches; `None` when no rule does.
    pub async fn fitting(
        &self,
        rules: &[RoleInProject],
        live: &Live,
    ) -> Result<Option<Arc<ProjectToken>>, TokenError> {
        let root = live.root();
        let mut tried = HashSet::new();
        for rule in rules {
            if !tried.insert(rule.project.as_str()) {
                continue;
            }
            let Some(token) = self.project_token(live, &rule.project).await? else {
                continue;
            };
            let identity = token.identity(&root);
            if rules.iter().any(|rule| rule.holds(&identity)) {
                return Ok(Some(token));
            }
        }
        Ok(None)
    }
}

impl Gateway {
    /// Returns the display name of a provider.
    pub fn provider_name(&self, id: &str) -> String {
        let mut providers = self.config.providers.iter();
        providers
            .find(|provider| provider.id == id)
            .map_or_else(|| id.to_owned(), |provider| provider.name.clone())
    }
}
