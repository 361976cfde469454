//! `portico cluster events`: the journal of a cluster, which Portico keeps (ADR 0025).
mod followed;

use super::arguments::{ClusterOutput, SharedArgs, duration};
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use super::event_names::{has_template, name_templates, template_names};
use crate::output::{OutputFormat, TableRow, list};
use clap::{Args, ValueEnum};
use followed::Followed;
use jiff::{SignedDuration, Timestamp};
use portico_lifecycle::journal::NodeEvent;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashSet;
use std::time::Duration;
use uuid::Uuid;

/// How often the journal is read again with `--follow`.
const POLL_INTERVAL: Duration = Duration::from_secs(3);

/// Show the journal of a cluster: requests through Portico, and what was observed
///
/// Portico keeps the journal, so this needs the session of `portico login`. That of a deleted cluster is
/// named by the UUID. A change that no request explains was made outside of Portico. Clusters of Magnum's Heat
/// drivers have a stack, whose events are shown with their own times, as what happened to the nodes of an
/// enrolled cluster. With -o json, each entry is one JSON
/// object on one line.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  portico cluster events shop --since 2h
  portico cluster events shop -f --source request
  portico cluster events 900e3758-8071-430e-a8cf-5c48f428dc0e -o json | jq .content.action")]
pub struct EventsArgs {
    /// Name or UUID
    pub cluster: String,
    /// Wait for further entries until you interrupt it
    #[arg(long, short)]
    pub follow: bool,
    /// Only entries that are younger, such as 30m or 2h
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub since: Option<Duration>,
    /// Only entries of this kind
    #[arg(long, value_enum, value_name = "SOURCE")]
    pub source: Option<EventSource>,
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// Where an entry comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventSource {
    /// What a user requested through Portico
    Request,
    /// What differs from the observation of Magnum before; or `magnum`
    #[value(alias = "magnum")]
    Observation,
    /// What the cluster's stack in Heat reports
    Heat,
    /// What happened to the nodes, as the cluster's API server reports it
    Kubernetes,
}

/// An entry of the journal, as the panel exports it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Entry {
    sequence: i64,
    time: Timestamp,
    source: EventSource,
    content: Value,
    #[serde(default)]
    hash: String,
    /// What is known of a request whose outcome is no longer expected, as a sentence. It was not written, and the
    /// hash is not about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    interrupted: Option<String>,
}

impl TableRow for Entry {
    const HEADINGS: &'static [&'static str] = &["TIME", "SOURCE", "USER", "EVENT"];

    fn cells(&self) -> Vec<String> {
        let source = match self.source {
            EventSource::Request => "request",
            EventSource::Observation => "observation",
            EventSource::Heat => "heat",
            EventSource::Kubernetes => "kubernetes",
        };
        // to the second, as Magnum has it
        let time = self.at();
        let second = Timestamp::from_second(time.as_second()).unwrap_or(time);
        let (user, event) = match self.source {
            EventSource::Request => (self.text("user_name"), self.request()),
            EventSource::Observation => (String::new(), self.observation()),
            EventSource::Heat => (String::new(), self.stack_event()),
            EventSource::Kubernetes => (String::new(), self.node_event()),
        };
        vec![second.to_string(), source.to_owned(), user, event]
    }
}

impl Entry {
    fn text(&self, field: &str) -> String {
        let text = self.content.get(field).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    }

    /// Returns `delete node group gpu: accepted (CHG-12)`.
    fn request(&self) -> String {
        let mut event = self.text("action").replace('_', " ");
        let (outcome, answer) = match &self.interrupted {
            Some(text) => ("interrupted".to_owned(), text.clone()),
            None => (self.text("outcome"), self.text("answer")),
        };
        for (before, text) in [(" ", self.text("target")), (": ", outcome), (": ", answer)] {
            if !text.is_empty() {
                event.push_str(before);
                event.push_str(&text);
            }
        }
        let reason = self.text("reason");
        if !reason.is_empty() {
            event.push_str(&format!(" ({reason})"));
        }
        event
    }

    /// Returns `State: UPDATE_IN_PROGRESS to UPDATE_COMPLETE; Nodes of gpu: 1 to 2`.
    fn observation(&self) -> String {
        let differences = self.content.get("differences").and_then(Value::as_array);
        let texts: Vec<_> = differences.into_iter().flatten().map(difference).collect();
        match texts.is_empty() {
            true => format!("first observation: {}", self.text("status")),
            false => texts.join("; "),
        }
    }

    /// Returns `kube_minions CREATE_FAILED: Resource CREATE failed: …`.
    fn stack_event(&self) -> String {
        let mut event = format!("{} {}", self.text("resource"), self.text("status"));
        let reason = self.text("reason");
        if !reason.is_empty() {
            event.push_str(": ");
            event.push_str(&reason);
        }
        event
    }

    /// Returns `Node n1 is not ready: NodeStatusUnknown; Kubelet stopped posting node status.`.
    fn node_event(&self) -> String {
        match serde_json::from_value::<NodeEvent>(self.content.clone()) {
            Ok(event) => {
                let lines = event.lines().join("; ");
                let title = event.title();
                if lines.is_empty() {
                    title
                } else {
                    format!("{title}: {lines}")
                }
            }
            // of a newer version
            Err(_) => format!("{} {}", self.text("node"), self.text("change")),
        }
    }

