//! Who may open an app: a role in a project, as Keystone says it now, or a group of a provider, as
//! it said at the last refresh.
use std::{collections::HashSet, sync::Arc};

use portico_domain::access::{GroupOfProvider, RoleInProject, Rule};

use super::line;
use crate::{
    hosts::App,
    pages::app::Door,
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
}

impl Key {
    /// The token whose project and roles the app is told.
    pub fn token(&self) -> Option<&ProjectToken> {
        match self {
            Key::Role(token) => Some(token),
            Key::Group => None,
        }
    }
}

impl Gateway {
    /// What opens the app, a role before a group; `None` when no rule fits.
    pub async fn key_to(&self, app: &App, live: &Live) -> Result<Option<Key>, TokenError> {
        let rules = &app.config.allow;
        let group = group_of(rules, live);
        let by_group = || {
            group.map(|rule| {
                line::rule(format!("group {} of {}", rule.group, rule.provider));
                Key::Group
            })
        };
        let roles: Vec<RoleInProject> = rules.iter().filter_map(Rule::role).cloned().collect();
        match self.fitting(&roles, live).await {
            Ok(Some(token)) => {
                let identity = token.identity(&live.root());
                if let Some(rule) = roles.iter().find(|rule| rule.holds(&identity)) {
                    line::rule(format!("{} in {}", rule.role, rule.project));
                }
                Ok(Some(Key::Role(token)))
            }
            Ok(None) => Ok(by_group()),
            // a group needs no word of Keystone's
            Err(error) => by_group().map_or(Err(error), |key| Ok(Some(key))),
        }
    }

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

/// The first rule about a group that somebody is in.
fn group_of<'a>(rules: &'a [Rule], live: &Live) -> Option<&'a GroupOfProvider> {
    let root = live.root();
    let provider = root.provider.as_ref()?;
    let profile = &provider.profile;
    rules
        .iter()
        .filter_map(Rule::group)
        .find(|rule| rule.holds(&provider.id, &profile.groups, &profile.roles))
}

impl Gateway {
    /// The rules of an app in words, for somebody whom they do not let in.
    pub fn doors(&self, rules: &[Rule], live: &Live) -> Vec<Door> {
        rules
            .iter()
            .map(|rule| match rule {
                Rule::Role(rule) => {
                    let project = live.project(&rule.project);
                    Door::Role {
                        role: rule.role.clone(),
                        project_known: project.is_some(),
                        project: project
                            .map_or_else(|| rule.project.clone(), |project| project.name),
                    }
                }
                Rule::Group(rule) => Door::Group {
                    group: rule.group.clone(),
                    provider: self.provider_name(&rule.provider),
                },
            })
            .collect()
    }

    /// The name that people know a provider by.
    pub fn provider_name(&self, id: &str) -> String {
        let mut providers = self.config.providers.iter();
        providers
            .find(|provider| provider.id == id)
            .map_or_else(|| id.to_owned(), |provider| provider.name.clone())
    }
}
