//! What Keystone said about tokens in the last seconds.
//!
//! Keyed by an HMAC with a key of this process, so that a memory dump of the cache holds no
//! token. However many ask at once, Keystone is asked once. Failures to ask are never kept.
use hmac::{Hmac, Mac as _};
use jiff::Timestamp;
use moka::Expiry;
use moka::future::Cache;
use portico_openstack::keystone::{Error, TokenDetails};
use rand::{Rng as _, RngCore as _};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::Sha256;
use std::fmt::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

const MAX_VALID: u64 = 50_000;
/// In a cache of their own, so that a flood of dead tokens pushes no live one out.
const MAX_INVALID: u64 = 10_000;
/// A role given back must count again soon; the API server remembers refusals too.
const INVALID_TTL: Duration = Duration::from_secs(5);

/// A token's place in the cache; nobody can get the token back from it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct TokenKey([u8; 32]);

impl TokenKey {
    /// Twelve hex digits for the audit log: the same token has the same ones until a restart.
    pub fn fingerprint(&self) -> String {
        let mut text = String::with_capacity(12);
        for byte in &self.0[..6] {
            // writing to a String cannot fail
            let _ = write!(text, "{byte:02x}");
        }
        text
    }
}

impl fmt::Debug for TokenKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.fingerprint())
    }
}

#[derive(Clone)]
struct Valid {
    details: Arc<TokenDetails>,
    fresh_until: Instant,
}

struct UntilStale;

impl Expiry<TokenKey, Valid> for UntilStale {
    fn expire_after_create(&self, _: &TokenKey, valid: &Valid, now: Instant) -> Option<Duration> {
        Some(valid.fresh_until.saturating_duration_since(now))
    }
}

/// What is known about a token, and whether it was known before.
#[derive(Debug)]
pub(crate) struct Known {
    pub answer: Result<Arc<TokenDetails>, Error>,
    /// No call to Keystone was made for this asker alone.
    pub cached: bool,
}

/// The cache.
#[derive(Clone)]
pub(crate) struct Validations {
    secret: Hmac<Sha256>,
    ttl: Duration,
    valid: Cache<TokenKey, Valid>,
    invalid: Cache<TokenKey, ()>,
}

impl Validations {
    /// An empty cache that keeps a "yes" for `ttl` at most.
    pub fn new(ttl: Duration) -> Self {
        let mut secret = Zeroizing::new([0; 64]);
        rand::rng().fill_bytes(&mut *secret);
        Self {
            secret: Hmac::new((&*secret).into()),
            ttl,
            valid: Cache::builder()
                .max_capacity(MAX_VALID)
                .expire_after(UntilStale)
                .build(),
            invalid: Cache::builder()
                .max_capacity(MAX_INVALID)
                .time_to_live(INVALID_TTL.min(ttl))
                .build(),
        }
    }

    /// The token's place.
    pub fn key(&self, token: &SecretString) -> TokenKey {
        self.key_of(token.expose_secret())
    }

    /// The place of text that may be no token at all.
    pub fn key_of(&self, text: &str) -> TokenKey {
        let mut mac = self.secret.clone();
        mac.update(text.as_bytes());
        TokenKey(mac.finalize().into_bytes().into())
    }

    /// What is known about the token, or what `ask` says. `ask` runs once however many wait.
    pub async fn get(
        &self,
        key: TokenKey,
        ask: impl Future<Output = Result<TokenDetails, Error>>,
    ) -> Known {
        if self.invalid.get(&key).await.is_some() {
            return Known {
                answer: Err(Error::InvalidToken),
                cached: true,
            };
        }
        let asked = AtomicBool::new(false);
        let answer = self
            .valid
            .try_get_with(key, self.ask(key, ask, &asked))
            .await;
        Known {
            answer: answer
                .map(|valid| valid.details)
                .map_err(|error| (*error).clone()),
            cached: !asked.load(Ordering::Relaxed),
        }
    }

    async fn ask(
        &self,
        key: TokenKey,
        ask: impl Future<Output = Result<TokenDetails, Error>>,
        asked: &AtomicBool,
    ) -> Result<Valid, Error> {
        asked.store(true, Ordering::Relaxed);
        // the answer may be as old as the question
        let since = Instant::now();
        match ask.await {
            Ok(details) => {
                let ttl = self.ttl.min(life_left(&details)).mul_f64(jitter());
                Ok(Valid {
                    details: Arc::new(details),
                    fresh_until: since + ttl,
                })
            }
            Err(error) => {
                if error == Error::InvalidToken {
                    self.invalid.insert(key, ()).await;
                }
                Err(error)
            }
        }
    }
}

/// Tokens that came at once need not all be asked about again at once. Only ever shorter.
fn jitter() -> f64 {
    rand::rng().random_range(0.9..=1.0)
}

fn life_left(details: &TokenDetails) -> Duration {
    let left = details.expires_at.duration_since(Timestamp::now());
    Duration::try_from(left).unwrap_or_default()
}

#[cfg(test)]
mod tests;
