//! Files for one cluster's administrator: the webhook's files and flags for the API server, and the
//! roles and the account that bind Keystone's roles in the cluster.
use super::certificates::{Authority, Pair};
use super::configuration;
use super::directory::{Access, Staging};
use super::error::InitError;
use super::roles::Roles;
use super::settings::Cluster;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use portico_domain::cluster::ClusterRecord;
use portico_kube_auth::{ReviewKind, WebhookConfig, webhook_kubeconfig};
use std::time::Duration;
use url::Url;

/// Part of the bound on revocation; the API server's own default is two minutes.
const CACHE_TTL: Duration = Duration::from_secs(10);
const CERTIFICATE: &str = "portico-webhook.crt";
const KEY: &str = "portico-webhook.key";
const KUBECONFIG: &str = "webhook.kubeconfig";

const ROLES: &str = include_str!("../../../../scripts/seed/roles.yaml");
const ADMINS: &str = include_str!("../../../../scripts/seed/admins.yaml");
const BOOTSTRAP: &str = include_str!("../../../../scripts/seed/bootstrap.yaml");
const ADMIN_PLACEHOLDER: &str = "@ROLE_ID_K8S_ADMIN@";

/// How API servers reach kube-auth, and where their files are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Webhook<'a> {
    pub url: &'a Url,
    /// The authority of kube-auth's certificate (PEM).
    pub ca_pem: &'a str,
    /// The directory on the API servers' machines.
    pub directory: &'a str,
}

/// Writes the cluster's directory, without the webhook's files.
///
/// # Errors
/// [`InitError::Write`].
pub(super) fn write(
    staging: &Staging,
    cluster: &Cluster,
    webhook: &Webhook<'_>,
    roles: &Roles,
) -> Result<(), InitError> {
    let file = |name: &str| format!("clusters/{}/{name}", cluster.directory);
    if let Some(pem) = &cluster.ca_pem {
        staging.write(&file("ca.crt"), Access::Public, pem)?;
    }
    for (name, text) in [
        ("apiserver.flags", flags(webhook)),
        ("kubeadm-v1beta4.yaml", kubeadm_v1beta4(webhook)),
        ("kubeadm-v1beta3.yaml", kubeadm_v1beta3(webhook)),
        ("rbac.yaml", rbac(roles)),
        ("bootstrap.kubeconfig", bootstrap_kubeconfig(cluster)),
    ] {
        staging.write(&file(name), Access::Public, &text)?;
    }
    Ok(())
}

/// Writes the `[[clusters]]` entry to append to an existing configuration.
///
/// # Errors
/// [`InitError::Write`].
pub(super) fn write_entry(staging: &Staging, cluster: &Cluster) -> Result<(), InitError> {
    let name = format!("clusters/{}/cluster.toml", cluster.directory);
    staging.write(&name, Access::Public, &configuration::cluster(cluster))
}

/// Writes the files to copy to the API server's machine: kubeconfig, client certificate and key.
///
/// # Errors
/// [`InitError::Certificate`] and [`InitError::Write`].
pub(super) fn write_webhook(
    staging: &Staging,
    directory: &str,
    record: &ClusterRecord,
    webhook: &Webhook<'_>,
    authority: &Authority,
) -> Result<(), InitError> {
    let Pair { cert_pem, key_pem } = authority.api_server(&record.name, record.id)?;
    let kubeconfig = webhook_kubeconfig(
        record,
        &WebhookConfig {
            review: ReviewKind::Authentication,
            url: webhook.url.as_str(),
            ca_pem: webhook.ca_pem.as_bytes(),
            // an API server resolves relative names against the kubeconfig's directory
            client_cert_file: CERTIFICATE,
            client_key_file: KEY,
            config_file: &format!("{}/{KUBECONFIG}", webhook.directory),
            cache_ttl: CACHE_TTL,
        },
    );
    let file = |name: &str| format!("clusters/{directory}/api-server/{name}");
    staging.write(&file(KUBECONFIG), Access::Private, &kubeconfig)?;
    staging.write(&file(CERTIFICATE), Access::Public, &cert_pem)?;
    staging.write(&file(KEY), Access::Private, &key_pem)
}

fn arguments(webhook: &Webhook<'_>) -> [(&'static str, String); 3] {
    [
        (
            "authentication-token-webhook-config-file",
            format!("{}/{KUBECONFIG}", webhook.directory),
        ),
        ("authentication-token-webhook-version", "v1".to_owned()),
        (
            "authentication-token-webhook-cache-ttl",
            format!("{}s", CACHE_TTL.as_secs()),
        ),
    ]
}

/// Returns the API server's flags, one per line.
fn flags(webhook: &Webhook<'_>) -> String {
    arguments(webhook)
        .map(|(name, value)| format!("--{name}={value}\n"))
        .concat()
}

