//! Who may open an app: a role in a project, as Keystone says it now, or a group of a provider, as
//! it said at the last refresh.
use std::{collections::HashSet, sync::Arc};

use portico_domain::access::RoleInProject;

use crate::{
    session::{
        live::{Live, ProjectToken},
        tokens::TokenError,
    },
    state::Gateway,
};

/// What opens an app for somebody.
#[derive(Clone, Debug)]
pub(crate) enum Key {
    /// Roles in a project, by this token.
    Role(Arc<ProjectToken>),
    /// A group of the session's provider.
    Group,
    /// Being that user, or being signed in at all.
    Person,
}

impl Key {
    /// The token whose project and roles the app is told.
    pub fn token(&self) -> Option<&ProjectToken> {
        match self {
            Key::Role(token) => Some(token),
            Key::Group | Key::Person => None,
        }
    }
}

impl Gateway {
    /// A token of the session that some rule lets in; `None` when no rule does.
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
    /// The name that people know a provider by.
    pub fn provider_name(&self, id: &str) -> String {
        let mut providers = self.config.providers.iter();
        providers
            .find(|provider| provider.id == id)
            .map_or_else(|| id.to_owned(), |provider| provider.name.clone())
    }
}
