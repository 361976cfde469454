//! Follows an operation until it has ended, with its steps on standard error or as JSON lines.
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use super::follow_nodes::FollowedNodes;
use jiff::{SignedDuration, Timestamp};
use portico_cluster_operations::conductor::{NO_CONDUCTOR, has_conductor};
use portico_cluster_operations::{explanation, mapping};
use portico_lifecycle::driver::Family;
use portico_lifecycle::model::{Cluster, NodeGroup};
use portico_lifecycle::progress::{
    Followed, Outcome, Progress, ProgressReport, Snapshot, StepReport, StepState, Typical,
    poll_interval,
};
use portico_lifecycle::version::VersionChange;
use portico_openstack::rest::{self, ErrorKind};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;
use uuid::Uuid;

/// An operation to follow.
#[derive(Debug)]
pub struct Following {
    pub uuid: Uuid,
    pub name: String,
    pub family: Family,
    pub followed: Followed,
    /// Of an upgrade, if they are known.
    pub versions: Option<VersionChange>,
    /// When Magnum accepted it.
    pub since: Timestamp,
    pub timeout: Duration,
    /// Whether changes are JSON lines on standard output.
    pub has_json_lines: bool,
}

/// Waits until an operation has succeeded. It continues if waiting ends.
///
/// # Errors
/// How it ended otherwise: [`ClusterError::Failed`], [`ClusterError::NotActedOn`],
/// [`ClusterError::Disappeared`], [`ClusterError::TimedOut`], [`ClusterError::TokenEnded`],
/// [`ClusterError::Interrupted`].
pub async fn follow(
    connection: &mut Connection,
    console: &mut Console,
    following: Following,
) -> Result<(), ClusterError> {
    let uuid = following.uuid.to_string();
    let mut progress = Progress::new(
        following.followed.clone(),
        following.family,
        following.since,
    );
    let mut printer = Printer::new(following.has_json_lines);
    let clock = connection.clock.clone();
    let began = Instant::now();
    let mut seen = Seen::default();
    let mut nodes = FollowedNodes::new(following.uuid, &following.followed, following.versions);
    loop {
        if look(connection, console, &following, &mut seen).await? {
            nodes.look(connection).await;
            progress.observe(&Snapshot {
                at: clock.now(),
                cluster: seen.cluster.as_ref(),
                groups: seen.groups.as_deref(),
                is_api_ready: nodes.is_api_ready(),
                nodes: nodes.counts(seen.wanted_nodes()),
            });
        }
        let now = clock.now();
        let report = progress.report(now, &Typical::new());
        printer.show(console, &report, now)?;
        let time = elapsed(report.elapsed);
        nodes.show(console, &time, now, following.has_json_lines)?;
        match &report.outcome {
            Outcome::Succeeded => {
                // what follows needs a token as well, and this one may be about to end; without another
                // one, what follows reports it
                let _ = connection.renew().await;
                return Ok(());
            }
            Outcome::Failed => {
                let card = seen.cluster.as_ref().map(explanation::of_failure);
                return Err(ClusterError::Failed(card.unwrap_or_default()));
            }
            Outcome::NotActedOn(text) => {
                let has_conductor = has_conductor(&connection.clients, &connection.token).await;
                return Err(ClusterError::NotActedOn(match has_conductor {
                    Some(false) => format!("{text} {NO_CONDUCTOR}"),
                    _ => text.clone(),
                }));
            }
            Outcome::Disappeared => return Err(ClusterError::Disappeared(following.name)),
            Outcome::Running | Outcome::Blocked(_) | Outcome::Unconfirmed(_) => {}
        }
        let left = following.timeout.checked_sub(began.elapsed());
        let Some(left) = left.filter(|left| !left.is_zero()) else {
            let stalled = report.stalled.map(|text| format!(": {text}"));
            return Err(ClusterError::TimedOut {
                uuid,
                seconds: following.timeout.as_secs(),
                stalled: stalled.unwrap_or_default(),
            });
        };
        let pause = poll_interval(report.elapsed);
        let pause = Duration::try_from(pause).unwrap_or_default().min(left);
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            _ = tokio::signal::ctrl_c() => return Err(ClusterError::Interrupted { uuid }),
        }
    }
}

/// What the last looks found.
#[derive(Debug, Default)]
struct Seen {
    /// `None`: Magnum answered 404.
    cluster: Option<Cluster>,
    /// `None`: no list was complete yet.
    groups: Option<Vec<NodeGroup>>,
    /// Whether the user knows that Magnum does not answer.
    is_outage_reported: bool,
}

impl Seen {
    /// Returns how many nodes the cluster is to have.
    fn wanted_nodes(&self) -> Option<u32> {
        let groups = self.groups.as_ref().filter(|groups| !groups.is_empty())?;
        let kept = groups.iter().filter(|group| !group.status.is_deletion());
        Some(kept.map(|group| group.node_count).sum())
    }

