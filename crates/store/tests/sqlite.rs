//! Every repository on SQLite, each test with a database of its own.
#![allow(
    clippy::disallowed_methods,
    reason = "tests start servers and clients beside them, wait, and read the real time"
)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot continue has failed"
)]
mod suite;

use portico_store::{Store, StoreCause};
use std::time::{Duration, Instant};
use suite::Database;

async fn database() -> Database {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}", dir.path().join("portico.db").display());
    Database::connect(url, Some(dir)).await
}

#[tokio::test]
async fn finding_o14_a_deleted_or_replaced_file_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("portico.db");
    let url = format!("sqlite://{}", path.display());
    let store = Store::connect(&url, 4, suite::keys(&[1])).await.unwrap();
    store.migrate(suite::fixtures::at(0)).await.unwrap();
    store.ping().await.unwrap();
    let aside = dir.path().join("aside.db");
    std::fs::rename(&path, &aside).unwrap();
    let error = store.ping().await.unwrap_err();
    assert_eq!(error.cause(), StoreCause::FileDeleted, "{error}");
    std::fs::write(&path, "another file").unwrap();
    let error = store.ping().await.unwrap_err();
    assert_eq!(error.cause(), StoreCause::FileReplaced, "{error}");
    assert!(error.to_string().contains("portico.db"), "{error}");
    assert!(error.next_step().contains("restart"), "{error}");
    std::fs::rename(&aside, &path).unwrap();
    store.ping().await.unwrap();
}

#[tokio::test]
async fn finding_o3_a_file_that_cannot_be_used_names_one_cause_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let damaged = dir.path().join("damaged.db");
    std::fs::write(&damaged, "this is not a database, ".repeat(64)).unwrap();
    for (path, cause) in [
        (damaged, StoreCause::Damaged),
        (
            dir.path().join("no/such/portico.db"),
            StoreCause::FileUnusable,
        ),
        (dir.path().to_owned(), StoreCause::FileUnusable),
    ] {
        let started = Instant::now();
        let url = format!("sqlite://{}", path.display());
        let error = Store::connect(&url, 4, suite::keys(&[1]))
            .await
            .unwrap_err();
        assert_eq!(error.cause(), cause, "{error}");
        let text = error.to_string();
        let sentence = cause.to_string();
        assert_eq!(text.matches(&sentence).count(), 1, "{text}");
        assert!(started.elapsed() < Duration::from_secs(2), "{text}");
    }
}

#[tokio::test]
async fn finding_o4_a_store_of_another_installations_key_is_recognised_by_its_sessions() {
    let database = database().await;
    let stranger = database.with_keys(&[3]).await;
    stranger.ensure_own_keys().await.unwrap();
    suite::fixtures::signed_in(&database.store, "ada").await;
    database.store.ensure_own_keys().await.unwrap();
    let error = stranger.ensure_own_keys().await.unwrap_err();
    assert_eq!(error.cause(), StoreCause::OtherKeys, "{error}");
    let rotated = database.with_keys(&[3, 1]).await;
    rotated.ensure_own_keys().await.unwrap();
}

suite::each_test!(database().await);
suite::each_sql_test!(database().await);
