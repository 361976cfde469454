use super::Database;
use super::fixtures::{at, signed_in};
use portico_store::StoreError;

pub async fn migrations_go_up_down_and_up(database: &Database) {
    let store = &database.store;
    store.ensure_migrated().await.unwrap();
    store.revert_all().await.unwrap();
    let error = store.ensure_migrated().await.unwrap_err();
    assert!(
        matches!(error, StoreError::NotMigrated { missing } if missing >= 7),
        "{error}"
    );
    store.migrate(at(0)).await.unwrap();
    store.migrate(at(0)).await.unwrap();
    store.ensure_migrated().await.unwrap();
    signed_in(store, "ada").await;
}

pub async fn a_database_without_migrations_is_noticed(database: &Database) {
    database.store.revert_all().await.unwrap();
    let error = database.store.ensure_migrated().await.unwrap_err();
    assert!(error.to_string().contains("portico migrate"), "{error}");
    database.store.ping().await.unwrap();
}
