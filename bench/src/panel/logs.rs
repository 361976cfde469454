//! A log of thousands of lines a second, followed in the browser: of a real pod in the stack's cluster
//! with nodes, through a Portico of the run's own.
use super::driver::Driver;
use super::figures::{Following, LogSample};
use super::installation::{People, STACK_PROJECT};
use super::log_source;
use super::portico::{Build, KnownCluster, Portico, Prepared};
use super::rounds::progress;
use anyhow::{Result, ensure};
use portico_testkit::{Cluster, TestEnv};
use serde_json::json;
use std::time::{Duration, Instant};
use tokio::time::sleep;
use uuid::Uuid;

const CLUSTER: &str = "acme-prod";
/// Once a minute in ten minutes.
const SAMPLES: u32 = 10;

/// Follows the log for `seconds`. The pod is there until [`log_source::remove`].
///
/// # Errors
/// If the stack has no nodes, or no new lines are shown between two samples.
pub async fn follow(
    env: &TestEnv,
    build: &Build<'_>,
    people: &People,
    seconds: u64,
) -> Result<Following> {
    let (portico, cluster) = start(env, build).await?;
    let (mut driver, _) = Driver::start(&portico, &people.log_reader).await?;
    log_source::start(env, seconds).await?;
    let path = format!(
        "/projects/{}/clusters/{cluster}{}",
        env.get(STACK_PROJECT)?,
        log_source::path()
    );
    driver
        .tell(&json!({"do": "open_log", "path": path}))
        .await?;
    let started = Instant::now();
    let interval = Duration::from_secs(seconds) / SAMPLES;
    let mut samples: Vec<LogSample> = Vec::new();
    let mut server_rss_mb = Vec::new();
    for number in 1..=SAMPLES {
        while started.elapsed() < interval * number {
            sleep(Duration::from_secs(1)).await;
            server_rss_mb.push(portico.server.rss_mb()?);
        }
        let sample: LogSample = driver.ask(&json!({"do": "sample_log"})).await?;
        progress(&shown(started.elapsed(), &sample));
        let before = samples.last().map_or(0, |before| before.newest_shown);
        ensure!(
            sample.newest_shown > before,
            "the page shows no new lines after line {before}; the newest that arrived is {}",
            sample.newest
        );
        samples.push(sample);
    }
    Ok(Following {
        seconds: started.elapsed().as_secs(),
        samples,
        server_rss_mb,
    })
}

/// Starts a Portico for the stack's cluster, whose API server asks the stack's kube-auth: the
/// cluster's tokens are sealed for that.
async fn start(env: &TestEnv, build: &Build<'_>) -> Result<(Portico, Uuid)> {
    let stack = Cluster::of_stack(env)?;
    let ca_pem = std::fs::read_to_string(env.get("KUBE_CA_FILE")?)?;
    let known = KnownCluster {
        name: CLUSTER,
        id: stack.id,
        project: env.get(STACK_PROJECT)?,
        api_url: env.get("KUBE_API_URL")?,
        ca_pem: &ca_pem,
    };
    let mut prepared = Prepared::new(env, build, &known)?;
    prepared.seal_for(&known, &stack.sealing_key_file);
    Ok((prepared.start().await?, stack.id))
}

fn shown(after: Duration, sample: &LogSample) -> String {
    format!(
        "log, after {} s: {:.0} lines/s, {} of {} received, {} skipped, {:.1} MB, {} long tasks, frames {:.0} ms (p99)",
        after.as_secs(),
        sample.printed as f64 / sample.seconds,
        sample.received,
        sample.printed,
        sample.skipped,
        sample.memory.heap_mb(),
        sample.long_tasks_ms.len(),
        sample.frame_p99_ms
    )
}
