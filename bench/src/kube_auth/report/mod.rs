//! The results: JSON for programs, a table and a plot for readers.
mod plot;
mod table;

use crate::machine::Machine;
use crate::report::{self, Load, median};
use anyhow::Result;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The result of one round.
#[derive(Clone, Debug, Serialize)]
pub struct Round {
    pub number: usize,
    pub subject: &'static str,
    pub connections: &'static str,
    pub reviews: u64,
    pub seconds: f64,
    pub reviews_per_second: f64,
    pub p50_ms: f64,
    pub p99_ms: f64,
    pub p99_9_ms: f64,
    pub cpu_us_per_review: f64,
    /// The machine's one-minute load average at its end.
    pub load: f64,
}

/// The medians of the rounds of one kind.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Figures {
    pub reviews_per_second: f64,
    pub p50_ms: f64,
    pub p99_ms: f64,
    pub p99_9_ms: f64,
    pub cpu_us_per_review: f64,
}

/// Reviews that Keystone had to validate.
#[derive(Clone, Debug, Serialize)]
pub struct Cold {
    pub clients: usize,
    /// The most in any round.
    pub keystone_calls: u64,
    pub keystone_calls_by_round: Vec<u64>,
    pub p50_ms: f64,
    pub p99_ms: f64,
}

/// Valid users along with garbage.
#[derive(Clone, Debug, Serialize)]
pub struct Flood {
    pub p99_ratio: f64,
    pub p99_ms_without: f64,
    pub p99_ms_with: f64,
    pub garbage_per_second: f64,
    pub keystone_calls: u64,
    pub p99_ms_without_by_round: Vec<f64>,
    pub p99_ms_with_by_round: Vec<f64>,
}

/// A filled cache.
#[derive(Clone, Debug, Serialize)]
pub struct Memory {
    pub tokens: usize,
    pub rss_mb: f64,
    pub rss_mb_empty: f64,
    pub fill_seconds: f64,
    /// The share that was still cached when the last one had arrived.
    pub still_known: f64,
}

impl Memory {
    fn filled_with(&self, tokens: usize) -> bool {
        self.tokens == tokens && self.still_known > 0.99
    }
}

/// The measurements besides rounds.
pub struct Rest {
    pub flood: Flood,
    pub cold_1_client: Cold,
    pub cold_500_clients: Cold,
    pub memory: Memory,
}

/// `docs/performance/kube-auth.json`.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    #[serde(flatten)]
    pub machine: Machine,
    pub load: Load,
    /// By connections.
    pub echo: BTreeMap<&'static str, Figures>,
    /// By connections.
    pub cached: BTreeMap<&'static str, Figures>,
    /// One connection with 16 streams.
    pub echo_http2: Figures,
    /// One connection with 16 streams.
    pub cached_http2: Figures,
    pub cold_1_client: Cold,
    pub cold_500_clients: Cold,
    pub flood: Flood,
    /// Only for 100,000, if all of them were cached at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rss_mb_100000_tokens: Option<f64>,
    pub memory: Memory,
    pub rounds: Vec<Round>,
}

impl Report {
    /// Combines the parts.
    pub fn new(machine: Machine, load: Load, rounds: Vec<Round>, rest: Rest) -> Self {
        let by_connections = |subject| {
            let names = ["1", "16", "64"];
            names.map(|name| (name, figures(&rounds, subject, name)))
        };
        Self {
            machine,
            load,
            echo: by_connections("echo").into(),
            cached: by_connections("cached").into(),
            echo_http2: figures(&rounds, "echo", "http2"),
            cached_http2: figures(&rounds, "cached", "http2"),
            cold_1_client: rest.cold_1_client,
            cold_500_clients: rest.cold_500_clients,
            flood: rest.flood,
            rss_mb_100000_tokens: rest
                .memory
                .filled_with(100_000)
                .then_some(rest.memory.rss_mb),
            memory: rest.memory,
            rounds,
        }
    }
}

fn figures(rounds: &[Round], subject: &str, connections: &str) -> Figures {
    let of = |value: fn(&Round) -> f64| {
        let values: Vec<f64> = rounds
            .iter()
            .filter(|round| round.subject == subject && round.connections == connections)
            .map(value)
            .collect();
        median(&values)
    };
    Figures {
        reviews_per_second: of(|round| round.reviews_per_second),
        p50_ms: of(|round| round.p50_ms),
        p99_ms: of(|round| round.p99_ms),
        p99_9_ms: of(|round| round.p99_9_ms),
        cpu_us_per_review: of(|round| round.cpu_us_per_review),
    }
}

/// Writes `kube-auth.json`, `kube-auth.svg` and the results in `kube-auth.md`.
pub fn write(report: &Report, folder: &Path) -> Result<()> {
    report::write(
        folder,
        "kube-auth",
        report,
        Some(&plot::svg(report)?),
        &report.table(),
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]
mod tests {
    use serde_json::Value;

    const COMMITTED: &str = include_str!("../../../../docs/performance/kube-auth.json");

    #[test]
    fn the_committed_results_have_every_figure() {
        let results: Value = serde_json::from_str(COMMITTED).unwrap();
        let number = |pointer: &str| {
            let found = results.pointer(pointer).and_then(Value::as_f64);
            assert!(
                found.is_some_and(|found| found > 0.0),
                "{pointer}: {found:?}"
            );
        };
        for subject in ["echo", "cached"] {
            for connections in ["1", "16", "64"] {
                for figure in [
                    "reviews_per_second",
                    "p50_ms",
                    "p99_ms",
                    "p99_9_ms",
                    "cpu_us_per_review",
                ] {
                    number(&format!("/{subject}/{connections}/{figure}"));
                }
            }
        }
        for pointer in [
            "/cold_1_client/keystone_calls",
            "/cold_500_clients/keystone_calls",
            "/flood/p99_ratio",
            "/memory/rss_mb",
            "/cores",
        ] {
            number(pointer);
        }
        // left out rather than guessed if a busy machine could not fill the cache in time
        if results["memory"]["still_known"].as_f64() > Some(0.99) {
            number("/rss_mb_100000_tokens");
        } else {
            assert!(results.get("rss_mb_100000_tokens").is_none());
        }
        for pointer in ["/commit", "/cpu", "/date", "/kernel"] {
            let text = results.pointer(pointer).and_then(Value::as_str);
            assert!(text.is_some_and(|text| !text.is_empty()), "{pointer}");
        }
        assert!(
            results
                .pointer("/load/before")
                .is_some_and(Value::is_number)
        );
        let rounds = results["rounds"].as_array().unwrap();
        assert!(rounds.len() >= 30, "{} rounds", rounds.len());
    }
}