    /// Returns when it happened: an event of a stack or a node is recorded later.
    fn at(&self) -> Timestamp {
        let of_event = match self.source {
            EventSource::Heat | EventSource::Kubernetes => self.text("at").parse().ok(),
            EventSource::Request | EventSource::Observation => None,
        };
        of_event.unwrap_or(self.time)
    }

    /// Returns what tells a request from others.
    fn key(&self) -> (String, String) {
        (self.text("request_id"), self.text("action"))
    }

    fn is_begin(&self) -> bool {
        self.source == EventSource::Request && self.text("outcome") == "sending"
    }
}

fn difference(difference: &Value) -> String {
    let text = |field: &str| {
        let text = difference.get(field).and_then(Value::as_str);
        text.unwrap_or("-").to_owned()
    };
    format!("{}: {} to {}", text("field"), text("before"), text("after"))
}

/// Reads the lines of a journal. A line that this version cannot read is left out.
fn entries(lines: &str) -> Vec<Entry> {
    let lines = lines.lines().filter(|line| !line.trim().is_empty());
    lines
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// Returns what identifies the requests of entries that have an outcome.
fn ended(entries: &[Entry]) -> HashSet<(String, String)> {
    let requests = entries
        .iter()
        .filter(|entry| entry.source == EventSource::Request && !entry.is_begin());
    requests.map(Entry::key).collect()
}

/// Leaves out entries of other kinds or before a time, and the beginning of a request whose outcome is
/// there too.
fn chosen(
    entries: Vec<Entry>,
    source: Option<EventSource>,
    since: Option<Timestamp>,
) -> Vec<Entry> {
    let ended = ended(&entries);
    entries
        .into_iter()
        .filter(|entry| source.is_none_or(|source| entry.source == source))
        .filter(|entry| since.is_none_or(|since| entry.at() >= since))
        .filter(|entry| !(entry.is_begin() && ended.contains(&entry.key())))
        .collect()
}

/// Shows the journal of a cluster.
///
/// # Errors
/// [`ClusterError::NoJournal`] if Magnum is called directly; [`ClusterError::Usage`] for another format than
/// a table and JSON; if the gateway refuses or does not respond.
pub async fn events(
    connection: &mut Connection,
    console: &mut Console,
    args: &EventsArgs,
) -> Result<(), ClusterError> {
    if !connection.is_through_gateway() {
        return Err(ClusterError::NoJournal);
    }
    let format = match args.shared.output {
        ClusterOutput::Table | ClusterOutput::Wide => OutputFormat::Table,
        ClusterOutput::Json => OutputFormat::Jsonl,
        _ => {
            return Err(ClusterError::Usage(
                "events are printed as a table, or with -o json as one object a line".to_owned(),
            ));
        }
    };
    let cluster = cluster(connection, &args.cluster).await?;
    let since = args.since.map(|since| {
        let since = SignedDuration::try_from(since).unwrap_or(SignedDuration::MAX);
        let now = connection.clock.now();
        now.checked_sub(since).unwrap_or(Timestamp::UNIX_EPOCH)
    });
    let mut followed = Followed::default();
    let mut is_first = true;
    let mut names = None;
    loop {
        let read = match connection.gateway_session() {
            Some(session) => session.journal(cluster, followed.after()).await,
            None => return Err(ClusterError::NoJournal),
        };
        let read = match read {
            Ok(lines) => entries(&lines),
            // the next try may succeed
            Err(error) if error.is_outage() && !is_first => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        let is_new = followed.take(&read);
        let mut rows = chosen(read, args.source, since);
        rows.retain(is_new);
        // a table is for reading; objects are as they were written
        if format == OutputFormat::Table && rows.iter().any(|row| has_template(&row.content)) {
            let known = match names.take() {
                Some(known) => known,
                None => template_names(connection).await,
            };
            for row in &mut rows {
                name_templates(&mut row.content, &known);
            }
            names = Some(known);
        }
        if format == OutputFormat::Table {
            rows.sort_by_key(Entry::at);
        }
        if is_first || !rows.is_empty() {
            let text = list(format, &rows)?;
            console.print(match is_first {
                true => &text,
                false => without_headings(format, &text),
            })?;
        }
        if !args.follow {
            return Ok(());
        }
        is_first = false;
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Returns the rows of a table that continues one.
fn without_headings(format: OutputFormat, text: &str) -> &str {
    match format {
        OutputFormat::Table => text.split_once('\n').map_or(text, |(_, rows)| rows),
        _ => text,
    }
}

/// Returns the UUID of a cluster. One that is written as a UUID may be deleted.
async fn cluster(connection: &Connection, wanted: &str) -> Result<Uuid, ClusterError> {
    if let Ok(uuid) = wanted.parse() {
        return Ok(uuid);
    }
    let magnum = &connection.clients.magnum;
    let found = magnum.cluster_named(&connection.token, wanted).await?;
    Ok(found.uuid)
}

#[cfg(test)]
mod tests;
