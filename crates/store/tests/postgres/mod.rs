//! Every repository on PostgreSQL.
use crate::suite::{self, Database};
use sqlx::{AnyConnection, Connection as _, Executor as _};

async fn database() -> Database {
    let base = crate::service("PORTICO_TEST_POSTGRES", "POSTGRES_URL");
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
suite::each_sql_test!(database().await);
