//! Credentials that Keystone has refused recently: kubectl runs its plugin repeatedly, and Keystone
//! locks accounts.
use crate::direct_error::DirectError;
use crate::{private_file, profile};
use jiff::Timestamp;
use portico_clock::Clock;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The delay after the first refusal; doubled after each further one.
const INITIAL_BACKOFF_SECONDS: i64 = 30;
const MAX_BACKOFF_SECONDS: i64 = 600;

/// The record of the last refusal of one user's credentials.
pub struct Refusals {
    path: PathBuf,
    clock: Clock,
}

#[derive(Serialize, Deserialize)]
struct Refusal {
    at: Timestamp,
    count: u32,
    salt: u64,
    /// Enough to see that a secret was corrected, too little to find it out.
    digest: String,
}

impl Refusal {
    fn of(secret: &str, count: u32, now: Timestamp) -> Self {
        let salt = rand::random();
        Self {
            at: now,
            count,
            salt,
            digest: digest(secret, salt),
        }
    }

    fn is_of(&self, secret: &str) -> bool {
        self.digest == digest(secret, self.salt)
    }

    fn seconds_left(&self, now: Timestamp) -> i64 {
        let doubled =
            INITIAL_BACKOFF_SECONDS.saturating_mul(1 << self.count.clamp(1, 10).saturating_sub(1));
        let wait = doubled.min(MAX_BACKOFF_SECONDS);
        self.at.as_second() + wait - now.as_second()
    }
}

fn digest(secret: &str, salt: u64) -> String {
    let whole = profile::file_hash(&[&salt.to_string(), secret]);
    whole.chars().take(3).collect()
}

impl Refusals {
    /// Returns the refusals recorded in this file.
    pub fn at(path: PathBuf, clock: Clock) -> Self {
        Self { path, clock }
    }

    fn last(&self) -> Option<Refusal> {
        let text = private_file::read(&self.path).ok()??;
        serde_json::from_str(&text).ok()
    }

    /// Refuses credentials that were refused recently.
    pub fn check(&self, cloud: &str, secret: &str) -> Result<(), DirectError> {
        let Some(last) = self.last().filter(|last| last.is_of(secret)) else {
            return Ok(());
        };
        match last.seconds_left(self.clock.now()) {
            seconds @ 1.. => Err(DirectError::RefusedBefore {
                cloud: cloud.to_owned(),
                seconds,
            }),
            _ => Ok(()),
        }
    }

    /// Records that Keystone refused this secret. Without a writable path, nothing is recorded.
    pub fn remember(&self, secret: &str) {
        let before = self.last().filter(|last| last.is_of(secret));
        let count = before.map_or(0, |before| before.count).saturating_add(1);
        let refusal = Refusal::of(secret, count, self.clock.now());
        if let Ok(text) = serde_json::to_string(&refusal) {
            let _ = private_file::replace(&self.path, &text);
        }
    }

    /// Deletes the record, after a success.
    pub fn forget(&self) {
        let _ = private_file::remove(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::SignedDuration;

    const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);

    #[test]
    fn the_same_secret_waits_and_a_corrected_one_does_not() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("refused.json");
        let refusals = Refusals::at(path.clone(), Clock::from_fn(|| NOW));
        assert!(refusals.check("acme", "wrong").is_ok());
        refusals.remember("wrong");
        assert!(refusals.check("acme", "wrong").is_err());
        // one digest in four thousand collides; not three
        let others = ["right", "correct", "true"];
        assert!(
            others
                .iter()
                .any(|other| refusals.check("acme", other).is_ok())
        );
        let later = NOW + SignedDuration::from_secs(INITIAL_BACKOFF_SECONDS);
        let after_the_wait = Refusals::at(path, Clock::from_fn(move || later));
        assert!(after_the_wait.check("acme", "wrong").is_ok());
        refusals.forget();
        assert!(refusals.check("acme", "wrong").is_ok());
    }

    #[test]
    fn each_refusal_makes_the_wait_longer_up_to_a_bound() {
        let left = |count| {
            let refusal = Refusal::of("x", count, NOW);
            refusal.seconds_left(NOW)
        };
        assert_eq!([left(1), left(2), left(3), left(40)], [30, 60, 120, 600]);
    }
}
