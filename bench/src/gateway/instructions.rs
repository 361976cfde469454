//! User-space instructions of a request, counted by callgrind: unlike time, about the same on a
//! busy machine and on another processor.
use super::callgrind::Callgrind;
use super::contender::{Identity, identity_of};
use super::load::{Ask, Load};
use super::nginx;
use super::portico::{APP_HOST, LogFormat, Person, Workplace};
use super::upstream::{SMALL, Upstream, WHOAMI};
use super::wire::{KeepAliveConnection, get};
use crate::process::{Forking, Server};
use anyhow::{Context as _, Result, ensure};
use serde::Serialize;
use std::net::SocketAddr;
use std::time::Duration;

const CONNECTIONS: usize = 16;
/// Under valgrind, a program is some ten times slower without counting, and some fifty times with
/// it.
const WARM_UP: Duration = Duration::from_secs(4);
/// All counts together take about a minute.
const COUNT_TIMEOUT: Duration = Duration::from_secs(120);
/// A proxy that reads and writes two HTTP messages needs more: a lower count cannot be that of the
/// requests.
const MIN_INSTRUCTIONS: u64 = 2_000;

/// User-space instructions per request of 1 KiB.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Instructions {
    /// Of the gateway, by the format of its log.
    pub json_log: u64,
    pub human_log: u64,
    /// Of nginx as a plain proxy, one process.
    pub nginx_proxy: u64,
    /// Number of requests of each count.
    pub requests: u64,
}

/// Counts the gateway with both formats of the log, and Debian's nginx, over `requests` requests
/// each.
///
/// # Errors
/// If valgrind is not installed or does not support an instruction of this processor, if a server
/// does not respond as it does without valgrind, or if all of it takes more than two minutes.
pub async fn count(place: &Workplace, person: &Person, requests: u64) -> Result<Instructions> {
    let all = async {
        let upstream = Upstream::start_named(place.dir.path(), "upstream-counted").await?;
        let counting = Counting {
            place,
            person,
            upstream,
            requests,
        };
        anyhow::Ok(Instructions {
            json_log: counting.gateway(LogFormat::Json).await?,
            human_log: counting.gateway(LogFormat::Human).await?,
            nginx_proxy: counting.nginx().await?,
            requests,
        })
    };
    tokio::time::timeout(COUNT_TIMEOUT, all)
        .await
        .with_context(|| {
            let seconds = COUNT_TIMEOUT.as_secs();
            format!("callgrind took more than {seconds} s; repeat the run on a machine that is less busy")
        })?
        .context("count instructions")
}

struct Counting<'a> {
    place: &'a Workplace,
    person: &'a Person,
    upstream: Upstream,
    requests: u64,
}

impl Counting<'_> {
    async fn gateway(&self, format: LogFormat) -> Result<u64> {
        let name = format!("counted-{format:?}").to_lowercase();
        let callgrind = Callgrind::create(self.place.dir.path(), &name)?;
        let counted = async {
            let (place, upstream) = (self.place, self.upstream.address);
            let mut command = place.gateway(&name, upstream, format, "", &callgrind.wrapper())?;
            let server = Server::start(&mut command, &place.log(&name)).await?;
            let session = self.person.sign_in(server.address).await?;
            let identity = identity_of(server.address, self.person).await?;
            let counted = Counted {
                process: server.id(),
                address: server.address,
                cookie: &session.cookie,
                identity,
            };
            counted.per_request(&callgrind, self.requests).await
        };
        let counted = counted.await.map_err(|error| callgrind.explain(error));
        report(&name, counted)
    }

    async fn nginx(&self) -> Result<u64> {
        let name = "counted-nginx";
        let callgrind = Callgrind::create(self.place.dir.path(), "counts-nginx")?;
        let counted = async {
            let address = nginx::free_port()?;
            let blocks = nginx::plain(address, self.upstream.address);
            let dir = self.place.dir.path();
            let server: Forking =
                nginx::start_one_process(dir, name, address, &blocks, &callgrind.wrapper()).await?;
            let counted = Counted {
                process: server.id(),
                address,
                cookie: "",
                identity: Identity::None,
            };
            counted.per_request(&callgrind, self.requests).await
        };
        let counted = counted.await.map_err(|error| callgrind.explain(error));
        report(name, counted)
    }
}

/// Shows a count while the benchmark runs.
fn report(name: &str, counted: Result<u64>) -> Result<u64> {
    let counted = counted.with_context(|| name.to_owned())?;
    eprintln!("{name}: {counted} instructions a request");
    Ok(counted)
}

/// A server whose instructions are counted.
struct Counted<'a> {
    process: u32,
    address: SocketAddr,
    cookie: &'a str,
    identity: Identity,
}

impl Counted<'_> {
    async fn per_request(&self, callgrind: &Callgrind, requests: u64) -> Result<u64> {
        let ask = Ask {
            request: get(APP_HOST, SMALL.0, self.cookie).into(),
            length: SMALL.1,
        };
        let load = Load::connect(self.address, CONNECTIONS, &ask).await?;
        load.run(WARM_UP).await?;
        // new connections are made, and each has sent one request, before the count starts
        let load = Load::connect(self.address, CONNECTIONS, &ask).await?;
        callgrind.switch_on(self.process).await?;
        let sent = load.run_requests(requests).await?;
        let counted = callgrind.take(self.process).await? / sent;
        ensure!(
            counted >= MIN_INSTRUCTIONS,
            "callgrind counted only {counted} instructions a request"
        );
        // the counted work must have been a gateway's
        let mut connection = KeepAliveConnection::connect(self.address).await?;
        let request = get(APP_HOST, WHOAMI, self.cookie);
        self.identity.check(&connection.ask(&request).await?)?;
        Ok(counted)
    }
}
