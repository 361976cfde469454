//! `portico kube-auth …`.
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum KubeAuthCommand {
    /// Run the webhook (the default)
    Serve,
    /// Print the webhook kubeconfig for a cluster's API server
    Config(WebhookArgs),
    /// Bind the pre-defined roles in every namespace of a cluster
    Bootstrap(BootstrapArgs),
    Sync(Box<SyncArgs>),
    /// Lint, explain and test authorization policies
    Policy {
        #[command(subcommand)]
        command: PolicyCommand,
    },
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum PolicyCommand {
    /// Report what a policy allows by accident; fail when it cannot be used
    Lint {
        /// The policy: k8s-keystone-auth's (JSON) or kube-auth.portico.dev/v1 (YAML)
        file: PathBuf,
        /// Fail on warnings too
        #[arg(long)]
        strict: bool,
    },
    Explain(Box<ExplainArgs>),
    /// Compare a policy with a list of expectations
    Test {
        /// The policy
        file: PathBuf,
        /// The expectations (YAML): name, user, verb, resource or path, namespace, allowed
        cases: PathBuf,
    },
}

/// Explain for each rule whether it allows a request
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  portico kube-auth policy explain policy.json --role k8s_viewer --project 2b7f85af... \\
    --namespace shop get pods/exec")]
pub(in crate::cli) struct ExplainArgs {
    /// The policy
    pub file: PathBuf,
    /// The verb: get, list, create ...
    pub verb: String,
    /// The resource: pods, pods/exec, deployments.apps/scale, or a path that starts with /
    pub target: String,
    /// The namespace of the object
    #[arg(long, short, value_name = "NAME", default_value = "")]
    pub namespace: String,
    /// The object's name
    #[arg(long, value_name = "NAME", default_value = "")]
    pub name: String,
    /// The user's name as Kubernetes sees it
    #[arg(long, value_name = "NAME", default_value = "")]
    pub user: String,
    /// The user's Keystone ID
    #[arg(long, value_name = "ID", default_value = "")]
    pub user_id: String,
    /// A role's name, as k8s-keystone-auth compares it
    #[arg(long = "role", value_name = "NAME")]
    pub roles: Vec<String>,
    /// A role's Keystone ID, as the strict format compares it
    #[arg(long = "role-id", value_name = "ID")]
    pub role_ids: Vec<String>,
    /// The project's Keystone ID
    #[arg(long, value_name = "ID", default_value = "")]
    pub project: String,
    /// The project's name
    #[arg(long, value_name = "NAME", default_value = "")]
    pub project_name: String,
}

/// `portico kube-auth config`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  portico kube-auth config --cluster prod --url https://auth.example.org:9443 \\
    --ca-file kube-auth-ca.crt > /etc/kubernetes/portico-webhook.kubeconfig")]
pub(in crate::cli) struct WebhookArgs {
    /// The cluster's name or UUID, as in [[clusters]]
    #[arg(long, value_name = "CLUSTER")]
    pub cluster: String,
    /// For the authorization webhook instead of the token webhook
    #[arg(long)]
    pub authorization: bool,
    /// The structured authorization configuration instead, for Kubernetes 1.32 and newer; it names
    /// the kubeconfig that --authorization prints
    #[arg(long, conflicts_with = "authorization")]
    pub structured_authorization: bool,
    /// kube-auth, as the API server reaches it, with a name or address that kube-auth's certificate
    /// is for. Default: https:// and kube_auth.listen, where that is one address
    #[arg(long, value_name = "URL", value_parser = https_url)]
    pub url: Option<String>,
    /// The authority of kube-auth's certificate (PEM). Default: the last certificate in
    /// kube_auth.tls_cert_file, where that is an authority or self-signed
    #[arg(long, value_name = "FILE")]
    pub ca_file: Option<PathBuf>,
    /// Path of the client certificate on the API server's machine
    #[arg(
        long,
        value_name = "PATH",
        default_value = "/etc/kubernetes/pki/portico-webhook.crt"
    )]
    pub client_cert_file: String,
    /// Path of the client key on the API server's machine
    #[arg(
        long,
        value_name = "PATH",
        default_value = "/etc/kubernetes/pki/portico-webhook.key"
    )]
    pub client_key_file: String,
    /// Path of the printed file on the API server's machine
    #[arg(
        long,
        value_name = "PATH",
        default_value = "/etc/kubernetes/portico-webhook.kubeconfig"
    )]
    pub config_file: String,
    /// How long the API server may believe an answer
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub cache_ttl: Duration,
}

/// `portico kube-auth bootstrap`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  portico kube-auth bootstrap --watch --kubeconfig bootstrap.kubeconfig \\
    --state-file /var/lib/portico/bootstrap.json \\
    --developer-role 9fe2ff9ee4384b1894a90878d3e92bab --viewer-role 5b1bd24b5d4b4c1c8c4f4c8c6a3a8d0e")]
