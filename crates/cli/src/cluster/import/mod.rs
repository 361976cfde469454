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
use portico_domain::panel::lifecycle::EnrolmentOutcome;
use portico_openstack::magnum::Cluster;
use serde::Serialize;
use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;
use tokio::time::Instant;
use uuid::Uuid;

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
    /// It is not enrolled, and nothing was sent.
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
        let session = connection.gateway_session().ok_or_else(direct)?;
        let enrolled = session.enrolled().await?;
        let views = clusters.into_iter();
        let views: Vec<_> = views.map(|cluster| not_sent(cluster, &enrolled)).collect();
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

/// Returns what an import would do with a cluster; `enrolled` are those that Portico serves already.
fn not_sent(cluster: Cluster, enrolled: &HashSet<Uuid>) -> ImportView {
    let result = match enrolled.contains(&cluster.uuid) {
        true => ImportResult::Enrolled,
        false => ImportResult::NotSent,
    };
    ImportView {
        name: cluster.name,
        uuid: cluster.uuid.to_string(),
        result,
        text: None,
    }
}

fn view(connection: &Connection, cluster: Cluster, outcome: EnrolmentOutcome) -> ImportView {
    let (result, text) = match outcome {
        EnrolmentOutcome::Enrolled { .. } => (ImportResult::Enrolled, None),
        EnrolmentOutcome::WaitingForConfiguration(_) => {
            let page = connection.page(cluster.uuid).unwrap_or_default();
            let text = format!("its API server has to ask kube-auth; the lines for it: {page}");
            (ImportResult::WaitingForConfiguration, Some(text))
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

/// Returns 0 if all clusters are enrolled, 14 if only some are, and otherwise the code of the worst result. Of what
/// was not sent, one cluster that would be enrolled decides.
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
