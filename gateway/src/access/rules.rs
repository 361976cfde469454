//! Who may open an app: a role in a project, as Keystone says it now.
use std::{collections::HashSet, sync::Arc};

use portico_domain::access::RoleInProject;

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

impl Gateway {
    /// The token that opens the app, with the project and roles that do; `None` when no rule
    /// fits.
    pub async fn key_to(
        &self,
        app: &App,
        live: &Live,
    ) -> Result<Option<Arc<ProjectToken>>, TokenError> {
        let rules = &app.config.allow;
        let token = self.fitting(rules, live).await?;
        if let Some(token) = &token {
            let identity = token.identity(&live.root());
            if let Some(rule) = rules.iter().find(|rule| rule.holds(&identity)) {
                line::rule(format!("{} in {}", rule.role, rule.project));
            }
        }
        Ok(token)
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
            if portico_domain::access::allowed(rules, &token.identity(&root)) {
                return Ok(Some(token));
            }
        }
        Ok(None)
    }
}

/// The rules of an app in words, for somebody whom they do not let in.
pub(crate) fn doors(rules: &[RoleInProject], live: &Live) -> Vec<Door> {
    rules
        .iter()
        .map(|rule| {
            let project = live.project(&rule.project);
            Door {
                role: rule.role.clone(),
                project_known: project.is_some(),
                project: project.map_or_else(|| rule.project.clone(), |project| project.name),
            }
        })
        .collect()
}
