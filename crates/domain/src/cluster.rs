//! The record of a cluster, as written by the operator (or an operator-approved source).
use crate::identity::{Identity, Project};
use crate::namespace_format::NamespaceFormat;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use uuid::Uuid;

/// `[[clusters]]`: one Kubernetes cluster that users access through Portico.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClusterRecord {
    /// Immutable UUID (Magnum's, if there is one); never reuse one.
    pub id: Uuid,
    /// The display name; also the kubeconfig's context.
    pub name: String,
    /// ID of the Keystone project that owns the cluster.
    pub owner_project: String,
    /// IDs of the projects whose tokens are accepted. If this list and `accepted_domains` are
    /// empty: the owner project only.
    #[serde(default)]
    pub accepted_projects: Vec<String>,
    /// IDs of the domains from which the tokens of every project are accepted.
    #[serde(default)]
    pub accepted_domains: Vec<String>,
    /// IDs of roles, one of which a token must carry; empty: any role is sufficient.
    #[serde(default)]
    pub accepted_roles: Vec<String>,
    /// Kinds of tokens that are accepted although they were not issued for a sign-in to a project.
    /// Without a project there are no role groups: only grants to the user alone apply.
    #[serde(default)]
    pub accepted_tokens: Vec<TokenKind>,
    /// The API server, `https://host:port`.
    pub api_url: String,
    /// The API server's certificate authority (PEM).
    #[serde(default)]
    pub ca_file: Option<PathBuf>,
    /// kube-auth's public key for this cluster's tokens.
    pub sealing_key_file: PathBuf,
    /// The `namespace-format` of `portico kube-auth sync` for this cluster. The panel finds the
    /// namespace of a user's project by it where the user may not list namespaces.
    #[serde(default)]
    pub namespace_format: NamespaceFormat,
    /// The audiences with which `spec.audiences` of a TokenReview is intersected.
    #[serde(default = "default_audiences")]
    pub api_audiences: Vec<String>,
    /// SHA-256 fingerprints (hex) of the API server's client certificates, if these cannot have the
    /// URI SAN `portico:cluster:<id>`.
    #[serde(default)]
    pub client_fingerprints: Vec<String>,
    /// A policy for `POST /clusters/{id}/subjectaccessreview`: one of k8s-keystone-auth (JSON), or
    /// one of `kube-auth.portico.dev/v1` (YAML). Read again when the file changes. Without one
    /// there is no such endpoint, and RBAC alone decides.
    #[serde(default)]
    #[schemars(extend("x-portico-takes-effect" = "file"))]
    pub authorization_policy_file: Option<PathBuf>,
    /// The same from a ConfigMap of the cluster, as Magnum creates one for k8s-keystone-auth. Until
    /// the first valid policy has been read the endpoint answers 503; if the ConfigMap becomes
    /// invalid or is deleted, the last valid policy stays in force. Not together with
    /// `authorization_policy_file`.
    #[serde(default)]
    pub authorization_policy_config_map: Option<PolicyConfigMap>,
    /// Whether bare Keystone tokens are accepted beside cluster tokens, for users who migrate from
    /// k8s-keystone-auth. Administrators of the cluster can read such a token and use it at every
    /// service of the cloud: turn it off again when it is no longer needed.
    #[serde(default)]
    pub raw_keystone_tokens: RawTokens,
}

/// The service type that an application credential's access rule must name to apply to Kubernetes.
pub const SERVICE_TYPE: &str = "kubernetes";

/// A kind of token that is accepted only if a cluster's record lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TokenKind {
    /// Without any scope.
    Unscoped,
    /// Scoped to a domain.
    Domain,
    /// Scoped to the system.
    System,
    /// Of a trust, for any trustor.
    Trust,
    /// Of an application credential with access rules, if one of them is for the service type
    /// `kubernetes`.
    AccessRules,
    /// Delegated by OAuth 1, or bound to a client certificate (OAuth 2).
    Oauth,
    /// Made from an EC2 signature.
    Ec2,
}

/// `[clusters.authorization_policy_config_map]`: a policy stored in the cluster itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyConfigMap {
    /// A kubeconfig of an account that may `get`, `list` and `watch` this one ConfigMap.
    pub kubeconfig_file: PathBuf,
    /// Its namespace. Users who may write there decide on the permissions of all users of the
    /// cluster.
    #[serde(default = "default_policy_namespace")]
    pub namespace: String,
    /// Its name.
    #[serde(default = "default_policy_name")]
    pub name: String,
    /// The key of the policy in it, a text of at most 256 KiB.
    #[serde(default = "default_policy_key")]
    pub key: String,
}

fn default_policy_namespace() -> String {
    "kube-system".to_owned()
}

fn default_policy_name() -> String {
    "k8s-auth-policy".to_owned()
}

fn default_policy_key() -> String {
    "policies".to_owned()
}

impl TokenKind {
    /// Returns the name for users.
    pub fn words(self) -> &'static str {
        match self {
            Self::Unscoped => "tokens without a scope",
            Self::Domain => "tokens of a domain",
            Self::System => "tokens of the system",
            Self::Trust => "tokens of a trust",
            Self::AccessRules => "application credentials with an access rule for kubernetes",
            Self::Oauth => "tokens of an OAuth delegation",
            Self::Ec2 => "tokens made from an EC2 signature",
        }
    }
}

