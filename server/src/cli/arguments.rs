//! The words that the program understands.
use super::people::{CredentialArgs, KubeconfigArgs, LoginArgs, LogoutArgs};
use super::sessions::SessionsCommand;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use std::time::Duration;
use uuid::Uuid;

/// One door to your cloud's Kubernetes clusters and apps, with your cloud account
#[derive(Debug, Parser)]
#[command(
    name = "portico",
    version,
    propagate_version = true,
    after_help = "\
On your own machine:
  portico login https://portico.example.org     sign in (--device without a browser)
  portico kubeconfig --cluster prod             add the cluster to your kubeconfig
  kubectl --context prod get pods
  portico logout

On a server:
  portico keys generate --out /etc/portico/keys
  portico --config portico.toml config check
  portico --config portico.toml doctor
  portico --config portico.toml all             or gateway, panel, kube-auth one by one"
)]
pub(super) struct Arguments {
    /// A configuration file (TOML); may be repeated, later ones win. Default: $PORTICO_CONFIG,
    /// else portico.toml here, else /etc/portico/portico.toml
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Vec<PathBuf>,

    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Runs every role in one process (the default)
    All,
    /// Runs sign-in, sessions and the reverse proxy
    Gateway,
    /// Runs the pages
    Panel,
    /// Runs the webhook for Kubernetes API servers, or prepares clusters for it
    KubeAuth {
        #[command(subcommand)]
        command: Option<KubeAuthCommand>,
    },
    /// Brings the store's database up to date
    Migrate,
    /// Checks, prints or describes the configuration
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Examines the rules of the gateway's apps before somebody depends on them
    Policy {
        #[command(subcommand)]
        command: AppPolicyCommand,
    },
    /// Lists and ends the sessions of users, on the database itself
    Sessions {
        #[command(subcommand)]
        command: SessionsCommand,
    },
    /// Makes key files
    Keys {
        #[command(subcommand)]
        command: KeysCommand,
    },
    Doctor(DoctorArgs),
    /// Prints the table of pages as JSON
    #[command(hide = true)]
    Routes,
    Login(LoginArgs),
    Logout(LogoutArgs),
    Kubeconfig(KubeconfigArgs),
    Credential(CredentialArgs),
}

/// Tries everything that Portico depends on, and says what to do about what fails
///
/// Files, keys, the database, Keystone and the API servers; and whether each API server asks kube-auth
/// about tokens, by showing it one that nobody has.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  portico doctor
  OS_AUTH_URL=https://keystone.example.org/v3 OS_USERNAME=ada OS_PASSWORD=... OS_PROJECT_ID=... \\
    portico doctor --revocation prod")]
pub(super) struct DoctorArgs {
    /// Also measure how long a revoked token still works at this cluster (name or UUID): signs in as
    /// OS_* say, revokes that token, and takes up to 200 s
    #[arg(long, value_name = "CLUSTER")]
    pub revocation: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(super) enum AppPolicyCommand {
    /// Names what rules open by accident, and what has no effect; fails when they cannot be used
    Lint {
        /// This app only
        #[arg(long, value_name = "ID")]
        app: Option<String>,
        /// Fails on warnings too
        #[arg(long)]
        strict: bool,
    },
    Explain(Box<AppExplainArgs>),
    /// Runs the tests in the apps' files of rules
    Test {
        /// This app only
        #[arg(long, value_name = "ID")]
        app: Option<String>,
    },
}

/// Says for each rule of an app whether it decides a request, and why not
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  portico policy explain --user ada@Default --role k8s_developer@2b7f85af... \\
    --method POST --url https://prometheus.apps.example.org/api/v1/admin/tsdb/snapshot

It asks nobody: what somebody has is what the command line says. Without --user, --role, --group
and --factor nobody is signed in.")]
pub(super) struct AppExplainArgs {
    /// What is asked for, with the app's host
    #[arg(long, value_name = "URL")]
    pub url: String,
    /// How
    #[arg(long, value_name = "METHOD", default_value = "GET")]
    pub method: String,
    /// Who asks: the user's ID, or name and domain
    #[arg(long, value_name = "ID|NAME@DOMAIN")]
    pub user: Option<String>,
    /// A role, by name or ID as the rules have it, in a project (its ID); may be repeated
    #[arg(long = "role", value_name = "ROLE@PROJECT", value_parser = role_in_project)]
    pub roles: Vec<(String, String)>,
    /// A group that a provider names; may be repeated
    #[arg(long = "group", value_name = "PROVIDER:GROUP", value_parser = group_of_provider)]
    pub groups: Vec<(String, String)>,
    /// What they signed in with, such as totp or amr:otp; may be repeated
    #[arg(long = "factor", value_name = "WORD")]
    pub factors: Vec<String>,
    /// How long ago they signed in
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = time)]
    pub signed_in_ago: Duration,
    /// The client's address
    #[arg(long, value_name = "ADDRESS")]
    pub address: Option<std::net::IpAddr>,
}

