//! Refusals: what the viewer's rights do not permit, and the permission that is missing.
use super::{ResourceRef, RightQuestion};
use serde::{Deserialize, Serialize};

/// A refusal in words, with the permission that is missing where that is the reason.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Refusal {
    /// One sentence or more.
    pub reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Box<RightQuestion>>,
}

impl Refusal {
    /// Returns the refusal of what needs a permission that the viewer does not have.
    pub fn of(question: RightQuestion) -> Self {
        Self {
            reason: format!("Your roles do not include {}.", question.in_words()),
            missing: Some(Box::new(question)),
        }
    }
}

/// A refusal for another reason than a missing permission.
impl From<String> for Refusal {
    fn from(reason: String) -> Self {
        Self {
            reason,
            missing: None,
        }
    }
}

impl RightQuestion {
    /// Returns the question about a verb on a kind; without a namespace, in the whole cluster.
    pub fn on(verb: &str, resource: &ResourceRef, namespace: Option<&str>) -> Self {
        Self {
            verb: verb.to_owned(),
            group: resource.group.clone(),
            resource: resource.plural.clone(),
            subresource: String::new(),
            namespace: namespace.map(str::to_owned),
            name: None,
        }
    }

    /// Returns the resource as kubectl names it: `pods/exec`, `deployments.apps`.
    pub fn resource_name(&self) -> String {
        let mut name = self.resource.clone();
        if !self.group.is_empty() {
            name.push('.');
            name.push_str(&self.group);
        }
        if !self.subresource.is_empty() {
            name.push('/');
            name.push_str(&self.subresource);
        }
        name
    }

    /// Returns `delete on pods in shop`, or `list on nodes in the whole cluster`.
    pub fn in_words(&self) -> String {
        let resource = if self.subresource.is_empty() {
            self.resource.clone()
        } else {
            format!("{}/{}", self.resource, self.subresource)
        };
        match &self.namespace {
            Some(namespace) => format!("{} on {resource} in {namespace}", self.verb),
            None => format!("{} on {resource} in the whole cluster", self.verb),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(group: &str, resource: &str, subresource: &str) -> RightQuestion {
        RightQuestion {
            verb: "get".to_owned(),
            group: group.to_owned(),
            resource: resource.to_owned(),
            subresource: subresource.to_owned(),
            namespace: Some("shop".to_owned()),
            name: None,
        }
    }

    #[test]
    fn a_resource_is_named_as_for_kubectl() {
        let name =
            |group, resource, subresource| question(group, resource, subresource).resource_name();
        assert_eq!(name("", "pods", ""), "pods");
        assert_eq!(name("", "pods", "exec"), "pods/exec");
        assert_eq!(name("apps", "deployments", ""), "deployments.apps");
        assert_eq!(
            name("apps", "deployments", "scale"),
            "deployments.apps/scale"
        );
    }

    #[test]
    fn a_refusal_names_verb_resource_and_namespace() {
        let refusal = Refusal::of(question("", "pods", "exec"));
        assert_eq!(
            refusal.reason,
            "Your roles do not include get on pods/exec in shop."
        );
        let everywhere = RightQuestion {
            namespace: None,
            ..question("", "nodes", "")
        };
        assert_eq!(everywhere.in_words(), "get on nodes in the whole cluster");
    }
}