fn kubeadm_v1beta4(webhook: &Webhook<'_>) -> String {
    let arguments = arguments(webhook)
        .map(|(name, value)| format!("  - name: {name}\n    value: {}\n", quoted(&value)))
        .concat();
    kubeadm("v1beta4", "1.31 and newer", &arguments, webhook)
}

fn kubeadm_v1beta3(webhook: &Webhook<'_>) -> String {
    let arguments = arguments(webhook)
        .map(|(name, value)| format!("    {name}: {}\n", quoted(&value)))
        .concat();
    kubeadm("v1beta3", "1.22 to 1.30", &arguments, webhook)
}

fn kubeadm(version: &str, kubernetes: &str, arguments: &str, webhook: &Webhook<'_>) -> String {
    let directory = quoted(webhook.directory);
    format!(
        "\
# For kubeadm of Kubernetes {kubernetes}: add what is below `apiServer` to your ClusterConfiguration.
apiVersion: kubeadm.k8s.io/{version}
kind: ClusterConfiguration
apiServer:
  extraArgs:
{arguments}  extraVolumes:
  - name: portico
    hostPath: {directory}
    mountPath: {directory}
    readOnly: true
    pathType: Directory
"
    )
}

/// Returns the pre-defined roles, the administrators' binding if their role's ID is known, and the
/// account of `portico kube-auth bootstrap`.
fn rbac(roles: &Roles) -> String {
    let admins = match &roles.admin.id {
        Some(id) => ADMINS.replace(ADMIN_PLACEHOLDER, id),
        None => format!(
            "# The role of administrators ({}) is bound by a command of its own: see STEPS.md.\n",
            roles.admin.name
        ),
    };
    [ROLES, admins.as_str(), BOOTSTRAP].join("---\n")
}

fn bootstrap_kubeconfig(cluster: &Cluster) -> String {
    let server = quoted(cluster.spec.api_url.as_str().trim_end_matches('/'));
    let authority = match &cluster.ca_pem {
        Some(pem) => format!("    certificate-authority-data: {}\n", STANDARD.encode(pem)),
        None => String::new(),
    };
    format!(
        "\
# For `portico kube-auth bootstrap`: the service account kube-system/portico-bootstrap, which can see
# namespaces and bind three roles, and nothing else. Its token is in the file bootstrap.token beside
# this one: see STEPS.md.
apiVersion: v1
kind: Config
clusters:
- name: cluster
  cluster:
    server: {server}
{authority}users:
- name: portico-bootstrap
  user:
    tokenFile: bootstrap.token
contexts:
- name: bootstrap
  context:
    cluster: cluster
    user: portico-bootstrap
current-context: bootstrap
"
    )
}

/// Returns a YAML string; JSON strings are valid YAML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn webhook(url: &Url) -> Webhook<'_> {
        Webhook {
            url,
            ca_pem: "PEM",
            directory: "/etc/kubernetes/portico",
        }
    }

    #[test]
    fn both_kubeadm_forms_hold_the_flags_and_the_mount() {
        let url = Url::parse("https://auth.example.org:9443").unwrap();
        let old: Value = serde_norway::from_str(&kubeadm_v1beta3(&webhook(&url))).unwrap();
        let new: Value = serde_norway::from_str(&kubeadm_v1beta4(&webhook(&url))).unwrap();
        let listed = new["apiServer"]["extraArgs"].as_array().unwrap();
        assert_eq!(listed.len(), 3);
        for argument in listed {
            let name = argument["name"].as_str().unwrap();
            assert_eq!(old["apiServer"]["extraArgs"][name], argument["value"]);
            let flag = format!("--{name}={}\n", argument["value"].as_str().unwrap());
            assert!(flags(&webhook(&url)).contains(&flag), "{flag}");
        }
        for form in [old, new] {
            let mount = &form["apiServer"]["extraVolumes"][0];
            assert_eq!(mount["hostPath"], "/etc/kubernetes/portico");
            assert_eq!(mount["mountPath"], "/etc/kubernetes/portico");
        }
    }

    #[test]
    fn the_roles_are_kubernetes_objects_with_and_without_the_administrators_id() {
        use serde::Deserialize as _;
        let role = |text: &str| text.parse().unwrap();
        let mut roles = Roles {
            admin: role("k8s_admin"),
            developer: role("k8s_developer"),
            viewer: role("k8s_viewer"),
        };
        let bindings = |roles: &Roles| -> Vec<String> {
            serde_norway::Deserializer::from_str(&rbac(roles))
                .map(|document| Value::deserialize(document).unwrap())
                .filter(|object| object["kind"] == "ClusterRoleBinding")
                .map(|object| object["metadata"]["name"].as_str().unwrap().to_owned())
                .collect()
        };
        assert_eq!(bindings(&roles), ["portico-bootstrap"]);
        roles.admin = role("k8s_admin=46ab329696bb45acbe6c219746c59c3b");
        assert_eq!(bindings(&roles), ["portico-admin", "portico-bootstrap"]);
        assert!(rbac(&roles).contains("name: \"46ab329696bb45acbe6c219746c59c3b\""));
    }
}
