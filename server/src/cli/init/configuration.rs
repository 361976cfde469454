//! Rendering of `portico.toml`: commented, and with only what differs from the defaults.
use super::roles::Roles;
use super::settings::{Cluster, GatewayTls, KubeAuthTls, Settings};
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::Path;

/// Returns where a role of a split installation serves health and metrics: the ports after the
/// first.
pub(super) fn admin_of(settings: &Settings, role: usize) -> SocketAddr {
    let mut address = settings.admin_listen;
    let offset = u16::try_from(role).unwrap_or_default();
    address.set_port(address.port().saturating_add(offset));
    address
}

/// Returns the file's text. Paths in it are relative to the file, so that the directory can be
/// moved.
pub(super) fn render(settings: &Settings) -> String {
    let sections = [
        head(),
        admin(settings),
        store(settings),
        keystone(settings),
        gateway(settings),
        panel(settings),
        kube_auth(settings),
        clusters(settings),
    ];
    sections.concat()
}

fn head() -> String {
    "\
# Portico's configuration, written by `portico init`. Only what differs from the defaults is here;
# `portico config schema` and docs/reference/configuration.md describe every key. Relative paths start
# at this file's directory. After a change: `portico config check`, then restart Portico. Certificates,
# keys and rules files are read again while it runs.
"
    .to_owned()
}

fn admin(settings: &Settings) -> String {
    let default: SocketAddr = ([127, 0, 0, 1], 9180).into();
    if settings.admin_listen == default {
        return String::new();
    }
    format!(
        "
# /live, /ready and /metrics, for the operator only.
[admin]
listen = {}
",
        quoted(&settings.admin_listen.to_string())
    )
}

