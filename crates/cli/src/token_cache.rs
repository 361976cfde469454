//! The cache of cluster tokens, shared by kubectl processes: one process fetches a token, before
//! the old one expires if possible, and the others use it.
use super::{error::CommandError, private_file, profile, terminal::say};
use jiff::Timestamp;
use portico_clock::Clock;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// How long before its expiry a token is renewed; for short-lived ones, a third of the lifetime.
const RENEW_AHEAD_SECONDS: i64 = 120;
/// A token is not used within this time of its expiry: it could expire in flight.
const EXPIRY_MARGIN_SECONDS: i64 = 5;
/// How long after a failed renewal the next one is tried.
const RETRY_DELAY_SECONDS: i64 = 15;

/// A token in the cache.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cached {
    #[serde(serialize_with = "crate::private_file::expose")]
    pub token: SecretString,
    pub expires_at: Timestamp,
    pub fetched_at: Timestamp,
    /// When a renewal last failed.
    #[serde(default)]
    tried_at: Option<Timestamp>,
}

impl Cached {
    /// Returns a token that was fetched now.
    pub fn new(token: SecretString, expires_at: Timestamp, now: Timestamp) -> Self {
        Self {
            token,
            expires_at,
            fetched_at: now,
            tried_at: None,
        }
    }

    fn left(&self, now: Timestamp) -> i64 {
        self.expires_at.as_second() - now.as_second()
    }

    /// Returns whether the token is valid and not yet due for renewal.
    fn fresh(&self, now: Timestamp) -> bool {
        let life = self.expires_at.as_second() - self.fetched_at.as_second();
        let tried = |at: Timestamp| now.as_second() - at.as_second() < RETRY_DELAY_SECONDS;
        self.left(now) > RENEW_AHEAD_SECONDS.min(life / 3)
            || (self.usable(now) && self.tried_at.is_some_and(tried))
    }

    fn usable(&self, now: Timestamp) -> bool {
        self.left(now) > EXPIRY_MARGIN_SECONDS
    }
}

/// The cache entry of one token.
pub struct TokenCache {
    /// `None` if nothing can be written.
    path: Option<PathBuf>,
    clock: Clock,
}

impl TokenCache {
    /// Opens the entry of these parts. If the home directory is not writable, there is no cache,
    /// but still a token; a file that another user has changed is refused.
    pub fn open(parts: &[&str], clock: &Clock) -> Result<Self, CommandError> {
        let directory = profile::token_cache()?;
        let clock = clock.clone();
        match private_file::private_directory(&directory) {
            Ok(()) => Ok(Self {
                path: Some(directory.join(format!("{}.json", profile::file_hash(parts)))),
                clock,
            }),
            Err(CommandError::File { path, source }) => {
                say(format!(
                    "portico: {}: {source}; continuing without a cache",
                    path.display()
                ));
                Ok(Self { path: None, clock })
            }
            Err(error) => Err(error),
        }
    }

    /// Returns a cache in this file.
    #[cfg(test)]
    pub fn at(path: PathBuf, clock: Clock) -> Self {
        Self {
            path: Some(path),
            clock,
        }
    }

    /// Returns the path of a related file with the same name and another extension.
    pub fn beside(&self, ending: &str) -> Option<PathBuf> {
        Some(self.path.as_deref()?.with_extension(ending))
    }

    /// Returns the cached token, if it is still usable.
    pub fn known(&self) -> Result<Option<Cached>, CommandError> {
        let known = self.path.as_deref().map(read).transpose()?.flatten();
        Ok(known.filter(|known| known.usable(self.clock.now())))
    }

    /// Returns the cached token while it is valid, else the result of `fetch`.
    pub async fn get(
        &self,
        fetch: impl AsyncFnOnce() -> Result<Cached, CommandError>,
    ) -> Result<Cached, CommandError> {
        let Some(path) = &self.path else {
            return fetch().await;
        };
        let known = self.known()?;
        if let Some(known) = self.fresh(known.as_ref()) {
            return Ok(known.clone());
        }
        let _lock = match (private_file::try_lock(path), known) {
            (Ok(Some(lock)), _) => Some(lock),
            // another process fetches the next one; this one is valid meanwhile
            (Ok(None), Some(known)) => return Ok(known),
            (Ok(None), None) => Some(private_file::lock(path).await?),
            // the path is no longer writable
            (Err(CommandError::File { .. }), _) => None,
            (Err(error), _) => return Err(error),
        };
        let known = self.known()?;
        if let Some(known) = self.fresh(known.as_ref()) {
            return Ok(known.clone());
        }
        match (fetch().await, known) {
            (Ok(fresh), _) => {
                self.write(&fresh);
                Ok(fresh)
            }
            (Err(error), Some(mut known)) if error.is_outage() => {
                known.tried_at = Some(self.clock.now());
                self.write(&known);
                Ok(known)
            }
            (Err(error), _) => Err(error),
        }
    }

