//! `portico init`: writes the directory of a new installation, from questions or options.
//!
//! [`arguments`] and [`questions`] give the answers, [`settings`] completes them, [`checks`] tries
//! the network, and the other modules write; [`directory`] moves files into place only when all are
//! complete.
mod addition;
mod arguments;
mod certificates;
mod checks;
mod cluster_files;
mod cluster_spec;
mod configuration;
mod directory;
mod error;
mod installation;
mod questions;
mod roles;
mod settings;
mod steps;
mod systemd;

pub(super) use arguments::InitArgs;

use super::error::CliError;
use super::print;
use addition::Addition;
use anyhow::Context as _;
use arguments::Output;
use checks::Check;
use error::InitError;
use jiff::Timestamp;
use portico_clock::Clock;
use questions::Questions;
use serde::Serialize;
use settings::{Cluster, Keystone, Settings};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use steps::Step;

/// The program's path if it was not run from an installed location.
const INSTALLED: &str = "/usr/local/bin/portico";

/// The report of a run, for users or programs.
#[derive(Debug, Serialize)]
struct Report {
    directory: PathBuf,
    checks: Vec<Check>,
    written: Vec<PathBuf>,
    steps: Vec<Step>,
}

/// Writes an installation, or adds to one.
pub(super) async fn init(args: InitArgs) -> Result<(), CliError> {
    let output = args.output;
    let report = run(args, Clock::system().now())
        .await
        .map_err(anyhow::Error::from)?;
    match output {
        Output::Text => print(&text(&report)),
        Output::Json => {
            let json = serde_json::to_string_pretty(&report).context("print the report")?;
            print(&format!("{json}\n"))
        }
    }
}

async fn run(mut args: InitArgs, now: Timestamp) -> Result<Report, InitError> {
    let questions = if args.yes {
        None
    } else if std::io::stdin().is_terminal() {
        Some(Questions::new())
    } else {
        return Err(InitError::NoTerminal);
    };
    if args.add {
        return add(args, questions.as_ref(), now).await;
    }
    // before any question
    let out = std::path::absolute(&args.out).unwrap_or_else(|_| args.out.clone());
    installation::ensure_empty(&out)?;
    if let Some(questions) = &questions {
        questions.complete(&mut args)?;
    }
    let settings = Settings::new(&args)?;
    let keystone = Some(&settings.keystone);
    let checks = check(&args, keystone, &settings.clusters, questions.as_ref()).await?;
    let (written, steps) = installation::write(&settings, &program(), now)?;
    Ok(Report {
        directory: settings.out,
        checks,
        written,
        steps,
    })
}

async fn add(
    mut args: InitArgs,
    questions: Option<&Questions>,
    now: Timestamp,
) -> Result<Report, InitError> {
    if let Some(questions) = questions.filter(|_| args.clusters.is_empty()) {
        questions.clusters(&mut args)?;
    }
    let addition = Addition::new(&args)?;
    let checks = check(&args, None, &addition.clusters, questions).await?;
    let (written, steps) = addition.write(&program(), now)?;
    Ok(Report {
        directory: args.out,
        checks,
        written,
        steps,
    })
}

async fn check(
    args: &InitArgs,
    keystone: Option<&Keystone>,
    clusters: &[Cluster],
    questions: Option<&Questions>,
) -> Result<Vec<Check>, InitError> {
    if args.skip_checks {
        return Ok(Vec::new());
    }
    let checks = checks::run(keystone, clusters).await;
    if checks.iter().all(|check| check.result.is_ok()) {
        return Ok(checks);
    }
    let Some(questions) = questions else {
        return Err(InitError::Checks(checks));
    };
    for check in &checks {
        portico_cli::say(check.line());
    }
    if questions.confirm("Write the files all the same?", false)? {
        Ok(checks)
    } else {
        Err(InitError::Stopped)
    }
}

/// Returns the program's path for systemd: this program, if it is installed.
fn program() -> PathBuf {
    let own = std::env::current_exe().ok();
    own.filter(|path| path.starts_with("/usr") || path.starts_with("/opt"))
        .unwrap_or_else(|| Path::new(INSTALLED).to_owned())
}

fn text(report: &Report) -> String {
    let mut text = String::new();
    for check in &report.checks {
        text.push_str(&format!("{}\n", check.line()));
    }
    for name in &report.written {
        let path = report.directory.join(name);
        text.push_str(&format!("written  {}\n", path.display()));
    }
    text.push_str("\nRemaining steps, as root:\n");
    text.push_str(&steps::plain(&report.steps));
    text
}
