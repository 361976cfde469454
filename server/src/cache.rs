//! Caches whose keys and values are trait objects inside. For each type of keys and values, moka's own cache is some 300 kB
//! of code; for the thirty of this package, that was a fourth of all of its code to compile.
use moka::{Expiry, future};
use std::{
    any::Any,
    borrow::Borrow,
    fmt,
    hash::{Hash, Hasher},
    marker::PhantomData,
    sync::Arc,
    time::{Duration, Instant},
};

/// A key of any type.
trait AnyKey: Any + Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn equals(&self, other: &KeyObject) -> bool;
    fn hash_into(&self, hasher: &mut dyn Hasher);
}

type KeyObject = dyn AnyKey;

impl<K: Hash + Eq + Send + Sync + 'static> AnyKey for K {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn equals(&self, other: &KeyObject) -> bool {
        let other = other.as_any().downcast_ref::<K>();
        other.is_some_and(|other| self == other)
    }

    fn hash_into(&self, mut hasher: &mut dyn Hasher) {
        self.hash(&mut hasher);
    }
}

impl PartialEq for KeyObject {
    fn eq(&self, other: &Self) -> bool {
        self.equals(other)
    }
}

impl Eq for KeyObject {}

impl Hash for KeyObject {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.hash_into(state);
    }
}

struct Key(Box<KeyObject>);

impl Key {
    fn new<K: Hash + Eq + Send + Sync + 'static>(key: K) -> Self {
        Self(Box::new(key))
    }

    /// Returns the object: the box is a key as well, and another one.
    fn object(&self) -> &KeyObject {
        self.0.as_ref()
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.object().equals(other.object())
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.object().hash_into(state);
    }
}

impl Borrow<KeyObject> for Key {
    fn borrow(&self) -> &KeyObject {
        self.object()
    }
}

type Value = Arc<dyn Any + Send + Sync>;

/// Returns a copy of a value. All values of a cache have the type of its parameter.
fn typed<V: Clone + 'static>(value: &Value) -> V {
    let Some(value) = value.downcast_ref::<V>() else {
        unreachable!("a value of another type in a cache")
    };
    value.clone()
}

/// A concurrent cache with the methods of `moka::future::Cache`. Clones share their content.
pub struct Cache<K, V> {
    inner: future::Cache<Key, Value>,
    types: PhantomData<fn(K) -> V>,
}

impl<K, V> Clone for Cache<K, V> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            types: PhantomData,
        }
    }
}

impl<K, V> fmt::Debug for Cache<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").finish_non_exhaustive()
    }
}

impl<K, V> Cache<K, V>
where
    K: Hash + Eq + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    /// Returns an empty cache whose entries do not expire.
    pub fn new(max_capacity: u64) -> Self {
        Self::builder().max_capacity(max_capacity).build()
    }

    /// Returns a builder without any limit.
    pub fn builder() -> Builder<K, V> {
        Builder {
            inner: future::Cache::builder(),
            types: PhantomData,
        }
    }

    /// Returns the value of a key.
    pub async fn get(&self, key: &K) -> Option<V> {
        let key: &KeyObject = key;
        let found = self.inner.get(key).await;
        found.map(|value| typed(&value))
    }

    /// Returns whether there is a value of a key. This does not count as its use.
    pub fn contains_key(&self, key: &K) -> bool {
        let key: &KeyObject = key;
        self.inner.contains_key(key)
    }

    /// Stores a value.
    pub async fn insert(&self, key: K, value: V) {
        self.inner.insert(Key::new(key), Arc::new(value)).await;
    }

    /// Removes and returns the value of a key.
    pub async fn remove(&self, key: &K) -> Option<V> {
        let key: &KeyObject = key;
        let removed = self.inner.remove(key).await;
        removed.map(|value| typed(&value))
    }

    /// Removes the value of a key.
    pub async fn invalidate(&self, key: &K) {
        let key: &KeyObject = key;
        self.inner.invalidate(key).await;
    }

    /// Returns the value of a key, or makes and stores it: once for all callers at the same time.
    pub async fn get_with(&self, key: K, init: impl Future<Output = V>) -> V {
        let init = async move { Arc::new(init.await) as Value };
        let value = self.inner.get_with(Key::new(key), init).await;
        typed(&value)
    }

    /// Does the same with what can fail.
    ///
    /// # Errors
    /// That of `init`, for all callers at the same time. It is not stored.
    pub async fn try_get_with<E>(
        &self,
        key: K,
        init: impl Future<Output = Result<V, E>>,
    ) -> Result<V, Arc<E>>
    where
        E: Send + Sync + 'static,
    {
        let init = async move { init.await.map(|value| Arc::new(value) as Value) };
        let value = self.inner.try_get_with(Key::new(key), init).await?;
        Ok(typed(&value))
    }
}

