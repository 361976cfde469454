//! `portico-bench panel`: one run of all measurements.
use super::figures::Figures;
use super::fill::fill;
use super::installation::{Installation, People};
use super::portico::Build;
use super::report::{self, LogFigures, Report};
use super::rounds::{Effort, Run, progress};
use super::{log_source, logs, objects};
use crate::machine::{self, Machine};
use crate::report::Load;
use anyhow::{Result, anyhow};
use clap::Args;
use portico_testkit::TestEnv;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub struct Options {
    /// The program, built with --release
    #[arg(long, alias = "portico", default_value = "target/release/portico")]
    binary: PathBuf,
    /// The browser half of the same commit, built with --release
    #[arg(long, default_value = "target/site")]
    site: PathBuf,
    /// The folder of the results: docs/performance, unless the run is a quick one
    #[arg(long)]
    out: Option<PathBuf>,
    /// A tenth of the pods, and a few minutes: shows that everything works, not how fast; writes nothing without --out
    #[arg(long)]
    quick: bool,
    /// How long the log of 5,000 lines/s is followed [default: 600, or 20 with --quick]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(20..))]
    logs_seconds: Option<u64>,
    /// Measures only the log of 5,000 lines/s; writes nothing
    #[arg(long)]
    logs_only: bool,
}

/// The results that are committed.
const RESULTS: &str = "docs/performance";
const USERS: usize = 5;

const FULL: Effort = Effort {
    is_quick: false,
    pods: objects::PODS,
    events: objects::EVENTS,
    pages: 7,
    lists: 7,
    interactions: 15,
    samples: 100,
    viewing: 20,
    changing: 600,
    following: 600,
};
const QUICK: Effort = Effort {
    is_quick: true,
    pods: objects::FEW_PODS,
    events: objects::FEW_EVENTS,
    pages: 1,
    lists: 1,
    interactions: 3,
    samples: 10,
    viewing: 5,
    changing: 20,
    following: 20,
};

/// Measures with the real Keystone of the stack that `PORTICO_TEST_ENV` names.
pub async fn run(options: &Options) -> Result<()> {
    let env = TestEnv::load()?;
    let mut effort = if options.quick { QUICK } else { FULL };
    effort.following = options.logs_seconds.unwrap_or(effort.following);
    let people = People::create(&env, USERS).await?;
    let result = tokio::select! {
        result = measure(options, &env, &people, &effort) => result,
        // programs, users and the pod must not stay behind
        _ = tokio::signal::ctrl_c() => Err(anyhow!("interrupted")),
    };
    let removed = log_source::remove(&env).await;
    let deleted = people.delete().await;
    // the first error is the cause: what follows it may fail for the same reason
    let report = result?;
    removed?;
    deleted?;
    let Some(report) = report else {
        return Ok(());
    };
    print!("{}", report.table());
    match &options.out {
        Some(folder) => report::write(&report, folder),
        None if options.quick => {
            println!("A quick run: nothing is written.");
            Ok(())
        }
        None => report::write(&report, Path::new(RESULTS)),
    }
}

/// Returns nothing if only the log was measured.
async fn measure(
    options: &Options,
    env: &TestEnv,
    people: &People,
    effort: &Effort,
) -> Result<Option<Report>> {
    let machine = Machine::here()?;
    let before = machine::load()?;
    let build = Build {
        portico: &options.binary,
        site: &options.site,
    };
    if options.logs_only {
        let following = logs::follow(env, &build, people, effort.following).await?;
        print!("{}", LogFigures::new(&following).table());
        return Ok(None);
    }
    let figures = lists(env, &build, people, effort).await?;
    let following = logs::follow(env, &build, people, effort.following).await?;
    let load = Load {
        before,
        after: machine::load()?,
    };
    let report = Report::new(machine, load, figures, following, effort.is_quick);
    Ok(Some(report))
}

/// Measures the first page and lists. What is behind them ends with it.
async fn lists(
    env: &TestEnv,
    build: &Build<'_>,
    people: &People,
    effort: &Effort,
) -> Result<Figures> {
    let installation = Installation::start(env, build, people).await?;
    let filled = fill(&installation.admin, effort.pods, effort.events).await?;
    progress(&format!("filled in {:.0} s", filled.seconds));
    let run = Run {
        installation: &installation,
        people,
        effort,
    };
    run.all(filled).await
}
