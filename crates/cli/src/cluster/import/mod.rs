//! `portico cluster import`: clusters that exist, so that they can be used through Portico.
mod foreign;

use super::arguments::{DryRunArgs, SharedArgs, duration};
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use super::exit_code;
use super::views::print_list;
use crate::output::TableRow;
use clap::Args;
use portico_domain::panel::lifecycle::{EnrolmentOutcome, EnrolmentState};
use portico_openstack::magnum::Cluster;
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;
use tokio::time::Instant;

/// Pause after an answer that did not arrive.
const PAUSE: Duration = Duration::from_secs(5);

/// Enrol clusters that Magnum has, so that they can be used through Portico
///
/// Does what the button on the page of a cluster does: Portico reads the record of the cluster with your own
/// token, and binds the pre-defined roles. It is safe to repeat it. This needs the session of `portico login`.
///
/// A cluster that Magnum does not have is imported by an operator of Portico: with --server, the line that the
/// operator runs is printed, and the exit code is 13.
#[derive(Args, Debug)]
#[command(
    mut_arg("dry_run", |dry_run| {
        dry_run.help("Show which clusters would be enrolled; send nothing. Exit code 1: there is one")
    }),
    after_help = "\
Examples:
  portico cluster import shop
  portico cluster import --all --reason CHG-12
  portico cluster import --server https://203.0.113.7:6443 --ca ca.crt --name lab   # for the operator"
)]
pub struct ImportArgs {
    /// Name or UUID of a cluster that Magnum has
    #[arg(
        required_unless_present_any = ["all", "server"],
        conflicts_with_all = ["all", "server"]
    )]
    pub cluster: Option<String>,
    /// Every cluster of the project that Magnum has and is not deleting
    #[arg(long, conflicts_with = "server")]
    pub all: bool,
    /// The API server of a cluster that Magnum does not have: https://, an IP address and a port
    #[arg(long, value_name = "URL", requires = "ca", requires = "name")]
    pub server: Option<String>,
    /// The authority of that API server's certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "server")]
    pub ca: Option<PathBuf>,
    /// The name that users see
    #[arg(long, value_name = "NAME", requires = "server")]
    pub name: Option<String>,
    #[command(flatten)]
    pub dry_run: DryRunArgs,
    /// How long to try again where it is too early, such as 90s or 10m
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = duration)]
    pub timeout: Duration,
    /// Why, for the journal of the cluster
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// What came of the enrolment of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum ImportResult {
    Enrolled,
    /// It would be enrolled, and nothing was sent.
    NotSent,
    /// The record exists; the API server has to be configured.
    WaitingForConfiguration,
    Refused,
    /// It is still too early.
    TimedOut,
}

/// A cluster with what came of it.
#[derive(Debug, Serialize)]
struct ImportView {
    name: String,
    uuid: String,
    result: ImportResult,
    /// Why, and the next step.
    text: Option<String>,
}

impl TableRow for ImportView {
    const HEADINGS: &'static [&'static str] = &["NAME", "UUID", "RESULT", "REASON"];

    fn cells(&self) -> Vec<String> {
        let result = match self.result {
            ImportResult::Enrolled => "enrolled",
            ImportResult::NotSent => "would be enrolled",
            ImportResult::WaitingForConfiguration => "waits for its API server",
            ImportResult::Refused => "refused",
            ImportResult::TimedOut => "too early",
        };
        vec![
            self.name.clone(),
            self.uuid.clone(),
            result.to_owned(),
            self.text.clone().unwrap_or_else(|| "-".to_owned()),
        ]
    }
}

/// Enrols clusters, and returns the exit code.
///
/// # Errors
/// [`ClusterError::Blocked`] if Magnum is called directly; if Magnum or the gateway cannot be asked or
/// refuses. What is refused for a single cluster is printed.
pub async fn import(
    connection: &mut Connection,
    console: &mut Console,
    args: &ImportArgs,
) -> Result<u8, ClusterError> {
    if let (Some(server), Some(ca), Some(name)) = (&args.server, &args.ca, &args.name) {
        let project = connection.token.project_id.clone();
        let foreign = (server.as_str(), ca.as_path(), name.as_str());
        return foreign::print(console, args.shared.output, &project, foreign);
    }
    if !connection.is_through_gateway() {
        return Err(direct());
    }
    let clusters = chosen(connection, args).await?;
    if args.dry_run.is_on() {
        let mut views = Vec::with_capacity(clusters.len());
        for cluster in clusters {
            let session = connection.gateway_session().ok_or_else(direct)?;
            let state = match session.enrolment(cluster.uuid).await {
                Ok(state) => state,
                Err(error) => {
                    // what is known of the clusters before it is not lost
                    if !views.is_empty() {
                        show(console, args, &views)?;
                    }
                    return Err(error.into());
                }
            };
            let page = connection.page(cluster.uuid).unwrap_or_default();
            views.push(not_sent(cluster, state, &page));
        }
        show(console, args, &views)?;
        console.say("Nothing was sent.");
        return Ok(exit_code_of(&views));
    }
    let mut views = Vec::with_capacity(clusters.len());
    for cluster in clusters {
        match enrol(connection, console, &cluster, args.timeout).await {
            Ok(outcome) => views.push(view(connection, cluster, outcome)),
            Err(error) => {
                // what was enrolled before it is not repeated
                if !views.is_empty() {
                    show(console, args, &views)?;
                }
                return Err(error);
            }
        }
    }
    show(console, args, &views)?;
    if views.is_empty() {
        console.say("Magnum has no cluster in this project.");
    }
    Ok(exit_code_of(&views))
}

