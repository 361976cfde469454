//! The results: JSON for programs, a table and a plot for readers.
mod plot;
mod ratio;
mod table;

use super::instructions::Instructions;
use super::storm::Storm;
use crate::machine::Machine;
use crate::report::{self, Load, median};
use anyhow::Result;
use ratio::TimesNginx;
use serde::Serialize;
use std::path::Path;

/// The compared programs: their objects in the results, and their display names.
pub(super) const SUBJECTS: [(&str, &str); 5] = [
    ("nginx_proxy", "nginx, plain proxy"),
    ("gateway", "Portico, JSON log"),
    ("gateway_human_log", "Portico, human log (the default)"),
    ("nginx_auth_request", "nginx, auth_request at Portico"),
    ("mod_auth_openidc", "Apache, mod_auth_openidc"),
];

/// The program that sent the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Client {
    #[serde(rename = "portico-bench")]
    Ours,
    #[serde(rename = "wrk")]
    Wrk,
}

impl Client {
    /// Returns the name for the output during a run.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ours => "",
            Self::Wrk => "wrk",
        }
    }
}

/// The result of one round.
#[derive(Clone, Debug, Serialize)]
pub struct Round {
    pub number: usize,
    pub subject: &'static str,
    pub client: Client,
    /// `1k` or `1m`.
    pub body: &'static str,
    pub requests: u64,
    pub seconds: f64,
    pub requests_per_second: f64,
    pub p50_ms: f64,
    pub p99_ms: f64,
    /// User and system time of all processes of the subject.
    pub cpu_us_per_request: f64,
    /// At its end.
    pub rss_mb: f64,
    /// What the subject has allocated of it; the rest are pages of files.
    pub anonymous_mb: f64,
    /// The machine's one-minute load average at its end.
    pub load: f64,
}

/// The medians of the rounds of one kind; of the memory the most in any round.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Figures {
    pub cpu_us_per_request: f64,
    pub requests_per_second: f64,
    pub p50_ms: f64,
    pub p99_ms: f64,
    pub rss_mb: f64,
    pub anonymous_mb: f64,
}

/// Figures for responses of 1 KiB, for the same by wrk, and for 1 MiB.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Subject {
    #[serde(flatten)]
    pub small: Figures,
    pub wrk: Figures,
    pub one_mib: Figures,
}

/// How long a session still opened pages after its end was acknowledged.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Revocation {
    pub subject: &'static str,
    pub milliseconds: f64,
}

/// Idle WebSockets.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Sockets {
    pub count: usize,
    /// Number of gateways that held them together: a process may have a limited number of open
    /// files.
    pub processes: usize,
    /// Of all gateways.
    pub rss_mb: f64,
}

/// The measurements besides rounds.
pub struct Rest {
    pub sockets: Sockets,
    pub refresh_storm: Storm,
    pub revocations: Vec<Revocation>,
    pub instructions: Instructions,
}

/// `docs/performance/gateway.json`.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    #[serde(flatten)]
    pub machine: Machine,
    pub load: Load,
    pub connections: usize,
    pub nginx_proxy: Subject,
    pub gateway: Subject,
    pub gateway_human_log: Subject,
    pub nginx_auth_request: Subject,
    pub mod_auth_openidc: Subject,
    /// CPU time per request of 1 KiB at the gateway, relative to Debian's nginx.
    pub times_nginx: TimesNginx,
    pub instructions: Instructions,
    /// Only for a run with 10,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub websockets_10000_rss_mb: Option<f64>,
    pub websockets: Sockets,
    pub refresh_storm: Storm,
    pub revocations: Vec<Revocation>,
    pub rounds: Vec<Round>,
}

impl Report {
    /// Combines the parts.
    pub fn new(machine: Machine, load: Load, rounds: Vec<Round>, rest: Rest) -> Self {
        let both = |subject| Subject {
            small: figures(&rounds, subject, Client::Ours, "1k"),
            wrk: figures(&rounds, subject, Client::Wrk, "1k"),
            one_mib: figures(&rounds, subject, Client::Ours, "1m"),
        };
        let sockets = rest.sockets;
        Self {
            machine,
            load,
            connections: super::rounds::CONNECTIONS,
            nginx_proxy: both("nginx_proxy"),
            gateway: both("gateway"),
            gateway_human_log: both("gateway_human_log"),
            nginx_auth_request: both("nginx_auth_request"),
            mod_auth_openidc: both("mod_auth_openidc"),
            times_nginx: TimesNginx::of(&rounds),
            instructions: rest.instructions,
            websockets_10000_rss_mb: (sockets.count == 10_000).then_some(sockets.rss_mb),
            websockets: sockets,
            refresh_storm: rest.refresh_storm,
            revocations: rest.revocations,
            rounds,
        }
    }

    fn of(&self, subject: &str) -> &Subject {
        match subject {
            "nginx_proxy" => &self.nginx_proxy,
            "nginx_auth_request" => &self.nginx_auth_request,
            "mod_auth_openidc" => &self.mod_auth_openidc,
            "gateway_human_log" => &self.gateway_human_log,
            _ => &self.gateway,
        }
    }
}

fn figures(rounds: &[Round], subject: &str, client: Client, body: &str) -> Figures {
    let values = |value: fn(&Round) -> f64| -> Vec<f64> {
        rounds
            .iter()
            .filter(|round| (round.subject, round.client, round.body) == (subject, client, body))
            .map(value)
            .collect()
    };
    let of = |value| median(&values(value));
    let most = |value| values(value).into_iter().fold(0.0, f64::max);
    Figures {
        cpu_us_per_request: of(|round| round.cpu_us_per_request),
        requests_per_second: of(|round| round.requests_per_second),
        p50_ms: of(|round| round.p50_ms),
        p99_ms: of(|round| round.p99_ms),
        rss_mb: most(|round| round.rss_mb),
        anonymous_mb: most(|round| round.anonymous_mb),
    }
}

/// Returns a line for each subject and kind of round: the most memory, the median CPU, and its ratio
/// to the others, as the median of the rounds' ratios.
pub fn medians(rounds: &[Round]) -> String {
    let mut text = String::new();
    let mut subjects: Vec<_> = rounds.iter().map(|round| round.subject).collect();
    subjects.sort_unstable();
    subjects.dedup();
    for (body, client) in [
        ("1k", Client::Ours),
        ("1k", Client::Wrk),
        ("1m", Client::Ours),
    ] {
        let of = |subject: &'static str| {
            let mine = move |round: &&Round| {
                (round.subject, round.client, round.body) == (subject, client, body)
            };
            rounds
                .iter()
                .filter(mine)
                .map(|round| round.cpu_us_per_request)
        };
        for &subject in &subjects {
            let mine: Vec<f64> = of(subject).collect();
            let most = figures(rounds, subject, client, body);
            text += &format!(
                "{subject:>18} {body} {}: {:5.1} MB, {:5.1} anonymous, {:6.1} µs CPU",
                client.name(),
                most.rss_mb,
                most.anonymous_mb,
                median(&mine)
            );
            for &other in subjects.iter().filter(|other| **other != subject) {
                let times: Vec<f64> = of(subject).zip(of(other)).map(|(a, b)| a / b).collect();
                text += &format!(", {:.2} times {other}", median(&times));
            }
            text.push('\n');
        }
    }
    text
}

/// Writes `gateway.json`, `gateway.svg` and the results in `gateway.md`.
pub fn write(report: &Report, folder: &Path) -> Result<()> {
    report::write(
        folder,
        "gateway",
        report,
        Some(&plot::svg(report)?),
        &report.table(),
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]
mod tests;
