//! Refusals of an API server. The `Status` of one has no field for the permission that is missing: it is
//! read from the message, whose form is the same in all releases
//! (`forbiddenMessage` in `k8s.io/apiserver/pkg/endpoints/handlers/responsewriters`).
use portico_domain::panel::RightQuestion;
use std::fmt;

/// A refusal, with the permission that is missing if it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forbidden {
    pub message: String,
    pub missing: Option<Box<RightQuestion>>,
}

impl Forbidden {
    /// Returns the refusal that follows from an access review.
    pub fn lacks(message: String, missing: RightQuestion) -> Self {
        Self {
            message,
            missing: Some(Box::new(missing)),
        }
    }
}

impl fmt::Display for Forbidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// A message of an API server. A webhook or an admission plugin refuses in words of its own: then no
/// permission is known to be missing.
impl From<String> for Forbidden {
    fn from(message: String) -> Self {
        Self {
            missing: missing(&message).map(Box::new),
            message,
        }
    }
}

/// Reads `User "ada@Default" cannot delete resource "pods/log" in API group "" in the namespace "shop"`.
fn missing(message: &str) -> Option<RightQuestion> {
    let (_, rest) = message.split_once("\" cannot ")?;
    let (verb, rest) = rest.split_once(" resource \"")?;
    let (whole, rest) = rest.split_once('"')?;
    let rest = rest.strip_prefix(" in API group \"")?;
    let (group, rest) = rest.split_once('"')?;
    let namespace = match rest.strip_prefix(" in the namespace \"") {
        Some(rest) => Some(rest.split_once('"')?.0.to_owned()),
        None if rest.starts_with(" at the cluster scope") => None,
        None => return None,
    };
    let (resource, subresource) = whole.split_once('/').unwrap_or((whole, ""));
    let is_word = |text: &str| !text.is_empty() && !text.contains(char::is_whitespace);
    (is_word(verb) && is_word(resource)).then(|| RightQuestion {
        verb: verb.to_owned(),
        group: group.to_owned(),
        resource: resource.to_owned(),
        subresource: subresource.to_owned(),
        namespace,
        name: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(message: &str) -> Option<String> {
        missing(message).map(|found| format!("{} {}", found.resource_name(), found.in_words()))
    }

    #[test]
    fn the_missing_permission_is_read_from_the_api_servers_message() {
        let in_namespace = r#"pods "web" is forbidden: User "vera@Default" cannot get resource "pods/log" in API group "" in the namespace "shop""#;
        assert_eq!(
            read(in_namespace).as_deref(),
            Some("pods/log get on pods/log in shop")
        );
        let with_reason = r#"deployments.apps is forbidden: User "vera@Default" cannot list resource "deployments" in API group "apps" at the cluster scope: RBAC: clusterrole.rbac.authorization.k8s.io "x" not found"#;
        assert_eq!(
            read(with_reason).as_deref(),
            Some("deployments.apps list on deployments in the whole cluster")
        );
    }

    #[test]
    fn other_refusals_name_no_permission() {
        for message in [
            "",
            "no role",
            r#"forbidden: User "vera@Default" cannot get path "/metrics""#,
            r#"pods "web" is forbidden: exceeded quota: small, requested: pods=1"#,
            r#"User "x" cannot get resource "pods" in API group """#,
            r#"User "x" cannot get it resource "pods" in API group "" at the cluster scope"#,
        ] {
            assert_eq!(read(message), None, "{message}");
        }
        assert_eq!(Forbidden::from("no role".to_owned()).to_string(), "no role");
    }
}
