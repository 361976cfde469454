//! `portico audit`: reads and verifies the audit log on the store itself.
mod journals;

use super::error::CliError;
use super::migrate::open_store;
use super::print_for_people;
use crate::config::Config;
use anyhow::{Context as _, anyhow};
use clap::{Args, Subcommand};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use portico_cli::output::{self, OutputFormat, Table, TableRow};
use portico_clock::Clock;
use portico_runtime::config::{ConfigError, Problem};
use portico_store::{AuditEvent, AuditFilter, ChainMark, ChainReport, Outcome, Store};
use serde::Serialize;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{ErrorKind, Write as _};
use std::time::Duration;
use uuid::Uuid;

/// How often `--follow` reads new entries.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum number of entries that one read returns while following.
const MAX_BATCH: i64 = 500;
/// Maximum number of entries in one list.
const MAX_LIMIT: i64 = 10_000;

#[derive(Debug, Subcommand)]
pub(super) enum AuditCommand {
    List(Box<ListArgs>),
    Verify(VerifyArgs),
}

/// List entries of the audit log, oldest first
///
/// The newest entries that fit are shown. Failed sign-ins have the name that was typed and no user ID.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  portico --config portico.toml audit list --user ada --since 24h
  portico --config portico.toml audit list --action panel --cluster prod -o json
  portico --config portico.toml audit list --outcome denied --follow -o jsonl")]
pub(super) struct ListArgs {
    /// A user's ID, or name in any case
    #[arg(long, value_name = "USER")]
    user: Option<String>,
    /// A project's ID
    #[arg(long, value_name = "ID")]
    project: Option<String>,
    /// A cluster's name or ID
    #[arg(long, value_name = "CLUSTER")]
    cluster: Option<String>,
    /// An action such as session.sign_in, or the start of several: session, app, cluster, panel, cli
    #[arg(long, value_name = "ACTION")]
    action: Option<String>,
    /// An object of a cluster, as the entries name it: shop/deployments.apps/web
    #[arg(long, value_name = "OBJECT")]
    object: Option<String>,
    /// intended, succeeded, denied or failed
    #[arg(long, value_name = "OUTCOME", value_parser = outcome)]
    outcome: Option<Outcome>,
    /// Not before: 90m or 7d ago, 2026-11-23, or 2026-11-23T08:00:00Z
    #[arg(long, value_name = "TIME", value_parser = time)]
    since: Option<TimeArg>,
    /// Before; written like --since
    #[arg(long, value_name = "TIME", value_parser = time)]
    until: Option<TimeArg>,
    /// How many entries at most, the newest ones
    #[arg(long, value_name = "N", default_value_t = 100,
          value_parser = clap::value_parser!(i64).range(1..=MAX_LIMIT))]
    limit: i64,
    /// Print new entries as they are written, until interrupted; with -o table or jsonl
    #[arg(short, long)]
    follow: bool,
    /// How to print the list
    #[arg(short, long, value_enum, default_value_t)]
    output: OutputFormat,
}

/// A time on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TimeArg {
    At(Timestamp),
    /// How long ago it was.
    Ago(SignedDuration),
}

impl TimeArg {
    fn resolve(self, now: Timestamp) -> Timestamp {
        match self {
            Self::At(time) => time,
            Self::Ago(ago) => now.checked_sub(ago).unwrap_or(Timestamp::MIN),
        }
    }
}

/// Verify the audit log's chain, and report the first break
///
/// Each entry has a hash over the entry before it, sealed with the store's keys. An entry that was
/// altered, removed, moved or inserted breaks the chain. The head that is printed proves later, by
/// --expect, that nothing up to it was removed since: keep it somewhere else. The journals of managed
/// clusters are verified too, and compared with their entries that the audit log names.
#[derive(Args, Debug)]
#[command(after_help = "\
Exits with 0 when the chain and all journals are whole and with 1 when one is broken.

Examples:
  portico --config portico.toml audit verify
  portico --config portico.toml audit verify --expect 4711:Zk3v...")]
pub(super) struct VerifyArgs {
    /// A head that was noted earlier, which must still be in the chain
    #[arg(long, value_name = "SEQUENCE:HASH", value_parser = mark)]
    expect: Option<ChainMark>,
}

