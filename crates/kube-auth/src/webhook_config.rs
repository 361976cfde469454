//! The configuration of an API server for this webhook: a kubeconfig and a few flags.
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use portico_domain::cluster::ClusterRecord;
use portico_domain::identity::user_group;
use std::fmt::Write as _;
use std::time::Duration;

/// The kind of review that the API server sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewKind {
    /// The user of a bearer token.
    Authentication,
    /// What a user may do, if the cluster has a policy.
    Authorization,
}

impl ReviewKind {
    fn path(self) -> &'static str {
        match self {
            Self::Authentication => "tokenreview",
            Self::Authorization => "subjectaccessreview",
        }
    }

    /// Returns the API server's flags. Its default cache TTL of minutes would let revoked roles
    /// work for as long.
    fn flags(self, file: &str, ttl: u64) -> String {
        match self {
            Self::Authentication => format!(
                "\
#   --authentication-token-webhook-config-file={file}
#   --authentication-token-webhook-version=v1
#   --authentication-token-webhook-cache-ttl={ttl}s"
            ),
            Self::Authorization => format!(
                "\
#   --authorization-mode=Node,Webhook,RBAC
#   --authorization-webhook-config-file={file}
#   --authorization-webhook-version=v1
#   --authorization-webhook-cache-authorized-ttl={ttl}s
#   --authorization-webhook-cache-unauthorized-ttl={ttl}s"
            ),
        }
    }
}

/// The webhook's address for the API server, and the API server's credentials for it.
#[derive(Clone, Debug)]
pub struct WebhookConfig<'a> {
    pub review: ReviewKind,
    /// The webhook's base URL, as reached by the API server.
    pub url: &'a str,
    /// The authority of the webhook's certificate (PEM).
    pub ca_pem: &'a [u8],
    /// The client certificate's path on the API server's machine. Files are read again when they
    /// change, which is why they are not embedded.
    pub client_cert_file: &'a str,
    /// The client key's path on the API server's machine.
    pub client_key_file: &'a str,
    /// The path of the rendered file on the API server's machine.
    pub config_file: &'a str,
    /// How long the API server may cache a response; 10 s keeps revocation under a minute.
    pub cache_ttl: Duration,
}

/// Returns the webhook kubeconfig of one cluster, with the API server's flags as a comment at the
/// top.
pub fn webhook_kubeconfig(cluster: &ClusterRecord, config: &WebhookConfig<'_>) -> String {
    let base = config.url.trim_end_matches('/');
    let path = config.review.path();
    let server = quoted(&format!("{base}/clusters/{}/{path}", cluster.id));
    format!(
        "\
# {webhook} webhook of cluster {name} ({id}).
# Save it as {file} and start kube-apiserver with
{flags}
# The client certificate must hold the URI portico:cluster:{id} as subject alternative name.
apiVersion: v1
kind: Config
clusters:
- name: portico
  cluster:
    server: {server}
    certificate-authority-data: {ca}
users:
- name: kube-apiserver
  user:
    client-certificate: {certificate}
    client-key: {key}
contexts:
- name: portico
  context:
    cluster: portico
    user: kube-apiserver
current-context: portico
",
        webhook = match config.review {
            ReviewKind::Authentication => "Token",
            ReviewKind::Authorization => "Authorization",
        },
        name = one_line(&cluster.name),
        id = cluster.id,
        file = one_line(config.config_file),
        flags = config
            .review
            .flags(&one_line(config.config_file), config.cache_ttl.as_secs()),
        ca = STANDARD.encode(config.ca_pem),
        certificate = quoted(config.client_cert_file),
        key = quoted(config.client_key_file),
    )
}

/// Returns the structured authorization configuration (`apiserver.config.k8s.io/v1`, Kubernetes
/// 1.32 and newer) with which an API server asks the webhook in the kubeconfig at `config_file`,
/// for Portico's users only. If the webhook cannot answer, the request is denied: with the flags,
/// the next authorizer would be asked.
pub fn authorization_configuration(config_file: &str, cache_ttl: Duration) -> String {
    format!(
        "\
# Structured authorization, for Kubernetes 1.32 and newer. Start kube-apiserver with
#   --authorization-config=<this file>
# and without any --authorization-mode and --authorization-webhook-* flag.
apiVersion: apiserver.config.k8s.io/v1
kind: AuthorizationConfiguration
authorizers:
- type: Node
  name: node
- type: Webhook
  name: portico
  webhook:
    subjectAccessReviewVersion: v1
    matchConditionSubjectAccessReviewVersion: v1
    timeout: 3s
    authorizedTTL: {ttl}s
    unauthorizedTTL: {ttl}s
    failurePolicy: Deny
    connectionInfo:
      type: KubeConfigFile
      kubeConfigFile: {file}
    matchConditions:
    # only users whom Portico has authenticated
    - expression: \"has(request.groups) && request.groups.exists(group, group.startsWith('{prefix}'))\"
- type: RBAC
  name: rbac
",
        ttl = cache_ttl.as_secs(),
        file = quoted(config_file),
        prefix = user_group(""),
    )
}

