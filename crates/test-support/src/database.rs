//! The store of a test's gateway: `PORTICO_TEST_STORE=sqlite|postgres|redis`, SQLite by default.
//! PostgreSQL and Redis are those of the running stack (`PORTICO_TEST_ENV`), with a schema or a
//! prefix for each gateway.
use std::path::Path;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use portico_clock::Clock;
use portico_store::{KeyRing, Store};
use portico_testkit::TestEnv;
use secrecy::SecretString;
use sqlx::{Connection as _, Executor as _, PgConnection};
use uuid::Uuid;

#[derive(Clone, Copy)]
pub enum Database<'a> {
    /// As set by `PORTICO_TEST_STORE`.
    FromEnvironment,
    Sqlite,
    /// At this URL; several gateways may share it.
    At(&'a str),
}

impl Database<'_> {
    /// Returns the URL of the store, which is this file for one on SQLite.
    pub async fn url(self, file: &Path) -> String {
        let sqlite = || format!("sqlite://{}", file.display());
        let name = std::env::var("PORTICO_TEST_STORE").unwrap_or_default();
        match (self, name.as_str()) {
            (Database::At(url), _) => url.to_owned(),
            (Database::Sqlite, _) | (Database::FromEnvironment, "" | "sqlite") => sqlite(),
            (Database::FromEnvironment, "postgres") => own_schema().await,
            (Database::FromEnvironment, "redis") => own_prefix(),
            (Database::FromEnvironment, other) => {
                panic!("PORTICO_TEST_STORE={other} is none of ours")
            }
        }
    }
}

/// Returns a migrated store with the keys that all tests use.
pub async fn store(url: &str) -> Store {
    let store = Store::connect(url, 4, keys(&[7])).await.expect("store");
    store
        .migrate(Clock::system().now())
        .await
        .expect("migrations");
    store
}

fn of_stack(name: &str) -> String {
    let stack = TestEnv::load().expect("a stack: PORTICO_TEST_ENV");
    stack.get(name).expect("a stack with it").to_owned()
}

/// Returns a PostgreSQL schema of its own, for a test that inspects the tables.
pub async fn own_schema() -> String {
    let base = of_stack("POSTGRES_URL");
    let schema = format!("gateway_{}", Uuid::new_v4().simple());
    let mut connection = PgConnection::connect(&base).await.expect("PostgreSQL");
    let create = format!("CREATE SCHEMA {schema}");
    connection.execute(create.as_str()).await.expect("schema");
    let separator = if base.contains('?') { '&' } else { '?' };
    format!("{base}{separator}options[search_path]={schema}")
}

pub fn own_prefix() -> String {
    let base = of_stack("REDIS_URL");
    format!("{base}?prefix=gateway-{}:", Uuid::new_v4().simple())
}

/// Returns a key ring of keys that each repeat one byte.
pub fn keys(bytes: &[u8]) -> KeyRing {
    let keys: Vec<SecretString> = bytes
        .iter()
        .map(|byte| STANDARD.encode([*byte; 32]).into())
        .collect();
    KeyRing::from_base64(&keys).expect("keys")
}
