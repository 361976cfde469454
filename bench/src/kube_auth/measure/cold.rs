//! Reviews of a token that the real Keystone has to validate.
use super::Scene;
use crate::kube_auth::client::Ask;
use crate::kube_auth::report::Cold;
use anyhow::{Context as _, Result};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

/// As many streams as an HTTP/2 connection may have are enough for one API server.
const STREAMS: usize = 250;

/// Sends this number of concurrent reviews of one Keystone token, each with a cluster token of its
/// own.
pub async fn run(scene: &Scene<'_>, clients: usize) -> Result<Cold> {
    let mut rounds = Vec::new();
    let mut latencies = Vec::new();
    let mut most = 0;
    for _ in 0..scene.effort.cold {
        let token = scene.users.sign_in_one().await?;
        let expected = scene.users.expected(0);
        let asks = (0..clients)
            .map(|_| Ok(Ask::new(&scene.workplace.seal(&token)?, expected.clone())))
            .collect::<Result<Vec<_>>>()?;
        let before = scene.keystone.validations();
        let mut took = at_once(scene, asks).await?;
        let calls = scene.keystone.validations() - before;
        most = most.max(calls);
        latencies.append(&mut took);
        rounds.push(calls);
    }
    latencies.sort_by(f64::total_cmp);
    let quantile = |part: f64| latencies[((latencies.len() - 1) as f64 * part) as usize];
    Ok(Cold {
        clients,
        keystone_calls: most,
        keystone_calls_by_round: rounds,
        p50_ms: quantile(0.5),
        p99_ms: quantile(0.99),
    })
}

/// Returns the latency of each, in milliseconds.
async fn at_once(scene: &Scene<'_>, asks: Vec<Ask>) -> Result<Vec<f64>> {
    let start = Arc::new(Barrier::new(asks.len()));
    let mut drivers = JoinSet::new();
    let mut tasks = JoinSet::new();
    for share in asks.chunks(STREAMS) {
        let (sender, driver) = scene.api_server.http2(scene.webhook.address).await?;
        drivers.spawn(driver);
        for ask in share {
            let ask = ask.clone();
            let mut sender = sender.stream().context("no more streams")?;
            let start = Arc::clone(&start);
            tasks.spawn(async move {
                start.wait().await;
                let asked = Instant::now();
                sender.ask(&ask).await?;
                anyhow::Ok(asked.elapsed().as_secs_f64() * 1e3)
            });
        }
    }
    tasks.join_all().await.into_iter().collect()
}
