//! The record of a cluster that a user enrolled through the panel or an operator imported (ADR 0022),
//! and the part of it that kube-auth gets in the signed cluster list (ADR 0023).
//!
//! Certificates are inline: the record is stored in a database and travels between machines, where
//! a [`ClusterRecord`] of the configuration names files.
use crate::cluster::{ClusterRecord, RawTokens};
use crate::namespace_format::NamespaceFormat;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::path::PathBuf;
use uuid::Uuid;

/// Maximum number of enrolled clusters.
pub const MAX_CLUSTERS: usize = 10_000;
/// Maximum length of a name, in bytes.
pub const MAX_NAME_BYTES: usize = 255;
/// Maximum length of the ID of a project or role, in bytes; Keystone's have 32 or 64.
pub const MAX_ID_BYTES: usize = 64;
/// Maximum number of accepted projects, and of accepted roles.
pub const MAX_ACCEPTED: usize = 64;
/// Maximum length of the API server's address, in bytes.
pub const MAX_URL_BYTES: usize = 512;
/// Maximum size of the certificates of one authority (PEM), in bytes: two of them with RSA keys of
/// 4096 bits, as during a rotation, have 4 KiB.
pub const MAX_PEM_BYTES: usize = 8 * 1024;
/// Maximum number of API audiences.
pub const MAX_AUDIENCES: usize = 8;
/// Maximum length of an audience, in bytes.
pub const MAX_AUDIENCE_BYTES: usize = 255;

/// The audiences of API servers that Magnum's drivers or kubeadm start, by `--api-audiences` or
/// `--service-account-issuer`. They all name the cluster's own API server.
pub const API_SERVER_AUDIENCES: [&str; 3] = [
    "https://kubernetes.default.svc",
    "https://kubernetes.default.svc.cluster.local",
    "kubernetes",
];

/// Where a record comes from, besides the operator's configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClusterSource {
    /// OpenStack Magnum, read with the token of the user who enrolled the cluster.
    Magnum,
    /// An operator, who imported a cluster that Magnum does not have. Users can neither enrol it again
    /// nor remove its record.
    Operator,
}

impl ClusterSource {
    /// Returns the name, as in the record.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Magnum => "magnum",
            Self::Operator => "operator",
        }
    }
}

/// A cluster that a user enrolled or an operator imported. It holds no secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnrolledCluster {
    /// Magnum's UUID; a random one for an imported cluster.
    pub id: Uuid,
    /// The display name; also the kubeconfig's context.
    pub name: String,
    /// ID of the Keystone project that owns the cluster.
    pub owner_project: String,
    /// IDs of the projects whose tokens are accepted; empty: the owner project only.
    pub accepted_projects: Vec<String>,
    /// IDs of roles, one of which a token must carry; empty: any role is sufficient.
    pub accepted_roles: Vec<String>,
    /// The API server, `https://host:port`.
    pub api_url: String,
    /// The API server's certificate authority (PEM).
    pub ca: String,
    /// The authority of the certificate with which the API server authenticates to kube-auth (PEM).
    pub client_ca: String,
    /// The audiences with which `spec.audiences` of a TokenReview is intersected.
    pub api_audiences: Vec<String>,
    pub source: ClusterSource,
}

/// An enrolled cluster as kube-auth needs it: an entry of the signed cluster list.
///
/// Unknown members are refused: a newer publisher could restrict a cluster with one, and a
/// kube-auth that passes over it would accept too much.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListedCluster {
    pub id: Uuid,
    pub name: String,
    pub owner_project: String,
    pub accepted_projects: Vec<String>,
    pub accepted_roles: Vec<String>,
    pub client_ca: String,
    pub api_audiences: Vec<String>,
}

/// The first limit that a record exceeds, by the name of its member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{member} {fault}")]
pub struct InvalidEnrolledCluster {
    pub member: &'static str,
    pub fault: Fault,
}

/// What is wrong with a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("is empty")]
    Empty,
    #[error("is longer than {0} bytes")]
    TooLong(usize),
    #[error("has more than {0} entries")]
    TooMany(usize),
    #[error("has a character that is not allowed there")]
    Character,
    #[error("has the same entry twice")]
    Twice,
    #[error("is not an https address")]
    Address,
    #[error("is not a text of certificates in PEM form only")]
    Pem,
}