    /// Writes once that a service does not answer.
    fn report_outage(&mut self, console: &mut Console, error: &str) {
        if !self.is_outage_reported {
            console.say(format!("{error}; looking again."));
        }
        self.is_outage_reported = true;
    }
}

/// Signs in again after Magnum has refused the token. If Keystone is gone, the next look tries again.
async fn renew(
    connection: &mut Connection,
    console: &mut Console,
    cluster: Uuid,
    seen: &mut Seen,
    refused: rest::Error,
) -> Result<(), ClusterError> {
    match connection.renew_while_waiting(cluster, refused).await {
        Err(error) if error.is_outage() => {
            seen.report_outage(console, &error.to_string());
            Ok(())
        }
        renewed => renewed,
    }
}

/// Reads the cluster and its groups; returns whether Magnum answered.
async fn look(
    connection: &mut Connection,
    console: &mut Console,
    following: &Following,
    seen: &mut Seen,
) -> Result<bool, ClusterError> {
    let read = connection
        .clients
        .magnum
        .cluster(&connection.token, following.uuid);
    match read.await {
        Ok(cluster) => {
            seen.cluster = Some(connection.model(&cluster, None));
        }
        Err(error) if error.is_not_found() => {
            seen.cluster = None;
            seen.groups = None;
            return Ok(true);
        }
        Err(error) if error.kind == ErrorKind::InvalidToken => {
            renew(connection, console, following.uuid, seen, error).await?;
            return Ok(false);
        }
        // at the end of a deletion, Magnum can answer once with 400
        Err(error) if error.status == Some(400) => return Ok(false),
        Err(error) if !error.is_refusal() => {
            seen.report_outage(console, &error.to_string());
            return Ok(false);
        }
        Err(error) => return Err(error.into()),
    }
    seen.is_outage_reported = false;
    // a group that is missing in an incomplete list may exist: the last ones are used then
    if let Ok(groups) = connection.groups(following.uuid).await
        && groups.cut.is_none()
    {
        seen.groups = Some(groups.items.iter().map(mapping::group).collect());
    }
    Ok(true)
}

/// Prints what has changed since the last report.
struct Printer {
    has_json_lines: bool,
    /// State and reason of each step.
    shown: BTreeMap<String, (&'static str, Option<String>)>,
    /// The last sentence about the whole operation.
    remark: Option<String>,
}

impl Printer {
    fn new(has_json_lines: bool) -> Self {
        Self {
            has_json_lines,
            shown: BTreeMap::new(),
            remark: None,
        }
    }

    fn show(
        &mut self,
        console: &mut Console,
        report: &ProgressReport,
        at: Timestamp,
    ) -> Result<(), ClusterError> {
        for step in &report.steps {
            let state = state(&step.state);
            let title = step.name.title();
            let now = (state, step.reason.clone());
            let before = self.shown.insert(title.clone(), now.clone());
            if before.as_ref() == Some(&now) || (before.is_none() && state == "pending") {
                continue;
            }
            if self.has_json_lines {
                console.print(&json_line(report, step, &title, at))?;
            } else {
                console.say(line(report, step, &title));
            }
        }
        let remark = match &report.outcome {
            Outcome::Blocked(text) | Outcome::Unconfirmed(text) => Some(text.clone()),
            _ => report.stalled.clone(),
        };
        if remark != self.remark
            && let Some(text) = &remark
            && !self.has_json_lines
        {
            console.say(format!("{:>6}  {text}", elapsed(report.elapsed)));
        }
        self.remark = remark;
        Ok(())
    }
}

fn state(state: &StepState) -> &'static str {
    match state {
        StepState::Pending => "pending",
        StepState::Running { .. } => "running",
        StepState::Blocked { .. } => "blocked",
        StepState::Failed { .. } => "failed",
        StepState::Done { .. } => "done",
    }
}

fn line(report: &ProgressReport, step: &StepReport, title: &str) -> String {
    let state = match step.state {
        StepState::Done { took } => format!("done in {}", elapsed(took)),
        ref other => state(other).to_owned(),
    };
    let reason = step.reason.as_ref().map(|text| format!(" ({text})"));
    format!(
        "{:>6}  {title}: {state}{}",
        elapsed(report.elapsed),
        reason.unwrap_or_default()
    )
}

fn json_line(report: &ProgressReport, step: &StepReport, title: &str, at: Timestamp) -> String {
    let object = json!({
        "time": at,
        "step": title,
        "state": state(&step.state),
        "reason": step.reason,
        "percent": report.percent,
    });
    format!("{object}\n")
}

fn elapsed(duration: SignedDuration) -> String {
    let seconds = duration.as_secs().max(0);
    match seconds {
        0..60 => format!("{seconds}s"),
        _ => format!("{}m{:02}s", seconds / 60, seconds % 60),
    }
}
