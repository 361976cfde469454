//! The memory of many cached tokens.
use super::Scene;
use crate::kube_auth::client::{ApiServer, Ask};
use crate::kube_auth::expected::Expected;
use crate::kube_auth::keystone::{Counted, INVENTED_PROJECT, invented_token, invented_user};
use crate::kube_auth::report::Memory;
use crate::kube_auth::webhook::Settings;
use anyhow::Result;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// The longest allowed, so that the first tokens are still cached with the last.
const CACHE_TTL: Duration = Duration::from_secs(30);
const CONNECTIONS: usize = 32;
/// One token in this many is reviewed again, to verify that it is still cached.
const SAMPLE_STEP: usize = 100;

/// Fills the cache of a webhook that has a stand-in for Keystone.
pub async fn run(scene: &Scene<'_>) -> Result<Memory> {
    let keystone = Counted::stand_in().await?;
    let webhook = scene
        .workplace
        .start(&Settings {
            name: "memory",
            keystone_url: &keystone.url(),
            project: INVENTED_PROJECT,
            cache_ttl: CACHE_TTL,
        })
        .await?;
    let count = scene.effort.tokens;
    let asks = (0..count)
        .map(|number| {
            let token = scene.workplace.seal(&invented_token(number))?;
            let expected = Expected::User {
                uid: invented_user(number),
                others: vec![invented_user(number + 1)],
            };
            Ok(Ask::new(&token, expected))
        })
        .collect::<Result<Vec<_>>>()?;
    let sample: Vec<_> = asks.iter().step_by(SAMPLE_STEP).cloned().collect();
    let sampled = sample.len();
    let rss_mb_empty = webhook.rss_mb()?;
    let started = Instant::now();
    each_once(&scene.api_server, webhook.address, asks).await?;
    let fill = started.elapsed();
    let rss_mb = webhook.rss_mb()?;
    let calls = keystone.validations();
    each_once(&scene.api_server, webhook.address, sample).await?;
    let unknown = keystone.validations() - calls;
    Ok(Memory {
        tokens: count,
        rss_mb,
        rss_mb_empty,
        fill_seconds: fill.as_secs_f64(),
        still_known: 1.0 - unknown as f64 / sampled as f64,
    })
}

async fn each_once(api_server: &ApiServer, server: SocketAddr, asks: Vec<Ask>) -> Result<()> {
    let mut tasks = JoinSet::new();
    let share = asks.len().div_ceil(CONNECTIONS);
    for share in asks.chunks(share) {
        let (mut sender, driver) = api_server.http1(server).await?;
        let share = share.to_vec();
        tasks.spawn(async move {
            let asking = async {
                for ask in &share {
                    sender.ask(ask).await?;
                }
                anyhow::Ok(())
            };
            tokio::select! {
                biased;
                result = asking => result,
                ended = driver => anyhow::bail!("the connection ended: {ended:?}"),
            }
        });
    }
    tasks.join_all().await.into_iter().collect()
}