fn show(
    console: &mut Console,
    args: &ImportArgs,
    views: &[ImportView],
) -> Result<(), ClusterError> {
    print_list(console, args.shared.output, views, |view| {
        (&view.name, &view.uuid)
    })
}

/// Returns the clusters that the command is about.
async fn chosen(connection: &Connection, args: &ImportArgs) -> Result<Vec<Cluster>, ClusterError> {
    let (magnum, token) = (&connection.clients.magnum, &connection.token);
    if let Some(wanted) = &args.cluster {
        return Ok(vec![magnum.cluster_named(token, wanted).await?]);
    }
    let listing = magnum.clusters(token).await?;
    if let Some(cut) = listing.cut {
        return Err(ClusterError::Incomplete(cut));
    }
    let mut clusters = listing.items;
    clusters.retain(|cluster| !connection.model(cluster, None).status.is_deletion());
    Ok(clusters)
}

/// Enrols a cluster; tries again while it is too early, or no answer arrives.
async fn enrol(
    connection: &mut Connection,
    console: &mut Console,
    cluster: &Cluster,
    timeout: Duration,
) -> Result<EnrolmentOutcome, ClusterError> {
    let began = Instant::now();
    let mut is_reported = false;
    loop {
        let session = connection.gateway_session().ok_or_else(direct)?;
        let (reason, pause) = match session.enrol(cluster.uuid).await {
            Ok(EnrolmentOutcome::Later { reason, seconds }) => {
                (reason, Duration::from_secs(seconds.into()))
            }
            Ok(outcome) => return Ok(outcome),
            // a run takes up to two minutes, and continues after its request has ended
            Err(error) if error.is_outage() => (error.to_string(), PAUSE),
            Err(error) => return Err(error.into()),
        };
        let left = timeout.saturating_sub(began.elapsed());
        if left.is_zero() {
            return Ok(EnrolmentOutcome::Later { reason, seconds: 0 });
        }
        if !is_reported {
            console.say(format!("{}: {reason} Trying again.", cluster.name));
            is_reported = true;
        }
        tokio::select! {
            () = tokio::time::sleep(pause.min(left)) => {}
            _ = tokio::signal::ctrl_c() => {
                return Err(ClusterError::Blocked {
                    exit: exit_code::INTERRUPTED,
                    text: format!(
                        "interrupted; the enrolment of {} may still end. Repeat the command to continue",
                        cluster.name
                    ),
                });
            }
        }
    }
}

/// Returns what an import would do with a cluster in this state. That Portico has a record of it is not enough: its API
/// server may not ask kube-auth yet.
fn not_sent(cluster: Cluster, state: EnrolmentState, page: &str) -> ImportView {
    let text = |text: &str| Some(text.to_owned());
    let (result, text) = match state {
        EnrolmentState::Enrolled => (ImportResult::Enrolled, None),
        EnrolmentState::NotChecked => (
            ImportResult::Enrolled,
            text("its API server has not answered yet whether it asks kube-auth"),
        ),
        EnrolmentState::WaitingForConfiguration => {
            let text = unconfigured(page);
            (ImportResult::WaitingForConfiguration, Some(text))
        }
        EnrolmentState::Ready | EnrolmentState::Offered => (ImportResult::NotSent, None),
        EnrolmentState::WaitingForApi => (
            ImportResult::NotSent,
            text("as soon as its API server has an address"),
        ),
        EnrolmentState::Running => (
            ImportResult::NotSent,
            text("an enrolment of it is in progress"),
        ),
        EnrolmentState::NotOffered(reason) => (ImportResult::Refused, Some(reason)),
    };
    ImportView {
        name: cluster.name,
        uuid: cluster.uuid.to_string(),
        result,
        text,
    }
}

fn unconfigured(page: &str) -> String {
    format!("its API server has to ask kube-auth; the lines for it: {page}")
}

