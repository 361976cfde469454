//! A subject with the rules of all bindings that apply to it.
use super::{Grant, counts, rules};
use crate::kube::{rbac::GROUP, reviews::Rule};
use portico_domain::panel::{RightQuestion, Subject};
use std::collections::HashMap;

const ACCOUNT_USERS: &str = "system:serviceaccount:";
const ACCOUNT_GROUP: &str = "system:serviceaccounts";
const AUTHENTICATED: &str = "system:authenticated";
const UNAUTHENTICATED: &str = "system:unauthenticated";
const ANONYMOUS: &str = "system:anonymous";

pub type GrantsBySubject<'a> = HashMap<&'a Subject, Vec<&'a Grant<'a>>>;

/// The rules of one binding, and the one of them that permits something.
pub type Permit<'a> = (&'a Grant<'a>, &'a Rule);

/// A subject with all rules that are known to apply to it.
pub struct Candidate<'a> {
    grants: Vec<&'a Grant<'a>>,
    cluster_rules: Vec<&'a Rule>,
    /// Those of the cluster, and of the namespace of the question.
    rules: Vec<&'a Rule>,
}

impl<'a> Candidate<'a> {
    pub fn new(subject: &Subject, grants: &GrantsBySubject<'a>) -> Self {
        let grants: Vec<_> = identities(subject)
            .iter()
            .filter_map(|identity| grants.get(identity))
            .flatten()
            .copied()
            .collect();
        Self {
            cluster_rules: grants
                .iter()
                .filter(|grant| counts(grant.binding, None))
                .flat_map(|grant| grant.rules)
                .collect(),
            rules: grants.iter().flat_map(|grant| grant.rules).collect(),
            grants,
        }
    }

    /// Excludes most subjects before the expensive comparison of roles.
    pub fn may_write_rbac(&self) -> bool {
        self.rules
            .iter()
            .flat_map(|rule| &rule.api_groups)
            .any(|group| group == GROUP || group == "*")
    }

    fn in_place(&self, namespace: Option<&str>) -> impl Iterator<Item = &'a Grant<'a>> {
        self.grants
            .iter()
            .copied()
            .filter(move |grant| counts(grant.binding, namespace))
    }

    /// Returns each binding that permits it, with the rule.
    pub fn permits(&self, question: &RightQuestion) -> impl Iterator<Item = Permit<'a>> {
        self.in_place(question.namespace.as_deref())
            .filter_map(move |grant| Some((grant, grant.matching(question)?)))
    }

    /// Returns each rule that permits changes to objects of a kind, whatever their names.
    pub fn changes(
        &self,
        resource: &str,
        namespace: Option<&str>,
    ) -> impl Iterator<Item = Permit<'a>> {
        self.in_place(namespace)
            .flat_map(|grant| grant.rules.iter().map(move |rule| (grant, rule)))
            .filter(move |(_, rule)| rules::permits_changes(rule, resource))
    }

    pub fn can(&self, question: &RightQuestion) -> bool {
        self.permits(question).next().is_some()
    }

    /// Returns whether the candidate has all permissions of a role, where it would count.
    pub fn covers(&self, rules: &[Rule], namespace: Option<&str>) -> bool {
        let own = if namespace.is_some() {
            &self.rules
        } else {
            &self.cluster_rules
        };
        rules::cover(own, rules)
    }
}

/// Returns the subjects whose bindings apply to a subject: itself, and the groups that the API
/// server adds to every user or service account.
pub fn identities(subject: &Subject) -> Vec<Subject> {
    let group = |name: &str| Subject::Group {
        name: name.to_owned(),
    };
    let account = |namespace: &str, name: &str| {
        vec![
            Subject::ServiceAccount {
                namespace: namespace.to_owned(),
                name: name.to_owned(),
            },
            Subject::User {
                name: format!("{ACCOUNT_USERS}{namespace}:{name}"),
            },
            group(&format!("{ACCOUNT_GROUP}:{namespace}")),
            group(ACCOUNT_GROUP),
            group(AUTHENTICATED),
        ]
    };
    match subject {
        Subject::ServiceAccount { namespace, name } => account(namespace, name),
        Subject::User { name } => {
            let parts = name
                .strip_prefix(ACCOUNT_USERS)
                .and_then(|rest| rest.split_once(':'));
            match parts {
                Some((namespace, name)) => account(namespace, name),
                None if name == ANONYMOUS => vec![subject.clone(), group(UNAUTHENTICATED)],
                None => vec![subject.clone(), group(AUTHENTICATED)],
            }
        }
        Subject::Group { name } if name == UNAUTHENTICATED || name == AUTHENTICATED => {
            vec![subject.clone()]
        }
        Subject::Group { name } if name.starts_with(&format!("{ACCOUNT_GROUP}:")) => {
            vec![subject.clone(), group(ACCOUNT_GROUP), group(AUTHENTICATED)]
        }
        _ => vec![subject.clone(), group(AUTHENTICATED)],
    }
}
