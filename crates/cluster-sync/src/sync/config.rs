//! The synchronisation file, in the format of k8s-keystone-auth.
use portico_domain::namespace_format::{InvalidNamespaceFormat, NamespaceFormat};
use portico_runtime::yaml::{self, YamlError};
use serde::Deserialize;

/// Limits of the file, which may come from the administrator of the cluster.
const LIMITS: yaml::Limits = yaml::Limits {
    max_bytes: 1024 * 1024,
    max_depth: 16,
    max_nodes: 20_000,
};

/// What to create from Keystone's projects and role assignments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncConfig {
    /// Whether namespaces are created.
    pub projects: bool,
    /// Whether roles are bound.
    pub role_assignments: bool,
    namespace_format: NamespaceFormat,
    left_out_ids: Vec<String>,
    left_out_names: Vec<String>,
    /// Groups, by the name of the Keystone role whose holders are in them.
    pub role_groups: Vec<RoleGroups>,
}

/// A Keystone role, and the groups of its holders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleGroups {
    pub role_name: String,
    pub groups: Vec<String>,
}

/// The reason why a file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSyncConfig {
    #[error(transparent)]
    Yaml(#[from] YamlError),
    #[error("data-types-to-sync: {0:?} is not known; there are projects and role_assignments")]
    DataType(String),
    #[error(
        "there is nothing to do: name projects or role_assignments in data-types-to-sync, or groups \
         in role-mappings"
    )]
    NothingToDo,
    #[error("namespace-format: {0}")]
    Format(#[from] InvalidNamespaceFormat),
    #[error(
        "role-mappings: {0}: username would give everyone with the role one name, so that the \
         audit log could no longer identify them; take it out and bind the role's ID instead"
    )]
    Username(String),
    #[error(
        "role-mappings: {role}: group {group:?} is Kubernetes' own or Portico's, and none that a role \
         may be given; bind the role to a ClusterRole with --role"
    )]
    Group { role: String, group: String },
}

/// The file's format. Unknown keys are refused: a misspelt blacklist would leave nothing out.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    data_types_to_sync: Option<Vec<String>>,
    namespace_format: Option<String>,
    projects_blacklist: Option<Vec<String>>,
    projects_name_blacklist: Option<Vec<String>>,
    role_mappings: Option<Vec<RoleMapping>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RoleMapping {
    #[serde(default)]
    keystone_role: String,
    username: Option<String>,
    groups: Option<Vec<String>>,
}

impl SyncConfig {
    /// Reads the file's text.
    ///
    /// # Errors
    /// The first invalid or dangerous value.
    pub fn parse(text: &str) -> Result<Self, InvalidSyncConfig> {
        let file: File = yaml::from_str(text, LIMITS)?;
        let (mut projects, mut role_assignments) = (false, false);
        for kind in file.data_types_to_sync.unwrap_or_default() {
            match kind.as_str() {
                "projects" => projects = true,
                "role_assignments" => role_assignments = true,
                _ => return Err(InvalidSyncConfig::DataType(kind)),
            }
        }
        let mut role_groups = Vec::new();
        for mapping in file.role_mappings.unwrap_or_default() {
            let role = mapping.keystone_role;
            if mapping.username.is_some_and(|name| !name.is_empty()) {
                return Err(InvalidSyncConfig::Username(role));
            }
            let groups = mapping.groups.unwrap_or_default();
            if let Some(group) = groups.iter().find(|group| is_reserved(group)) {
                let group = group.clone();
                return Err(InvalidSyncConfig::Group { role, group });
            }
            // as in the original: a mapping without a role applies to no user
            if !role.is_empty() && !groups.is_empty() {
                role_groups.push(RoleGroups {
                    role_name: role,
                    groups,
                });
            }
        }
        if !projects && !role_assignments && role_groups.is_empty() {
            return Err(InvalidSyncConfig::NothingToDo);
        }
        let namespace_format = match file.namespace_format {
            Some(format) => format.try_into()?,
            None => NamespaceFormat::default(),
        };
        Ok(Self {
            projects,
            role_assignments,
            namespace_format,
            left_out_ids: file.projects_blacklist.unwrap_or_default(),
            left_out_names: file.projects_name_blacklist.unwrap_or_default(),
            role_groups,
        })
    }

    /// Returns whether a project is left out, by ID or by name.
    pub fn leaves_out(&self, id: &str, name: &str) -> bool {
        self.left_out_ids.iter().any(|out| out == id)
            || self.left_out_names.iter().any(|out| out == name)
    }