fn store(settings: &Settings) -> String {
    format!(
        "
# Sessions, tokens and the audit log. The key seals them: keep a copy of it apart from the backups of
# the store, which are useless without it.
[store]
url = {}
key_files = [\"keys/store-1.key\"]
",
        quoted(&settings.store)
    )
}

fn keystone(settings: &Settings) -> String {
    let keystone = &settings.keystone;
    let mut text = format!(
        "
# The cloud's identity service.
[keystone]
url = {}
",
        quoted(keystone.url.as_str())
    );
    if keystone.ca_pem.is_some() {
        text.push_str("ca_file = \"tls/keystone-ca.crt\"\n");
    }
    if keystone.allow_plain_http {
        text.push_str(
            "# Passwords and tokens cross the network in the clear.\nallow_plain_http = true\n",
        );
    }
    text
}

fn gateway(settings: &Settings) -> String {
    let public_url = settings.public_url.as_str().trim_end_matches('/');
    let mut text = format!(
        "
# Sign-in, sessions and the reverse proxy: what users reach.
[gateway]
listen = {}
public_url = {}
# App <id> is at <id>.<apps_domain>: a wildcard DNS record leads here.
apps_domain = {}
",
        quoted(&settings.listen.to_string()),
        quoted(public_url),
        quoted(&settings.apps_domain)
    );
    match &settings.gateway_tls {
        GatewayTls::Made => tls_files(&mut text, "tls/gateway.crt", "tls/gateway.key"),
        GatewayTls::Files { cert, key } => tls_files(&mut text, &path(cert), &path(key)),
        GatewayTls::Plain(proxies) if proxies.is_empty() => {}
        GatewayTls::Plain(proxies) => {
            let networks: Vec<String> = proxies
                .iter()
                .map(|network| quoted(&network.to_string()))
                .collect();
            let _ = writeln!(
                text,
                "# TLS ends at a proxy in these networks; its X-Forwarded-* headers are trusted.\n\
                 trusted_proxies = [{}]",
                networks.join(", ")
            );
        }
    }
    let _ = write!(
        text,
        "assertion_key_file = \"keys/assertion.pem\"
panel_url = {}
panel_sealing_key_file = \"keys/panel.pub\"
",
        quoted(&format!("http://{}", settings.panel_listen))
    );
    text
}

fn tls_files(text: &mut String, cert: &str, key: &str) {
    let _ = write!(
        text,
        "tls_cert_file = {}\ntls_key_file = {}\n",
        quoted(cert),
        quoted(key)
    );
}

fn panel(settings: &Settings) -> String {
    let mut text = String::from("\n# The pages, behind the gateway.\n[panel]\n");
    let default: SocketAddr = ([127, 0, 0, 1], 9190).into();
    if settings.panel_listen != default {
        let listen = quoted(&settings.panel_listen.to_string());
        let _ = writeln!(text, "listen = {listen}");
    }
    text.push_str("private_key_file = \"keys/panel.key\"\n");
    if settings.split_roles {
        let metrics = quoted(&format!("http://{}/metrics", admin_of(settings, 2)));
        let _ = write!(
            text,
            "# The gateway and kube-auth are processes of their own.\n\
             assertion_public_key_files = [\"keys/assertion.pub\"]\n\
             kube_auth_metrics_url = {metrics}\n"
        );
    }
    text.push_str(&role_names(&settings.roles));
    text
}

fn role_names(roles: &Roles) -> String {
    let mut text = String::from(
        "
# Names of the Keystone roles by ID, for viewers whose own token does not show them.
",
    );
    let known: Vec<_> = roles
        .all()
        .into_iter()
        .filter_map(|role| Some((role.id.as_deref()?, role.name.as_str())))
        .collect();
    if known.is_empty() {
        text.push_str("# [panel.role_names]\n");
        for role in roles.all() {
            let _ = writeln!(
                text,
                "# \"ID of {0}\" = \"{0}\"   # openstack role show {0} -f value -c id",
                role.name
            );
        }
        return text;
    }
    text.push_str("[panel.role_names]\n");
    for (id, name) in known {
        let _ = writeln!(text, "{} = {}", quoted(id), quoted(name));
    }
    text
}

fn kube_auth(settings: &Settings) -> String {
    let mut text = format!(
        "
# The webhook that API servers ask about tokens. They authenticate with client certificates of
# client_ca_file that name their cluster.
[kube_auth]
listen = {}
",
        quoted(&settings.kube_auth_listen.to_string())
    );
    match &settings.kube_auth_tls {
        KubeAuthTls::Made => tls_files(&mut text, "tls/kube-auth.crt", "tls/kube-auth.key"),
        KubeAuthTls::Files { cert, key, .. } => tls_files(&mut text, &path(cert), &path(key)),
    }
    text.push_str(
        "client_ca_file = \"tls/api-servers-ca.crt\"\nkey_files = [\"keys/kube-auth-1.key\"]\n",
    );
    text
}

fn clusters(settings: &Settings) -> String {
    if settings.clusters.is_empty() {
        return "\n# Add clusters with `portico init --add --cluster …`.\n".to_owned();
    }
    settings.clusters.iter().map(cluster).collect()
}

/// Returns the `[[clusters]]` entry of one cluster.
pub(super) fn cluster(cluster: &Cluster) -> String {
    let spec = &cluster.spec;
    let mut text = format!(
        "
[[clusters]]
# Never give a cluster another ID, or its ID to another cluster.
id = {}
name = {}
owner_project = {}
# Tokens of these projects are accepted.
accepted_projects = [{}]
api_url = {}
",
        quoted(&spec.id.to_string()),
        quoted(&spec.name),
        quoted(&spec.project),
        quoted(&spec.project),
        quoted(spec.api_url.as_str().trim_end_matches('/')),
    );
    if cluster.ca_pem.is_some() {
        let file = quoted(&format!("clusters/{}/ca.crt", cluster.directory));
        let _ = writeln!(text, "ca_file = {file}");
    }
    text.push_str("sealing_key_file = \"keys/kube-auth-1.pub\"\n");
    text
}

fn path(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Returns a TOML string.
fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}
