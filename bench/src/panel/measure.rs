//! `portico-bench panel`: one run of all measurements.
use super::fill::fill;
use super::installation::{Installation, People};
use super::objects;
use super::portico::Build;
use super::report::{self, Report};
use super::rounds::{Effort, Run, progress};
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
};

/// Measures with the real Keystone of the stack that `PORTICO_TEST_ENV` names.
pub async fn run(options: &Options) -> Result<()> {
    let env = TestEnv::load()?;
    let effort = if options.quick { QUICK } else { FULL };
    let people = People::create(&env, USERS).await?;
    let result = tokio::select! {
        result = measure(options, &env, &people, &effort) => result,
        // programs and users must not stay behind
        _ = tokio::signal::ctrl_c() => Err(anyhow!("interrupted")),
    };
    people.delete().await?;
    let report = result?;
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

async fn measure(
    options: &Options,
    env: &TestEnv,
    people: &People,
    effort: &Effort,
) -> Result<Report> {
    let machine = Machine::here()?;
    let before = machine::load()?;
    let build = Build {
        portico: &options.binary,
        site: &options.site,
    };
    let installation = Installation::start(env, &build, people).await?;
    let filled = fill(&installation.admin, effort.pods, effort.events).await?;
    progress(&format!("filled in {:.0} s", filled.seconds));
    let run = Run {
        installation: &installation,
        people,
        effort,
    };
    let figures = run.all(filled).await?;
    let load = Load {
        before,
        after: machine::load()?,
    };
    Ok(Report::new(machine, load, figures, effort.is_quick))
}
