//! The cache of Keystone's responses about tokens, for some seconds.
//!
//! Keyed by an HMAC with a key of this process, so that a memory dump of the cache holds no token.
//! Concurrent requests for the same token cause one request to Keystone. Failed requests are never
//! cached. A token in use is validated again shortly before its entry expires, so that no request
//! waits for it.
use hmac::{Hmac, Mac as _};
use jiff::Timestamp;
use moka::Expiry;
use moka::future::Cache;
use portico_clock::Clock;
use portico_openstack::keystone::{Error, TokenDetails};
use rand::{Rng as _, RngCore as _};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::Sha256;
use std::fmt::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::Instant;
use uuid::Uuid;
use zeroize::Zeroizing;

/// Maximum memory of valid tokens, in bytes as [`weight`] estimates them: more than 100,000 tokens
/// with a handful of roles.
const MAX_VALID_BYTES: u64 = 128 * 1024 * 1024;
/// Maximum number of invalid tokens; they have a cache of their own, so that a flood of them evicts
/// no valid one.
const MAX_INVALID_TOKENS: u64 = 10_000;
/// How long an invalid token is cached: a role that is granted again must take effect soon, and the
/// API server caches refusals too.
const INVALID_TTL: Duration = Duration::from_secs(5);

/// A token's key in the cache; the token cannot be recovered from it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct TokenKey([u8; 32]);

impl TokenKey {
    /// Returns twelve hex digits for the audit log: the same token has the same ones until a
    /// restart.
    pub fn fingerprint(&self) -> String {
        let mut text = String::with_capacity(12);
        for byte in &self.0[..6] {
            // writing to a String cannot fail
            let _ = write!(text, "{byte:02x}");
        }
        text
    }

    /// Returns an index for tables, which clients cannot choose.
    pub fn place(&self) -> usize {
        self.0[24..]
            .iter()
            .fold(0, |place, &byte| place << 8 | usize::from(byte))
    }
}

impl fmt::Debug for TokenKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.fingerprint())
    }
}

/// The fraction of an entry's TTL after which its next use validates it again.
const REFRESH_AFTER: f64 = 0.8;

#[derive(Clone)]
struct Valid(Arc<Entry>);

struct Entry {
    /// Packed: as a structure of some twenty short texts it would take three times the memory.
    details: Box<[u8]>,
    refresh_from: Instant,
    fresh_until: Instant,
    /// Whether it was validated again already, once per entry: an outage must not cause more load.
    refreshed: AtomicBool,
}

impl Valid {
    fn details(&self) -> Result<TokenDetails, Error> {
        postcard::from_bytes(&self.0.details).map_err(|_| UNPACKABLE)
    }

    fn wants_refresh(&self) -> bool {
        self.is_due() && !self.0.refreshed.swap(true, Ordering::Relaxed)
    }

    fn is_expired(&self) -> bool {
        Instant::now() >= self.0.fresh_until
    }

    fn is_due(&self) -> bool {
        Instant::now() >= self.0.refresh_from && !self.0.refreshed.load(Ordering::Relaxed)
    }
}

/// Never returned in practice: what was packed here can be unpacked here.
const UNPACKABLE: Error = Error::Malformed("its details cannot be kept");

/// Returns the approximate memory of an entry.
fn weight(_: &TokenKey, valid: &Valid) -> u32 {
    /// The entry itself and the overhead of the map.
    const BASE_BYTES: usize = 640;
    u32::try_from(BASE_BYTES + valid.0.details.len()).unwrap_or(u32::MAX)
}

/// Removes the entries that have expired from memory, by the clock of [`Cache`].
struct UntilStale;

impl Expiry<TokenKey, Valid> for UntilStale {
    fn expire_after_create(
        &self,
        _: &TokenKey,
        valid: &Valid,
        now: std::time::Instant,
    ) -> Option<Duration> {
        Some(valid.0.fresh_until.saturating_duration_since(now.into()))
    }

    fn expire_after_update(
        &self,
        key: &TokenKey,
        valid: &Valid,
        now: std::time::Instant,
        _: Option<Duration>,
    ) -> Option<Duration> {
        self.expire_after_create(key, valid, now)
    }
}

/// The result for a token, and whether it was cached.
#[derive(Debug)]
pub(crate) struct Known {
    pub answer: Result<TokenDetails, Error>,
    /// Whether no call to Keystone was made for this request alone.
    pub cached: bool,
}

/// The cache.
#[derive(Clone)]
pub(crate) struct Validations {
    secret: Hmac<Sha256>,
    ttl: Duration,
    valid: Cache<TokenKey, Valid>,
    /// With the end of each entry.
    invalid: Cache<TokenKey, Instant>,
    clock: Clock,
}