pub(in crate::cli) struct BootstrapArgs {
    /// A kubeconfig of the service account that may bind the roles
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: PathBuf,
    /// ID of the Keystone role whose holders may read and write
    #[arg(long, value_name = "ROLE_ID")]
    pub developer_role: String,
    /// ID of the Keystone role whose holders may read
    #[arg(long, value_name = "ROLE_ID")]
    pub viewer_role: String,
    /// Bind the roles of this project only, for a cluster that accepts several; may be repeated
    #[arg(long = "project", value_name = "PROJECT_ID")]
    pub projects: Vec<String>,
    /// Leave this namespace out, besides kube-*; may be repeated
    #[arg(long = "exclude-namespace", value_name = "NAME")]
    pub exclude_namespaces: Vec<String>,
    /// Records what was bound, so that deleted bindings stay deleted after a restart
    #[arg(long, value_name = "FILE")]
    pub state_file: Option<PathBuf>,
    /// Keep running, and cover new namespaces within seconds
    #[arg(long)]
    pub watch: bool,
}

/// Create a namespace for each Keystone project of a cluster, and bind the roles held there
#[derive(Debug, Args)]
#[command(
    long_about = "\
Makes a namespace for each Keystone project that a cluster accepts, and a role binding for each role \
that a user holds in the project.

What is made comes from the synchronisation file of k8s-keystone-auth; the projects are those of the \
cluster's record (owner_project, accepted_projects, accepted_domains); who has which role is read from \
Keystone with [keystone.service_account]. Bindings name IDs and never names. Only what carries the \
labels app.kubernetes.io/managed-by=portico and portico.dev/owner=sync is ever changed or deleted, \
and nothing is put into kube-* or into namespaces labelled portico.dev/bind=false.",
    after_help = "\
Look first, then do it once, then keep doing it:
  portico kube-auth sync --cluster prod --kubeconfig sync.kubeconfig \\
    --sync-config sync.yaml --dry-run
  portico kube-auth sync --cluster prod --kubeconfig sync.kubeconfig \\
    --sync-config sync.yaml
  portico kube-auth sync --cluster prod --kubeconfig sync.kubeconfig \\
    --sync-config sync.yaml --watch --prune

sync.yaml, the smallest one that does everything:
  data-types-to-sync: [projects, role_assignments]"
)]
pub(in crate::cli) struct SyncArgs {
    /// The cluster's name or UUID, as in [[clusters]]
    #[arg(long, value_name = "CLUSTER")]
    pub cluster: String,
    /// A kubeconfig of the account that may make namespaces and bind the roles
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: PathBuf,
    /// What is made: the synchronisation file of k8s-keystone-auth (YAML)
    #[arg(long, value_name = "FILE")]
    pub sync_config: PathBuf,
    /// Bind this Keystone role to this ClusterRole; may be repeated, and then no other role is
    /// bound. Default: each role to the ClusterRole of its name
    #[arg(long = "role", value_name = "ROLE_ID=CLUSTER_ROLE", value_parser = role_mapping)]
    pub roles: Vec<(String, String)>,
    /// The subjects of bindings: roles (every user with a token for the project) or users (those who
    /// have the role, whatever project their token is for)
    #[arg(long, value_enum, default_value = "roles")]
    pub subjects: SyncSubjects,
    /// A label for namespaces when they are made, for example
    /// pod-security.kubernetes.io/enforce=restricted; may be repeated
    #[arg(long = "namespace-label", value_name = "KEY=VALUE", value_parser = label)]
    pub namespace_labels: Vec<(String, String)>,
    /// Print what would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Delete bindings that were made here and are no longer wanted
    #[arg(long)]
    pub prune: bool,
    /// Delete namespaces, with everything in them, that were made here and whose project is gone or
    /// no longer the cluster's. Those of disabled projects stay
    #[arg(long)]
    pub prune_namespaces: bool,
    /// Keep running, and synchronise every --interval
    #[arg(long, conflicts_with = "dry_run")]
    pub watch: bool,
    /// Time between two synchronisations
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = interval)]
    pub interval: Duration,
}

/// The subjects of the synchronisation's bindings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum SyncSubjects {
    Roles,
    Users,
}

/// Parses an `https://` URL: API servers and kube-auth speak only TLS to each other.
fn https_url(text: &str) -> Result<String, String> {
    let url = Url::parse(text).map_err(|error| error.to_string())?;
    let bare = url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
    if url.scheme() == "https" && url.has_host() && bare {
        Ok(text.to_owned())
    } else {
        Err("must be https://HOST:PORT, and may have a path".to_owned())
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    text.trim_end_matches('s')
        .parse()
        .map(Duration::from_secs)
        .map_err(|_| "must be a number of seconds".to_owned())
}

/// Parses an interval; its minimum is for Keystone, which lists every assignment each time.
fn interval(text: &str) -> Result<Duration, String> {
    let interval = seconds(text)?;
    if (Duration::from_secs(5)..=Duration::from_secs(86_400)).contains(&interval) {
        Ok(interval)
    } else {
        Err("must be between 5 and 86400 seconds".to_owned())
    }
}

fn label(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("must be KEY=VALUE".to_owned()),
    }
}

fn role_mapping(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((id, role)) if !id.is_empty() && !role.is_empty() => {
            Ok((id.to_owned(), role.to_owned()))
        }
        _ => Err("must be ROLE_ID=CLUSTER_ROLE".to_owned()),
    }
}
