//! The record of a cluster, as the operator (or an operator-approved source) wrote it.
use crate::identity::Identity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use uuid::Uuid;

/// `[[clusters]]`: one Kubernetes cluster that tenants reach through Portico.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClusterRecord {
    /// Immutable UUID (Magnum's, where there is one); never reuse one.
    pub id: Uuid,
    /// The name that people see; also the kubeconfig's context.
    pub name: String,
    /// ID of the Keystone project that owns the cluster.
    pub owner_project: String,
    /// IDs of the projects whose tokens are accepted; empty: the owner project only.
    #[serde(default)]
    pub accepted_projects: Vec<String>,
    /// The API server, `https://host:port`.
    pub api_url: String,
    /// The API server's certificate authority (PEM).
    #[serde(default)]
    pub ca_file: Option<PathBuf>,
    /// kube-auth's public key for this cluster's tokens.
    pub sealing_key_file: PathBuf,
    /// What `spec.audiences` of a TokenReview is intersected with.
    #[serde(default = "default_audiences")]
    pub api_audiences: Vec<String>,
    /// SHA-256 fingerprints (hex) of the API server's client certificates, where the URI SAN
    /// `portico:cluster:<id>` cannot be had.
    #[serde(default)]
    pub client_fingerprints: Vec<String>,
    /// A policy for `POST /clusters/{id}/subjectaccessreview`: one of k8s-keystone-auth (JSON), or
    /// one of `kube-auth.portico.dev/v1` (YAML). Read again when the file changes. Without one
    /// there is no such endpoint, and RBAC alone decides.
    #[serde(default)]
    pub authorization_policy_file: Option<PathBuf>,
    /// Whether bare Keystone tokens count beside cluster tokens, for people who come from
    /// k8s-keystone-auth. Whoever administers the cluster can read such a token and use it at every
    /// service of the cloud: turn it off again when nobody needs it.
    #[serde(default)]
    pub raw_keystone_tokens: RawTokens,
}

/// The form of bare Keystone tokens that a cluster takes; the cloud's token provider decides it.
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
    /// The projects whose tokens this cluster accepts.
    pub fn projects(&self) -> &[String] {
        if self.accepted_projects.is_empty() {
            std::slice::from_ref(&self.owner_project)
        } else {
            &self.accepted_projects
        }
    }

    /// Whether a token with this identity may be used at the cluster at all; RBAC decides the rest.
    pub fn accepts(&self, identity: &Identity) -> bool {
        identity
            .project
            .as_ref()
            .is_some_and(|project| self.accepts_project(&project.id))
    }

    /// Whether tokens of the project are accepted.
    pub fn accepts_project(&self, project_id: &str) -> bool {
        self.projects()
            .iter()
            .any(|accepted| accepted == project_id)
    }

    /// Bare role IDs would let a role of one project act in another's name.
    pub fn qualified_groups_only(&self) -> bool {
        self.projects().len() > 1
    }
}
