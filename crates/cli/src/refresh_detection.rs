//! Detects that kubectl wants another token. After a 401 kubectl runs its plugin a second time and
//! does not say why; but it keeps a token in memory until the token expires, so a process that
//! requests the token it already holds was refused.
use crate::{private_file, profile, token_cache::Cached};
use jiff::Timestamp;
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Maximum number of processes recorded for a token.
const MAX_HOLDERS: usize = 64;
/// How long a validated token is not validated again.
const VALIDATION_TTL_SECONDS: i64 = 60;

/// The processes that hold one token.
pub struct TokenHolders {
    path: PathBuf,
    record: Record,
}

#[derive(Default, Serialize, Deserialize)]
struct Record {
    token: String,
    by: Vec<TokenHolder>,
    confirmed_at: Option<Timestamp>,
}

/// A process, by its ID and its start time: IDs are reused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenHolder {
    id: i32,
    began: u64,
}

impl TokenHolder {
    /// Returns the process that started this one.
    pub fn parent() -> Option<Self> {
        let id = rustix::process::getppid()?.as_raw_nonzero().get();
        // on systems other than Linux, the ID alone identifies a process
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let began = stat
            .rsplit_once(')')
            .and_then(|(_, rest)| rest.split_whitespace().nth(19)?.parse().ok())
            .unwrap_or_default();
        Some(Self { id, began })
    }
}

fn digest(token: &Cached) -> String {
    profile::file_hash(&[token.token.expose_secret()])
}

impl TokenHolders {
    /// Returns those recorded in this file; none if it cannot be read, which only disables the
    /// detection.
    pub fn read(path: PathBuf) -> Self {
        let text = private_file::read(&path).ok().flatten();
        let record = text.and_then(|text| serde_json::from_str(&text).ok());
        Self {
            record: record.unwrap_or_default(),
            path,
        }
    }

    /// Returns whether this process holds this token already, and the token has not been confirmed
    /// since.
    pub fn was_refused(&self, holder: &TokenHolder, token: &Cached, now: Timestamp) -> bool {
        let confirmed = |at: Timestamp| now.as_second() - at.as_second() < VALIDATION_TTL_SECONDS;
        self.record.token == digest(token)
            && self.record.by.contains(holder)
            && !self.record.confirmed_at.is_some_and(confirmed)
    }

    /// Records that the token is valid.
    pub fn confirmed(&mut self, now: Timestamp) {
        self.record.confirmed_at = Some(now);
        self.write();
    }

    /// Records that this process holds the token now.
    pub fn add(&mut self, holder: TokenHolder, token: &Cached) {
        let digest = digest(token);
        if self.record.token != digest {
            self.record = Record {
                token: digest,
                ..Record::default()
            };
        }
        if self.record.by.contains(&holder) {
            return;
        }
        if self.record.by.len() >= MAX_HOLDERS {
            self.record.by.remove(0);
        }
        self.record.by.push(holder);
        self.write();
    }

    /// Writes the file. Of two concurrent writers, one is lost and gets its token a second time
    /// without a check.
    fn write(&self) {
        if let Ok(text) = serde_json::to_string(&self.record) {
            let _ = private_file::replace(&self.path, &text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::SignedDuration;

    const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);

    #[test]
    fn a_holder_of_the_token_was_refused_until_the_token_is_confirmed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("holders");
        let token = |text: &str| Cached::new(text.to_owned().into(), NOW, NOW);
        let holder = |id| TokenHolder { id, began: 7 };
        let mut holders = TokenHolders::read(path.clone());
        assert!(!holders.was_refused(&holder(1), &token("a"), NOW));
        holders.add(holder(1), &token("a"));
        let mut holders = TokenHolders::read(path.clone());
        assert!(holders.was_refused(&holder(1), &token("a"), NOW));
        assert!(!holders.was_refused(&holder(2), &token("a"), NOW));
        assert!(!holders.was_refused(&holder(1), &token("b"), NOW));
        assert!(!holders.was_refused(&TokenHolder { id: 1, began: 8 }, &token("a"), NOW));
        holders.confirmed(NOW);
        let holders = TokenHolders::read(path);
        let later = NOW + SignedDuration::from_secs(VALIDATION_TTL_SECONDS);
        assert!(!holders.was_refused(&holder(1), &token("a"), NOW));
        assert!(holders.was_refused(&holder(1), &token("a"), later));
    }

    #[test]
    fn the_parent_is_known() {
        assert_eq!(TokenHolder::parent(), TokenHolder::parent());
        assert!(TokenHolder::parent().is_some());
    }
}
