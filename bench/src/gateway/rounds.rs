//! Rounds of all contenders, in turn, so that other load on the machine affects all of them.
use super::contender::{Arena, Contender};
use super::load::{Ask, Load};
use super::measure::Effort;
use super::portico::Person;
use super::report::{Client, Revocation, Round};
use super::revocation;
use super::upstream::{LARGE, SMALL};
use super::wire::KeepAliveConnection;
use super::wrk;
use crate::machine;
use anyhow::{Context as _, Result, ensure};
use std::time::{Duration, Instant};

pub const CONNECTIONS: usize = 16;
const WARM_UP: Duration = Duration::from_millis(500);
/// How often the upstream is asked for the identity that it received.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(50);

/// Time for the threads that write the logs.
const LOG_WRITE_TIME: Duration = Duration::from_millis(200);

/// Returns all rounds, in their order.
pub async fn run(arena: &Arena, effort: &Effort) -> Result<Vec<Round>> {
    for contender in &arena.contenders {
        let load = Load::connect(contender.address, CONNECTIONS, &contender.small()).await?;
        load.run(WARM_UP).await?;
        contender.take_log_lines("")?;
    }
    let mut rounds = Vec::new();
    for number in 1..=effort.rounds {
        for kind in [Kind::Small, Kind::SmallByWrk, Kind::Large] {
            for place in 0..arena.contenders.len() {
                // another contender is first each time
                let at = (place + number) % arena.contenders.len();
                let round = one(&arena.contenders[at], number, kind, effort).await?;
                eprintln!(
                    "round {number} {:>18} {:>4} {:>7}: {:>6.0}/s, p99 {:>6.2} ms, {:>6.1} µs CPU, {:>5.1} MB, {:>5.1} anonymous",
                    round.subject,
                    round.body,
                    round.client.name(),
                    round.requests_per_second,
                    round.p99_ms,
                    round.cpu_us_per_request,
                    round.rss_mb,
                    round.anonymous_mb
                );
                rounds.push(round);
            }
        }
    }
    Ok(rounds)
}

/// Ends sessions under the same load and measures the revocation.
pub async fn revoke(arena: &Arena, person: &Person, effort: &Effort) -> Result<Vec<Revocation>> {
    let mut revocations = Vec::new();
    for contender in &arena.contenders {
        let load = Load::connect(contender.address, CONNECTIONS, &contender.small()).await?;
        let revoked = revocation::run(arena, person, contender);
        let (_, revoked) = tokio::try_join!(load.run(effort.round), revoked)?;
        revocations.extend(revoked);
        contender.take_log_lines("")?;
    }
    Ok(revocations)
}

/// The requests of a round, and the client that sends them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Small,
    SmallByWrk,
    Large,
}

/// The measurements of a client.
struct Measured {
    requests: u64,
    seconds: f64,
    p50_ms: f64,
    p99_ms: f64,
    /// Requests of the sampler, which the contender answered in addition.
    samples: u64,
}

async fn one(contender: &Contender, number: usize, kind: Kind, effort: &Effort) -> Result<Round> {
    let before = contender.processes.cpu()?;
    let measured = match kind {
        Kind::Small => ours(contender, &contender.small(), effort.round).await?,
        Kind::Large => ours(contender, &contender.large(), effort.large_round).await?,
        Kind::SmallByWrk => by_wrk(contender, effort.round).await?,
    };
    let cpu = contender.processes.cpu()? - before;
    let rss_mb = contender.processes.rss_mb()?;
    let anonymous_mb = contender.processes.anonymous_mb()?;
    tokio::time::sleep(LOG_WRITE_TIME).await;
    let (body, (path, _)) = match kind {
        Kind::Large => ("1m", LARGE),
        Kind::Small | Kind::SmallByWrk => ("1k", SMALL),
    };
    let lines = contender.take_log_lines(path)?;
    ensure!(
        lines >= measured.requests,
        "{}: {lines} access log entries for {} requests",
        contender.name,
        measured.requests
    );
    let requests = measured.requests + measured.samples;
    Ok(Round {
        number,
        subject: contender.name,
        client: match kind {
            Kind::SmallByWrk => Client::Wrk,
            Kind::Small | Kind::Large => Client::Ours,
        },
        body,
        requests,
        seconds: measured.seconds,
        requests_per_second: measured.requests as f64 / measured.seconds,
        p50_ms: measured.p50_ms,
        p99_ms: measured.p99_ms,
        cpu_us_per_request: cpu.as_secs_f64() * 1e6 / requests.max(1) as f64,
        rss_mb,
        anonymous_mb,
        load: machine::load()?,
    })
}

async fn ours(contender: &Contender, ask: &Ask, time: Duration) -> Result<Measured> {
    let load = Load::connect(contender.address, CONNECTIONS, ask).await?;
    let (outcome, samples) = tokio::try_join!(load.run(time), sample(contender, time))?;
    Ok(Measured {
        requests: outcome.requests,
        seconds: outcome.took.as_secs_f64(),
        p50_ms: outcome.quantile(0.5),
        p99_ms: outcome.quantile(0.99),
        samples,
    })
}

async fn by_wrk(contender: &Contender, time: Duration) -> Result<Measured> {
    let (outcome, samples) = tokio::try_join!(wrk::run(contender, time), sample(contender, time))?;
    Ok(Measured {
        requests: outcome.requests,
        seconds: outcome.seconds,
        p50_ms: outcome.p50_ms,
        p99_ms: outcome.p99_ms,
        samples,
    })
}

/// Asks the upstream for the received identity during the load; a wrong response ends the run.
async fn sample(contender: &Contender, time: Duration) -> Result<u64> {
    let started = Instant::now();
    let mut connection = KeepAliveConnection::connect(contender.address).await?;
    let request = contender.whoami(contender.own_cookie());
    let mut samples = 0;
    while started.elapsed() + SAMPLE_INTERVAL < time {
        let answer = connection.ask(&request).await?;
        contender.identity.check(&answer).context(contender.name)?;
        samples += 1;
        tokio::time::sleep(SAMPLE_INTERVAL).await;
    }
    ensure!(samples > 0, "{}: no sample", contender.name);
    Ok(samples)
}