/// Returns a YAML string, in JSON's syntax. Characters that a terminal interprets are escaped: the
/// file is printed.
fn quoted(text: &str) -> String {
    let json = serde_json::Value::from(text).to_string();
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if acts_on_terminals(c) {
            // all of them are in the basic multilingual plane; writing to a String cannot fail
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

/// Returns text for a comment, which a line break would end.
fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| if acts_on_terminals(c) { ' ' } else { c })
        .collect()
}

/// Returns whether a character is a control character, or changes the direction of text or breaks
/// lines.
fn acts_on_terminals(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::cluster::RawTokens;
    use uuid::Uuid;

    fn rendered(review: ReviewKind) -> String {
        let cluster = ClusterRecord {
            id: Uuid::from_u128(7),
            name: "acme\nprod".to_owned(),
            owner_project: "p".to_owned(),
            accepted_projects: Vec::new(),
            accepted_domains: Vec::new(),
            accepted_roles: Vec::new(),
            accepted_tokens: Vec::new(),
            api_url: "https://127.0.0.1:6443".to_owned(),
            ca_file: None,
            sealing_key_file: "k.pub".into(),
            api_audiences: vec!["a".to_owned()],
            client_fingerprints: Vec::new(),
            authorization_policy_file: None,
            authorization_policy_config_map: None,
            raw_keystone_tokens: RawTokens::Off,
            namespace_format: portico_domain::namespace_format::NamespaceFormat::default(),
        };
        webhook_kubeconfig(
            &cluster,
            &WebhookConfig {
                review,
                url: "https://auth.example.org:9443/",
                ca_pem: b"PEM",
                client_cert_file: "/etc/kubernetes/pki/portico.crt",
                client_key_file: "/etc/kubernetes/pki/portico \"odd\".key",
                config_file: "/etc/kubernetes/portico.yaml",
                cache_ttl: Duration::from_secs(10),
            },
        )
    }

    fn has(text: &str, lines: &[&str]) {
        for line in lines {
            assert!(text.lines().any(|found| found == *line), "{line}\n{text}");
        }
    }

    #[test]
    fn it_names_the_clusters_own_path_and_the_flags() {
        has(
            &rendered(ReviewKind::Authentication),
            &[
                "# Token webhook of cluster acme prod (00000000-0000-0000-0000-000000000007).",
                "#   --authentication-token-webhook-config-file=/etc/kubernetes/portico.yaml",
                "#   --authentication-token-webhook-version=v1",
                "#   --authentication-token-webhook-cache-ttl=10s",
                "    server: \"https://auth.example.org:9443/clusters/00000000-0000-0000-0000-000000000007/tokenreview\"",
                "    certificate-authority-data: UEVN",
                "    client-key: \"/etc/kubernetes/pki/portico \\\"odd\\\".key\"",
            ],
        );
    }

    #[test]
    fn attack_names_and_paths_cannot_drive_a_terminal() {
        let hostile = "a\u{1b}]0;x\u{7}\u{9b}31m\u{202e}\n\u{85}\u{2028}b";
        assert_eq!(
            quoted(hostile),
            r#""a\u001b]0;x\u0007\u009b31m\u202e\n\u0085\u2028b""#
        );
        let read: String = portico_runtime::yaml::from_user_file(&quoted(hostile)).unwrap();
        assert_eq!(read, hostile);
        assert!(!one_line(hostile).contains(acts_on_terminals));
    }

    #[test]
    fn the_structured_configuration_denies_when_the_webhook_does_not_answer() {
        let text = authorization_configuration("/etc/kubernetes/a.yaml", Duration::from_secs(10));
        let parsed: serde_json::Value = portico_runtime::yaml::from_user_file(&text).unwrap();
        let webhook = &parsed["authorizers"][1]["webhook"];
        assert_eq!(webhook["failurePolicy"], "Deny");
        assert_eq!(webhook["authorizedTTL"], "10s");
        let file = &webhook["connectionInfo"]["kubeConfigFile"];
        assert_eq!(file, "/etc/kubernetes/a.yaml");
        let condition = webhook["matchConditions"][0]["expression"]
            .as_str()
            .unwrap();
        assert!(
            condition.contains("startsWith('portico:user:')"),
            "{condition}"
        );
    }

    #[test]
    fn authorization_has_a_path_and_flags_of_its_own() {
        has(
            &rendered(ReviewKind::Authorization),
            &[
                "#   --authorization-mode=Node,Webhook,RBAC",
                "#   --authorization-webhook-config-file=/etc/kubernetes/portico.yaml",
                "#   --authorization-webhook-cache-authorized-ttl=10s",
                "    server: \"https://auth.example.org:9443/clusters/00000000-0000-0000-0000-000000000007/subjectaccessreview\"",
            ],
        );
    }
}
