//! A session that is ended under load: the time until it opens nothing any more.
use super::apache;
use super::contender::{Arena, Contender, Identity};
use super::portico::{self, Person};
use super::report::Revocation;
use super::wire::KeepAliveConnection;
use anyhow::{Context as _, Result, ensure};
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// The bound that Portico documents.
const REVOCATION_BOUND: Duration = Duration::from_secs(1);
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// Number of further requests that must be refused.
const CONFIRMATIONS: usize = 20;

enum Victim {
    OfPortico(portico::Session),
    OfApache(apache::Session),
}

impl Victim {
    fn cookie(&self) -> &str {
        match self {
            Self::OfPortico(session) => &session.cookie,
            Self::OfApache(session) => &session.cookie,
        }
    }

    async fn sign_out(&mut self) -> Result<()> {
        match self {
            Self::OfPortico(session) => session.sign_out().await,
            Self::OfApache(session) => session.sign_out().await,
        }
    }
}

/// Signs a user in, checks that the app opens, signs them out, and keeps requesting it. `None` for
/// a contender without sessions.
pub async fn run(
    arena: &Arena,
    person: &Person,
    contender: &Contender,
) -> Result<Option<Revocation>> {
    let mut victim = match contender.identity {
        Identity::None => return Ok(None),
        Identity::OidcClaim(_) => Victim::OfApache(arena.apache.sign_in().await?),
        _ => Victim::OfPortico(person.sign_in(contender.sessions_at).await?),
    };
    let request = contender.whoami(victim.cookie());
    let mut connection = KeepAliveConnection::connect(contender.address).await?;
    let answer = connection.ask(&request).await?;
    contender
        .identity
        .check(&answer)
        .context("before the end")?;
    victim.sign_out().await?;
    let ended = Instant::now();
    let mut asked = 0;
    while connection.ask(&request).await?.status == 200 {
        asked += 1;
        ensure!(
            ended.elapsed() < REVOCATION_BOUND,
            "{}: an ended session still opens after {asked} requests",
            contender.name
        );
        sleep(POLL_INTERVAL).await;
    }
    let milliseconds = ended.elapsed().as_secs_f64() * 1e3;
    for _ in 0..CONFIRMATIONS {
        let status = connection.ask(&request).await?.status;
        ensure!(
            status != 200,
            "{}: an ended session is back",
            contender.name
        );
    }
    Ok(Some(Revocation {
        subject: contender.name,
        milliseconds,
    }))
}