#[derive(Debug, Subcommand)]
pub(super) enum KubeAuthCommand {
    /// Runs the webhook (the default)
    Serve,
    /// Prints the webhook kubeconfig for a cluster's API server
    Config(WebhookArgs),
    /// Binds the pre-defined roles in every namespace of a cluster
    Bootstrap(BootstrapArgs),
    Sync(Box<SyncArgs>),
    /// Examines authorization policies before a cluster depends on them
    Policy {
        #[command(subcommand)]
        command: PolicyCommand,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum PolicyCommand {
    /// Names what a policy opens by accident; fails when it cannot be used
    Lint {
        /// The policy: k8s-keystone-auth's (JSON) or kube-auth.portico.dev/v1 (YAML)
        file: PathBuf,
        /// Fails on warnings too
        #[arg(long)]
        strict: bool,
    },
    Explain(Box<ExplainArgs>),
    /// Compares a policy with a list of expectations
    Test {
        /// The policy
        file: PathBuf,
        /// The expectations (YAML): name, user, verb, resource or path, namespace, allowed
        cases: PathBuf,
    },
}

/// Says for each rule whether it allows a request, and why not
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  portico kube-auth policy explain policy.json --role k8s_viewer --project 2b7f85af... \\
    --namespace shop get pods/exec")]
pub(super) struct ExplainArgs {
    /// The policy
    pub file: PathBuf,
    /// What is done: get, list, create ...
    pub verb: String,
    /// To what: pods, pods/exec, deployments.apps/scale, or a path that starts with /
    pub target: String,
    /// In which namespace
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
  portico kube-auth config --cluster 6f0c1a52-... --url https://auth.example.org:9443 \\
    --ca-file kube-auth-ca.crt > /etc/kubernetes/portico-webhook.kubeconfig")]
pub(super) struct WebhookArgs {
    /// The cluster's UUID, as in [[clusters]]
    #[arg(long, value_name = "ID")]
    pub cluster: Uuid,
    /// For the authorization webhook instead of the token webhook
    #[arg(long)]
    pub authorization: bool,
    /// The structured authorization configuration instead, for Kubernetes 1.32 and newer; it names
    /// the kubeconfig that --authorization prints
    #[arg(long, conflicts_with = "authorization")]
    pub structured_authorization: bool,
    /// kube-auth, as the API server reaches it (default: https:// and kube_auth.listen)
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// The authority of kube-auth's certificate (PEM). Without it the certificate itself is
    /// trusted, until it is renewed
    #[arg(long, value_name = "FILE")]
    pub ca_file: Option<PathBuf>,
    /// Where the client certificate lies on the API server's machine
    #[arg(
        long,
        value_name = "PATH",
        default_value = "/etc/kubernetes/pki/portico-webhook.crt"
    )]
    pub client_cert_file: String,
    /// Where the client key lies on the API server's machine
    #[arg(
        long,
        value_name = "PATH",
        default_value = "/etc/kubernetes/pki/portico-webhook.key"
    )]
    pub client_key_file: String,
    /// Where the printed file will lie on the API server's machine
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
pub(super) struct BootstrapArgs {
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
    /// Remembers what was bound, so that what somebody deletes stays deleted after a restart
    #[arg(long, value_name = "FILE")]
    pub state_file: Option<PathBuf>,
    /// Stay and cover new namespaces within seconds
    #[arg(long)]
    pub watch: bool,
}

/// Makes a namespace for each Keystone project of a cluster, and binds the roles held there
#[derive(Debug, Args)]
#[command(
    long_about = "\
Makes a namespace for each Keystone project that a cluster accepts, and a role binding for each role \
that somebody holds in the project.

