//! The command line's grammar.
mod kube_auth;

use super::audit::AuditCommand;
use super::completion::CompletionArgs;
use super::enrolment::EnrolmentCommand;
use super::init::InitArgs;
use super::sessions::SessionsCommand;
use super::version::VersionArgs;
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use portico_cli::{
    ClusterArgs, ClustersArgs, CredentialArgs, KubeconfigArgs, LoginArgs, LogoutArgs, StatusArgs,
    WhoAmIArgs,
};
use std::path::PathBuf;
use std::time::Duration;

pub(super) use kube_auth::{
    BootstrapArgs, ExplainArgs, KubeAuthCommand, PolicyCommand, SyncArgs, SyncSubjects, WebhookArgs,
};

/// Access your cloud's Kubernetes clusters and apps with your cloud account
#[derive(Debug, Parser)]
#[command(
    name = "portico",
    version,
    propagate_version = true,
    arg_required_else_help = true,
    after_help = "\
On your own machine:
  portico login https://portico.example.org     sign in (--device without a browser)
  portico kubeconfig --cluster prod             add the cluster to your kubeconfig
  kubectl --context prod get pods
  portico logout

On a server:
  portico init                                  writes configuration, keys and certificates
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
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run every role in one process
    All,
    /// Run sign-in, sessions and the reverse proxy
    Gateway,
    /// Run the panel's pages
    Panel,
    /// Run the webhook for Kubernetes API servers, or prepare clusters for it
    KubeAuth {
        #[command(subcommand)]
        command: Option<KubeAuthCommand>,
    },
    Init(Box<InitArgs>),
    /// Apply the store's migrations
    Migrate,
    /// Check, print or describe the configuration
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Lint, explain and test the access rules of apps
    Policy {
        #[command(subcommand)]
        command: AppPolicyCommand,
    },
    /// List and end the sessions of users, on the store itself
    Sessions {
        #[command(subcommand)]
        command: SessionsCommand,
    },
    /// Import clusters that Magnum does not have, and list the enrolled ones, on the store itself
    Enrolment {
        #[command(subcommand)]
        command: EnrolmentCommand,
    },
    /// List and verify the audit log, on the database itself
    Audit {
        #[command(subcommand)]
        command: AuditCommand,
    },
    /// Generate key files
    Keys {
        #[command(subcommand)]
        command: KeysCommand,
    },
    Doctor(DoctorArgs),
    /// Print the table of pages as JSON
    #[command(hide = true)]
    Routes,
    Login(LoginArgs),
    Logout(LogoutArgs),
    Status(StatusArgs),
    #[command(name = "whoami")]
    WhoAmI(WhoAmIArgs),
    Clusters(ClustersArgs),
    Cluster(Box<ClusterArgs>),
    Kubeconfig(KubeconfigArgs),
    Credential(CredentialArgs),
    Completion(CompletionArgs),
    Version(VersionArgs),
}

/// Check everything that Portico depends on, and report the cause and remedy of each failure
///
/// Files, keys, certificates, the database, Keystone, API servers, providers, addresses; and whether
/// each API server asks kube-auth about tokens, by sending it one that no user has. Exits with 0 when
/// nothing is broken, 1 when something is, 64 when the configuration cannot be used.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  portico doctor
  portico doctor --role kube-auth --json
  OS_AUTH_URL=https://keystone.example.org/v3 OS_USERNAME=ada OS_PASSWORD=... OS_PROJECT_ID=... \\
    portico doctor --revocation prod")]
pub(super) struct DoctorArgs {
    /// Also measure how long a revoked token still works at this cluster (name or UUID): signs in
    /// with the OS_* variables, revokes that token, and takes up to 200 s
    #[arg(long, value_name = "CLUSTER")]
    pub revocation: Option<String>,
    /// Check only what this role needs, and open only its files; may be repeated. Default: every
    /// role that has a section
    #[arg(long, value_enum, value_name = "ROLE")]
    pub role: Vec<crate::config::Role>,
    /// Print the findings as one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum AppPolicyCommand {
    /// Report rules that allow too much or have no effect; fail when the rules cannot be used
    Lint {
        /// This app only
        #[arg(long, value_name = "ID")]
        app: Option<String>,
        /// Fail on warnings too
        #[arg(long)]
        strict: bool,
    },
    Explain(Box<AppExplainArgs>),
    /// Run the tests in the apps' files of rules
    Test {
        /// This app only
        #[arg(long, value_name = "ID")]
        app: Option<String>,
    },
}

/// Explain for each rule of an app whether it decides a request
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  portico policy explain --user ada@Default --role k8s_developer@2b7f85af... \\
    --method POST --url https://prometheus.apps.example.org/api/v1/admin/tsdb/snapshot

