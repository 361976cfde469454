//! How often a sign-in may fail: counted in the store, ahead of each attempt, so that many at once
//! on several replicas count as well. A minute later everybody may try again: nobody is locked out
//! for good.
use jiff::{SignedDuration, Timestamp};
use portico_openstack::keystone::AuthOutcome;
use portico_store::{Outcome, ThrottleLimit};

use super::{
    account,
    attempt::{Claimed, Failed},
};
use crate::{
    access::line,
    audit::Event,
    meters,
    problem::Problem,
    state::{Context, Gateway},
};

/// Failures of one account from one network.
const ACCOUNT: ThrottleLimit = ThrottleLimit {
    failures: 8,
    window: SignedDuration::from_secs(60),
};
/// Failures of one network, whatever the account.
const ADDRESS: ThrottleLimit = ThrottleLimit {
    failures: 60,
    window: SignedDuration::from_secs(60),
};

/// An attempt that has been counted and whose outcome is not known yet.
#[derive(Debug)]
pub(super) struct Attempt {
    name: String,
    domain: String,
    /// The counters of every account that it may be about.
    accounts: Vec<String>,
    address: String,
}

impl Gateway {
    /// Counts an attempt as failed until it is known to have succeeded.
    pub(super) async fn begin_attempt(
        &self,
        context: &Context,
        readings: &[Claimed],
    ) -> Result<Attempt, Failed> {
        let now = Timestamp::now();
        let network = account::network(context.client);
        let mut accounts: Vec<String> = readings
            .iter()
            .map(|claimed| account::account(&claimed.name, &claimed.domain, &network))
            .collect();
        accounts.sort();
        accounts.dedup();
        let attempt = Attempt {
            name: readings.first().map(|r| r.name.clone()).unwrap_or_default(),
            domain: readings
                .first()
                .map(|r| r.domain.clone())
                .unwrap_or_default(),
            accounts,
            address: account::address(&network),
        };
        let throttle = self.store.throttle();
        for subject in &attempt.accounts {
            self.admit(context, &attempt, subject, ACCOUNT, now).await?;
        }
        self.admit(context, &attempt, &attempt.address, ADDRESS, now)
            .await?;
        for subject in &attempt.accounts {
            let failures = throttle
                .failed(subject, ACCOUNT, now)
                .await
                .map_err(Problem::from)?;
            if failures > ACCOUNT.failures {
                // others at the same time were first
                let until = now + ACCOUNT.window;
                return Err(self
                    .throttled(context, &attempt, "account", until, now)
                    .await);
            }
        }
        Ok(attempt)
    }

    async fn admit(
        &self,
        context: &Context,
        attempt: &Attempt,
        subject: &str,
        limit: ThrottleLimit,
        now: Timestamp,
    ) -> Result<(), Failed> {
        let until = self
            .store
            .throttle()
            .refused_until(subject, limit, now)
            .await
            .map_err(Problem::from)?;
        let by = if subject == attempt.address {
            "network"
        } else {
            "account"
        };
        match until {
            Some(until) => Err(self.throttled(context, attempt, by, until, now).await),
            None => Ok(()),
        }
    }

    /// What Keystone accepted does not count; a right password alone forgives nothing either.
    pub(super) async fn end_attempt(
        &self,
        attempt: &Attempt,
        outcome: &AuthOutcome,
    ) -> Result<(), Problem> {
        match outcome {
            AuthOutcome::Token(_) => self.succeeded(attempt).await,
            AuthOutcome::ReceiptRequired { .. } => self.undecided(attempt).await,
        }
    }

    pub(super) async fn succeeded(&self, attempt: &Attempt) -> Result<(), Problem> {
        for subject in &attempt.accounts {
            self.store.throttle().succeeded(subject).await?;
        }
        Ok(())
    }

    /// Nobody could say: the attempt was none.
    pub(super) async fn undecided(&self, attempt: &Attempt) -> Result<(), Problem> {
        for subject in &attempt.accounts {
            self.store.throttle().undecided(subject).await?;
        }
        Ok(())
    }

    /// The attempt stays counted, and counts for its network.
    pub(super) async fn failed(
        &self,
        context: &Context,
        attempt: &Attempt,
        what: &'static str,
    ) -> Result<(), Problem> {
        let throttle = self.store.throttle();
        throttle
            .failed(&attempt.address, ADDRESS, Timestamp::now())
            .await?;
        meters::sign_in(meters::KEYSTONE, "refused");
        line::refused("credentials");
        let event = Event::new("session.sign_in", Outcome::Denied)
            .name(&attempt.name)
            .domain(&attempt.domain)
            .provider(meters::KEYSTONE)
            .reason(what);
        self.audit(context, event).await;
        Ok(())
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
