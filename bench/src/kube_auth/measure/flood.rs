//! Garbage as fast as it is answered, along with valid users.
use super::Scene;
use crate::kube_auth::client::Ask;
use crate::kube_auth::expected::Expected;
use crate::kube_auth::load::{Load, Shape, Until};
use crate::kube_auth::report::Flood;
use crate::report::median;
use anyhow::Result;
use rand::distr::{Alphanumeric, SampleString as _};
use std::sync::Arc;

const GOOD: Shape = Shape::Connections(16);
const BAD: Shape = Shape::Connections(16);
/// More than any cache holds.
const TOKENS: usize = 20_000;

/// Runs rounds with and without garbage, in turn.
pub async fn run(scene: &Scene<'_>) -> Result<Flood> {
    let garbage = Arc::new(garbage(scene.workplace.kid()));
    let (mut calm, mut flooded, mut refused) = (Vec::new(), Vec::new(), Vec::new());
    let before = scene.keystone.validations();
    let until = Until::Elapsed(scene.effort.round);
    for _ in 0..scene.effort.rounds {
        let good = || {
            Load::connect(
                &scene.api_server,
                scene.webhook.address,
                GOOD,
                &scene.cached,
            )
        };
        calm.push(good().await?.run(until).await?.quantile(0.99));
        let bad = Load::connect(&scene.api_server, scene.webhook.address, BAD, &garbage).await?;
        let (good, bad) = tokio::try_join!(good().await?.run(until), bad.run(until))?;
        flooded.push(good.quantile(0.99));
        refused.push(bad.per_second());
        scene.webhook.take_log_lines("")?;
    }
    let p99_ms_without = median(&calm);
    let p99_ms_with = median(&flooded);
    Ok(Flood {
        p99_ratio: p99_ms_with / p99_ms_without,
        p99_ms_without,
        p99_ms_with,
        garbage_per_second: median(&refused),
        keystone_calls: scene.keystone.validations() - before,
        p99_ms_without_by_round: calm,
        p99_ms_with_by_round: flooded,
    })
}

/// Returns garbage, half of which looks like tokens sealed to the current key, which have to be
/// opened to be refused.
fn garbage(kid: &str) -> Vec<Ask> {
    let text = |length| Alphanumeric.sample_string(&mut rand::rng(), length);
    (0..TOKENS)
        .map(|number| match number % 6 {
            0..=2 => format!("portico_v1.{kid}.{}", text(498)),
            3 => format!("portico_v1.{}.{}", text(16), text(498)),
            4 => format!("eyJhbGciOiJSUzI1NiJ9.{}.{}", text(300), text(342)),
            _ => text(32),
        })
        .map(|token| Ask::new(&token, Expected::Refused))
        .collect()
}