impl EnrolledCluster {
    /// Checks lengths and forms. Whether a certificate can be used is for those who use it.
    ///
    /// # Errors
    /// The first member beyond its limit.
    pub fn check(&self) -> Result<(), InvalidEnrolledCluster> {
        self.listed().check()?;
        text("api_url", &self.api_url, MAX_URL_BYTES, graphic)?;
        let host = self.api_url.strip_prefix("https://").unwrap_or("");
        if host.is_empty() || host.starts_with('/') || host.contains('@') {
            return Err(invalid("api_url", Fault::Address));
        }
        pem("ca", &self.ca)
    }

    /// Returns whether an operator imported the cluster, so that only an operator changes its record.
    #[must_use]
    pub fn is_imported(&self) -> bool {
        self.source == ClusterSource::Operator
    }

    /// Returns the record of a cluster that is enrolled again, with the projects and roles that its
    /// earlier record accepts: an enrolment lifts no restriction. A record of another owner restricts
    /// nothing.
    #[must_use]
    pub fn keep_accepted(mut self, earlier: &Self) -> Self {
        if earlier.owner_project != self.owner_project {
            return self;
        }
        for project in &earlier.accepted_projects {
            let is_known = self.accepted_projects.contains(project);
            if !is_known && self.accepted_projects.len() < MAX_ACCEPTED {
                self.accepted_projects.push(project.clone());
            }
        }
        self.accepted_roles.clone_from(&earlier.accepted_roles);
        self
    }

    /// Returns the entry of the signed list.
    pub fn listed(&self) -> ListedCluster {
        ListedCluster {
            id: self.id,
            name: self.name.clone(),
            owner_project: self.owner_project.clone(),
            accepted_projects: self.accepted_projects.clone(),
            accepted_roles: self.accepted_roles.clone(),
            client_ca: self.client_ca.clone(),
            api_audiences: self.api_audiences.clone(),
        }
    }

    /// Returns the record by which the panel and the gateway decide who may see and use the cluster.
    /// It names no files, as that of [`ListedCluster::into_record`].
    pub fn record(&self) -> ClusterRecord {
        ClusterRecord {
            api_url: self.api_url.clone(),
            ..self.listed().into_record()
        }
    }
}

impl ListedCluster {
    /// Checks lengths and forms. Whether a certificate can be used is for those who use it.
    ///
    /// # Errors
    /// The first member beyond its limit.
    pub fn check(&self) -> Result<(), InvalidEnrolledCluster> {
        text("name", &self.name, MAX_NAME_BYTES, |c| !c.is_control())?;
        text("owner_project", &self.owner_project, MAX_ID_BYTES, graphic)?;
        for (member, ids) in [
            ("accepted_projects", &self.accepted_projects),
            ("accepted_roles", &self.accepted_roles),
        ] {
            entries(member, ids, MAX_ACCEPTED, MAX_ID_BYTES)?;
        }
        pem("client_ca", &self.client_ca)?;
        let audiences = &self.api_audiences;
        if audiences.is_empty() {
            return Err(invalid("api_audiences", Fault::Empty));
        }
        entries(
            "api_audiences",
            audiences,
            MAX_AUDIENCES,
            MAX_AUDIENCE_BYTES,
        )
    }

    /// Returns the record by which kube-auth decides the cluster's reviews. It names no files:
    /// kube-auth reads none of `ca_file` and `sealing_key_file`, and uses its own keys. Neither
    /// bare Keystone tokens nor tokens of other kinds than a sign-in's are accepted, and there is no
    /// policy: these are the operator's to permit, in the configuration file.
    pub fn into_record(self) -> ClusterRecord {
        ClusterRecord {
            id: self.id,
            name: self.name,
            owner_project: self.owner_project,
            accepted_projects: self.accepted_projects,
            accepted_domains: Vec::new(),
            accepted_roles: self.accepted_roles,
            accepted_tokens: Vec::new(),
            api_url: String::new(),
            ca_file: None,
            sealing_key_file: PathBuf::new(),
            namespace_format: NamespaceFormat::default(),
            api_audiences: self.api_audiences,
            client_fingerprints: Vec::new(),
            authorization_policy_file: None,
            authorization_policy_config_map: None,
            raw_keystone_tokens: RawTokens::Off,
        }
    }
}

