//! `portico-bench cluster`: one run of all measurements.
use super::driver::Pages;
use super::installation;
use super::program::Program;
use super::report::{self, Report};
use super::run::{Effort, Run};
use super::tenant::Tenant;
use crate::machine::{self, Machine};
use crate::panel::driver::Driver;
use crate::panel::portico::Build;
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
    /// Ten clusters and few rounds: shows that everything works, not how fast; writes nothing without --out
    #[arg(long)]
    quick: bool,
}

/// The results that are committed.
const RESULTS: &str = "docs/performance";

const FULL: Effort = Effort {
    is_quick: false,
    clusters: 200,
    operations: 7,
    starts: 20,
    reads: 11,
};
const QUICK: Effort = Effort {
    is_quick: true,
    clusters: 10,
    operations: 2,
    starts: 3,
    reads: 2,
};

/// Measures with the real Keystone and Magnum of the stack that `PORTICO_TEST_ENV` names.
pub async fn run(options: &Options) -> Result<()> {
    let env = TestEnv::load()?;
    let effort = if options.quick { QUICK } else { FULL };
    let tenant = Tenant::create(&env, effort.clusters).await?;
    let result = tokio::select! {
        result = measure(options, &env, &tenant, &effort) => result,
        // clusters and users must not stay behind
        _ = tokio::signal::ctrl_c() => Err(anyhow!("interrupted")),
    };
    let removed = tenant.remove().await;
    // the first error is the cause: what follows it may fail for the same reason
    let report = result?;
    removed?;
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
    tenant: &Tenant,
    effort: &Effort,
) -> Result<Report> {
    let machine = Machine::here()?;
    let before = machine::load()?;
    let build = Build {
        portico: &options.binary,
        site: &options.site,
    };
    let program = Program::new(env, &options.binary, &tenant.member, &tenant.project)?;
    let portico = installation::start(env, &build, tenant).await?;
    let (mut driver, browser) = Driver::start(&portico, &tenant.member).await?;
    let run = Run {
        tenant,
        program: &program,
        pages: Pages {
            driver: &mut driver,
            project: &tenant.project,
        },
        effort,
    };
    let rounds = run.all().await?;
    let load = Load {
        before,
        after: machine::load()?,
    };
    Ok(Report::new(machine, load, browser, effort, rounds))
}
