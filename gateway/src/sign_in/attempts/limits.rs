//! Limits how often a sign-in may fail.
//!
//! Places are reserved in the store before each attempt, so that concurrent attempts on several
//! replicas count before Keystone is asked, and returned when the attempt succeeded or was not
//! decided. An account with repeated failures is slowed down by growing delays of at most a minute;
//! it is never locked. An account is counted for each network and, over all networks, in total; a
//! browser that the account has signed in with has counters of its own in place of both.
use http::HeaderMap;
use jiff::{SignedDuration, Timestamp};
use portico_domain::account_name;
use portico_openstack::keystone::AuthOutcome;
use portico_request::client_address::ClientNetwork;
use portico_store::{Outcome, Reservation, Reserved, ThrottleLimit};
use tokio::time::Instant;

use super::{Attempts, known_browser::KnownBrowser};
use crate::{
    audit::Event,
    http::{access_log, error_response::Problem},
    metrics,
    request_context::Context,
    sign_in::keystone::attempt::{Claimed, Failed},
};

/// Limits the failures of one account from one network or one known browser.
const ACCOUNT_LIMIT: ThrottleLimit = ThrottleLimit::Delays {
    free: 8,
    delays: seconds([30, 40, 50, 60]),
    forget: SignedDuration::from_mins(15),
};
/// Limits the failures of one account over all networks, without known browsers.
const GLOBAL_ACCOUNT_LIMIT: ThrottleLimit = ThrottleLimit::Delays {
    free: 24,
    delays: seconds([30, 40, 50, 60]),
    forget: SignedDuration::from_hours(1),
};
/// Limits the wrong one-time codes of one account over all networks, or from one known browser. A
/// client that tries codes has the right password.
const CODE_LIMIT: ThrottleLimit = ThrottleLimit::window(20, 3600);
/// Limits the failures of one network over all accounts.
const NETWORK_LIMIT: ThrottleLimit = ThrottleLimit::window(60, 60);

const fn seconds(all: [i64; 4]) -> [SignedDuration; 4] {
    let [first, second, third, last] = all;
    [
        SignedDuration::from_secs(first),
        SignedDuration::from_secs(second),
        SignedDuration::from_secs(third),
        SignedDuration::from_secs(last),
    ]
}

/// The sign-in method of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignInMethod {
    Password,
    OneTimeCode,
    ApplicationCredential,
    Token,
    SingleSignOn,
}

impl SignInMethod {
    /// Returns the method's name in the audit log.
    fn as_str(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::OneTimeCode => "passcode",
            Self::ApplicationCredential => "application credential",
            Self::Token => "token",
            Self::SingleSignOn => "single sign-on",
        }
    }
}

/// A limit that applies to an attempt.
struct Counter {
    subject: String,
    limit: ThrottleLimit,
    /// What the limit applies to, for the metric.
    by: &'static str,
    /// Whether a success resets its failures.
    forgiving: bool,
}

/// An attempt that has been counted and whose outcome is not known yet. If it is dropped without
/// one, as when the client disconnects, it stays counted as a failure.
#[derive(Debug)]
#[must_use = "an attempt without an outcome stays counted as a failure"]
pub(crate) struct Attempt {
    name: String,
    domain: String,
    method: SignInMethod,
    began: Instant,
    /// Every account that it may refer to.
    accounts: Vec<String>,
    known_browser: bool,
    /// The reserved places, and whether a success resets their failures.
    places: Vec<(Reservation, bool)>,
}

/// Returns the counters of an attempt, the narrowest first.
fn counters(
    method: SignInMethod,
    accounts: &[String],
    network: ClientNetwork,
    browser: Option<&KnownBrowser>,
) -> Vec<Counter> {
    let mut all = Vec::new();
    let mut count = |subject: String, limit, by, forgiving| {
        all.push(Counter {
            subject,
            limit,
            by,
            forgiving,
        });
    };
    for account in accounts {
        let browser = browser.and_then(|browser| browser.id_for(account));
        let codes = method == SignInMethod::OneTimeCode;
        if let Some(id) = browser {
            let subject = |what: &str| format!("{what}:{account}\nbrowser {id}");
            count(subject("account"), ACCOUNT_LIMIT, "account", true);
            if codes {
                count(subject("codes"), CODE_LIMIT, "code", true);
            }
            continue;
        }
        let subject = |what: &str, of: &str| format!("{what}:{account}\n{of}");
        count(
            subject("account", &network.to_string()),
            ACCOUNT_LIMIT,
            "account",
            true,
        );
        if codes {
            count(subject("codes", "everywhere"), CODE_LIMIT, "code", true);
        }
        count(
            subject("account", "everywhere"),
            GLOBAL_ACCOUNT_LIMIT,
            "account",
            true,
        );
    }
    // a success with one's own account does not reset the network's counter: otherwise it would
    // permit unlimited guesses at other accounts
    count(
        format!("address:{network}"),
        NETWORK_LIMIT,
        "network",
        false,
    );
    all
}

