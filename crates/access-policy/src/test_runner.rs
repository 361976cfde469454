//! Runs the `[[tests]]` of a rules file.
use std::time::Duration;

use http::Method;
use portico_domain::access::{GroupOfProvider, RoleInProject};

use super::{
    app::{AppPolicy, GroupSource},
    error::RulesError,
    policy::{Asking, Outcome, Policy, Subject},
    test_case::{CaseConfig, Expected, UserOfCase},
};

impl Policy {
    /// Reads the rules of an app and runs the tests of its file.
    ///
    /// # Errors
    /// Like [`Self::read`], and [`RulesError::File`] for the first test that fails.
    pub fn load(app: &AppPolicy, providers: &[GroupSource]) -> Result<Self, RulesError> {
        Self::read(app, providers)?.tested()
    }

    /// Runs the tests of the file.
    ///
    /// # Errors
    /// [`RulesError::File`] for the first test that fails.
    pub fn tested(self) -> Result<Self, RulesError> {
        let failure = self.failures().next();
        match failure {
            Some((index, message)) => Err(self.failed_test(index, message)),
            None => Ok(self),
        }
    }

    /// Returns the failing tests: the index of each, and the actual decision.
    pub fn failures(&self) -> impl Iterator<Item = (usize, String)> {
        let tests = self.file.tests.iter().enumerate();
        tests.filter_map(|(index, test)| {
            let why = test.fails(self)?;
            let (name, expected) = (&test.name, test.expect);
            let expected = match &test.rule {
                Some(rule) => format!("{expected:?} by the rule {rule:?}"),
                None => format!("{expected:?}"),
            };
            Some((
                index,
                format!("test {name:?}: expected {expected}, but {why}"),
            ))
        })
    }

    fn failed_test(&self, index: usize, message: String) -> RulesError {
        RulesError::File {
            app: self.app.id.clone(),
            path: self.app.rules_file.clone().unwrap_or_default(),
            line: self.file.line_of_test(index),
            message,
        }
    }
}

impl CaseConfig {
    /// Returns why the test fails; `None` if it passes.
    pub fn fails(&self, policy: &Policy) -> Option<String> {
        let (method, path) = match self.request.split_once(' ') {
            Some((method, path)) => (method, path.trim()),
            None => return Some("request: write method and path, such as GET /x".to_owned()),
        };
        let Ok(method) = Method::from_bytes(method.as_bytes()) else {
            return Some(format!("request: {method:?} is not a method"));
        };
        let subject = self.user.as_ref().map(|user| user.subject(policy));
        let outcome = policy.decide(&Asking {
            method: &method,
            path,
            client: self.address,
            person: subject.as_ref(),
        });
        let as_expected = match (self.expect, &outcome) {
            (Expected::Open, Outcome::Open { .. })
            | (Expected::Public, Outcome::Public { .. })
            | (Expected::SignIn, Outcome::SignIn { .. })
            | (Expected::SignInAgain, Outcome::SignInAgain { .. })
            | (Expected::Refused, Outcome::Refused { .. })
            | (Expected::BadRequest, Outcome::BadRequest { .. }) => true,
            (Expected::AllowList, outcome) => outcome.is_of_the_list(),
            _ => false,
        };
        let by_rule = self
            .rule
            .as_deref()
            .is_none_or(|rule| outcome.rule() == Some(rule));
        if as_expected && by_rule {
            None
        } else {
            Some(format!("{method} {path}: {outcome}"))
        }
    }
}

impl UserOfCase {
    fn subject(&self, policy: &Policy) -> Subject {
        let roles = self.roles.iter().map(|role| RoleInProject {
            role: role.role.clone(),
            project: policy.project(&role.project),
        });
        let groups = self.groups.iter().map(|text| GroupOfProvider {
            group: text.group.clone(),
            provider: text.provider.clone(),
        });
        Subject {
            roles: roles.collect(),
            groups: groups.collect(),
            signed_in_ago: self.signed_in_ago.or(Some(Duration::ZERO)),
            factors: self.factors.clone(),
            ..Subject::named(&self.user_id, &self.user, &self.domain)
        }
    }
}
