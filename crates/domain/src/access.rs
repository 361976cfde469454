//! Access rules of apps: roles in projects, and groups of an OIDC provider.
use crate::identity::Identity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A rule for a role held in one project. A bare role name would admit a `k8s_admin` of any other
/// project, so it cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoleInProject {
    /// The role's name or ID in Keystone.
    pub role: String,
    /// The project's ID.
    pub project: String,
}

impl RoleInProject {
    /// Returns whether `identity` holds the role in the project.
    pub fn holds(&self, identity: &Identity) -> bool {
        identity
            .project
            .as_ref()
            .is_some_and(|project| project.id == self.project)
            && identity
                .roles
                .iter()
                .any(|role| role.id == self.role || role.name == self.role)
    }
}

/// A rule for a group of one OIDC provider. A group with the same name at another provider is
/// another group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupOfProvider {
    /// The group as the provider writes it; a role as `role:<name>`.
    pub group: String,
    /// The provider's ID in `gateway.providers`.
    pub provider: String,
}

impl GroupOfProvider {
    /// Returns whether a user of `provider` with these groups and roles is in the group.
    pub fn holds(&self, provider: &str, groups: &[String], roles: &[String]) -> bool {
        self.provider == provider
            && match self.group.strip_prefix("role:") {
                Some(role) => roles.iter().any(|held| held == role),
                None => groups.contains(&self.group),
            }
    }
}

/// One access rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "RuleText", into = "RuleText")]
pub enum Rule {
    /// `role` and `project`.
    Role(RoleInProject),
    /// `group` and `provider`.
    Group(GroupOfProvider),
}

/// A rule in its written form.
#[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RuleText {
    /// The role's name or ID in Keystone; requires `project`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    role: Option<String>,
    /// The project's ID; requires `role`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    /// A group from an OIDC provider (a role as `role:<name>`); requires `provider`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    /// The ID of an entry of `gateway.providers`; requires `group`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    provider: Option<String>,
}

impl TryFrom<RuleText> for Rule {
    type Error = &'static str;

    fn try_from(text: RuleText) -> Result<Self, Self::Error> {
        match (text.role, text.project, text.group, text.provider) {
            (Some(role), Some(project), None, None) => {
                Ok(Self::Role(RoleInProject { role, project }))
            }
            (None, None, Some(group), Some(provider)) => {
                Ok(Self::Group(GroupOfProvider { group, provider }))
            }
            _ => Err("a rule has either role and project, or group and provider"),
        }
    }
}

impl From<Rule> for RuleText {
    fn from(rule: Rule) -> Self {
        match rule {
            Rule::Role(rule) => Self {
                role: Some(rule.role),
                project: Some(rule.project),
                ..Self::default()
            },
            Rule::Group(rule) => Self {
                group: Some(rule.group),
                provider: Some(rule.provider),
                ..Self::default()
            },
        }
    }
}

impl Rule {
    /// Returns the role in a project that the rule names.
    pub fn role(&self) -> Option<&RoleInProject> {
        match self {
            Self::Role(rule) => Some(rule),
            Self::Group(_) => None,
        }
    }

    /// Returns the group of a provider that the rule names.
    pub fn group(&self) -> Option<&GroupOfProvider> {
        match self {
            Self::Role(_) => None,
            Self::Group(rule) => Some(rule),
        }
    }
}

/// Returns whether any rule admits `identity` by a role. Without rules, no user is admitted.
pub fn allowed(rules: &[Rule], identity: &Identity) -> bool {
    rules
        .iter()
        .filter_map(Rule::role)
        .any(|rule| rule.holds(identity))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_rule_is_one_of_two_and_whole() {
        let read = |text| serde_json::from_value::<Rule>(text);
        assert!(matches!(
            read(json!({ "role": "r", "project": "p" })),
            Ok(Rule::Role(_))
        ));
        assert!(matches!(
            read(json!({ "group": "g", "provider": "p" })),
            Ok(Rule::Group(_))
        ));
        for text in [
            json!({}),
            json!({ "role": "r" }),
            json!({ "group": "g" }),
            json!({ "provider": "p" }),
            json!({ "role": "r", "provider": "p" }),
            json!({ "role": "r", "project": "p", "group": "g", "provider": "p" }),
            json!({ "role": "r", "project": "p", "email": "x" }),
        ] {
            assert!(read(text.clone()).is_err(), "{text}");
        }
    }

    #[test]
    fn a_group_counts_at_its_provider_only() {
        let rule = GroupOfProvider {
            group: "ops".to_owned(),
            provider: "corp".to_owned(),
        };
        let ops = ["ops".to_owned()];
        assert!(rule.holds("corp", &ops, &[]));
        assert!(!rule.holds("other", &ops, &[]));
        assert!(!rule.holds("corp", &[], &ops));
        let role = GroupOfProvider {
            group: "role:ops".to_owned(),
            ..rule
        };
        assert!(role.holds("corp", &[], &ops));
        assert!(!role.holds("corp", &ops, &[]));
        assert!(!role.holds("corp", &["role:ops".to_owned()], &[]));
    }
}
