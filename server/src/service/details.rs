//! What a cluster's pages show only after every pod was read: what needs attention, and the capacity
//! that is in use. In a large cluster that takes seconds. It is read in the background, once for all
//! requests of a user, so that a page can be shown before and get the rest when it is there.
use super::{attention, capacity, error::ServiceError};
use crate::kube::{Api, api::Reader};
use app::error::UiErrorKind;
use attention::Findings;
use k8s_openapi::api::core::v1::Node;
use portico_cache::{Cache, Key};
use portico_domain::{identity::Named, panel::Capacity};
use std::{sync::Arc, time::Duration};

/// Longest time that reading continues in the background.
const READ_TIMEOUT: Duration = Duration::from_secs(30);
/// A result is reused for this many times the time that it took, so that reading does not become
/// most of what a large cluster's API server does.
const REUSE_FACTOR: u32 = 10;
const MIN_REUSE: Duration = Duration::from_secs(2);
const MAX_REUSE: Duration = Duration::from_secs(60);

/// A result and the time that it took.
#[derive(Clone)]
struct Timed<T> {
    value: T,
    took: Duration,
}

fn reuse(took: Duration) -> Duration {
    (took * REUSE_FACTOR).clamp(MIN_REUSE, MAX_REUSE)
}

type Readings<T, K = Reader> = Cache<K, Timed<T>>;

/// The readings that are under way, and the last ones of each user and cluster.
pub struct Details {
    attention: Readings<Arc<Findings>>,
    capacity: Readings<Result<Capacity, ServiceError>>,
}

impl Default for Details {
    fn default() -> Self {
        Self {
            attention: readings(),
            capacity: readings(),
        }
    }
}

fn readings<T, K>() -> Readings<T, K>
where
    T: Clone + Send + Sync + 'static,
    K: Key,
{
    Cache::builder()
        .max_capacity(5_000)
        .expire_after(|read: &Timed<T>| reuse(read.took))
        .build()
}

impl Details {
    /// Returns what needs attention in a cluster; `None` if it is not known after `patience`.
    pub async fn attention(
        &self,
        api: &Api,
        cluster: &Named,
        patience: Duration,
    ) -> Option<Arc<Findings>> {
        let (reader, api, cluster) = (api.reader(), api.clone(), cluster.clone());
        let work = async move {
            tokio::time::timeout(READ_TIMEOUT, attention::look(&api, &cluster))
                .await
                .unwrap_or_else(|_| attention::took_too_long(&cluster))
                .into()
        };
        read(&self.attention, reader, patience, work).await
    }

    /// Returns the capacity of a cluster's nodes; `None` if it is not known after `patience`.
    pub async fn capacity(
        &self,
        api: &Api,
        nodes: Arc<Vec<Node>>,
        patience: Duration,
    ) -> Option<Result<Capacity, ServiceError>> {
        let (reader, api) = (api.reader(), api.clone());
        let work = async move {
            tokio::time::timeout(READ_TIMEOUT, capacity::capacity(&api, &nodes))
                .await
                .unwrap_or_else(|_| Err(too_long()))
        };
        read(&self.capacity, reader, patience, work).await
    }
}

fn too_long() -> ServiceError {
    ServiceError::new(
        UiErrorKind::Unavailable,
        "It took too long to add up the requests of all pods.",
    )
}

/// Waits for a reading that is under way or starts one. It continues when no request waits any more.
async fn read<T, K>(
    readings: &Readings<T, K>,
    reader: K,
    patience: Duration,
    work: impl Future<Output = T> + Send + 'static,
) -> Option<T>
where
    T: Clone + Send + Sync + 'static,
    K: Key,
{
    let readings = readings.clone();
    #[allow(
        clippy::disallowed_methods,
        reason = "awaited; the value is stored even if that ends early"
    )]
    let reading = tokio::spawn(async move {
        let timed = async move {
            let started = tokio::time::Instant::now();
            let value = work.await;
            let took = started.elapsed();
            Timed { value, took }
        };
        readings.get_with(reader, timed).await.value
    });
    tokio::time::timeout(patience, reading).await.ok()?.ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn what_took_long_is_reused_for_longer() {
        assert_eq!(reuse(Duration::from_millis(20)), MIN_REUSE);
        assert_eq!(reuse(Duration::from_secs(1)), Duration::from_secs(10));
        assert_eq!(reuse(Duration::from_secs(20)), MAX_REUSE);
    }

    #[tokio::test(start_paused = true)]
    async fn a_reading_continues_in_the_background_and_is_made_once() {
        let readings: Readings<u8, u8> = readings();
        let made = Arc::new(AtomicUsize::new(0));
        let ask = |patience: u64| {
            let made = Arc::clone(&made);
            read(&readings, 1, Duration::from_secs(patience), async move {
                made.fetch_add(1, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_secs(5)).await;
                7
            })
        };
        assert_eq!(ask(1).await, None);
        assert_eq!(ask(1).await, None);
        assert_eq!(ask(10).await, Some(7));
        assert_eq!(ask(0).await.or(ask(1).await), Some(7));
        assert_eq!(made.load(Ordering::SeqCst), 1);
    }
}
