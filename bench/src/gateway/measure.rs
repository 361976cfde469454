//! `portico-bench gateway`: one run of all measurements, and their targets.
use super::contender::Arena;
use super::portico::{Person, Workplace};
use super::report::{self, Report, Rest, Sockets};
use super::{instructions, rounds, sockets, storm};
use crate::machine::{self, Machine};
use crate::report::Load;
use anyhow::Result;
use clap::Args;
use portico_testkit::TestEnv;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Debug, Args)]
pub struct Options {
    /// The program, built with --release
    #[arg(long, default_value = "target/release/portico")]
    portico: PathBuf,
    /// The folder of the results: docs/performance, unless the run is a quick one
    #[arg(long)]
    out: Option<PathBuf>,
    /// Two minutes instead of eleven: shows that everything works, not how fast; writes nothing without --out
    #[arg(long)]
    quick: bool,
    /// Rounds only, this many of each; writes nothing
    #[arg(long)]
    only_rounds: Option<usize>,
    /// With --only-rounds: this contender only, by its name in the results; may be repeated
    #[arg(long = "contender", value_name = "NAME", requires = "only_rounds")]
    contenders: Vec<String>,
    /// With --only-rounds: another build of the program, beside this one as `gateway_before`
    #[arg(long, value_name = "PORTICO", requires = "only_rounds")]
    before: Option<PathBuf>,
}

/// The results that are committed.
const RESULTS: &str = "docs/performance";

/// The duration and number of measurements.
#[derive(Clone, Copy)]
pub struct Effort {
    pub rounds: usize,
    pub round: Duration,
    pub large_round: Duration,
    pub sockets: usize,
    /// Requests over which instructions are counted.
    pub counted: u64,
}

const FULL: Effort = Effort {
    rounds: 15,
    round: Duration::from_secs(2),
    large_round: Duration::from_millis(1_500),
    sockets: 10_000,
    counted: 4_000,
};
const QUICK: Effort = Effort {
    rounds: 1,
    round: Duration::from_secs(1),
    large_round: Duration::from_millis(600),
    sockets: 1_000,
    counted: 1_600,
};

/// Measures with the real Keystone of the stack that `PORTICO_TEST_ENV` names.
pub async fn run(options: &Options) -> Result<()> {
    let env = TestEnv::load()?;
    let person = Person::create(&env).await?;
    let result = measure(options, &env, &person).await;
    person.delete().await?;
    let Some(report) = result? else {
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

async fn measure(options: &Options, env: &TestEnv, person: &Person) -> Result<Option<Report>> {
    let mut effort = if options.quick { QUICK } else { FULL };
    let machine = Machine::here()?;
    let before = machine::load()?;
    let place = Workplace::create(&options.portico, env)?;
    if let Some(rounds) = options.only_rounds {
        effort.rounds = rounds;
        only_rounds(options, env, person, &place, &effort).await?;
        return Ok(None);
    }
    // first, so that an error of valgrind ends the run before the minutes of the rounds
    let instructions = instructions::count(&place, person, effort.counted).await?;
    let arena = Arena::start(&place, person).await?;
    let rounds = rounds::run(&arena, &effort).await?;
    let revocations = rounds::revoke(&arena, person, &effort).await?;
    drop(arena);
    let (rss_mb, processes) = sockets::measure(&place, person, effort.sockets).await?;
    let refresh_storm = storm::run(&place).await?;
    let load = Load {
        before,
        after: machine::load()?,
    };
    let rest = Rest {
        sockets: Sockets {
            count: effort.sockets,
            processes,
            rss_mb,
        },
        refresh_storm,
        revocations,
        instructions,
    };
    Ok(Some(Report::new(machine, load, rounds, rest)))
}

async fn only_rounds(
    options: &Options,
    env: &TestEnv,
    person: &Person,
    place: &Workplace,
    effort: &Effort,
) -> Result<()> {
    let mut arena = Arena::start(place, person).await?;
    let before = match &options.before {
        Some(portico) => Some(Workplace::create(portico, env)?),
        None => None,
    };
    let _before = match &before {
        Some(before) => Some(arena.also(before, person).await?),
        None => None,
    };
    arena.keep(&options.contenders)?;
    let rounds = rounds::run(&arena, effort).await?;
    print!("{}", report::medians(&rounds));
    Ok(())
}