impl Validations {
    /// Returns an empty cache that stores a valid token for `ttl` at most.
    pub fn new(ttl: Duration, clock: Clock) -> Self {
        let mut secret = Zeroizing::new([0; 64]);
        rand::rng().fill_bytes(&mut *secret);
        Self {
            secret: Hmac::new((&*secret).into()),
            ttl,
            valid: Cache::builder()
                .weigher(weight)
                .max_capacity(MAX_VALID_BYTES)
                .expire_after(UntilStale)
                .build(),
            invalid: Cache::builder()
                .max_capacity(MAX_INVALID_TOKENS)
                .time_to_live(INVALID_TTL.min(ttl))
                .build(),
            clock,
        }
    }

    /// Returns the token's cache key.
    pub fn key(&self, token: &SecretString) -> TokenKey {
        self.key_of(token.expose_secret())
    }

    /// Returns the cache key of a text that may not be a token at all.
    pub fn key_of(&self, text: &str) -> TokenKey {
        let mut mac = self.secret.clone();
        mac.update(text.as_bytes());
        TokenKey(mac.finalize().into_bytes().into())
    }

    /// Returns the cache key of a cluster token at one cluster.
    pub fn key_at(&self, cluster: Uuid, token: &str) -> TokenKey {
        let mut mac = self.secret.clone();
        mac.update(cluster.as_bytes());
        mac.update(token.as_bytes());
        TokenKey(mac.finalize().into_bytes().into())
    }

    /// Returns a valid token's details if they need not be validated again yet.
    pub async fn fresh(&self, key: TokenKey) -> Option<TokenDetails> {
        let valid = self.unexpired(key).await?;
        if valid.is_due() {
            return None;
        }
        valid.details().ok()
    }

    /// Returns the entry of a valid token, unless it has expired.
    async fn unexpired(&self, key: TokenKey) -> Option<Valid> {
        let valid = self.valid.get(&key).await?;
        if valid.is_expired() {
            // `Cache` has a clock of its own, and would still return it to callers of `get`
            self.valid.invalidate(&key).await;
            return None;
        }
        Some(valid)
    }

    /// Returns the cached result for the token, or the result of `ask`. Concurrent callers share
    /// one run of `ask`.
    pub async fn get<Ask, Asked>(&self, key: TokenKey, ask: Ask) -> Known
    where
        Ask: FnOnce() -> Asked,
        Asked: Future<Output = Result<TokenDetails, Error>> + Send + 'static,
    {
        let refused_until = self.invalid.get(&key).await;
        if refused_until.is_some_and(|until| Instant::now() < until) {
            return Known {
                answer: Err(Error::InvalidToken),
                cached: true,
            };
        }
        if let Some(valid) = self.unexpired(key).await {
            if valid.wants_refresh() {
                self.refresh(key, ask());
            }
            return Known {
                answer: valid.details(),
                cached: true,
            };
        }
        let asked = AtomicBool::new(false);
        let first = async {
            asked.store(true, Ordering::Relaxed);
            self.ask(key, ask()).await
        };
        let answer = self.valid.try_get_with(key, first).await;
        Known {
            answer: answer
                .map_err(|error| (*error).clone())
                .and_then(|valid| valid.details()),
            cached: !asked.load(Ordering::Relaxed),
        }
    }

    fn refresh(
        &self,
        key: TokenKey,
        ask: impl Future<Output = Result<TokenDetails, Error>> + Send + 'static,
    ) {
        let cache = self.clone();
        #[allow(clippy::disallowed_methods, reason = "a stop loses the cache as well")]
        tokio::spawn(async move {
            match cache.ask(key, ask).await {
                Ok(valid) => cache.valid.insert(key, valid).await,
                Err(Error::InvalidToken) => cache.valid.invalidate(&key).await,
                // the existing entry expires by itself
                Err(_) => {}
            }
        });
    }

    async fn ask(
        &self,
        key: TokenKey,
        ask: impl Future<Output = Result<TokenDetails, Error>>,
    ) -> Result<Valid, Error> {
        // the response may be as old as the request
        let since = Instant::now();
        match ask.await {
            Ok(details) => {
                let life_left = life_left(&details, self.clock.now());
                let ttl = self.ttl.min(life_left).mul_f64(jitter());
                let details = postcard::to_stdvec(&details).map_err(|_| UNPACKABLE)?;
                Ok(Valid(Arc::new(Entry {
                    details: details.into(),
                    refresh_from: since + ttl.mul_f64(REFRESH_AFTER),
                    fresh_until: since + ttl,
                    refreshed: AtomicBool::new(false),
                })))
            }
            Err(error) => {
                if error == Error::InvalidToken {
                    let until = Instant::now() + INVALID_TTL.min(self.ttl);
                    self.invalid.insert(key, until).await;
                }
                Err(error)
            }
        }
    }
}

/// Returns a factor that spreads the validation of tokens that arrived at the same time. It only
/// ever shortens.
fn jitter() -> f64 {
    rand::rng().random_range(0.9..=1.0)
}

fn life_left(details: &TokenDetails, now: Timestamp) -> Duration {
    let left = details.expires_at.duration_since(now);
    Duration::try_from(left).unwrap_or_default()
}

#[cfg(test)]
mod tests;
