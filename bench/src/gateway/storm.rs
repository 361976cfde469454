//! Concurrent requests at the time of a refresh, with a provider that rotates its tokens.
use super::portico::{MAIN, Workplace, sign_in_at_provider};
use super::wire::{KeepAliveConnection, get};
use anyhow::{Context as _, Result};
use portico_testkit::{CLIENT_ID, CLIENT_SECRET, OidcProvider};
use serde::Serialize;
use std::fs::Permissions;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Barrier;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

const CONCURRENT_REQUESTS: usize = 200;
/// The lifetime of an access token, and how long before its expiry it is refreshed.
const TOKEN_TTL_SECONDS: u32 = 20;
const REFRESH_AHEAD_SECONDS: u32 = 15;

/// The result.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Storm {
    pub parallel: usize,
    pub refreshes: usize,
    /// Requests that found no signed-in user, then and after the first tokens had expired.
    pub sign_outs: usize,
}

/// Signs in at a provider of its own, and sends all requests at once when a refresh is due.
pub async fn run(place: &Workplace) -> Result<Storm> {
    let redirect = format!("{MAIN}/oauth2/callback/corp");
    let provider = OidcProvider::start(&redirect, MAIN, TOKEN_TTL_SECONDS).await?;
    let secret = place.dir.path().join("provider-secret");
    std::fs::write(&secret, CLIENT_SECRET)?;
    std::fs::set_permissions(&secret, Permissions::from_mode(0o600))?;
    let section = format!(
        "\n[[gateway.providers]]\nid = \"corp\"\nname = \"Corp\"\nkind = \"oidc\"\n\
         issuer = {:?}\nclient_id = {CLIENT_ID:?}\nclient_secret_file = {secret:?}\n\
         scopes = [\"profile\", \"groups\"]\nrefresh_ahead = \"{REFRESH_AHEAD_SECONDS}s\"\n",
        provider.issuer,
    );
    let closed_port = ([127, 0, 0, 1], 9).into();
    let gateway = place.start("storm", closed_port, &section).await?;
    let cookie = sign_in_at_provider(gateway.address).await?;
    let since = Instant::now();
    let mut sign_outs = all_at_once(gateway.address, &cookie, 10).await?;
    sleep_until(
        since + Duration::from_secs(u64::from(TOKEN_TTL_SECONDS - REFRESH_AHEAD_SECONDS) + 1),
    )
    .await;
    sign_outs += all_at_once(gateway.address, &cookie, CONCURRENT_REQUESTS).await?;
    // a second refresh would be due now
    sleep(Duration::from_secs(2)).await;
    let refreshes = provider.refreshes().await?;
    sleep_until(since + Duration::from_secs(u64::from(TOKEN_TTL_SECONDS) + 1)).await;
    sign_outs += all_at_once(gateway.address, &cookie, 10).await?;
    Ok(Storm {
        parallel: CONCURRENT_REQUESTS,
        refreshes,
        sign_outs,
    })
}

/// Returns how many of this number of concurrent requests did not get the page.
async fn all_at_once(gateway: SocketAddr, cookie: &str, count: usize) -> Result<usize> {
    let start = Arc::new(Barrier::new(count));
    let host = MAIN.strip_prefix("http://").context("a host")?;
    let request: Arc<[u8]> = get(host, "/", cookie).into();
    let mut tasks = JoinSet::new();
    for _ in 0..count {
        let (start, request) = (Arc::clone(&start), Arc::clone(&request));
        tasks.spawn(async move {
            let connection = KeepAliveConnection::connect(gateway).await;
            start.wait().await;
            anyhow::Ok(connection?.ask(&request).await?.status)
        });
    }
    let mut lost = 0;
    for status in tasks.join_all().await {
        lost += usize::from(status? != 200);
    }
    Ok(lost)
}
