//! Comparison of RBAC rules, as `pkg/apis/rbac/v1/evaluation_helpers.go` and
//! `component-helpers/auth/rbac/validation` of Kubernetes do it.
use crate::kube::{rbac::GROUP, reviews::Rule};
use portico_domain::panel::RightQuestion;

const ALL: &str = "*";

/// Returns whether a rule permits what a question asks. `pods/*` is not a pattern in RBAC: only
/// `*` and `*/<subresource>` are.
pub fn matches(rule: &Rule, question: &RightQuestion) -> bool {
    let name = question.name.as_deref().unwrap_or_default();
    includes(&rule.verbs, &question.verb)
        && includes(&rule.api_groups, &question.group)
        && rule
            .resources
            .iter()
            .any(|entry| is_resource(entry, &question.resource, &question.subresource))
        && covers_name(rule, name)
}

/// Returns whether a rule permits `update` or `patch` on objects of a kind of the RBAC group,
/// perhaps only on some names.
pub fn permits_changes(rule: &Rule, resource: &str) -> bool {
    ["update", "patch"]
        .iter()
        .any(|verb| includes(&rule.verbs, verb))
        && includes(&rule.api_groups, GROUP)
        && includes(&rule.resources, resource)
}

/// Returns whether a rule counts for an object of this name.
pub fn covers_name(rule: &Rule, name: &str) -> bool {
    rule.resource_names.is_empty() || contains(&rule.resource_names, name)
}

/// Returns whether all that `rules` permit is permitted by `owner` as well. Each combination of a
/// verb, group, resource and name has to be in one rule of the owner's.
pub fn cover(owner: &[&Rule], rules: &[Rule]) -> bool {
    rules.iter().all(|rule| {
        rule.verbs.iter().all(|verb| {
            let owner: Vec<_> = owner
                .iter()
                .copied()
                .filter(|own| includes(&own.verbs, verb))
                .collect();
            cover_resources(&owner, rule) && cover_urls(&owner, rule)
        })
    })
}

fn cover_resources(owner: &[&Rule], rule: &Rule) -> bool {
    let covers_names = |own: &Rule, name: Option<&str>| match name {
        Some(name) => covers_name(own, name),
        None => own.resource_names.is_empty(),
    };
    rule.api_groups.iter().all(|group| {
        rule.resources.iter().all(|resource| {
            names(rule).all(|name| {
                owner.iter().any(|own| {
                    includes(&own.api_groups, group)
                        && covers_resource(own, resource)
                        && covers_names(own, name)
                })
            })
        })
    })
}

fn cover_urls(owner: &[&Rule], rule: &Rule) -> bool {
    rule.non_resource_urls.iter().all(|url| {
        owner.iter().any(|own| {
            own.resource_names.is_empty()
                && own.non_resource_urls.iter().any(|own| covers_url(own, url))
        })
    })
}

/// Returns the names of a rule; one `None` for all names.
fn names(rule: &Rule) -> impl Iterator<Item = Option<&str>> {
    let all = rule.resource_names.is_empty().then_some(None);
    all.into_iter()
        .chain(rule.resource_names.iter().map(|name| Some(name.as_str())))
}

fn contains(list: &[String], wanted: &str) -> bool {
    list.iter().any(|entry| entry == wanted)
}

fn includes(list: &[String], wanted: &str) -> bool {
    list.iter().any(|entry| entry == ALL || entry == wanted)
}

fn is_resource(entry: &str, resource: &str, subresource: &str) -> bool {
    if entry == ALL {
        return true;
    }
    if subresource.is_empty() {
        return entry == resource;
    }
    entry
        .split_once('/')
        .is_some_and(|(own, sub)| sub == subresource && (own == ALL || own == resource))
}

fn covers_resource(own: &Rule, resource: &str) -> bool {
    includes(&own.resources, resource)
        || resource
            .split_once('/')
            .is_some_and(|(_, sub)| own.resources.iter().any(|own| is_any(own, sub)))
}

/// Returns whether a resource of a rule is `*/<subresource>`.
fn is_any(entry: &str, subresource: &str) -> bool {
    entry.strip_prefix("*/") == Some(subresource)
}

fn covers_url(own: &str, url: &str) -> bool {
    own == url || (own.ends_with(ALL) && url.starts_with(own.trim_end_matches('*')))
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