/// Returns whether a name has the characters that Magnum permits. It becomes part of kubeconfigs, and
/// of commands that users copy to a shell.
#[must_use]
pub fn is_plain_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.bytes().all(plain)
}

fn invalid(member: &'static str, fault: Fault) -> InvalidEnrolledCluster {
    InvalidEnrolledCluster { member, fault }
}

fn graphic(c: char) -> bool {
    c.is_ascii_graphic()
}

fn text(
    member: &'static str,
    text: &str,
    max_bytes: usize,
    allowed: impl Fn(char) -> bool,
) -> Result<(), InvalidEnrolledCluster> {
    let fault = if text.is_empty() {
        Fault::Empty
    } else if text.len() > max_bytes {
        Fault::TooLong(max_bytes)
    } else if !text.chars().all(allowed) {
        Fault::Character
    } else {
        return Ok(());
    };
    Err(invalid(member, fault))
}

fn entries(
    member: &'static str,
    all: &[String],
    max: usize,
    max_bytes: usize,
) -> Result<(), InvalidEnrolledCluster> {
    if all.len() > max {
        return Err(invalid(member, Fault::TooMany(max)));
    }
    for one in all {
        text(member, one, max_bytes, graphic)?;
    }
    if all.iter().collect::<HashSet<_>>().len() < all.len() {
        return Err(invalid(member, Fault::Twice));
    }
    Ok(())
}

