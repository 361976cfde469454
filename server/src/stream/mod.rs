//! Long-lived streams: a tab's only event stream, and terminals.
//!
//! A stream uses the caller's own token. The gateway closes it when the session ends; rights are
//! checked again at least every minute; and it ends, with a reason, when its token expires.
mod live_list;
mod log_follow;
mod log_range;
mod object_watch;
mod outbox;
pub mod tab;
pub mod terminal;

use crate::{
    caller::{Caller, origin},
    service::Services,
};
use axum::http::{HeaderMap, StatusCode, header};
use portico_clock::Clock;
use std::time::Duration;

/// How often idle connections are pinged; proxies close them after a minute or less.
const PING_INTERVAL: Duration = Duration::from_secs(20);
/// How often the rights behind a log or a terminal are reviewed again.
const REVIEW_INTERVAL: Duration = Duration::from_secs(45);
/// Sent when the Keystone token behind a stream has expired.
const TOKEN_EXPIRED: &str = "Your sign-in has to be renewed before this can continue.";

/// Checks `Origin`. The gateway checks it too; a stream must not depend on that alone.
fn check(
    services: &Services,
    caller: &Caller,
    project: &str,
    headers: &HeaderMap,
) -> Result<(), (StatusCode, &'static str)> {
    let own = origin(&services.public_url);
    let mut sent = headers.get_all(header::ORIGIN).iter();
    let same = sent
        .next()
        .is_some_and(|sent| sent.as_bytes() == own.as_bytes());
    // two contradict each other
    if !same || sent.next().is_some() {
        return Err((StatusCode::FORBIDDEN, "Another origin may not open this.\n"));
    }
    if caller.project().map(|own| own.id.as_str()) != Some(project) {
        return Err((StatusCode::FORBIDDEN, "You have no role in this project.\n"));
    }
    Ok(())
}

/// Is ready when the caller's token expires; never without one.
async fn token_over(caller: &Caller, clock: &Clock) {
    let left = caller.token().map_or(0, |token| {
        token.expires_at.as_second() - clock.now().as_second()
    });
    tokio::time::sleep(Duration::from_secs(u64::try_from(left).unwrap_or(0))).await;
}
