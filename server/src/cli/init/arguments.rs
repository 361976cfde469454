//! The options of `portico init`.
use super::cluster_spec::ClusterSpec;
use super::roles::RoleSpec;
use clap::{Args, ValueEnum};
use ipnet::IpNet;
use std::net::SocketAddr;
use std::path::PathBuf;
use url::Url;

/// Write the configuration, keys, certificates and remaining steps of a new installation
///
/// Asks for what the options leave out when standard input is a terminal. Checks that Keystone and the
/// API servers answer, then writes the directory. Existing files are never overwritten: a directory
/// that is not empty is refused, and --add only adds files that are missing.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  portico init
  portico init --yes --keystone-url https://keystone.example.org/v3 \\
    --public-url https://portico.example.org --apps-domain apps.portico.example.org \\
    --cluster name=prod,project=915d66fa...,api-url=https://10.0.0.10:6443,ca-file=prod-ca.crt
  portico init --add --yes \\
    --cluster name=test,project=915d66fa...,api-url=https://10.0.0.20:6443,ca-file=test-ca.crt")]
pub(in crate::cli) struct InitArgs {
    /// Directory to write; must be empty or missing, except with --add
    #[arg(long, value_name = "DIR", default_value = "/etc/portico")]
    pub out: PathBuf,
    /// Add clusters and missing certificates to a directory that init wrote before
    #[arg(long)]
    pub add: bool,
    /// Ask nothing: take the options, and the defaults for the rest
    #[arg(long)]
    pub yes: bool,
    /// Do not check whether Keystone and the API servers respond
    #[arg(long)]
    pub skip_checks: bool,
    /// Format of the report
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t = Output::Text)]
    pub output: Output,

    /// Keystone's identity API v3, such as https://keystone.example.org/v3
    #[arg(long, value_name = "URL", help_heading = "Cloud")]
    pub keystone_url: Option<Url>,
    /// Certificate authority of Keystone's certificate (PEM); default: the public ones
    #[arg(long, value_name = "FILE", help_heading = "Cloud")]
    pub keystone_ca_file: Option<PathBuf>,
    /// Accept http:// for a Keystone on another machine
    #[arg(long, help_heading = "Cloud")]
    pub allow_plain_http: bool,
    /// Name of the Keystone role whose holders administer clusters, or NAME=ID
    #[arg(
        long,
        value_name = "NAME[=ID]",
        default_value = "k8s_admin",
        help_heading = "Cloud"
    )]
    pub admin_role: RoleSpec,
    /// Name of the Keystone role whose holders read and write in namespaces, or NAME=ID
    #[arg(
        long,
        value_name = "NAME[=ID]",
        default_value = "k8s_developer",
        help_heading = "Cloud"
    )]
    pub developer_role: RoleSpec,
    /// Name of the Keystone role whose holders read in namespaces, or NAME=ID
    #[arg(
        long,
        value_name = "NAME[=ID]",
        default_value = "k8s_viewer",
        help_heading = "Cloud"
    )]
    pub viewer_role: RoleSpec,

    /// A cluster: name=NAME,project=ID,api-url=URL[,ca-file=FILE][,id=UUID]; may be repeated
    #[arg(long = "cluster", value_name = "CLUSTER", help_heading = "Clusters")]
    pub clusters: Vec<ClusterSpec>,
    /// kube-auth as the API servers reach it; default: https://, the public host and port 9443
    #[arg(long, value_name = "URL", help_heading = "Clusters")]
    pub kube_auth_url: Option<Url>,
    /// Where the webhook's files will be on the API servers' machines
    #[arg(
        long,
        value_name = "PATH",
        default_value = "/etc/kubernetes/portico",
        help_heading = "Clusters"
    )]
    pub api_server_dir: String,

    /// The address that users type, such as https://portico.example.org
    #[arg(long, value_name = "URL", help_heading = "Addresses")]
    pub public_url: Option<Url>,
    /// Apps are at <id>.<this domain>; default: apps. and the public host
    #[arg(long, value_name = "DOMAIN", help_heading = "Addresses")]
    pub apps_domain: Option<String>,
    /// Where the gateway listens; default: every IPv4 address, at the public URL's port
    #[arg(long, value_name = "ADDRESS", help_heading = "Addresses")]
    pub listen: Option<SocketAddr>,
    /// Where kube-auth listens; default: every IPv4 address, at the port of --kube-auth-url
    #[arg(long, value_name = "ADDRESS", help_heading = "Addresses")]
    pub kube_auth_listen: Option<SocketAddr>,
    /// Where the panel listens, behind the gateway
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1:9190",
        help_heading = "Addresses"
    )]
    pub panel_listen: SocketAddr,
    /// Where health and metrics are served, for the operator only
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1:9180",
        help_heading = "Addresses"
    )]
    pub admin_listen: SocketAddr,

    /// Where sessions are kept: sqlite:///PATH, postgres://… or rediss://…;
    /// default: sqlite:///var/lib/portico/portico.db
    #[arg(
        long,
        value_name = "URL",
        env = "PORTICO_INIT_STORE",
        hide_env_values = true,
        help_heading = "Store"
    )]
    pub store: Option<String>,

    /// The gateway's certificate chain (PEM); default: one is made
    #[arg(
        long,
        value_name = "FILE",
        requires = "gateway_key",
        conflicts_with = "behind_proxy",
        help_heading = "Certificates"
    )]
    pub gateway_cert: Option<PathBuf>,
    /// Private key (PEM) of --gateway-cert
    #[arg(
        long,
        value_name = "FILE",
        requires = "gateway_cert",
        help_heading = "Certificates"
    )]
    pub gateway_key: Option<PathBuf>,
    /// TLS ends at a proxy in this network: the gateway serves plain HTTP and trusts its
    /// X-Forwarded-* headers; may be repeated
    #[arg(long, value_name = "NETWORK", help_heading = "Certificates")]
    pub behind_proxy: Vec<IpNet>,
    /// kube-auth's certificate chain (PEM); default: one is made
    #[arg(long, value_name = "FILE", requires_all = ["kube_auth_key", "kube_auth_ca_file"], help_heading = "Certificates")]
    pub kube_auth_cert: Option<PathBuf>,
    /// Private key (PEM) of --kube-auth-cert
    #[arg(
        long,
        value_name = "FILE",
        requires = "kube_auth_cert",
        help_heading = "Certificates"
    )]
    pub kube_auth_key: Option<PathBuf>,
    /// Certificate authority (PEM) of --kube-auth-cert, for the API servers
    #[arg(long, value_name = "FILE", help_heading = "Certificates")]
    pub kube_auth_ca_file: Option<PathBuf>,
    /// Your certificate authority (PEM), to sign the server certificates; default: one is made
    #[arg(
        long,
        value_name = "FILE",
        requires = "ca_key",
        help_heading = "Certificates"
    )]
    pub ca_cert: Option<PathBuf>,
    /// Private key (PEM) of --ca-cert; read, and not copied
    #[arg(
        long,
        value_name = "FILE",
        requires = "ca_cert",
        help_heading = "Certificates"
    )]
    pub ca_key: Option<PathBuf>,

    /// Group that may read the files, as the service's user must; default: portico, where there is one
    /// and root runs init
    #[arg(long, value_name = "GROUP", help_heading = "systemd")]
    pub group: Option<String>,
    /// Write a systemd unit for each role instead of one for all
    #[arg(long, help_heading = "systemd")]
    pub split_roles: bool,
}

/// How the report is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Output {
    /// For people
    Text,
    /// For programs
    Json,
}
