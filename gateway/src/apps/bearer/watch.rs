//! Watches the open connections of a bearer token.
use std::{sync::Arc, time::Duration};

use portico_clock::Clock;
use portico_store::EndReason;
use tokio::time::{Instant, sleep};

use super::{
    BearerAuthentication,
    verified_token_cache::{Bearer, REVALIDATION_INTERVAL},
};

/// What came of validating a token again.
#[derive(Clone, Copy, Debug)]
enum Revalidation {
    Confirmed,
    Refused,
    /// Keystone did not decide it.
    Undecided,
}

/// Watches a bearer token while connections are open for it, and closes them when it ends. Keystone
/// can revoke a token, so it is validated again; a JWT is valid until it expires.
pub(crate) fn watch(bearer_authentication: Arc<BearerAuthentication>, bearer: Arc<Bearer>) {
    if bearer.live().connections.count() == 0 || !bearer.begins_watch() {
        return;
    }
    #[allow(
        clippy::disallowed_methods,
        reason = "it ends with the last connection of the token"
    )]
    tokio::spawn(async move {
        let token = bearer.keystone_token();
        let revalidate = || async {
            let Some(token) = &token else {
                return Revalidation::Confirmed;
            };
            match bearer_authentication.keystone.validate(token).await {
                Ok(_) => Revalidation::Confirmed,
                Err(error) if error.is_refusal() => Revalidation::Refused,
                Err(_) => Revalidation::Undecided,
            }
        };
        let bound = bearer_authentication.sessions.stale_bound();
        let bound: Duration = bound.try_into().unwrap_or_default();
        watch_connections(&bearer, &bearer_authentication.clock, bound, revalidate).await;
    });
}

/// Returns when no connection is open or the token has ended: at its expiry, when it is refused, or when it was
/// not confirmed for longer than `bound`. That time is measured without the time of day, which can be set back.
async fn watch_connections<F: Future<Output = Revalidation>>(
    bearer: &Bearer,
    clock: &Clock,
    bound: Duration,
    revalidate: impl Fn() -> F,
) {
    let connections = &bearer.live().connections;
    loop {
        let mut confirmed = Instant::now();
        while connections.count() > 0 && !connections.has_ended() {
            let remaining = bearer.expires_at.duration_since(clock.now());
            if !remaining.is_positive() || confirmed.elapsed() > bound {
                connections.end(EndReason::Expired.as_str());
                break;
            }
            let wait = remaining.min(REVALIDATION_INTERVAL);
            sleep(wait.try_into().unwrap_or_default()).await;
            match revalidate().await {
                Revalidation::Confirmed => confirmed = Instant::now(),
                Revalidation::Refused => connections.end(EndReason::RefusedByKeystone.as_str()),
                Revalidation::Undecided => {}
            }
        }
        if bearer.ends_watch() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::{SignedDuration, Timestamp};
    use portico_domain::identity::{Named, User};
    use portico_proxy::stream::connections::Closing;
    use portico_store::{ProviderProfile, SessionProvider};
    use std::future::ready;

    const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);
    const BOUND: Duration = Duration::from_secs(100);

    /// Returns a bearer token that expires after an hour, and is being watched.
    fn watched() -> Arc<Bearer> {
        let user = User {
            id: "u1".to_owned(),
            name: "ada".to_owned(),
            domain: Named {
                id: "default".to_owned(),
                name: "Default".to_owned(),
            },
        };
        let provider = SessionProvider {
            id: "corp".to_owned(),
            subject: "ada".to_owned(),
            sid: None,
            profile: ProviderProfile::default(),
            expires_at: None,
        };
        let expires_at = NOW + SignedDuration::from_hours(1);
        let bearer = Bearer::of_provider(user, Vec::new(), provider, expires_at, NOW).unwrap();
        assert!(bearer.begins_watch());
        bearer
    }

    /// Watches one open connection with a time of day that stands still; returns why it was closed, and after
    /// how long.
    async fn closed_after(revalidation: Revalidation) -> (Closing, Duration) {
        let bearer = watched();
        let connection = bearer.live().connections.open();
        let started = Instant::now();
        let clock = Clock::from_fn(|| NOW);
        watch_connections(&bearer, &clock, BOUND, || ready(revalidation)).await;
        (connection.closed().await, started.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn unconfirmed_connections_end_also_if_the_clock_is_set_back() {
        let (closing, after) = closed_after(Revalidation::Undecided).await;
        assert_eq!(closing, Closing::Ended(EndReason::Expired.as_str()));
        assert!(after > BOUND && after < 2 * BOUND, "{after:?}");
        // control case: a refusal ends them at the first validation
        let (closing, after) = closed_after(Revalidation::Refused).await;
        let refused = EndReason::RefusedByKeystone.as_str();
        assert_eq!(closing, Closing::Ended(refused));
        assert!(after < BOUND, "{after:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn confirmed_connections_stay_open_until_the_token_expires() {
        let bearer = watched();
        let connection = bearer.live().connections.open();
        let started = Instant::now();
        let clock = Clock::from_fn(move || {
            let passed = SignedDuration::try_from(started.elapsed()).unwrap();
            NOW + passed
        });
        let confirmed = || ready(Revalidation::Confirmed);
        watch_connections(&bearer, &clock, BOUND, confirmed).await;
        let closing = connection.closed().await;
        assert_eq!(closing, Closing::Ended(EndReason::Expired.as_str()));
        assert!(started.elapsed() >= Duration::from_hours(1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_watch_ends_with_the_last_connection() {
        let bearer = watched();
        let connection = bearer.live().connections.open();
        let clock = Clock::from_fn(|| NOW);
        let connection = std::cell::RefCell::new(Some(connection));
        let closes = || {
            drop(connection.take());
            ready(Revalidation::Confirmed)
        };
        watch_connections(&bearer, &clock, BOUND, closes).await;
        assert!(!bearer.live().connections.has_ended());
        assert!(bearer.begins_watch(), "the next connection is watched");
    }
}
