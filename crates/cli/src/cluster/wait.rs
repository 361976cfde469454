//! `portico cluster wait`: until a condition holds.
use super::arguments::{SharedArgs, duration};
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use super::upgrade::is_version;
use clap::Args;
use jiff::SignedDuration;
use portico_cluster_operations::explanation;
use portico_lifecycle::progress::poll_interval;
use portico_openstack::magnum::{Cluster, HealthStatus};
use portico_openstack::rest::ErrorKind;
use std::str::FromStr;
use std::time::Duration;
use tokio::time::Instant;
use uuid::Uuid;

/// Wait until a condition holds
///
/// Ends with 0 once it holds, with 8 if the cluster failed, and with 9 when the time is over.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  portico cluster wait shop --for complete
  portico cluster wait shop --for nodes=5 --timeout 20m
  portico cluster wait shop --for version=v1.32.1
  portico cluster wait shop --for deleted")]
pub struct WaitForArgs {
    /// Name or UUID
    pub cluster: String,
    /// complete, healthy, deleted, nodes=NUMBER or version=VERSION
    #[arg(long = "for", value_name = "CONDITION")]
    pub condition: Condition,
    /// Stop waiting after this time
    #[arg(long, value_name = "TIME", default_value = "60m", value_parser = duration)]
    pub timeout: Duration,
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// What is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// No change is running, and the last one succeeded.
    Complete,
    /// Magnum reports the cluster as healthy.
    Healthy,
    /// Magnum has no record of it.
    Deleted,
    /// It is complete with so many workers.
    Nodes(u32),
    /// Magnum reports this version of Kubernetes, or one that begins so.
    Version(String),
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            None if text == "complete" => Ok(Self::Complete),
            None if text == "healthy" => Ok(Self::Healthy),
            None if text == "deleted" => Ok(Self::Deleted),
            Some(("nodes", number)) => number
                .parse()
                .map(Self::Nodes)
                .map_err(|_| format!("{number:?} is not a number of nodes")),
            Some(("version", version)) if !version.is_empty() => {
                Ok(Self::Version(version.to_owned()))
            }
            _ => Err(format!(
                "{text:?} is not a condition: use complete, healthy, deleted, nodes=NUMBER or version=VERSION"
            )),
        }
    }
}

impl Condition {
    /// Returns whether it holds for a cluster that exists.
    fn is_met(&self, cluster: &Cluster) -> bool {
        let is_complete = cluster.status.is_complete();
        match self {
            Self::Complete => is_complete,
            Self::Healthy => cluster.health_status == Some(HealthStatus::Healthy),
            Self::Deleted => false,
            Self::Nodes(wanted) => is_complete && cluster.node_count == Some(*wanted),
            Self::Version(wanted) => {
                let version = cluster.coe_version.as_deref().unwrap_or_default();
                is_complete && is_version(version, wanted)
            }
        }
    }
}

/// Waits.
///
/// # Errors
/// [`ClusterError::Failed`] if the last change failed; [`ClusterError::Disappeared`] if the cluster was
/// deleted meanwhile; [`ClusterError::TimedOut`]; [`ClusterError::TokenEnded`];
/// [`ClusterError::Interrupted`].
pub async fn wait(
    connection: &mut Connection,
    console: &mut Console,
    args: &WaitForArgs,
) -> Result<(), ClusterError> {
    let magnum = &connection.clients.magnum;
    let found = magnum.cluster_named(&connection.token, &args.cluster).await;
    let found = match found {
        Err(error) if error.is_not_found() && args.condition == Condition::Deleted => {
            console.say(format!("There is no cluster {}.", args.cluster));
            return Ok(());
        }
        found => found?,
    };
    let (uuid, name) = (found.uuid, found.name);
    let began = Instant::now();
    let mut last = None;
    loop {
        match look(connection, console, uuid, &mut last).await? {
            Look::Gone if args.condition == Condition::Deleted => {
                console.say(format!("{name} is deleted."));
                return Ok(());
            }
            Look::Gone => return Err(ClusterError::Disappeared(name)),
            Look::Unknown => {}
            Look::Found(cluster) if args.condition.is_met(&cluster) => {
                console.say(format!("{name} is {}.", cluster.status));
                return Ok(());
            }
            Look::Found(cluster) if cluster.status.is_failed() => {
                let model = connection.model(&cluster, None);
                return Err(ClusterError::Failed(explanation::of_failure(&model)));
            }
            Look::Found(_) => {}
        }
        let waited = began.elapsed();
        let left = args.timeout.checked_sub(waited);
        let Some(left) = left.filter(|left| !left.is_zero()) else {
            return Err(ClusterError::TimedOut {
                uuid: uuid.to_string(),
                seconds: args.timeout.as_secs(),
                stalled: String::new(),
            });
        };
        let pause = poll_interval(SignedDuration::try_from(waited).unwrap_or(SignedDuration::MAX));
        let pause = Duration::try_from(pause).unwrap_or_default().min(left);
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            _ = tokio::signal::ctrl_c() => {
                return Err(ClusterError::Interrupted { uuid: uuid.to_string() });
            }
        }
    }
}

/// What one read found.
enum Look {
    Found(Box<Cluster>),
    /// Magnum answered 404.
    Gone,
    /// Magnum did not answer.
    Unknown,
}

/// Reads the cluster, and reports each new state.
async fn look(
    connection: &mut Connection,
    console: &mut Console,
    uuid: Uuid,
    last: &mut Option<String>,
) -> Result<Look, ClusterError> {
    let magnum = &connection.clients.magnum;
    let (look, text) = match magnum.cluster(&connection.token, uuid).await {
        Ok(cluster) => {
            let text = cluster.status.to_string();
            (Look::Found(Box::new(cluster)), text)
        }
        Err(error) if error.is_not_found() => return Ok(Look::Gone),
        Err(refused) if refused.kind == ErrorKind::InvalidToken => {
            match connection.renew_while_waiting(uuid, refused).await {
                Ok(()) => return Ok(Look::Unknown),
                Err(error) if error.is_outage() => {
                    (Look::Unknown, format!("{error}; looking again"))
                }
                Err(error) => return Err(error),
            }
        }
        // at the end of a deletion, Magnum can answer once with 400
        Err(error) if error.status == Some(400) => return Ok(Look::Unknown),
        Err(error) if !error.is_refusal() => (Look::Unknown, format!("{error}; looking again")),
        Err(error) => return Err(error.into()),
    };
    if last.as_ref() != Some(&text) {
        console.say(&text);
        *last = Some(text);
    }
    Ok(look)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_a_word_or_a_value() {
        assert_eq!("complete".parse(), Ok(Condition::Complete));
        assert_eq!("nodes=5".parse(), Ok(Condition::Nodes(5)));
        let version = Condition::Version("v1.32.1".to_owned());
        assert_eq!("version=v1.32.1".parse(), Ok(version));
        for wrong in ["", "ready", "nodes=", "nodes=-1", "version="] {
            assert!(wrong.parse::<Condition>().is_err(), "{wrong}");
        }
    }
}
