//! What stays open: a tab's one event stream, and terminals.
//!
//! A stream lives on the caller's own token. The gateway closes it when the session ends; rights
//! are proved again at least every minute; and it ends, with a reason, when its token does.
pub mod budget;
mod live_list;
mod log_follow;
mod object_watch;
mod outbox;
pub mod tab;
pub mod terminal;

use crate::{
    panel::caller::{Caller, origin},
    service::Services,
};
use axum::http::{HeaderMap, StatusCode, header};
use jiff::Timestamp;
use std::time::Duration;

/// How often idle connections are kept awake; proxies cut at a minute or less.
const PING: Duration = Duration::from_secs(20);
/// How often the rights behind a log or a terminal are asked for again.
const RECHECK: Duration = Duration::from_secs(45);
/// Said when the Keystone token behind a stream is over.
const TOKEN_OVER: &str = "Your sign-in has to be renewed before this can go on.";

/// The gateway checks `Origin` too; a stream must not depend on that alone.
fn check(
    services: &Services,
    caller: &Caller,
    project: &str,
    headers: &HeaderMap,
) -> Result<(), (StatusCode, &'static str)> {
    let own = origin(&services.public_url);
    let same = headers
        .get(header::ORIGIN)
        .is_some_and(|sent| sent.as_bytes() == own.as_bytes());
    if !same {
        return Err((StatusCode::FORBIDDEN, "Another origin may not open this.\n"));
    }
    if caller.project().map(|own| own.id.as_str()) != Some(project) {
        return Err((StatusCode::FORBIDDEN, "You have no role in this project.\n"));
    }
    Ok(())
}

/// Ready when the caller's token ends; never without one.
async fn token_over(caller: &Caller) {
    let left = caller.token().map_or(0, |token| {
        token.expires_at.as_second() - Timestamp::now().as_second()
    });
    tokio::time::sleep(Duration::from_secs(u64::try_from(left).unwrap_or(0))).await;
}
