//! Every repository on Redis, and tests of Redis only.
mod audit;
mod changes;
mod dump;
mod outage;
mod raw;
mod server;
mod structure;
mod swapped;
mod tls;

use crate::suite::{self, Database};

/// A store on the stack's Redis, with a prefix of its own.
async fn database() -> Database {
    let base = crate::service("PORTICO_TEST_REDIS", "REDIS_URL");
    Database::connect(with_own_prefix(&base), None).await
}

fn with_own_prefix(base: &str) -> String {
    format!("{base}?prefix=test-{}:", uuid::Uuid::new_v4().simple())
}

suite::each_test!(database().await);
