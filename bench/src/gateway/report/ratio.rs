//! The ratio of the gateway's CPU time per request to nginx's.
use super::{Client, Round};
use crate::report::{median, quartiles};
use serde::Serialize;

/// By the format of the gateway's log.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TimesNginx {
    pub json_log: ByClient,
    pub human_log: ByClient,
}

/// By the program that sent the requests of 1 KiB.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ByClient {
    #[serde(rename = "portico-bench")]
    pub ours: Ratio,
    pub wrk: Ratio,
}

/// Each round gives one ratio: both ran within seconds of each other.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Ratio {
    pub median: f64,
    pub lower_quartile: f64,
    pub upper_quartile: f64,
}

impl TimesNginx {
    /// Returns the ratios of all rounds.
    pub fn of(rounds: &[Round]) -> Self {
        let by_client = |subject| ByClient {
            ours: Ratio::of(rounds, subject, Client::Ours),
            wrk: Ratio::of(rounds, subject, Client::Wrk),
        };
        Self {
            json_log: by_client("gateway"),
            human_log: by_client("gateway_human_log"),
        }
    }
}

impl Ratio {
    fn of(rounds: &[Round], subject: &str, client: Client) -> Self {
        let cpu = |subject| {
            let mine = move |round: &&Round| {
                (round.subject, round.client, round.body) == (subject, client, "1k")
            };
            let rounds = rounds.iter().filter(mine);
            rounds.map(|round| round.cpu_us_per_request)
        };
        let ratios: Vec<f64> = cpu(subject)
            .zip(cpu("nginx_proxy"))
            .map(|(gateway, nginx)| gateway / nginx)
            .collect();
        let (lower_quartile, upper_quartile) = quartiles(&ratios);
        Self {
            median: median(&ratios),
            lower_quartile,
            upper_quartile,
        }
    }
}