/// Checks that a text has the form of certificates, and of nothing else: a key that came along by
/// mistake must not travel.
fn pem(member: &'static str, pem: &str) -> Result<(), InvalidEnrolledCluster> {
    const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
    const LABEL: &str = "-----BEGIN ";
    text(member, pem, MAX_PEM_BYTES, |c| {
        c.is_ascii_graphic() || c.is_ascii_whitespace()
    })?;
    let certificates = pem.matches(BEGIN).count();
    if certificates == 0 || certificates != pem.matches(LABEL).count() {
        return Err(invalid(member, Fault::Pem));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEM: &str = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

    fn cluster() -> EnrolledCluster {
        EnrolledCluster {
            id: Uuid::from_u128(7),
            name: "Prod, Zürich".to_owned(),
            owner_project: "owner".to_owned(),
            accepted_projects: vec!["p1".to_owned(), "p2".to_owned()],
            accepted_roles: vec!["r1".to_owned()],
            api_url: "https://192.0.2.7:6443".to_owned(),
            ca: PEM.to_owned(),
            client_ca: PEM.repeat(2),
            api_audiences: vec!["https://kubernetes.default.svc".to_owned()],
            source: ClusterSource::Magnum,
        }
    }

    #[test]
    fn an_enrolled_cluster_survives_json_and_has_no_unknown_members() {
        let mut json = serde_json::to_value(cluster()).unwrap();
        assert_eq!(json["source"], "magnum");
        let read: EnrolledCluster = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(read, cluster());
        json["accepted_domains"] = serde_json::json!(["default"]);
        assert!(serde_json::from_value::<EnrolledCluster>(json).is_err());
        let mut listed = serde_json::to_value(cluster().listed()).unwrap();
        // what kube-auth does not need, it does not get
        assert!(listed.get("api_url").is_none() && listed.get("ca").is_none());
        listed["expires"] = serde_json::json!(1);
        assert!(serde_json::from_value::<ListedCluster>(listed).is_err());
    }

    #[test]
    fn a_source_has_the_same_name_in_json_and_in_lists() {
        for source in [ClusterSource::Magnum, ClusterSource::Operator] {
            let json = serde_json::to_value(source).unwrap();
            assert_eq!(json, source.as_str());
            let one = EnrolledCluster {
                source,
                ..cluster()
            };
            assert_eq!(one.is_imported(), source.as_str() == "operator");
        }
    }

    #[test]
    fn a_plain_name_can_be_part_of_a_command() {
        for name in ["shop", "Prod-2.eu_1"] {
            assert!(is_plain_name(name), "{name}");
        }
        for name in ["", "2shop", "-context", "a b", "$(reboot)", "prod\u{202e}"] {
            assert!(!is_plain_name(name), "{name}");
        }
    }

    #[test]
    fn the_record_for_reviews_permits_nothing_that_an_operator_must_permit() {
        let record = cluster().listed().into_record();
        assert_eq!(record.projects(), ["p1", "p2"]);
        assert_eq!(record.accepted_roles, ["r1"]);
        assert_eq!(record.raw_keystone_tokens, RawTokens::Off);
        assert!(record.accepted_tokens.is_empty() && record.accepted_domains.is_empty());
        assert!(record.authorization_policy_file.is_none());
        assert_eq!(record.api_url, "");
        let shown = cluster().record();
        assert_eq!(shown.api_url, cluster().api_url);
        assert_eq!((shown.id, shown.projects()), (record.id, record.projects()));
        let mut alone = cluster().listed();
        alone.accepted_projects.clear();
        assert_eq!(alone.into_record().projects(), ["owner"]);
    }

    #[test]
    fn a_second_enrolment_keeps_who_is_accepted() {
        let again = EnrolledCluster {
            accepted_projects: vec!["owner".to_owned()],
            accepted_roles: Vec::new(),
            ..cluster()
        };
        let kept = again.clone().keep_accepted(&cluster());
        assert_eq!(kept.accepted_projects, ["owner", "p1", "p2"]);
        assert_eq!(kept.accepted_roles, ["r1"]);
        let many = EnrolledCluster {
            accepted_projects: (0..64).map(|n| n.to_string()).collect(),
            ..cluster()
        };
        let full = again.clone().keep_accepted(&many);
        assert_eq!(full.accepted_projects.len(), MAX_ACCEPTED);
        assert_eq!(full.check(), Ok(()));
        // another owner
        let moved = EnrolledCluster {
            owner_project: "other".to_owned(),
            ..again
        };
        assert_eq!(moved.clone().keep_accepted(&cluster()), moved);
    }

    #[test]
    fn each_member_has_its_limit() {
        type Change = fn(&mut EnrolledCluster);
        assert_eq!(cluster().check(), Ok(()));
        let cases: [(&str, Fault, Change); 17] = [
            ("name", Fault::Empty, |one| one.name.clear()),
            ("name", Fault::TooLong(255), |one| {
                one.name = "n".repeat(256);
            }),
            ("name", Fault::Character, |one| one.name.push('\n')),
            ("owner_project", Fault::Empty, |one| {
                one.owner_project.clear();
            }),
            ("accepted_projects", Fault::TooMany(64), |one| {
                one.accepted_projects = (0..65).map(|n| n.to_string()).collect();
            }),
            ("accepted_projects", Fault::Empty, |one| {
                one.accepted_projects.push(String::new());
            }),
            ("accepted_roles", Fault::Twice, |one| {
                one.accepted_roles.push("r1".to_owned());
            }),
            ("accepted_roles", Fault::TooLong(64), |one| {
                one.accepted_roles.push("r".repeat(65));
            }),
            ("api_url", Fault::Address, |one| {
                one.api_url = "http://192.0.2.7:6443".to_owned();
            }),
            ("api_url", Fault::Address, |one| {
                one.api_url = "https://portico@192.0.2.7".to_owned();
            }),
            ("api_url", Fault::Character, |one| one.api_url.push(' ')),
            ("ca", Fault::Empty, |one| one.ca.clear()),
            ("ca", Fault::TooLong(8192), |one| one.ca = PEM.repeat(200)),
            ("client_ca", Fault::Pem, |one| {
                one.client_ca = "nonsense".to_owned();
            }),
            ("client_ca", Fault::Pem, |one| {
                one.client_ca.push_str("-----BEGIN PRIVATE KEY-----");
            }),
            ("api_audiences", Fault::Empty, |one| {
                one.api_audiences.clear();
            }),
            ("api_audiences", Fault::Twice, |one| {
                let again = one.api_audiences[0].clone();
                one.api_audiences.push(again);
            }),
        ];
        for (member, fault, change) in cases {
            let mut one = cluster();
            change(&mut one);
            assert_eq!(one.check(), Err(invalid(member, fault)), "{member}");
        }
    }
}