/// The form of bare Keystone tokens that a cluster accepts; it depends on the cloud's token
/// provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RawTokens {
    /// None.
    #[default]
    Off,
    /// Those of Keystone's default provider.
    Fernet,
    /// Those of the JWS provider.
    Jws,
}

fn default_audiences() -> Vec<String> {
    vec!["https://kubernetes.default.svc".to_owned()]
}

impl ClusterRecord {
    /// Returns the projects whose tokens this cluster accepts, besides those of `accepted_domains`.
    pub fn projects(&self) -> &[String] {
        if self.accepted_projects.is_empty() && self.accepted_domains.is_empty() {
            std::slice::from_ref(&self.owner_project)
        } else {
            &self.accepted_projects
        }
    }

    /// Returns whether a token with this identity may be used at the cluster at all; RBAC decides
    /// the rest.
    ///
    /// # Errors
    /// The requirement that the identity does not meet.
    pub fn accepts(&self, identity: &Identity) -> Result<(), NotAccepted> {
        if !identity
            .project
            .as_ref()
            .is_some_and(|project| self.accepts_project(project))
        {
            return Err(NotAccepted::Project);
        }
        let held = |accepted: &String| identity.roles.iter().any(|role| role.id == *accepted);
        if !self.accepted_roles.is_empty() && !self.accepted_roles.iter().any(held) {
            return Err(NotAccepted::Role);
        }
        Ok(())
    }

    /// Returns whether tokens of the project are accepted. Only IDs count: the manager of a domain
    /// may give a project a name that equals another project's ID.
    pub fn accepts_project(&self, project: &Project) -> bool {
        self.projects().contains(&project.id) || self.accepted_domains.contains(&project.domain.id)
    }

    /// Returns whether bare role IDs are left out: they would let a role of one project act in the
    /// name of another.
    pub fn qualified_groups_only(&self) -> bool {
        self.projects().len() > 1 || !self.accepted_domains.is_empty()
    }
}

/// The reason why an identity may not be used at a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAccepted {
    /// It has no project, or one that the cluster does not accept.
    Project,
    /// It has none of the roles that the cluster requires.
    Role,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::{Named, User};

    fn cluster(projects: &[&str], domains: &[&str], roles: &[&str]) -> ClusterRecord {
        let record = serde_json::json!({
            "id": "6f1c7a52-9a3e-4a53-9c39-0a4a3c1d2e3f", "name": "prod", "owner_project": "owner",
            "accepted_projects": projects, "accepted_domains": domains, "accepted_roles": roles,
            "api_url": "https://127.0.0.1:6443", "sealing_key_file": "key.pub",
        });
        serde_json::from_value(record).unwrap()
    }

    fn named(id: &str) -> Named {
        Named {
            id: id.to_owned(),
            name: format!("name of {id}"),
        }
    }

    fn identity(project: &str, domain: &str, roles: &[&str]) -> Identity {
        Identity {
            user: User {
                id: "u".to_owned(),
                name: "ada".to_owned(),
                domain: named("default"),
            },
            project: Some(Project {
                id: project.to_owned(),
                name: "owner".to_owned(),
                domain: named(domain),
            }),
            roles: roles.iter().map(|id| named(id)).collect(),
        }
    }

    #[test]
    fn projects_domains_and_roles_are_accepted_by_id() {
        use NotAccepted::{Project, Role};
        let ada = identity("p1", "d1", &["r1", "r2"]);
        for (projects, domains, roles, expected) in [
            (&["p1"][..], &[][..], &[][..], Ok(())),
            (&["p2", "p1"], &[], &[], Ok(())),
            (&["p2"], &[], &[], Err(Project)),
            // the project's name, which must not matter
            (&["owner"], &[], &[], Err(Project)),
            (&[], &["d1"], &[], Ok(())),
            (&[], &["d2"], &[], Err(Project)),
            (&["p2"], &["d1"], &[], Ok(())),
            // the owner project only, if neither list has an entry
            (&[], &[], &[], Err(Project)),
            (&[], &[], &["r1"], Err(Project)),
            (&["p1"], &[], &["r2"], Ok(())),
            (&["p1"], &[], &["r3"], Err(Role)),
            (&[], &["d1"], &["name of r1"], Err(Role)),
        ] {
            let found = cluster(projects, domains, roles).accepts(&ada);
            assert_eq!(found, expected, "{projects:?} {domains:?} {roles:?}");
        }
        assert_eq!(
            cluster(&[], &[], &[]).accepts(&identity("owner", "d1", &[])),
            Ok(())
        );
    }

    #[test]
    fn a_role_names_its_project_where_several_are_possible() {
        assert!(!cluster(&[], &[], &[]).qualified_groups_only());
        assert!(!cluster(&["p1"], &[], &[]).qualified_groups_only());
        assert!(cluster(&["p1", "p2"], &[], &[]).qualified_groups_only());
        assert!(cluster(&[], &["d1"], &[]).qualified_groups_only());
    }
}