impl Attempts {
    /// Counts an attempt as failed until it is known to have succeeded.
    pub(crate) async fn begin_attempt(
        &self,
        context: &Context,
        headers: &HeaderMap,
        method: SignInMethod,
        readings: &[Claimed],
    ) -> Result<Attempt, Failed> {
        let began = Instant::now();
        let mut accounts: Vec<String> = readings
            .iter()
            .map(|claimed| account_name::account_key(&claimed.name, &claimed.domain))
            .collect();
        accounts.sort();
        accounts.dedup();
        let browser = self.known_browser(headers);
        let is_known = |browser: &KnownBrowser| {
            let mut accounts = accounts.iter();
            accounts.any(|account| browser.id_for(account).is_some())
        };
        let network = context.client.network();
        let counters = counters(method, &accounts, network, browser.as_ref());
        let mut attempt = Attempt {
            name: readings.first().map(|r| r.name.clone()).unwrap_or_default(),
            domain: readings
                .first()
                .map(|r| r.domain.clone())
                .unwrap_or_default(),
            method,
            began,
            known_browser: browser.as_ref().is_some_and(is_known),
            accounts,
            places: Vec::with_capacity(counters.len()),
        };
        let now = self.clock.now();
        let throttle = self.store.throttle();
        for counter in counters {
            let reserved = throttle.reserve(&counter.subject, counter.limit, now).await;
            match reserved.map_err(Problem::from)? {
                Reserved::Granted(place) => attempt.places.push((place, counter.forgiving)),
                Reserved::RefusedUntil(until) => {
                    self.give_attempt_back(&attempt).await?;
                    return Err(self
                        .throttled(context, &attempt, counter.by, until, now)
                        .await);
                }
            }
        }
        Ok(attempt)
    }

    /// Ends an attempt: what Keystone accepted does not count, but a correct password alone resets
    /// nothing.
    pub(crate) async fn end_attempt(
        &self,
        attempt: Attempt,
        outcome: &AuthOutcome,
    ) -> Result<(), Problem> {
        match outcome {
            AuthOutcome::Token(_) => self.succeeded(attempt).await,
            AuthOutcome::ReceiptRequired { .. } => self.undecided(attempt).await,
        }
    }

    /// Resets the account's failures, and removes the attempt from its network's counter.
    pub(crate) async fn succeeded(&self, attempt: Attempt) -> Result<(), Problem> {
        let throttle = self.store.throttle();
        for (place, forgiving) in &attempt.places {
            if *forgiving {
                throttle.forget(place).await?;
            } else {
                throttle.return_reservation(place).await?;
            }
        }
        Ok(())
    }

    /// Removes the attempt from its counters: its outcome is unknown.
    pub(crate) async fn undecided(&self, attempt: Attempt) -> Result<(), Problem> {
        self.give_attempt_back(&attempt).await
    }

    async fn give_attempt_back(&self, attempt: &Attempt) -> Result<(), Problem> {
        for (place, _) in &attempt.places {
            self.store.throttle().return_reservation(place).await?;
        }
        Ok(())
    }

    /// Leaves the attempt counted. Returns when the refusal is due, however long Keystone took.
    pub(crate) async fn refuse_attempt(
        &self,
        context: &Context,
        attempt: Attempt,
    ) -> Result<Failed, Problem> {
        let (now, accounts) = (self.clock.now(), self.store.sign_in_accounts());
        for account in &attempt.accounts {
            accounts.failed(account, attempt.known_browser, now).await?;
        }
        metrics::sign_in(metrics::KEYSTONE, "refused");
        access_log::refused("credentials");
        let event = Event::new("session.sign_in", Outcome::Denied)
            .name(&attempt.name)
            .domain(&attempt.domain)
            .provider(metrics::KEYSTONE)
            .reason(attempt.method.as_str());
        self.audit.record(context, event).await;
        self.refusals.hold(attempt.began).await;
        Ok(Failed::Refused)
    }

    async fn throttled(
        &self,
        context: &Context,
        attempt: &Attempt,
        by: &'static str,
        until: Timestamp,
        now: Timestamp,
    ) -> Failed {
        metrics::sign_in(metrics::KEYSTONE, "throttled");
        metrics::throttled(by);
        access_log::refused("throttled");
        let event = Event::new("session.sign_in", Outcome::Denied)
            .name(&attempt.name)
            .domain(&attempt.domain)
            .provider(metrics::KEYSTONE)
            .reason("too many failures");
        self.audit.record(context, event).await;
        Failed::Throttled((until.as_second() - now.as_second()).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subjects(method: SignInMethod, accounts: &[&str]) -> Vec<String> {
        let accounts: Vec<String> = accounts.iter().map(|one| (*one).to_owned()).collect();
        let network = ClientNetwork::Known([192, 0, 2, 7].into());
        counters(method, &accounts, network, None)
            .into_iter()
            .map(|counter| counter.subject)
            .collect()
    }

    #[test]
    fn finding_s4_an_account_counts_by_network_and_over_all_of_them() {
        assert_eq!(
            subjects(SignInMethod::Password, &["ada"]),
            [
                "account:ada\n192.0.2.7",
                "account:ada\neverywhere",
                "address:192.0.2.7"
            ]
        );
        let codes = subjects(SignInMethod::OneTimeCode, &["ada"]);
        assert!(codes.contains(&"codes:ada\neverywhere".to_owned()));
        // of a pasted token only its network is known
        assert_eq!(subjects(SignInMethod::Token, &[]), ["address:192.0.2.7"]);
    }
}