pub(super) async fn audit(config: &Config, command: &AuditCommand) -> Result<(), CliError> {
    let section = config.store.as_ref().ok_or_else(|| {
        ConfigError::Invalid(vec![Problem::new("store", "the section is missing")])
    })?;
    let store = open_store(section).await?;
    store.ensure_migrated().await.context("look at the store")?;
    let now = Clock::system().now();
    match command {
        AuditCommand::List(arguments) => list(&store, config, arguments, now).await?,
        AuditCommand::Verify(arguments) => {
            let report = store.audit().verify(arguments.expect.as_ref()).await;
            let report = report.context("verify the audit log")?;
            print_for_people(&summary(&report))?;
            let journals = journals::check(&store, now).await;
            let journals = journals.context("verify the journals of clusters")?;
            if let Some(journals) = &journals {
                print_for_people(&journals.summary())?;
            }
            store.close().await;
            let failure = journals.and_then(|journals| journals.failure());
            return journals::ended(broken(&report), failure);
        }
    }
    store.close().await;
    Ok(())
}

/// An entry in the list.
#[derive(Serialize)]
struct Row {
    sequence: i64,
    time: Timestamp,
    user_id: Option<String>,
    user_name: Option<String>,
    project_id: Option<String>,
    cluster_id: Option<String>,
    cluster_name: Option<String>,
    action: String,
    object: String,
    outcome: &'static str,
    session_id: Option<Uuid>,
    request_id: Option<Uuid>,
    /// When the entry joined the chain, if an earlier version wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    adopted_at: Option<Timestamp>,
    detail: serde_json::Value,
}

impl TableRow for Row {
    const HEADINGS: &'static [&'static str] = &[
        "TIME", "USER", "PROJECT", "CLUSTER", "ACTION", "OBJECT", "OUTCOME", "REASON",
    ];

    fn cells(&self) -> Vec<String> {
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        vec![
            self.time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            text(if self.user_name.is_some() {
                &self.user_name
            } else {
                &self.user_id
            }),
            text(&self.project_id),
            text(if self.cluster_name.is_some() {
                &self.cluster_name
            } else {
                &self.cluster_id
            }),
            self.action.clone(),
            self.object.clone(),
            self.outcome.to_owned(),
            self.detail["reason"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
        ]
    }
}

async fn list(
    store: &Store,
    config: &Config,
    arguments: &ListArgs,
    now: Timestamp,
) -> anyhow::Result<()> {
    let streams = matches!(arguments.output, OutputFormat::Table | OutputFormat::Jsonl);
    if arguments.follow && !streams {
        return Err(anyhow!(
            "--follow never ends, so it cannot print one document: use -o jsonl or -o table"
        ));
    }
    let names: HashMap<String, String> = config
        .clusters
        .iter()
        .map(|cluster| (cluster.id.to_string(), cluster.name.clone()))
        .collect();
    let mut filter = filter(arguments, &names, now);
    let mut events = store.audit().list(&filter, arguments.limit).await?;
    events.reverse();
    let mut last = events.last().map_or(0, |event| event.sequence);
    let rows = rows(events, &names);
    if !arguments.follow {
        return write(&output::list(arguments.output, &rows)?).map(drop);
    }
    let mut table = Table::new(Row::HEADINGS);
    let mut text = match arguments.output {
        OutputFormat::Table => table.headings(),
        _ => String::new(),
    };
    text.push_str(&batch(arguments.output, &mut table, &rows)?);
    while write(&text)? {
        tokio::time::sleep(POLL_INTERVAL).await;
        filter.after = Some(last);
        let events = store.audit().list_forward(&filter, MAX_BATCH).await?;
        last = events.last().map_or(last, |event| event.sequence);
        text = batch(arguments.output, &mut table, &self::rows(events, &names))?;
    }
    Ok(())
}

fn batch(format: OutputFormat, table: &mut Table, rows: &[Row]) -> anyhow::Result<String> {
    match format {
        OutputFormat::Table => Ok(table.rows(rows)),
        _ => Ok(output::list(OutputFormat::Jsonl, rows)?),
    }
}

