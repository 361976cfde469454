use super::*;
use std::sync::atomic::{AtomicUsize, Ordering};

#[tokio::test]
async fn a_value_is_returned_for_an_equal_key_only() {
    let cache: Cache<(String, u8), Vec<u8>> = Cache::new(10);
    cache.insert(("a".to_owned(), 1), vec![1]).await;
    assert_eq!(cache.get(&("a".to_owned(), 1)).await, Some(vec![1]));
    assert!(cache.contains_key(&("a".to_owned(), 1)));
    assert_eq!(cache.get(&("a".to_owned(), 2)).await, None);
    assert_eq!(cache.get(&("b".to_owned(), 1)).await, None);
    assert!(!cache.contains_key(&("b".to_owned(), 1)));
}

#[tokio::test]
async fn a_removed_value_is_returned_once() {
    let cache: Cache<u64, &'static str> = Cache::new(10);
    cache.insert(1, "one").await;
    let same = cache.clone();
    assert_eq!(same.remove(&1).await, Some("one"));
    assert_eq!(cache.remove(&1).await, None);
    cache.insert(1, "one").await;
    cache.insert(2, "two").await;
    cache.invalidate(&1).await;
    assert_eq!(cache.get(&1).await, None);
    assert_eq!(cache.get(&2).await, Some("two"));
    cache.invalidate_all();
    assert_eq!(cache.get(&2).await, None);
}

#[tokio::test]
async fn callers_of_one_key_at_the_same_time_wait_for_one_of_them() {
    let cache: Cache<&'static str, &'static str> = Cache::new(10);
    let runs = AtomicUsize::new(0);
    let make = |value: &'static str| {
        let runs = &runs;
        async move {
            tokio::task::yield_now().await;
            runs.fetch_add(1, Ordering::SeqCst);
            value
        }
    };
    let (first, second, other) = tokio::join!(
        cache.get_with("key", make("first")),
        cache.get_with("key", make("second")),
        cache.get_with("other", make("other")),
    );
    assert_eq!(first, second);
    assert_eq!(other, "other");
    assert_eq!(runs.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn an_error_reaches_all_that_wait_and_is_not_stored() {
    let cache: Cache<u8, u8, String> = Cache::new(10);
    let fail = || async {
        tokio::task::yield_now().await;
        Err("no".to_owned())
    };
    let results = tokio::join!(cache.try_get_with(1, fail()), cache.try_get_with(1, fail()));
    let (first, second) = (results.0.unwrap_err(), results.1.unwrap_err());
    assert_eq!(*first, "no");
    assert!(Arc::ptr_eq(&first, &second), "both waited for one future");
    assert_eq!(cache.try_get_with(1, async { Ok(7) }).await, Ok(7));
    assert_eq!(cache.try_get_with(1, fail()).await, Ok(7));
}

#[tokio::test]
async fn an_entry_above_the_capacity_is_not_stored() {
    let cache: Cache<u8, &'static str> = Cache::builder()
        .max_capacity(5)
        .weigher(|key, value: &&'static str| u32::from(*key) + u32::try_from(value.len()).unwrap())
        .build();
    cache.insert(2, "abc").await;
    cache.insert(3, "abc").await;
    cache.entries.run_pending_tasks().await;
    assert_eq!(cache.get(&2).await, Some("abc"));
    assert_eq!(cache.get(&3).await, None, "its weight is 6");
}

#[tokio::test]
async fn an_entry_ends_after_the_time_of_its_value() {
    let cache: Cache<u8, Duration> = Cache::builder()
        .expire_after(|value: &Duration| *value)
        .build();
    cache.insert(1, Duration::ZERO).await;
    cache.insert(2, Duration::from_secs(3600)).await;
    assert_eq!(cache.get(&1).await, None);
    assert_eq!(cache.get(&2).await, Some(Duration::from_secs(3600)));
}

#[tokio::test]
async fn a_replaced_entry_ends_after_the_time_of_its_new_value() {
    let cache: Cache<u8, Duration> = Cache::builder()
        .expire_after(|value: &Duration| *value)
        .build();
    cache.insert(1, Duration::from_secs(3600)).await;
    cache.insert(1, Duration::ZERO).await;
    assert_eq!(cache.get(&1).await, None);
}

#[tokio::test]
async fn entries_end_after_the_times_of_their_cache() {
    let builder = || Cache::<u8, u8>::builder();
    let lifetimes = [
        builder().time_to_live(Duration::ZERO).build(),
        builder().time_to_idle(Duration::ZERO).build(),
    ];
    for cache in lifetimes {
        cache.insert(1, 1).await;
        assert_eq!(cache.get(&1).await, None);
    }
    // control case
    let cache = builder().time_to_live(Duration::from_secs(3600)).build();
    cache.insert(1, 1).await;
    assert_eq!(cache.get(&1).await, Some(1));
}

#[tokio::test]
async fn another_caller_makes_the_value_if_the_first_one_leaves() {
    let cache: Cache<u8, &'static str> = Cache::new(10);
    let mut first = Box::pin(cache.get_with(1, std::future::pending()));
    assert!(futures::poll!(&mut first).is_pending());
    let mut second = Box::pin(cache.get_with(1, async { "second" }));
    assert!(futures::poll!(&mut second).is_pending(), "it waits");
    drop(first);
    assert_eq!(second.await, "second");
}

#[tokio::test]
async fn debug_output_has_no_entries() {
    let cache: Cache<&'static str, &'static str> = Cache::new(10);
    cache.insert("key", "hush").await;
    cache.entries.run_pending_tasks().await;
    assert_eq!(format!("{cache:?}"), "Cache { entries: 1, .. }");
}
