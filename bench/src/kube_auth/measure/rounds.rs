//! Cached reviews and the echo, in turn, so that other load on the machine affects both.
use super::Scene;
use crate::kube_auth::client::Ask;
use crate::kube_auth::load::{self, Shape, Until};
use crate::kube_auth::report::Round;
use crate::machine;
use crate::process::Server;
use anyhow::{Result, ensure};
use std::sync::Arc;
use std::time::Duration;

/// The loads, and their names in the results.
pub const SHAPES: [(&str, Shape); 4] = [
    ("1", Shape::Connections(1)),
    ("16", Shape::Connections(16)),
    ("64", Shape::Connections(64)),
    ("http2", Shape::Streams(16)),
];

const WARM_UP: Duration = Duration::from_millis(500);

/// Returns all rounds, in their order.
pub async fn run(scene: &Scene<'_>) -> Result<Vec<Round>> {
    for (server, asks) in [(scene.echo, &scene.echoed), (scene.webhook, &scene.cached)] {
        let load = connect(scene, server, SHAPES[1].1, asks).await?;
        load.run(Until::Elapsed(WARM_UP)).await?;
    }
    scene.webhook.take_log_lines("")?;
    let mut rounds = Vec::new();
    for number in 0..scene.effort.rounds {
        for (name, shape) in SHAPES {
            for subject in ["echo", "cached"] {
                let round = one(scene, number, subject, name, shape).await?;
                eprintln!(
                    "round {} {subject:>6} {name:>5}: {:>6.0}/s, p99 {:.2} ms, {:.1} µs CPU",
                    number + 1,
                    round.reviews_per_second,
                    round.p99_ms,
                    round.cpu_us_per_review
                );
                rounds.push(round);
            }
        }
    }
    Ok(rounds)
}

async fn one(
    scene: &Scene<'_>,
    number: usize,
    subject: &'static str,
    name: &'static str,
    shape: Shape,
) -> Result<Round> {
    let (server, asks) = match subject {
        "echo" => (scene.echo, &scene.echoed),
        _ => (scene.webhook, &scene.cached),
    };
    let load = connect(scene, server, shape, asks).await?;
    let before = server.cpu()?;
    let outcome = load.run(Until::Elapsed(scene.effort.round)).await?;
    let cpu = server.cpu()? - before;
    if subject == "cached" {
        let lines = scene.webhook.take_log_lines(r#""event":"token_review""#)?;
        ensure!(
            lines as u64 >= outcome.reviews,
            "{lines} audit lines for {} reviews",
            outcome.reviews
        );
    }
    Ok(Round {
        number: number + 1,
        subject,
        connections: name,
        reviews: outcome.reviews,
        seconds: outcome.took.as_secs_f64(),
        reviews_per_second: outcome.per_second(),
        p50_ms: outcome.quantile(0.5),
        p99_ms: outcome.quantile(0.99),
        p99_9_ms: outcome.quantile(0.999),
        cpu_us_per_review: cpu.as_secs_f64() * 1e6 / outcome.reviews.max(1) as f64,
        load: machine::load()?,
    })
}

async fn connect(
    scene: &Scene<'_>,
    server: &Server,
    shape: Shape,
    asks: &Arc<Vec<Ask>>,
) -> Result<load::Load> {
    load::Load::connect(&scene.api_server, server.address, shape, asks).await
}
