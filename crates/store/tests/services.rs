//! Every repository on PostgreSQL, each test with a schema of its own: in the database that
//! `PORTICO_TEST_POSTGRES` names, else in that of the running stack (`PORTICO_TEST_ENV`).
mod suite;

use sqlx::{AnyConnection, Connection as _, Executor as _};
use suite::Database;

fn server() -> Option<String> {
    if let Ok(url) = std::env::var("PORTICO_TEST_POSTGRES") {
        return Some(url);
    }
    std::env::var_os("PORTICO_TEST_ENV")?;
    let stack = portico_testkit::TestEnv::load().unwrap();
    stack.optional("POSTGRES_URL").map(str::to_owned)
}

async fn database() -> Option<Database> {
    let Some(base) = server() else {
        eprintln!("skipped: neither PORTICO_TEST_POSTGRES nor a stack with PostgreSQL is named");
        return None;
    };
    sqlx::any::install_default_drivers();
    let schema = format!("test_{}", uuid::Uuid::new_v4().simple());
    let mut connection = AnyConnection::connect(&base).await.unwrap();
    connection
        .execute(format!("CREATE SCHEMA {schema}").as_str())
        .await
        .unwrap();
    let separator = if base.contains('?') { '&' } else { '?' };
    let url = format!("{base}{separator}options[search_path]={schema}");
    Some(Database::connect(url, None).await)
}

suite::each_test!(match database().await {
    Some(database) => database,
    None => return,
});
