//! What Keystone said about tokens in the last seconds.
//!
//! Keyed by an HMAC with a key of this process, so that a memory dump of the cache holds no
//! token. However many ask at once, Keystone is asked once. Failures to ask are never kept. A token
//! that is in use is asked about again shortly before its entry ends, so that nobody waits for it.
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
use uuid::Uuid;
use zeroize::Zeroizing;

/// Bytes, as [`weight`] reckons them: more than 100,000 tokens with a handful of roles.
const MAX_VALID: u64 = 128 * 1024 * 1024;
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

    /// A number for tables; nobody can choose it.
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

/// The part of an entry's time after which its next use asks again.
const REFRESH_FROM: f64 = 0.8;

#[derive(Clone)]
struct Valid(Arc<Entry>);

struct Entry {
    /// Packed: as a structure of some twenty short texts it would take three times the memory.
    details: Box<[u8]>,
    refresh_from: Instant,
    fresh_until: Instant,
    /// Asked again already, once for each entry: an outage is not made worse.
    refreshed: AtomicBool,
}

impl Valid {
    fn details(&self) -> Result<TokenDetails, Error> {
        postcard::from_bytes(&self.0.details).map_err(|_| UNPACKABLE)
    }

    fn wants_refresh(&self) -> bool {
        self.is_due() && !self.0.refreshed.swap(true, Ordering::Relaxed)
    }

    fn is_due(&self) -> bool {
        Instant::now() >= self.0.refresh_from && !self.0.refreshed.load(Ordering::Relaxed)
    }
}

/// Never seen: what was packed here is unpacked here.
const UNPACKABLE: Error = Error::Malformed("its details cannot be kept");

/// What an entry takes of memory, roughly.
fn weight(_: &TokenKey, valid: &Valid) -> u32 {
    /// The entry itself and the map's own share.
    const BASE: usize = 640;
    u32::try_from(BASE + valid.0.details.len()).unwrap_or(u32::MAX)
}

struct UntilStale;

impl Expiry<TokenKey, Valid> for UntilStale {
    fn expire_after_create(&self, _: &TokenKey, valid: &Valid, now: Instant) -> Option<Duration> {
        Some(valid.0.fresh_until.saturating_duration_since(now))
    }

    fn expire_after_update(
        &self,
        key: &TokenKey,
        valid: &Valid,
        now: Instant,
        _: Option<Duration>,
    ) -> Option<Duration> {
        self.expire_after_create(key, valid, now)
    }
}

/// What is known about a token, and whether it was known before.
#[derive(Debug)]
pub(crate) struct Known {
    pub answer: Result<TokenDetails, Error>,
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
                .weigher(weight)
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

    /// The place of a cluster token at one cluster.
    pub fn key_at(&self, cluster: Uuid, token: &str) -> TokenKey {
        let mut mac = self.secret.clone();
        mac.update(cluster.as_bytes());
        mac.update(token.as_bytes());
        TokenKey(mac.finalize().into_bytes().into())
    }

    /// A "yes" that need not be asked about again yet.
    pub async fn fresh(&self, key: TokenKey) -> Option<TokenDetails> {
        let valid = self.valid.get(&key).await?;
        if valid.is_due() {
            return None;
        }
        valid.details().ok()
    }

    /// What is known about the token, or what `ask` says. `ask` runs once however many wait.
    pub async fn get<Ask, Asked>(&self, key: TokenKey, ask: Ask) -> Known
    where
        Ask: FnOnce() -> Asked,
        Asked: Future<Output = Result<TokenDetails, Error>> + Send + 'static,
    {
        if self.invalid.get(&key).await.is_some() {
            return Known {
                answer: Err(Error::InvalidToken),
                cached: true,
            };
        }
        if let Some(valid) = self.valid.get(&key).await {
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
        tokio::spawn(async move {
            match cache.ask(key, ask).await {
                Ok(valid) => cache.valid.insert(key, valid).await,
                Err(Error::InvalidToken) => cache.valid.invalidate(&key).await,
                // the entry in place ends by itself
                Err(_) => {}
            }
        });
    }

    async fn ask(
        &self,
        key: TokenKey,
        ask: impl Future<Output = Result<TokenDetails, Error>>,
    ) -> Result<Valid, Error> {
        // the answer may be as old as the question
        let since = Instant::now();
        match ask.await {
            Ok(details) => {
                let ttl = self.ttl.min(life_left(&details)).mul_f64(jitter());
                let details = postcard::to_stdvec(&details).map_err(|_| UNPACKABLE)?;
                Ok(Valid(Arc::new(Entry {
                    details: details.into(),
                    refresh_from: since + ttl.mul_f64(REFRESH_FROM),
                    fresh_until: since + ttl,
                    refreshed: AtomicBool::new(false),
                })))
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
