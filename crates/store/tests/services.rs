//! Every repository on PostgreSQL, each test with a schema of its own: in the database that
//! `PORTICO_TEST_POSTGRES` names, else in that of the running stack (`PORTICO_TEST_ENV`).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on has failed"
)]
mod suite;

use sqlx::{AnyConnection, Connection as _, Executor as _};
use suite::Database;

fn server() -> String {
    if let Ok(url) = std::env::var("PORTICO_TEST_POSTGRES") {
        return url;
    }
    let stack = portico_testkit::TestEnv::load().unwrap();
    stack
        .optional("POSTGRES_URL")
        .expect("a stack with PostgreSQL (the test profile), or PORTICO_TEST_POSTGRES")
        .to_owned()
}

async fn database() -> Database {
    let base = server();
    sqlx::any::install_default_drivers();
    let schema = format!("test_{}", uuid::Uuid::new_v4().simple());
    let mut connection = AnyConnection::connect(&base).await.unwrap();
    connection
        .execute(format!("CREATE SCHEMA {schema}").as_str())
        .await
        .unwrap();
    let separator = if base.contains('?') { '&' } else { '?' };
    let url = format!("{base}{separator}options[search_path]={schema}");
    Database::connect(url, None).await
}

suite::each_test!(database().await);
