//! Every repository on SQLite, each test with a database of its own.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on has failed"
)]
mod suite;

use suite::Database;

async fn database() -> Database {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}", dir.path().join("portico.db").display());
    Database::connect(url, Some(dir)).await
}

suite::each_test!(database().await);
suite::each_sql_test!(database().await);
