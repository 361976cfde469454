//! The lines with which the API server of a cluster that others built asks kube-auth.
use portico_domain::{
    cluster::ClusterRecord,
    enrolled_cluster::{ClusterSource, EnrolledCluster},
    identity::Named,
    panel::lifecycle::{ApiServerConfiguration, ConfigurationBlock},
};
use portico_kube_auth::{ReviewKind, WebhookConfig, webhook_kubeconfig};
use portico_lifecycle::driver::Family;
use std::time::Duration;
use uuid::Uuid;

/// Part of the bound on revocation; the API server's own default is two minutes.
const CACHE_TTL: Duration = Duration::from_secs(10);
/// On each machine with an API server.
const DIRECTORY: &str = "/etc/kubernetes/portico";
const CERTIFICATE: &str = "portico-webhook.crt";
const KEY: &str = "portico-webhook.key";
const REQUEST: &str = "portico-webhook.csr";
/// Where kubeadm keeps the cluster's authority.
const PKI: &str = "/etc/kubernetes/pki";
const KUBECONFIG: &str = "webhook.kubeconfig";

/// A cluster, and kube-auth as its API server reaches it.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    pub id: Uuid,
    pub name: &'a str,
    pub family: Family,
    /// Decides who signs the certificate of the API server.
    pub source: ClusterSource,
    /// kube-auth's base URL.
    pub url: &'a str,
    /// The authority of kube-auth's certificate (PEM).
    pub ca_pem: &'a [u8],
    pub is_enrolled: bool,
    /// `None`: not known.
    pub is_configured: Option<bool>,
}

/// Returns the page.
pub fn of(wanted: &Wanted<'_>) -> ApiServerConfiguration {
    let mut introduction = vec![
        "Users sign in to this cluster with their cloud accounts: its API server asks kube-auth about \
         each token. That has to be configured once, on every machine with an API server."
            .to_owned(),
        "The API server authenticates to kube-auth with a certificate of the cluster's own authority. Its \
         key is made on the machine and stays there."
            .to_owned(),
    ];
    if !wanted.is_enrolled {
        introduction.push(
            "Enrol the cluster too: without a record of it kube-auth refuses its API server."
                .to_owned(),
        );
    }
    ApiServerConfiguration {
        cluster: Named {
            id: wanted.id.to_string(),
            name: wanted.name.to_owned(),
        },
        is_configured: wanted.is_configured,
        introduction,
        blocks: [request(wanted), certificate(wanted), kubeconfig(wanted), flags()]
            .into_iter()
            .chain(of_family(wanted.family))
            .collect(),
        verification: vec![
            "Open the cluster in Portico. Its page Authentication has a self-test, which sends a real \
             request with your own token."
                .to_owned(),
            "If the API server refuses you, its log names the webhook, and kube-auth's log has a line for \
             each refused connection."
                .to_owned(),
        ],
    }
}

fn block(title: &str, path: Option<&str>, text: &str, lines: String) -> ConfigurationBlock {
    ConfigurationBlock {
        title: title.to_owned(),
        path: path.map(str::to_owned),
        text: text.to_owned(),
        lines,
    }
}

fn request(wanted: &Wanted<'_>) -> ConfigurationBlock {
    block(
        "Key and certificate request",
        None,
        "Run this on the machine with the API server. The key never leaves it.",
        format!(
            "sudo install -d -m 0700 {DIRECTORY}\n\
             sudo openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out {DIRECTORY}/{KEY}\n\
             sudo openssl req -new -key {DIRECTORY}/{KEY} -subj /CN=portico-webhook \
             -addext extendedKeyUsage=clientAuth -addext subjectAltName=URI:portico:cluster:{id} \
             -out {REQUEST}\n",
            id = wanted.id
        ),
    )
}

fn certificate(wanted: &Wanted<'_>) -> ConfigurationBlock {
    let (text, sign) = match wanted.source {
        ClusterSource::Magnum => (
            "Run this as the user who created the cluster: Magnum signs requests of that user only.",
            format!(
                "openstack coe ca sign {} {REQUEST} > {CERTIFICATE}\n",
                wanted.id
            ),
        ),
        ClusterSource::Operator => (
            "Run this where the key of the cluster's authority is: with kubeadm, on a control plane machine. \
             The certificate is valid for a year: repeat this before it expires.",
            format!(
                "sudo openssl x509 -req -in {REQUEST} -CA {PKI}/ca.crt -CAkey {PKI}/ca.key -days 365 \
                 -copy_extensions copy -out {CERTIFICATE}\n"
            ),
        ),
    };
    let install = format!("sudo install -m 0644 {CERTIFICATE} {DIRECTORY}/{CERTIFICATE}\n");
    block("Certificate", None, text, sign + &install)
}

fn kubeconfig(wanted: &Wanted<'_>) -> ConfigurationBlock {
    let path = format!("{DIRECTORY}/{KUBECONFIG}");
    let lines = webhook_kubeconfig(
        &record(wanted),
        &WebhookConfig {
            review: ReviewKind::Authentication,
            url: wanted.url,
            ca_pem: wanted.ca_pem,
            // an API server resolves relative names against the kubeconfig's directory
            client_cert_file: CERTIFICATE,
            client_key_file: KEY,
            config_file: &path,
            cache_ttl: CACHE_TTL,
        },
    );
    block(
        "Address of kube-auth",
        Some(&format!("{path} (mode 0600)")),
        "Save this file on each machine with an API server.",
        lines,
    )
}

