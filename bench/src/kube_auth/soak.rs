//! A soak test with two identities, interleaved, while the cache expires: no response may be for
//! the other one.
use crate::kube_auth::client::ApiServer;
use crate::kube_auth::keystone::Counted;
use crate::kube_auth::load::{Load, Shape, Until};
use crate::kube_auth::tokens::Users;
use crate::kube_auth::webhook::{Settings, Workplace};
use anyhow::{Result, ensure};
use clap::Args;
use portico_testkit::TestEnv;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Short, so that each identity is validated again many times a second.
const CACHE_TTL: Duration = Duration::from_millis(200);
const PARTS: u64 = 10;
/// Maximum growth of memory after the warm-up, in MB.
const MAX_GROWTH_MB: f64 = 8.0;

#[derive(Debug, Args)]
pub struct Options {
    /// The program
    #[arg(long, default_value = "target/release/portico")]
    portico: PathBuf,
    /// How many reviews
    #[arg(long, default_value_t = 100_000)]
    reviews: u64,
}

/// Runs it against the real Keystone of the stack that `PORTICO_TEST_ENV` names.
pub async fn run(options: &Options) -> Result<()> {
    let env = TestEnv::load()?;
    let users = Users::create(&env).await?;
    let result = soak(options, &env, &users).await;
    users.delete().await?;
    result
}

async fn soak(options: &Options, env: &TestEnv, users: &Users) -> Result<()> {
    let workplace = Workplace::create(&options.portico)?;
    let proxy = Counted::proxy(env.get("KEYSTONE_URL")?).await?;
    let server = workplace
        .start(&Settings {
            name: "soak",
            keystone_url: &proxy.url(),
            project: &users.project,
            cache_ttl: CACHE_TTL,
        })
        .await?;
    let api_server = ApiServer::new(&workplace.pki, workplace.cluster)?;
    let asks = Arc::new(users.asks(&workplace, 16).await?);
    let (mut memory, mut reviews) = (Vec::new(), 0);
    for part in 0..PARTS {
        // both ways in which an API server connects, in turn
        let shape = if part % 2 == 0 {
            Shape::Connections(8)
        } else {
            Shape::Streams(16)
        };
        let load = Load::connect(&api_server, server.address, shape, &asks).await?;
        let outcome = load.run(Until::Reviews(options.reviews / PARTS)).await?;
        reviews += outcome.reviews;
        memory.push(server.rss_mb()?);
        println!(
            "{reviews:>7} reviews, none mixed up; {:>6.0}/s, {:>5} calls to Keystone, {:.1} MB",
            outcome.per_second(),
            proxy.validations(),
            memory[memory.len() - 1],
        );
        let lines = server.take_log_lines(r#""event":"token_review""#)?;
        ensure!(
            lines as u64 >= outcome.reviews,
            "{lines} audit lines for {} reviews",
            outcome.reviews
        );
    }
    // unless Keystone was called repeatedly, nothing could have been mixed up
    ensure!(
        proxy.validations() >= 2 * PARTS,
        "the cache hardly expired: {} calls to Keystone",
        proxy.validations()
    );
    let (warm, last) = (memory[2], memory[memory.len() - 1]);
    ensure!(
        last - warm <= MAX_GROWTH_MB,
        "memory grew from {warm:.1} to {last:.1} MB"
    );
    println!("memory {warm:.1} MB when warm, {last:.1} MB at the end");
    Ok(())
}
