//! The one type of moka's cache. Nothing here is generic: the code is compiled once, in this crate.
use moka::future;
use std::{
    any::Any,
    borrow::Borrow,
    future::Future,
    hash::{Hash, Hasher},
    pin::Pin,
    sync::Arc,
    time::{Duration, Instant},
};

pub type Entries = future::Cache<StoredKey, Value>;
pub type Value = Arc<dyn Any + Send + Sync>;
pub type Error = Arc<dyn Any + Send + Sync>;
pub type Weigher = Arc<dyn Fn(&dyn Key, &(dyn Any + Send + Sync)) -> u32 + Send + Sync>;
pub type Expiry = Arc<dyn Fn(&(dyn Any + Send + Sync)) -> Duration + Send + Sync>;
type Init<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What can be the key of a cache: each type that can be hashed and compared.
pub trait Key: Any + Send + Sync {
    fn equals(&self, other: &dyn Key) -> bool;
    fn hash_into(&self, hasher: &mut dyn Hasher);
}

impl<K: Hash + Eq + Any + Send + Sync> Key for K {
    fn equals(&self, other: &dyn Key) -> bool {
        let other: &dyn Any = other;
        other.downcast_ref() == Some(self)
    }

    fn hash_into(&self, mut hasher: &mut dyn Hasher) {
        self.hash(&mut hasher);
    }
}

impl PartialEq for dyn Key {
    fn eq(&self, other: &Self) -> bool {
        self.equals(other)
    }
}

impl Eq for dyn Key {}

impl Hash for dyn Key {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.hash_into(hasher);
    }
}

/// A key in a cache. A lookup has a borrowed [`Key`], which hashes and compares as this does.
#[derive(Clone)]
pub struct StoredKey(Arc<dyn Key>);

impl Borrow<dyn Key> for StoredKey {
    fn borrow(&self) -> &dyn Key {
        &*self.0
    }
}

impl PartialEq for StoredKey {
    fn eq(&self, other: &Self) -> bool {
        (*self.0).equals(&*other.0)
    }
}

impl Eq for StoredKey {}

impl Hash for StoredKey {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (*self.0).hash_into(hasher);
    }
}

#[derive(Default)]
pub struct Settings {
    pub max_capacity: Option<u64>,
    pub time_to_live: Option<Duration>,
    pub time_to_idle: Option<Duration>,
    pub weigher: Option<Weigher>,
    pub expiry: Option<Expiry>,
}

impl Settings {
    pub fn build(self) -> Entries {
        let mut builder = Entries::builder();
        if let Some(weight) = self.max_capacity {
            builder = builder.max_capacity(weight);
        }
        if let Some(duration) = self.time_to_live {
            builder = builder.time_to_live(duration);
        }
        if let Some(duration) = self.time_to_idle {
            builder = builder.time_to_idle(duration);
        }
        if let Some(weigher) = self.weigher {
            builder =
                builder.weigher(move |key: &StoredKey, value: &Value| weigher(&*key.0, &**value));
        }
        if let Some(expiry) = self.expiry {
            builder = builder.expire_after(ByValue(expiry));
        }
        builder.build()
    }
}

struct ByValue(Expiry);

impl moka::Expiry<StoredKey, Value> for ByValue {
    fn expire_after_create(&self, _: &StoredKey, value: &Value, _: Instant) -> Option<Duration> {
        Some((self.0)(&**value))
    }

    fn expire_after_update(
        &self,
        _: &StoredKey,
        value: &Value,
        _: Instant,
        _: Option<Duration>,
    ) -> Option<Duration> {
        Some((self.0)(&**value))
    }
}

pub async fn get(entries: &Entries, key: &dyn Key) -> Option<Value> {
    entries.get(key).await
}

pub fn contains_key(entries: &Entries, key: &dyn Key) -> bool {
    entries.contains_key(key)
}

pub async fn insert(entries: &Entries, key: Arc<dyn Key>, value: Value) {
    entries.insert(StoredKey(key), value).await;
}

pub async fn remove(entries: &Entries, key: &dyn Key) -> Option<Value> {
    entries.remove(key).await
}

pub async fn invalidate(entries: &Entries, key: &dyn Key) {
    entries.invalidate(key).await;
}

pub fn invalidate_all(entries: &Entries) {
    entries.invalidate_all();
}

pub async fn get_with(entries: &Entries, key: Arc<dyn Key>, init: Init<'_, Value>) -> Value {
    entries.get_with(StoredKey(key), init).await
}

pub async fn try_get_with(
    entries: &Entries,
    key: Arc<dyn Key>,
    init: Init<'_, Result<Value, Error>>,
) -> Result<Value, Error> {
    let result = entries.try_get_with(StoredKey(key), init).await;
    result.map_err(|error| Error::clone(&error))
}
