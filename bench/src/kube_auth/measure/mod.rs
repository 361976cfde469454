//! `kube-auth measure`: one run of all measurements, and their targets.
mod cold;
mod flood;
mod memory;
mod rounds;

use crate::kube_auth::client::{ApiServer, Ask};
use crate::kube_auth::echo;
use crate::kube_auth::expected::Expected;
use crate::kube_auth::keystone::Counted;
use crate::kube_auth::report::{self, Report};
use crate::kube_auth::tokens::Users;
use crate::kube_auth::webhook::{Settings, Workplace};
use crate::machine::{self, Machine};
use crate::process::Server;
use crate::report::Load;
use anyhow::{Context as _, Result};
use clap::Args;
use portico_testkit::TestEnv;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// The default of `kube_auth.cache_ttl`.
const CACHE_TTL: Duration = Duration::from_secs(10);
/// Sealed tokens of each user in the cached rounds.
const TOKENS_EACH: usize = 32;

#[derive(Debug, Args)]
pub struct Options {
    /// The program, built with --release
    #[arg(long, default_value = "target/release/portico")]
    portico: PathBuf,
    /// The folder of the results
    #[arg(long, default_value = "docs/performance")]
    out: PathBuf,
    /// Half a minute instead of some: says that everything works, not how fast; writes nothing
    #[arg(long)]
    quick: bool,
}

/// The duration and number of measurements.
#[derive(Clone, Copy)]
struct Effort {
    rounds: usize,
    round: Duration,
    cold: usize,
    tokens: usize,
}

const FULL: Effort = Effort {
    rounds: 5,
    round: Duration::from_millis(2500),
    cold: 10,
    tokens: 100_000,
};
const QUICK: Effort = Effort {
    rounds: 1,
    round: Duration::from_millis(600),
    cold: 2,
    tokens: 10_000,
};

/// The shared fixture of all measurements.
struct Scene<'s> {
    effort: Effort,
    workplace: &'s Workplace,
    users: &'s Users,
    api_server: ApiServer,
    keystone: &'s Counted,
    webhook: &'s Server,
    echo: &'s Server,
    cached: Arc<Vec<Ask>>,
    echoed: Arc<Vec<Ask>>,
}

/// Measures with the real Keystone of the stack that `PORTICO_TEST_ENV` names.
pub async fn run(options: &Options) -> Result<()> {
    let env = TestEnv::load()?;
    let users = Users::create(&env).await?;
    let result = measure(options, &env, &users).await;
    users.delete().await?;
    let report = result?;
    print!("{}", report.table());
    if options.quick {
        println!("A quick run: nothing is written.");
        return Ok(());
    }
    report::write(&report, &options.out)
}

async fn measure(options: &Options, env: &TestEnv, users: &Users) -> Result<Report> {
    let effort = if options.quick { QUICK } else { FULL };
    let machine = Machine::here()?;
    let before = machine::load()?;
    let workplace = Workplace::create(&options.portico)?;
    let keystone = Counted::proxy(env.get("KEYSTONE_URL")?).await?;
    let webhook = workplace
        .start(&Settings {
            name: "cached",
            keystone_url: &keystone.url(),
            project: &users.project,
            cache_ttl: CACHE_TTL,
        })
        .await?;
    let api_server = ApiServer::new(&workplace.pki, workplace.cluster)?;
    let cached = users.asks(&workplace, TOKENS_EACH).await?;
    let (echo, echoed) = start_echo(&workplace, &api_server, &webhook, &cached).await?;
    let scene = Scene {
        effort,
        workplace: &workplace,
        users,
        api_server,
        keystone: &keystone,
        webhook: &webhook,
        echo: &echo,
        cached: Arc::new(cached),
        echoed: Arc::new(echoed),
    };
    let rounds = rounds::run(&scene).await?;
    let flood = flood::run(&scene).await?;
    let cold_1_client = cold::run(&scene, 1).await?;
    let cold_500_clients = cold::run(&scene, 500).await?;
    let memory = memory::run(&scene).await?;
    let load = Load {
        before,
        after: machine::load()?,
    };
    Ok(Report::new(
        machine,
        load,
        rounds,
        report::Rest {
            flood,
            cold_1_client,
            cold_500_clients,
            memory,
        },
    ))
}

/// Starts an echo of the webhook's own response; returns it with the expected response.
async fn start_echo(
    workplace: &Workplace,
    api_server: &ApiServer,
    webhook: &Server,
    asks: &[Ask],
) -> Result<(Server, Vec<Ask>)> {
    let dir = workplace.dir.path();
    let (mut sender, driver) = api_server.http1(webhook.address).await?;
    let driver = tokio::spawn(driver);
    let answer = sender.ask(asks.first().context("no token")?).await?;
    driver.abort();
    std::fs::write(dir.join(echo::ANSWER), &answer)?;
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("echo").arg("--dir").arg(dir);
    let server = Server::start(&mut command, &dir.join("echo.log")).await?;
    let echoed = asks
        .iter()
        .map(|ask| ask.expecting(Expected::Exactly(answer.clone())))
        .collect();
    Ok((server, echoed))
}