What is made comes from the synchronisation file of k8s-keystone-auth; the projects are those of the \
cluster's record (owner_project, accepted_projects, accepted_domains); who has which role is read from \
Keystone with [keystone.service_account]. Bindings name IDs and never names. Only what carries the \
labels app.kubernetes.io/managed-by=portico and portico.dev/owner=sync is ever changed or deleted, \
and nothing is put into kube-* or into namespaces labelled portico.dev/bind=false.",
    after_help = "\
Look first, then do it once, then keep doing it:
  portico kube-auth sync --cluster 6f0c1a52-... --kubeconfig sync.kubeconfig \\
    --sync-config sync.yaml --dry-run
  portico kube-auth sync --cluster 6f0c1a52-... --kubeconfig sync.kubeconfig \\
    --sync-config sync.yaml
  portico kube-auth sync --cluster 6f0c1a52-... --kubeconfig sync.kubeconfig \\
    --sync-config sync.yaml --watch --prune

sync.yaml, the smallest one that does everything:
  data-types-to-sync: [projects, role_assignments]"
)]
pub(super) struct SyncArgs {
    /// The cluster's UUID, as in [[clusters]]
    #[arg(long, value_name = "ID")]
    pub cluster: Uuid,
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
    /// Whom bindings name: roles (whoever comes with a token for the project) or users (those who
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
    /// Stay, and look again every --interval
    #[arg(long, conflicts_with = "dry_run")]
    pub watch: bool,
    /// How long to wait between two looks
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = interval)]
    pub interval: Duration,
}

/// Whom the synchronisation's bindings name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum SyncSubjects {
    Roles,
    Users,
}

#[derive(Debug, Subcommand)]
pub(super) enum ConfigCommand {
    /// Says whether the configuration can be used, and what is wrong
    Check {
        /// Only what this role needs; may be repeated. Default: every role that has a section
        #[arg(long, value_enum)]
        role: Vec<crate::config::Role>,
    },
    /// Prints everything that counts, defaults included, without passwords
    Print,
    /// Prints the JSON schema of the configuration file
    Schema,
}

#[derive(Debug, Subcommand)]
pub(super) enum KeysCommand {
    /// Writes every key file that is missing; never overwrites one
    #[command(after_help = "\
Writes store-1.key, assertion.pem, assertion.pub, panel.key, panel.pub, kube-auth-1.key and
kube-auth-1.pub. Keep *.key and assertion.pem secret: whoever has store-1.key and the database
has every session.")]
    Generate {
        /// The directory; made when it is missing
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
}

fn seconds(text: &str) -> Result<Duration, String> {
    text.trim_end_matches('s')
        .parse()
        .map(Duration::from_secs)
        .map_err(|_| "must be a number of seconds".to_owned())
}

/// Keystone lists every assignment anew each time.
fn interval(text: &str) -> Result<Duration, String> {
    let interval = seconds(text)?;
    if (Duration::from_secs(5)..=Duration::from_secs(86_400)).contains(&interval) {
        Ok(interval)
    } else {
        Err("must be between 5 and 86400 seconds".to_owned())
    }
}

fn time(text: &str) -> Result<Duration, String> {
    humantime_serde::re::humantime::parse_duration(text)
        .map_err(|_| "must be a time such as 90s, 5m or 2h".to_owned())
}

fn role_in_project(text: &str) -> Result<(String, String), String> {
    match text.rsplit_once('@') {
        Some((role, project)) if !role.is_empty() && !project.is_empty() => {
            Ok((role.to_owned(), project.to_owned()))
        }
        _ => Err("must be ROLE@PROJECT: a role without its project says nothing".to_owned()),
    }
}

fn group_of_provider(text: &str) -> Result<(String, String), String> {
    match text.split_once(':') {
        Some((provider, group)) if !provider.is_empty() && !group.is_empty() => {
            Ok((provider.to_owned(), group.to_owned()))
        }
        _ => Err("must be PROVIDER:GROUP".to_owned()),
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_words_do_not_contradict_each_other() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn the_configuration_may_be_named_after_the_command() {
        let arguments =
            Arguments::try_parse_from(["portico", "config", "check", "--config", "a.toml"]);
        assert_eq!(arguments.unwrap().config, [PathBuf::from("a.toml")]);
    }

    #[test]
    fn every_command_has_a_first_line_in_the_help() {
        for command in Arguments::command().get_subcommands() {
            assert!(command.get_about().is_some(), "{}", command.get_name());
        }
    }
}