/// The limits of a cache.
pub struct Builder<K, V> {
    inner: Inner,
    types: PhantomData<fn(K) -> V>,
}

type Inner = future::CacheBuilder<Key, Value, future::Cache<Key, Value>>;

impl<K, V> Builder<K, V>
where
    K: Hash + Eq + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    /// Limits the number of entries, or the sum of their weights.
    pub fn max_capacity(self, max_capacity: u64) -> Self {
        self.with(|inner| inner.max_capacity(max_capacity))
    }

    /// Removes each entry that long after it was stored.
    pub fn time_to_live(self, duration: Duration) -> Self {
        self.with(|inner| inner.time_to_live(duration))
    }

    /// Removes each entry that was not used for that long.
    pub fn time_to_idle(self, duration: Duration) -> Self {
        self.with(|inner| inner.time_to_idle(duration))
    }

    /// Removes each entry as long after it was made as `life` returns.
    pub fn expire_after(self, life: fn(&V) -> Duration) -> Self {
        self.with(|inner| inner.expire_after(Life(life)))
    }

    /// Sets the weight of entries; without it, each is one.
    pub fn weigher(self, weigher: fn(&K, &V) -> u32) -> Self {
        let weigher = move |key: &Key, value: &Value| {
            let key = key.object().as_any().downcast_ref::<K>();
            let value = value.downcast_ref::<V>();
            key.zip(value).map_or(1, |(key, value)| weigher(key, value))
        };
        self.with(|inner| inner.weigher(weigher))
    }

    /// Returns an empty cache.
    pub fn build(self) -> Cache<K, V> {
        Cache {
            inner: self.inner.build(),
            types: PhantomData,
        }
    }

    fn with(self, set: impl FnOnce(Inner) -> Inner) -> Self {
        Self {
            inner: set(self.inner),
            types: PhantomData,
        }
    }
}

/// How long an entry stays, by its value.
struct Life<V>(fn(&V) -> Duration);

impl<V: 'static> Expiry<Key, Value> for Life<V> {
    fn expire_after_create(&self, _: &Key, value: &Value, _: Instant) -> Option<Duration> {
        value.downcast_ref::<V>().map(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_value_is_found_by_an_equal_key_until_it_is_removed() {
        let cache: Cache<(u8, String), Arc<str>> = Cache::new(9);
        let key = || (1, "a".to_owned());
        cache.insert(key(), "first".into()).await;
        cache.insert((2, "a".to_owned()), "second".into()).await;
        assert!(cache.contains_key(&key()));
        assert_eq!(cache.get(&key()).await.as_deref(), Some("first"));
        assert_eq!(cache.remove(&key()).await.as_deref(), Some("first"));
        assert_eq!(cache.get(&key()).await, None);
        let second = (2, "a".to_owned());
        assert_eq!(cache.get(&second).await.as_deref(), Some("second"));
        cache.invalidate(&second).await;
        assert!(!cache.contains_key(&second));
    }

    #[tokio::test]
    async fn a_value_is_made_once_and_an_error_is_not_stored() {
        let cache: Cache<u8, u32> = Cache::new(9);
        let failed = cache.try_get_with(1, async { Err("no") }).await;
        assert_eq!(failed, Err(Arc::new("no")));
        let made = cache.try_get_with(1, async { Ok::<_, &str>(7) }).await;
        assert_eq!(made, Ok(7));
        assert_eq!(cache.get_with(1, async { 8 }).await, 7);
        assert_eq!(cache.get_with(2, async { 8 }).await, 8);
    }

    #[tokio::test]
    async fn entries_have_the_weight_and_the_life_of_their_value() {
        let cache: Cache<u8, u32> = Cache::builder()
            .max_capacity(10)
            .weigher(|_, value| *value)
            .expire_after(|value| Duration::from_secs(u64::from(*value)))
            .build();
        cache.insert(1, 11).await;
        cache.insert(2, 0).await;
        cache.insert(3, 5).await;
        cache.inner.run_pending_tasks().await;
        // too heavy, expired, there
        assert_eq!(cache.get(&1).await, None);
        assert_eq!(cache.get(&2).await, None);
        assert_eq!(cache.get(&3).await, Some(5));
    }
}