fn view(connection: &Connection, cluster: Cluster, outcome: EnrolmentOutcome) -> ImportView {
    let (result, text) = match outcome {
        EnrolmentOutcome::Enrolled { .. } => (ImportResult::Enrolled, None),
        EnrolmentOutcome::WaitingForConfiguration(_) => {
            let page = connection.page(cluster.uuid).unwrap_or_default();
            (
                ImportResult::WaitingForConfiguration,
                Some(unconfigured(&page)),
            )
        }
        EnrolmentOutcome::Later { reason, .. } => (ImportResult::TimedOut, Some(reason)),
        EnrolmentOutcome::Refused { reason, next_step } => {
            let text = match next_step {
                Some(step) => format!("{reason} {step}"),
                None => reason,
            };
            (ImportResult::Refused, Some(text))
        }
    };
    ImportView {
        name: cluster.name,
        uuid: cluster.uuid.to_string(),
        result,
        text,
    }
}

/// Returns 0 if all clusters are enrolled, 14 if only some are, and otherwise the code of the worst result. Where
/// nothing was sent, one cluster that would be enrolled decides.
fn exit_code_of(views: &[ImportView]) -> u8 {
    let has = |result| views.iter().any(|view| view.result == result);
    let is_partly = has(ImportResult::Enrolled)
        && views
            .iter()
            .any(|view| view.result != ImportResult::Enrolled);
    if has(ImportResult::NotSent) {
        exit_code::NEGATIVE
    } else if is_partly {
        exit_code::PARTLY
    } else if has(ImportResult::Refused) || has(ImportResult::WaitingForConfiguration) {
        exit_code::NEGATIVE
    } else if has(ImportResult::TimedOut) {
        exit_code::TIMED_OUT
    } else {
        0
    }
}

fn direct() -> ClusterError {
    ClusterError::Blocked {
        exit: exit_code::UNSUPPORTED,
        text: "Portico enrols clusters, and this command calls Magnum directly, so nothing was sent\n  Run \
               `portico login URL`, and use the command without --cloud and OS_*, or with --gateway URL; or \
               enrol the cluster on its page in the panel"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(results: &[ImportResult]) -> u8 {
        let views: Vec<_> = results
            .iter()
            .map(|result| ImportView {
                name: "shop".to_owned(),
                uuid: "900e3758-8071-430e-a8cf-5c48f428dc0e".to_owned(),
                result: *result,
                text: None,
            })
            .collect();
        exit_code_of(&views)
    }

    #[test]
    fn a_record_is_not_enough_to_be_enrolled() {
        use ImportResult::{Enrolled, NotSent, Refused, WaitingForConfiguration};
        let uuid = "900e3758-8071-430e-a8cf-5c48f428dc0e";
        let found = |state| {
            let cluster = json!({"uuid": uuid, "name": "shop", "status": "CREATE_COMPLETE"});
            let cluster = serde_json::from_value(cluster).unwrap();
            not_sent(cluster, state, "https://portico.example.org/shop")
        };
        let unconfigured = found(EnrolmentState::WaitingForConfiguration);
        assert_eq!(unconfigured.result, WaitingForConfiguration);
        let text = unconfigured.text.unwrap();
        assert!(text.ends_with("https://portico.example.org/shop"), "{text}");
        let refused = found(EnrolmentState::NotOffered("Ask the operator.".to_owned()));
        assert_eq!(refused.text.as_deref(), Some("Ask the operator."));
        assert_eq!((refused.result, refused.uuid.as_str()), (Refused, uuid));
        for (state, expected) in [
            (EnrolmentState::Enrolled, Enrolled),
            // as the import itself, which does not wait for an API server that does not answer
            (EnrolmentState::NotChecked, Enrolled),
            (EnrolmentState::Ready, NotSent),
            (EnrolmentState::Offered, NotSent),
            (EnrolmentState::WaitingForApi, NotSent),
            (EnrolmentState::Running, NotSent),
        ] {
            assert_eq!(found(state).result, expected);
        }
    }

    #[test]
    fn the_exit_code_tells_all_some_and_none_apart() {
        use ImportResult::{Enrolled, NotSent, Refused, TimedOut, WaitingForConfiguration};
        assert_eq!(of(&[]), 0);
        assert_eq!(of(&[Enrolled, Enrolled]), 0);
        assert_eq!(of(&[Enrolled, Refused]), exit_code::PARTLY);
        assert_eq!(of(&[Refused, TimedOut]), exit_code::NEGATIVE);
        assert_eq!(of(&[WaitingForConfiguration]), exit_code::NEGATIVE);
        assert_eq!(of(&[TimedOut]), exit_code::TIMED_OUT);
        assert_eq!(of(&[NotSent, NotSent]), exit_code::NEGATIVE);
        assert_eq!(of(&[Enrolled, NotSent]), exit_code::NEGATIVE);
    }
}