    /// Returns the token if it is not yet due for renewal.
    fn fresh<'t>(&self, known: Option<&'t Cached>) -> Option<&'t Cached> {
        known.filter(|known| known.fresh(self.clock.now()))
    }

    /// Deletes the token if it is still this one.
    pub fn forget(&self, token: &Cached) -> Result<(), CommandError> {
        match (&self.path, self.known()?) {
            (Some(path), Some(known))
                if known.token.expose_secret() == token.token.expose_secret() =>
            {
                private_file::remove(path)
            }
            _ => Ok(()),
        }
    }

    /// Replaces the stored token.
    pub fn put(&self, token: &Cached) {
        self.write(token);
    }

    /// Writes the file. If the disk is full, the next process has to fetch a token again.
    fn write(&self, token: &Cached) {
        let (Some(path), Ok(text)) = (&self.path, serde_json::to_string(token)) else {
            return;
        };
        if let Err(error) = private_file::replace(path, &text) {
            say(format!("portico: the token is not kept: {error}"));
        }
    }
}

fn read(path: &Path) -> Result<Option<Cached>, CommandError> {
    // an entry of another version is fetched again
    Ok(private_file::read(path)?.and_then(|text| serde_json::from_str(&text).ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    const NOW: i64 = 1_800_000_000;

    fn clock() -> Clock {
        Clock::from_fn(|| at(NOW))
    }

    fn cached(fetched: i64, expires: i64) -> Cached {
        Cached {
            token: SecretString::from("t"),
            expires_at: at(expires),
            fetched_at: at(fetched),
            tried_at: None,
        }
    }

    fn cache(directory: &tempfile::TempDir) -> TokenCache {
        TokenCache::at(directory.path().join("token.json"), clock())
    }

    fn ending_in(seconds: i64) -> Cached {
        cached(NOW - 800, NOW + seconds)
    }

    fn outage() -> CommandError {
        CommandError::Unavailable {
            gateway: "g".to_owned(),
            status: 503,
        }
    }

    #[test]
    fn a_token_is_renewed_before_its_end() {
        let long = cached(0, 900);
        assert!(long.fresh(at(700)));
        assert!(!long.fresh(at(790)) && long.usable(at(890)) && !long.usable(at(896)));
        let short = cached(0, 60);
        assert!(short.fresh(at(30)));
        assert!(!short.fresh(at(45)));
    }

    #[tokio::test]
    async fn an_outage_is_survived_while_the_token_is_good() {
        let directory = tempfile::tempdir().unwrap();
        let cache = cache(&directory);
        cache.write(&ending_in(60));
        let found = cache.get(async || Err(outage())).await.unwrap();
        assert_eq!(found.token.expose_secret(), "t");
        // and the next process does not wait for the same outage
        let found = cache.get(async || panic!("asked again at once")).await;
        assert!(found.is_ok());
        cache.write(&ending_in(3));
        assert!(cache.get(async || Err(outage())).await.is_err());
    }

    #[tokio::test]
    async fn a_refusal_is_not_papered_over() {
        let directory = tempfile::tempdir().unwrap();
        let cache = cache(&directory);
        cache.write(&ending_in(60));
        let refused = async || Err(CommandError::SignInRefused("no".to_owned()));
        assert!(cache.get(refused).await.is_err());
    }

    #[tokio::test]
    async fn no_command_waits_for_a_fetch_ahead() {
        let directory = tempfile::tempdir().unwrap();
        let cache = cache(&directory);
        cache.write(&ending_in(60));
        let _fetching = private_file::lock(cache.path.as_ref().unwrap())
            .await
            .unwrap();
        let found = cache.get(async || panic!("two fetch")).await;
        assert!(found.is_ok());
    }

    #[tokio::test]
    async fn without_a_place_to_write_there_is_a_token_still() {
        let cache = TokenCache {
            path: None,
            clock: clock(),
        };
        let fresh = async || Ok(ending_in(900));
        assert!(cache.get(fresh).await.is_ok());
    }
}
