//! Caches with limits of size and time, all on one type of moka's cache (ADR 0032).
//!
//! [`Cache`] has the types of a caller's keys and values; the module [`erased`] removes them. Each further type of moka's cache
//! would add about 2,000 functions to the program.
mod erased;

pub use erased::Key;

use erased::{Entries, Error, Expiry, Value, Weigher};
use std::{
    any::Any, convert::Infallible, fmt, future::Future, marker::PhantomData, sync::Arc,
    time::Duration,
};

/// A map whose entries end by time, or when there are too many. A clone is the same map.
///
/// `E` is the error of [`Cache::try_get_with`].
pub struct Cache<K, V, E = Infallible> {
    entries: Entries,
    types: Types<K, V, E>,
}

type Types<K, V, E> = PhantomData<fn(K) -> Result<V, E>>;

impl<K, V, E> Clone for Cache<K, V, E> {
    fn clone(&self) -> Self {
        Self {
            entries: self.entries.clone(),
            types: PhantomData,
        }
    }
}

/// Only the number of entries: keys and values may be secret.
impl<K, V, E> fmt::Debug for Cache<K, V, E> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Cache")
            .field("entries", &self.entries.entry_count())
            .finish_non_exhaustive()
    }
}

impl<K, V, E> Cache<K, V, E>
where
    K: Key,
    V: Clone + Send + Sync + 'static,
    E: Send + Sync + 'static,
{
    /// Returns a cache of at most `max_capacity` entries, which end only when there are too many.
    #[must_use]
    pub fn new(max_capacity: u64) -> Self {
        Self::builder().max_capacity(max_capacity).build()
    }

    pub fn builder() -> CacheBuilder<K, V, E> {
        CacheBuilder {
            settings: erased::Settings::default(),
            types: PhantomData,
        }
    }

    pub async fn get(&self, key: &K) -> Option<V> {
        let value = erased::get(&self.entries, key).await?;
        Some(own(downcast(&value)))
    }

    #[must_use]
    pub fn contains_key(&self, key: &K) -> bool {
        erased::contains_key(&self.entries, key)
    }

    pub async fn insert(&self, key: K, value: V) {
        erased::insert(&self.entries, Arc::new(key), Arc::new(value)).await;
    }

    /// Removes an entry and returns its value.
    pub async fn remove(&self, key: &K) -> Option<V> {
        let value = erased::remove(&self.entries, key).await?;
        Some(own(downcast(&value)))
    }

    /// Removes an entry.
    pub async fn invalidate(&self, key: &K) {
        erased::invalidate(&self.entries, key).await;
    }

    /// Removes all entries.
    pub fn invalidate_all(&self) {
        erased::invalidate_all(&self.entries);
    }

    /// Returns the value of a key, which `init` makes if there is none. Callers that ask for the same key at the same time wait
    /// for one of them; if its future is dropped, another one's `init` runs.
    pub async fn get_with(&self, key: K, init: impl Future<Output = V> + Send) -> V {
        // a hit needs no key and no future of its own
        if let Some(value) = self.get(&key).await {
            return value;
        }
        let init = Box::pin(async move { Arc::new(init.await) as Value });
        own(downcast(
            &erased::get_with(&self.entries, Arc::new(key), init).await,
        ))
    }

    /// Returns the value of a key, which `init` makes if there is none, as [`Cache::get_with`] does.
    ///
    /// # Errors
    /// The error of `init`, for all callers that have waited for it. It is not stored.
    pub async fn try_get_with(
        &self,
        key: K,
        init: impl Future<Output = Result<V, E>> + Send,
    ) -> Result<V, Arc<E>> {
        if let Some(value) = self.get(&key).await {
            return Ok(value);
        }
        let init = Box::pin(async move {
            match init.await {
                Ok(value) => Ok(Arc::new(value) as Value),
                Err(error) => Err(Arc::new(error) as Error),
            }
        });
        match erased::try_get_with(&self.entries, Arc::new(key), init).await {
            Ok(value) => Ok(own(downcast(&value))),
            Err(error) => Err(own(error.downcast().ok())),
        }
    }
}

fn downcast<V: Clone + 'static>(value: &Value) -> Option<V> {
    (**value).downcast_ref().cloned()
}

/// Entries come only from the methods above, each of which stores the types of its cache.
fn own<T>(value: Option<T>) -> T {
    value.unwrap_or_else(|| unreachable!("an entry of a cache has another type than the cache"))
}

/// Collects the limits of a cache.
#[must_use]
pub struct CacheBuilder<K, V, E = Infallible> {
    settings: erased::Settings,
    types: Types<K, V, E>,
}

impl<K, V, E> CacheBuilder<K, V, E>
where
    K: Key,
    V: Clone + Send + Sync + 'static,
    E: Send + Sync + 'static,
{
    /// Sets the maximum sum of the weights of all entries; without [`CacheBuilder::weigher`], their maximum number.
    pub fn max_capacity(mut self, weight: u64) -> Self {
        self.settings.max_capacity = Some(weight);
        self
    }

    /// Sets the time after which an entry ends.
    pub fn time_to_live(mut self, duration: Duration) -> Self {
        self.settings.time_to_live = Some(duration);
        self
    }

    /// Sets the time after which an entry ends that is not read.
    pub fn time_to_idle(mut self, duration: Duration) -> Self {
        self.settings.time_to_idle = Some(duration);
        self
    }

    /// Sets the function that returns the weight of an entry.
    pub fn weigher(mut self, weigher: impl Fn(&K, &V) -> u32 + Send + Sync + 'static) -> Self {
        let weigher = move |key: &dyn Key, value: &(dyn Any + Send + Sync)| {
            let key: &dyn Any = key;
            weigher(own(key.downcast_ref()), own(value.downcast_ref()))
        };
        self.settings.weigher = Some(Arc::new(weigher) as Weigher);
        self
    }

    /// Sets the function that returns the time after which an entry ends, from its value. It is called for each insertion.
    pub fn expire_after(mut self, ttl: impl Fn(&V) -> Duration + Send + Sync + 'static) -> Self {
        let ttl = move |value: &(dyn Any + Send + Sync)| ttl(own(value.downcast_ref()));
        self.settings.expiry = Some(Arc::new(ttl) as Expiry);
        self
    }

    #[must_use]
    pub fn build(self) -> Cache<K, V, E> {
        Cache {
            entries: self.settings.build(),
            types: PhantomData,
        }
    }
}

#[cfg(test)]
mod tests;
