//! A Redis of one test's own, for what no other test may share.
use crate::suite::{Database, keys};
use portico_store::Store;
use portico_testkit::RedisServer;

/// A migrated store on it. The server ends with the value.
pub async fn store_on(server: &RedisServer) -> Store {
    let store = Store::connect(&server.url(), 1, keys(&[1])).await.unwrap();
    store.migrate(crate::suite::fixtures::at(0)).await.unwrap();
    store
}

/// The same as the suite's fixtures take it.
pub async fn database_on(server: &RedisServer) -> Database {
    Database::connect(server.url(), None).await
}
