//! A soak test: thousands of idle WebSockets and users with mixed requests, for half an hour;
//! memory must not grow.
use super::load::Ask;
use super::portico::{APP_HOST, MAIN, Person, Session, Workplace};
use super::sockets::Fleet;
use super::upstream::{LARGE, SMALL, Upstream, WHOAMI};
use super::wire::{KeepAliveConnection, get};
use crate::process::Server;
use crate::report::median;
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use portico_testkit::TestEnv;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// Maximum growth of memory after the warm-up, in MB.
const MAX_GROWTH_MB: f64 = 8.0;
const SAMPLES: u32 = 40;
const WORKERS: usize = 8;
/// The pause of a worker between two requests: the load is mixed, not heavy.
const THINK_TIME: Duration = Duration::from_millis(4);
/// How often a user signs in and out again.
const SIGN_IN_INTERVAL: Duration = Duration::from_secs(5);

#[derive(Debug, Args)]
pub struct Options {
    /// The program
    #[arg(long, default_value = "target/release/portico")]
    portico: PathBuf,
    /// How long
    #[arg(long, default_value_t = 30)]
    minutes: u64,
    /// How many WebSockets
    #[arg(long, default_value_t = 10_000)]
    sockets: usize,
}

/// Runs it against the real Keystone of the stack that `PORTICO_TEST_ENV` names.
pub async fn run(options: &Options) -> Result<()> {
    let env = TestEnv::load()?;
    let person = Person::create(&env).await?;
    let result = soak(options, &env, &person).await;
    person.delete().await?;
    result
}

async fn soak(options: &Options, env: &TestEnv, person: &Person) -> Result<()> {
    let place = Workplace::create(&options.portico, env)?;
    let upstream = Upstream::start(place.dir.path()).await?;
    let gateway = place.start("busy", upstream.address, "").await?;
    let session = person.sign_in(gateway.address).await?;
    let mut fleet = Fleet::open(&place, person, options.sockets).await?;
    println!(
        "{} sockets at {} gateways, {:.1} MB",
        options.sockets,
        fleet.processes(),
        fleet.rss_mb()?
    );
    let requests = Arc::new(AtomicU64::new(0));
    let mut work = JoinSet::new();
    for _ in 0..WORKERS {
        work.spawn(mixed(
            gateway.address,
            session.cookie.clone(),
            Arc::clone(&requests),
        ));
    }
    let time = Duration::from_secs(options.minutes * 60);
    let watched = tokio::select! {
        watched = watch(&mut fleet, &gateway, &requests, time) => watched,
        Some(ended) = work.join_next() => Err(ended?.err().context("a worker ended by itself")?),
        ended = come_and_go(person, gateway.address) => Err(ended.err().context("it ended")?),
    };
    watched?.hold()
}

/// The memory of both kinds of gateway over time.
struct Watched {
    sockets: Vec<f64>,
    busy: Vec<f64>,
}

impl Watched {
    /// Checks that it is no more at the end than after the warm-up.
    fn hold(&self) -> Result<()> {
        for (what, samples) in [("with sockets", &self.sockets), ("under load", &self.busy)] {
            let quarter = samples.len() / 4;
            // the first quarter warms up
            let warm = median(&samples[quarter..2 * quarter]);
            let last = median(&samples[samples.len() - quarter..]);
            println!("memory {what}: {warm:.1} MB when warm, {last:.1} MB at the end");
            ensure!(
                last - warm <= MAX_GROWTH_MB,
                "memory {what} grew from {warm:.1} to {last:.1} MB"
            );
        }
        Ok(())
    }
}

async fn watch(
    fleet: &mut Fleet,
    gateway: &Server,
    requests: &AtomicU64,
    time: Duration,
) -> Result<Watched> {
    let mut watched = Watched {
        sockets: Vec::new(),
        busy: Vec::new(),
    };
    let started = Instant::now();
    for sample in 1..=SAMPLES {
        tokio::time::sleep(time / SAMPLES).await;
        let answered = fleet.ping(50).await?;
        let busy = gateway.rss_mb()?;
        println!(
            "{:>6.0} s: {:>9} requests, {answered} sockets asked, {:.1} MB with sockets, {busy:.1} MB under load",
            started.elapsed().as_secs_f64(),
            requests.load(Ordering::Relaxed),
            fleet.rss_mb()?,
        );
        watched.sockets.push(fleet.rss_mb()?);
        watched.busy.push(busy);
        fleet.take_logs()?;
        gateway.take_log_lines("")?;
        if sample == SAMPLES {
            // each of them is still open
            fleet.ping(1).await?;
        }
    }
    Ok(watched)
}

/// Sends requests for small and large responses, without a session, malformed ones, and over new
/// connections.
async fn mixed(gateway: SocketAddr, cookie: String, requests: Arc<AtomicU64>) -> Result<()> {
    let ask = |path: &str, cookie: &str, length| Ask {
        request: get(APP_HOST, path, cookie).into(),
        length,
    };
    let right = [
        ask(SMALL.0, &cookie, SMALL.1),
        ask(LARGE.0, &cookie, LARGE.1),
    ];
    let whoami = get(APP_HOST, WHOAMI, &cookie);
    let stranger = get(APP_HOST, SMALL.0, "portico=unknown; a=b");
    let nonsense = get("evil.example", "/%2e%2e/etc/passwd", &cookie);
    loop {
        let mut connection = KeepAliveConnection::connect(gateway).await?;
        for turn in 0..200 {
            let status = match turn % 20 {
                0 => connection.ask(&whoami).await?.status,
                5 => {
                    let status = connection.ask(&stranger).await?.status;
                    ensure!(status != 200, "a stranger was let in");
                    200
                }
                10 => {
                    let status = connection.ask(&nonsense).await?.status;
                    ensure!(status >= 400, "nonsense was answered with {status}");
                    200
                }
                _ => {
                    let one = &right[usize::from(turn % 20 == 15)];
                    let answer = connection.ask(&one.request).await?;
                    ensure!(answer.length == one.length, "{} bytes", answer.length);
                    answer.status
                }
            };
            ensure!(status == 200, "status {status}");
            requests.fetch_add(1, Ordering::Relaxed);
            tokio::time::sleep(THINK_TIME).await;
        }
    }
}

/// Signs a user in, opens the app, and signs out.
async fn come_and_go(person: &Person, gateway: SocketAddr) -> Result<()> {
    loop {
        let mut session: Session = person.sign_in(gateway).await?;
        session.sign_out().await?;
        let request = get(APP_HOST, SMALL.0, &session.cookie);
        let mut connection = KeepAliveConnection::connect(gateway).await?;
        let status = connection.ask(&request).await?.status;
        ensure!(status != 200, "{MAIN}: an ended session opens");
        tokio::time::sleep(SIGN_IN_INTERVAL).await;
    }
}