    /// Returns the name of a project's namespace: by the format, or its ID if Kubernetes would not
    /// accept that. `None` if it would accept neither.
    pub fn namespace_name(&self, id: &str, name: &str, domain_id: &str) -> Option<String> {
        self.namespace_format.name_of(id, name, domain_id)
    }
}

fn is_reserved(group: &str) -> bool {
    let lower = group.trim().to_lowercase();
    lower.is_empty() || lower.starts_with("system:") || lower.starts_with("portico:")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "9c6e724466f243e798fe15f434d8b01b";

    fn config(format: &str) -> SyncConfig {
        SyncConfig::parse(&format!(
            "data-types-to-sync: [projects]\nnamespace-format: {format:?}\n"
        ))
        .unwrap()
    }

    fn error(text: &str) -> String {
        SyncConfig::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn the_references_file_is_understood() {
        let config = SyncConfig::parse(
            "data-types-to-sync: ['projects', 'role_assignments']\n\
             namespace-format: \"prefix-%d-%n-%i-suffix\"\n\
             projects-blacklist: ['id1', 'id2']\nprojects-name-blacklist: ['name1']\n\
             role-mappings:\n- keystone-role: member\n",
        )
        .unwrap();
        assert!(config.projects && config.role_assignments);
        for (id, name, out) in [
            ("id2", "x", true),
            ("x", "name1", true),
            ("name1", "id1", false),
        ] {
            assert_eq!(config.leaves_out(id, name), out, "{id} {name}");
        }
        let default = SyncConfig::parse("data-types-to-sync: [role_assignments]").unwrap();
        assert!(!default.projects);
        assert_eq!(
            default.namespace_name(ID, "acme", "default").as_deref(),
            Some(ID)
        );
    }

    #[test]
    fn a_name_that_kubernetes_would_not_take_becomes_the_id() {
        let long = "x".repeat(40);
        for (format, name, expected) in [
            ("%i", "acme", Some(ID.to_owned())),
            ("%n-%i", "acme", Some(format!("acme-{ID}"))),
            ("p-%i-%d", "acme", Some(format!("p-{ID}-default"))),
            ("%n-%i", long.as_str(), Some(ID.to_owned())),
            ("%n-%i", "Acme", Some(ID.to_owned())),
            ("%n-%i", "acme shop", Some(ID.to_owned())),
            ("%n-%i", "schön", Some(ID.to_owned())),
            ("%n-%i", "-acme", Some(ID.to_owned())),
            // a name chosen by a tenant must not lead to a namespace of Kubernetes itself
            ("%n-%i", "kube-system", Some(ID.to_owned())),
            // nor is it a format
            ("%n-%i", "%i", Some(ID.to_owned())),
        ] {
            let found = config(format).namespace_name(ID, name, "default");
            assert_eq!(found, expected, "{format} {name}");
        }
        assert_eq!(config("%i").namespace_name("Not A Label", "x", "d"), None);
    }

    #[test]
    fn what_cannot_work_or_is_dangerous_is_refused_with_the_way_out() {
        for (text, expected) in [
            ("data-types-to-sync: [users]", "users"),
            ("data-types-to-sync: []", "nothing to do"),
            ("{}", "nothing to do"),
            (
                "data-types-to-sync: [projects]\nnamespace-format: '%n'",
                "%i",
            ),
            ("data-types-to-sync: [projects]\nnamespace-format: ''", "%i"),
            (
                "data-types-to-sync: [projects]\nnamespace-format: 'P_%i'",
                "lower-case",
            ),
            (
                "data-types-to-sync: [projects]\nnamespace-format: '%i.x'",
                "lower-case",
            ),
            (
                "data-types-to-sync: [projects]\nnamespace-format: 'kube-%i'",
                "kube-",
            ),
            (
                "data-types-to-sync: [projects]\nnamespace-format: '%x-%i'",
                "lower-case",
            ),
            (
                "data-types-to-sync: [projects]\nprojects-blaklist: [x]",
                "projects-blaklist",
            ),
            (
                "data-types-to-sync: [projects]\nrole-mappings: [{keystone-role: ops, username: ops}]",
                "audit",
            ),
            (
                "data-types-to-sync: [projects]\nrole-mappings: [{keystone-role: ops, groups: [a, 'system:masters']}]",
                "system:masters",
            ),
        ] {
            let found = error(text);
            assert!(found.contains(expected), "{text}: {found}");
        }
    }
}