Nothing is looked up: the options alone describe the user. Without --user, --role, --group and
--factor the request is not signed in.")]
pub(super) struct AppExplainArgs {
    /// The URL of the request, with the app's host
    #[arg(long, value_name = "URL")]
    pub url: String,
    /// The method of the request
    #[arg(long, value_name = "METHOD", default_value = "GET")]
    pub method: String,
    /// The user: ID, or name and domain
    #[arg(long, value_name = "ID|NAME@DOMAIN")]
    pub user: Option<String>,
    /// A role, by name or ID as in the rules, in a project (its ID); may be repeated
    #[arg(long = "role", value_name = "ROLE@PROJECT", value_parser = role_in_project)]
    pub roles: Vec<(String, String)>,
    /// A group that a provider names; may be repeated
    #[arg(long = "group", value_name = "PROVIDER:GROUP", value_parser = group_of_provider)]
    pub groups: Vec<(String, String)>,
    /// A factor of the sign-in, such as totp or amr:otp; may be repeated
    #[arg(long = "factor", value_name = "WORD")]
    pub factors: Vec<String>,
    /// How long ago the user signed in
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = time)]
    pub signed_in_ago: Duration,
    /// The client's address
    #[arg(long, value_name = "ADDRESS")]
    pub address: Option<std::net::IpAddr>,
}

#[derive(Debug, Subcommand)]
pub(super) enum ConfigCommand {
    /// Check whether the configuration can be used
    Check {
        /// Only what this role needs; may be repeated. Default: every role that has a section
        #[arg(long, value_enum)]
        role: Vec<crate::config::Role>,
    },
    /// Print the effective configuration, defaults included, without passwords
    Print,
    /// Print the JSON Schema of the configuration file
    Schema,
}

#[derive(Debug, Subcommand)]
pub(super) enum KeysCommand {
    /// Write every key file that is missing; never overwrite one
    #[command(after_help = "\
Writes store-1.key, assertion.pem, assertion.pub, panel.key, panel.pub, kube-auth-1.key and
kube-auth-1.pub. Keep *.key and assertion.pem secret: store-1.key and the database together
give access to every session.")]
    Generate {
        /// The directory; made when it is missing
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
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
        _ => Err("must be ROLE@PROJECT: a role counts only together with its project".to_owned()),
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

/// The commands for users, on their own machines; all others are for operators.
const USER_COMMANDS: [&str; 10] = [
    "login",
    "logout",
    "status",
    "whoami",
    "clusters",
    "cluster",
    "kubeconfig",
    "credential",
    "completion",
    "version",
];

/// Returns the command line's grammar, with users' and operators' commands grouped separately in
/// the help.
pub(super) fn command() -> clap::Command {
    let command = Arguments::command();
    let width = command
        .get_subcommands()
        .map(|command| command.get_name().len())
        .max()
        .unwrap_or_default();
    let section = |of_users: bool| -> String {
        let visible = command
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
            .filter(|command| USER_COMMANDS.contains(&command.get_name()) == of_users);
        visible
            .map(|command| {
                let about = command.get_about().map(ToString::to_string);
                let (name, about) = (command.get_name(), about.unwrap_or_default());
                format!("  {name:width$}  {about}\n")
            })
            .collect()
    };
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\nUser commands:\n{}\nOperator commands:\n{}\n\
         Options:\n{{options}}{{after-help}}\n",
        section(true),
        section(false)
    );
    command.help_template(template)
}

/// Parses the process's command line; exits with help or an error if it is not valid.
pub(super) fn parse() -> Arguments {
    let matches = command().get_matches();
    Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finding_o8_help_separates_users_from_operators_commands() {
        let help = command().render_help().to_string();
        let (_, rest) = help.split_once("User commands:\n").unwrap();
        let (users, operators) = rest.split_once("Operator commands:\n").unwrap();
        for known in USER_COMMANDS {
            assert!(
                Arguments::command().find_subcommand(known).is_some(),
                "{known}"
            );
        }
        for command in Arguments::command().get_subcommands() {
            let line = format!("\n  {} ", command.get_name());
            let shown = [users, operators].map(|part| format!("\n{part}").contains(&line));
            let for_users = USER_COMMANDS.contains(&command.get_name());
            let expected = [for_users, !for_users].map(|here| here && !command.is_hide_set());
            assert_eq!(shown, expected, "{}: {help}", command.get_name());
        }
    }

    #[test]
    fn finding_o8_a_role_must_be_named() {
        let bare = command().try_get_matches_from(["portico"]).unwrap_err();
        assert_eq!(
            bare.kind(),
            clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        );
        assert!(bare.to_string().contains("Operator commands:"), "{bare}");
    }

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

    /// A summary begins with a verb in the imperative, as in kubectl's help: not "Runs" or "Prints".
    #[test]
    fn summaries_are_in_the_imperative() {
        fn check(command: &clap::Command) {
            let about = command.get_about().map(ToString::to_string);
            let first = about.unwrap_or_default();
            let first = first
                .split_whitespace()
                .next()
                .unwrap_or_default()
                .to_owned();
            assert!(!first.ends_with('s'), "{}: {first}", command.get_name());
            command.get_subcommands().for_each(check);
        }
        Arguments::command().get_subcommands().for_each(check);
    }

    #[test]
    fn every_command_has_a_first_line_in_the_help() {
        for command in Arguments::command().get_subcommands() {
            assert!(command.get_about().is_some(), "{}", command.get_name());
        }
    }
}