/// Returns the record whose ID and name the file has.
fn record(wanted: &Wanted<'_>) -> ClusterRecord {
    let record = EnrolledCluster {
        id: wanted.id,
        name: wanted.name.to_owned(),
        owner_project: String::new(),
        accepted_projects: Vec::new(),
        accepted_roles: Vec::new(),
        api_url: String::new(),
        ca: String::new(),
        client_ca: String::new(),
        api_audiences: Vec::new(),
        source: wanted.source,
    };
    record.record()
}

fn arguments() -> [String; 3] {
    [
        format!("--authentication-token-webhook-config-file={DIRECTORY}/{KUBECONFIG}"),
        "--authentication-token-webhook-version=v1".to_owned(),
        format!(
            "--authentication-token-webhook-cache-ttl={}s",
            CACHE_TTL.as_secs()
        ),
    ]
}

fn flags() -> ConfigurationBlock {
    block(
        "Flags of kube-apiserver",
        None,
        "Start the API server with these flags. Remove other --authentication-token-webhook-* flags, such \
         as those of k8s-keystone-auth.",
        arguments().map(|argument| format!("{argument}\n")).concat(),
    )
}

/// Returns where the flags belong on machines of a driver.
fn of_family(family: Family) -> Vec<ConfigurationBlock> {
    match family {
        Family::Heat => vec![heat()],
        Family::CapiHelm | Family::ClusterApi => vec![static_pod(
            "The kubelet restarts the API server when this file changes. Cluster API replaces machines: ask \
             the operator of the cloud to add the files and flags to the KubeadmControlPlane, or repeat this \
             after each replacement.",
        )],
        Family::Complete | Family::Unknown => vec![static_pod(
            "If kubeadm made the control plane, add these lines. The kubelet restarts the API server when \
             the file changes.",
        )],
    }
}

fn static_pod(text: &str) -> ConfigurationBlock {
    let arguments = arguments().map(|argument| format!("    - {argument}\n"));
    let lines = format!(
        "# below spec.containers[0].command\n\
         {arguments}# below spec.containers[0].volumeMounts\n    - name: portico\n      \
         mountPath: {DIRECTORY}\n      readOnly: true\n\
         # below spec.volumes\n  - name: portico\n    hostPath:\n      path: {DIRECTORY}\n      \
         type: Directory\n",
        arguments = arguments.concat()
    );
    let path = "/etc/kubernetes/manifests/kube-apiserver.yaml (mode 0600)";
    block("Static pod of kubeadm", Some(path), text, lines)
}

fn heat() -> ConfigurationBlock {
    let flags = arguments().join(" ");
    block(
        "Flags on masters of Heat",
        None,
        "The service reads its flags from /etc/kubernetes/apiserver. These commands append them, and restart \
         it.",
        format!(
            "sudo sed -i 's#^KUBE_API_ARGS=\"#&{flags} #' /etc/kubernetes/apiserver\n\
             sudo systemctl restart kube-apiserver\n"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(family: Family) -> ApiServerConfiguration {
        page_of(family, ClusterSource::Magnum)
    }

    fn page_of(family: Family, source: ClusterSource) -> ApiServerConfiguration {
        of(&Wanted {
            id: Uuid::from_u128(7),
            name: "shop",
            family,
            source,
            url: "https://portico.example.org:9443/",
            ca_pem: b"PEM",
            is_enrolled: false,
            is_configured: Some(false),
        })
    }

    fn lines(page: &ApiServerConfiguration) -> String {
        let lines = page.blocks.iter().map(|block| block.lines.as_str());
        lines.collect()
    }

    #[test]
    fn the_lines_have_kube_auths_address_the_clusters_id_and_the_flags() {
        let page = page(Family::CapiHelm);
        let text = lines(&page);
        let id = Uuid::from_u128(7);
        for expected in [
            format!("https://portico.example.org:9443/clusters/{id}/tokenreview"),
            format!("subjectAltName=URI:portico:cluster:{id}"),
            format!("openstack coe ca sign {id} portico-webhook.csr > portico-webhook.crt\n"),
            "--authentication-token-webhook-config-file=/etc/kubernetes/portico/webhook.kubeconfig\n"
                .to_owned(),
            "certificate-authority-data: UEVN".to_owned(),
            "  - name: portico\n    hostPath:\n      path: /etc/kubernetes/portico\n".to_owned(),
        ] {
            assert!(text.contains(&expected), "{expected}\n{text}");
        }
        assert!(
            page.introduction
                .iter()
                .any(|line| line.starts_with("Enrol"))
        );
    }

    #[test]
    fn the_certificate_of_an_imported_cluster_is_signed_without_magnum() {
        let text = lines(&page_of(Family::Unknown, ClusterSource::Operator));
        assert!(!text.contains("openstack"), "{text}");
        for expected in [
            "-CA /etc/kubernetes/pki/ca.crt -CAkey /etc/kubernetes/pki/ca.key -days 365 ",
            "-in portico-webhook.csr ",
            "sudo install -m 0644 portico-webhook.crt /etc/kubernetes/portico/portico-webhook.crt\n",
            "tokenreview",
            "    - --authentication-token-webhook-version=v1\n",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
    }

    #[test]
    fn flags_are_where_the_driver_has_them() {
        let heat = lines(&page(Family::Heat));
        assert!(heat.contains("KUBE_API_ARGS") && !heat.contains("spec.volumes"));
        let unknown = lines(&page(Family::Unknown));
        assert!(unknown.contains("    - --authentication-token-webhook-version=v1\n"));
    }
}
