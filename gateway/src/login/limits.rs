//! How often a sign-in may fail.
//!
//! Places are reserved in the store ahead of each attempt, so that many at once on several replicas
//! count before Keystone is asked, and given back when the attempt succeeded or was not decided.
//! An account that keeps failing is slowed down by growing delays of a minute at most; it is never
//! locked. Counters of an account are those of a network and, over all networks, of the account;
//! a browser that the account has signed in with has counters of its own in place of both.
use http::HeaderMap;
use jiff::{SignedDuration, Timestamp};
use portico_openstack::keystone::AuthOutcome;
use portico_store::{Outcome, Reservation, Reserved, ThrottleLimit};
use tokio::time::Instant;

use super::{
    account,
    attempt::{Claimed, Failed},
    known_browser::KnownBrowser,
};
use crate::{
    access::{client_address::ClientNetwork, line},
    audit::Event,
    meters,
    problem::Problem,
    state::{Context, Gateway},
};

/// Failures of one account from one network, or from one known browser.
const ACCOUNT: ThrottleLimit = ThrottleLimit::Delays {
    free: 8,
    delays: seconds([30, 40, 50, 60]),
    forget: SignedDuration::from_mins(15),
};
/// Failures of one account over all networks, known browsers apart.
const ACCOUNT_EVERYWHERE: ThrottleLimit = ThrottleLimit::Delays {
    free: 24,
    delays: seconds([30, 40, 50, 60]),
    forget: SignedDuration::from_hours(1),
};
/// Wrong one-time codes of one account over all networks, or from one known browser. A client
/// that tries them has the right password.
const CODES: ThrottleLimit = ThrottleLimit::window(20, 3600);
/// Failures of one network, whatever the account.
const NETWORK: ThrottleLimit = ThrottleLimit::window(60, 60);

const fn seconds(all: [i64; 4]) -> [SignedDuration; 4] {
    let [first, second, third, last] = all;
    [
        SignedDuration::from_secs(first),
        SignedDuration::from_secs(second),
        SignedDuration::from_secs(third),
        SignedDuration::from_secs(last),
    ]
}

/// What is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SignInMethod {
    Password,
    OneTimeCode,
    ApplicationCredential,
    Token,
    SingleSignOn,
}

impl SignInMethod {
    /// The word of the audit log.
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

/// A limit that an attempt falls under.
struct Counter {
    subject: String,
    limit: ThrottleLimit,
    /// What is limited, for the metric.
    by: &'static str,
    /// Whether a success forgets its failures.
    forgiving: bool,
}

/// An attempt that has been counted and whose outcome is not known yet. Dropped without one, as when
/// the client goes away, it stays counted as a failure.
#[derive(Debug)]
#[must_use = "an attempt without an outcome stays counted as a failure"]
pub(super) struct Attempt {
    name: String,
    domain: String,
    method: SignInMethod,
    began: Instant,
    /// Every account that it may be about.
    accounts: Vec<String>,
    known_browser: bool,
    /// The places that it has, and whether a success forgets their failures.
    places: Vec<(Reservation, bool)>,
}

/// The counters of an attempt, the narrowest first.
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
            count(subject("account"), ACCOUNT, "account", true);
            if codes {
                count(subject("codes"), CODES, "code", true);
            }
            continue;
        }
        let subject = |what: &str, of: &str| format!("{what}:{account}\n{of}");
        count(
            subject("account", &network.to_string()),
            ACCOUNT,
            "account",
            true,
        );
        if codes {
            count(subject("codes", "everywhere"), CODES, "code", true);
        }
        count(
            subject("account", "everywhere"),
            ACCOUNT_EVERYWHERE,
            "account",
            true,
        );
    }
    // one's own account forgives nothing to the network: with it one could guess at others' for ever
    count(format!("address:{network}"), NETWORK, "network", false);
    all
}

impl Gateway {
    /// Counts an attempt as failed until it is known to have succeeded.
    pub(super) async fn begin_attempt(
        &self,
        context: &Context,
        headers: &HeaderMap,
        method: SignInMethod,
        readings: &[Claimed],
    ) -> Result<Attempt, Failed> {
        let began = Instant::now();
        let mut accounts: Vec<String> = readings
            .iter()
            .map(|claimed| account::account(&claimed.name, &claimed.domain))
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
        let now = Timestamp::now();
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

    /// What Keystone accepted does not count; a right password alone forgives nothing either.
    pub(super) async fn end_attempt(
        &self,
        attempt: Attempt,
        outcome: &AuthOutcome,
    ) -> Result<(), Problem> {
        match outcome {
            AuthOutcome::Token(_) => self.succeeded(attempt).await,
            AuthOutcome::ReceiptRequired { .. } => self.undecided(attempt).await,
        }
    }

    /// Forgets the account's failures, and takes the attempt back from its network's.
    pub(super) async fn succeeded(&self, attempt: Attempt) -> Result<(), Problem> {
        let throttle = self.store.throttle();
        for (place, forgiving) in &attempt.places {
            if *forgiving {
                throttle.forget(place).await?;
            } else {
                throttle.give_back(place).await?;
            }
        }
        Ok(())
    }

    /// Takes the attempt back: its outcome is unknown.
    pub(super) async fn undecided(&self, attempt: Attempt) -> Result<(), Problem> {
        self.give_attempt_back(&attempt).await
    }

    async fn give_attempt_back(&self, attempt: &Attempt) -> Result<(), Problem> {
        for (place, _) in &attempt.places {
            self.store.throttle().give_back(place).await?;
        }
        Ok(())
    }

    /// The attempt stays counted. Answers when a refusal is due, whatever it took to get here.
    pub(super) async fn refuse_attempt(
        &self,
        context: &Context,
        attempt: Attempt,
    ) -> Result<Failed, Problem> {
        let (now, accounts) = (Timestamp::now(), self.store.sign_in_accounts());
        for account in &attempt.accounts {
            accounts.failed(account, attempt.known_browser, now).await?;
        }
        meters::sign_in(meters::KEYSTONE, "refused");
        line::refused("credentials");
        let event = Event::new("session.sign_in", Outcome::Denied)
            .name(&attempt.name)
            .domain(&attempt.domain)
            .provider(meters::KEYSTONE)
            .reason(attempt.method.as_str());
        self.audit(context, event).await;
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
        meters::sign_in(meters::KEYSTONE, "throttled");
        meters::throttled(by);
        line::refused("throttled");
        let event = Event::new("session.sign_in", Outcome::Denied)
            .name(&attempt.name)
            .domain(&attempt.domain)
            .provider(meters::KEYSTONE)
            .reason("too many failures");
        self.audit(context, event).await;
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
