//! wrk as a second client: figures of an independent load generator.
use super::contender::Contender;
use super::rounds::CONNECTIONS;
use super::upstream::SMALL;
use anyhow::{Context as _, Result, bail, ensure};
use std::time::Duration;
use tokio::process::Command;

/// wrk's output for a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    pub requests: u64,
    pub seconds: f64,
    pub p50_ms: f64,
    pub p99_ms: f64,
}

/// Sends requests for the small response for `time` (whole seconds) over as many connections as the
/// other client.
///
/// # Errors
/// If wrk cannot run, or a response was not a success.
pub async fn run(contender: &Contender, time: Duration) -> Result<Outcome> {
    let mut command = Command::new("wrk");
    command
        .args(["--threads", "1", "--latency"])
        .args(["--connections", &CONNECTIONS.to_string()])
        .args(["--duration", &format!("{}s", time.as_secs().max(1))]);
    for (name, value) in contender.headers() {
        command.args(["--header", &format!("{name}: {value}")]);
    }
    command.arg(format!("http://{}{}", contender.address, SMALL.0));
    let output = command.output().await.context("wrk")?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "wrk: {text}");
    parse(&text).with_context(|| format!("{}: {text}", contender.name))
}

/// Reads wrk's report. Socket errors, error statuses and responses that are too short (redirects to
/// sign-in) are errors: wrk counts them as requests.
fn parse(report: &str) -> Result<Outcome> {
    for fault in ["Socket errors:", "Non-2xx or 3xx responses:"] {
        ensure!(!report.contains(fault), "failed requests");
    }
    let field = |label: &str| -> Result<&str> {
        let line = report.lines().map(str::trim);
        let value = line.filter_map(|line| line.strip_prefix(label)).next();
        value.map(str::trim).with_context(|| format!("no {label}"))
    };
    let summary = report
        .lines()
        .find_map(|line| line.trim().split_once(" requests in "))
        .context("no number of requests")?;
    let (took, read) = summary.1.split_once(',').context("no time")?;
    let requests: u64 = summary.0.parse()?;
    let bytes = bytes(read.trim().trim_end_matches(" read"))?;
    ensure!(requests > 0, "no responses");
    ensure!(
        bytes / requests as f64 > SMALL.1 as f64,
        "responses without the file"
    );
    Ok(Outcome {
        requests,
        seconds: milliseconds(took)? / 1e3,
        p50_ms: milliseconds(field("50%")?)?,
        p99_ms: milliseconds(field("99%")?)?,
    })
}

/// Returns a time as wrk prints it: `412.00us`, `1.27ms`, `3.01s`, `1.00m`.
fn milliseconds(text: &str) -> Result<f64> {
    for (unit, factor) in [("us", 1e-3), ("ms", 1.0), ("s", 1e3), ("m", 60e3)] {
        if let Some(number) = text.strip_suffix(unit)
            && let Ok(number) = number.parse::<f64>()
        {
            return Ok(number * factor);
        }
    }
    bail!("not a time: {text}")
}

/// Returns a size as wrk prints it, to the base of 1024: `512.00B`, `9.01KB`, `118.34MB`, `1.20GB`.
fn bytes(text: &str) -> Result<f64> {
    for (unit, power) in [("KB", 1), ("MB", 2), ("GB", 3), ("TB", 4), ("B", 0)] {
        if let Some(number) = text.strip_suffix(unit)
            && let Ok(number) = number.parse::<f64>()
        {
            return Ok(number * 1024_f64.powi(power));
        }
    }
    bail!("not a size: {text}")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]
mod tests {
    use super::*;

    const REPORT: &str = "Running 3s test @ http://127.0.0.1:8080/1k
  1 threads and 16 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   512.34us  210.00us   9.01ms   91.30%
    Req/Sec    29.87k     1.20k   31.99k    80.65%
  Latency Distribution
     50%  480.00us
     75%  560.00us
     90%  700.00us
     99%    1.24ms
  92123 requests in 3.10s, 118.34MB read
Requests/sec:  29717.10
Transfer/sec:     38.17MB
";

    #[test]
    fn finding_o18_the_report_of_wrk_is_read() {
        let expected = Outcome {
            requests: 92_123,
            seconds: 3.1,
            p50_ms: 0.48,
            p99_ms: 1.24,
        };
        assert_eq!(parse(REPORT).unwrap(), expected);
    }

    #[test]
    fn finding_o18_failed_requests_are_not_counted_as_answers() {
        for fault in [
            "  Non-2xx or 3xx responses: 12\n",
            "  Socket errors: connect 0, read 3, write 0, timeout 0\n",
        ] {
            assert!(parse(&format!("{REPORT}{fault}")).is_err(), "{fault}");
        }
        let redirects = REPORT.replace("118.34MB read", "18.34MB read");
        let error = parse(&redirects).unwrap_err().to_string();
        assert_eq!(error, "responses without the file");
        assert!(parse("").is_err());
    }
}