/// Writes to standard output without terminal control characters; returns whether the reader is
/// still there.
fn write(text: &str) -> anyhow::Result<bool> {
    let text = portico_cli::printable(text);
    let mut out = std::io::stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn filter(arguments: &ListArgs, names: &HashMap<String, String>, now: Timestamp) -> AuditFilter {
    let cluster_id = arguments.cluster.as_ref().map(|wanted| {
        let by_name = names.iter().find(|(_, name)| *name == wanted);
        by_name.map_or_else(|| wanted.to_lowercase(), |(id, _)| id.clone())
    });
    AuditFilter {
        user: arguments.user.clone(),
        project_id: arguments.project.clone(),
        cluster_id,
        action: arguments.action.clone(),
        target: arguments.object.clone(),
        outcome: arguments.outcome,
        since: arguments.since.map(|since| since.resolve(now)),
        until: arguments.until.map(|until| until.resolve(now)),
        ..AuditFilter::default()
    }
}

fn rows(events: Vec<AuditEvent>, names: &HashMap<String, String>) -> Vec<Row> {
    events
        .into_iter()
        .map(|stored| {
            let event = stored.event;
            let cluster_name = event.cluster_id.as_ref().and_then(|id| names.get(id));
            Row {
                sequence: stored.sequence,
                time: stored.at,
                user_id: event.user_id,
                user_name: event.user_name,
                project_id: event.project_id,
                cluster_name: cluster_name.cloned(),
                cluster_id: event.cluster_id,
                action: event.action,
                object: event.target,
                outcome: event.outcome.as_str(),
                session_id: event.session,
                request_id: event.request_id,
                adopted_at: stored.adopted_at,
                detail: event.detail,
            }
        })
        .collect()
}

fn summary(report: &ChainReport) -> String {
    let head = &report.head;
    let mut text = format!("Entries verified: {}\n", report.verified);
    // writing to a string cannot fail
    if report.removed_through > 0 {
        let _ = writeln!(
            text,
            "Removed by retention: entries up to {}",
            report.removed_through
        );
    }
    if report.adopted > 0 {
        let _ = writeln!(
            text,
            "Joined later: {} entries, written by a version without the chain",
            report.adopted
        );
    }
    if report.unchained > 0 {
        let _ = writeln!(
            text,
            "Not in the chain yet: {} entries; a running gateway adds them within a minute",
            report.unchained
        );
    }
    if report.unknown_key > 0 {
        let _ = writeln!(
            text,
            "Sealed with keys that are not configured any more: {} entries; the hashes of later \
             entries cover them",
            report.unknown_key
        );
    }
    let _ = writeln!(text, "Head: {}:{}", head.sequence, head.hash);
    text
}

fn broken(report: &ChainReport) -> Result<(), CliError> {
    let Some(found) = &report.first_break else {
        return Ok(());
    };
    let at = found
        .at
        .map(|at| at.strftime(" (%Y-%m-%d %H:%M:%S UTC)").to_string())
        .unwrap_or_default();
    Err(CliError::Other(anyhow!(
        "the audit log is broken at entry {}{at}: {}",
        found.sequence,
        found.kind
    )))
}

fn outcome(text: &str) -> Result<Outcome, String> {
    text.parse()
}

/// Returns a time, or how long ago it was.
fn time(text: &str) -> Result<TimeArg, String> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(TimeArg::At(time));
    }
    if let Ok(day) = text.parse::<Date>() {
        let midnight = day
            .to_zoned(TimeZone::UTC)
            .map_err(|error| error.to_string())?;
        return Ok(TimeArg::At(midnight.timestamp()));
    }
    humantime_serde::re::humantime::parse_duration(text)
        .ok()
        .and_then(|ago| SignedDuration::try_from(ago).ok())
        // what is in range before 1970 is in range before any later time
        .filter(|ago| Timestamp::UNIX_EPOCH.checked_sub(*ago).is_ok())
        .map(TimeArg::Ago)
        .ok_or_else(|| {
            "use a duration such as 90m or 7d, a date such as 2026-11-23, or a time such as \
             2026-11-23T08:00:00Z"
                .to_owned()
        })
}

fn mark(text: &str) -> Result<ChainMark, String> {
    text.split_once(':')
        .and_then(|(sequence, hash)| {
            Some(ChainMark {
                sequence: sequence.parse().ok().filter(|sequence| *sequence > 0)?,
                hash: Some(hash).filter(|hash| !hash.is_empty())?.to_owned(),
            })
        })
        .ok_or_else(|| "must be SEQUENCE:HASH, as `portico audit verify` prints it".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn audit_times_are_durations_dates_or_times() {
        let now: Timestamp = "2026-11-23T10:00:00Z".parse().unwrap();
        let of = |text: &str| time(text).unwrap().resolve(now).to_string();
        assert_eq!(of("2026-11-23"), "2026-11-23T00:00:00Z");
        assert_eq!(of("2026-11-23T08:00:00Z"), "2026-11-23T08:00:00Z");
        assert_eq!(of("90m"), "2026-11-23T08:30:00Z");
        for invalid in ["yesterday", "100000years"] {
            assert!(time(invalid).is_err(), "{invalid}");
        }
    }

    #[test]
    fn audit_mark_is_what_verify_prints() {
        let expected = ChainMark {
            sequence: 12,
            hash: "ab-c_d".to_owned(),
        };
        assert_eq!(mark("12:ab-c_d").unwrap(), expected);
        for text in ["12", "x:y", "0:a", "12:"] {
            assert!(mark(text).is_err(), "{text}");
        }
    }
}
