//! Every repository on PostgreSQL.
use crate::suite::{self, Database};
use portico_store::{Store, StoreCause};
use portico_testkit::PostgresServer;
use portico_transport::TransportFault;
use sqlx::{AnyConnection, Connection as _, Executor as _};
use std::time::{Duration, Instant};

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

#[tokio::test]
async fn finding_o3_a_postgresql_that_cannot_be_used_names_one_cause_at_once() {
    let mut server = PostgresServer::start().unwrap();
    let connect = async |url: String| Store::connect(&url, 4, suite::keys(&[1])).await;
    let fault = StoreCause::Transport;
    for (url, cause) in [
        (
            format!("{}_missing", server.url()),
            StoreCause::DatabaseMissing,
        ),
        (
            server.url().replace("postgres@", "no_such_user@"),
            StoreCause::Credentials,
        ),
        (
            server.url().replace("127.0.0.1", "no-such-host.invalid"),
            fault(TransportFault::NameResolution),
        ),
    ] {
        let error = connect(url).await.unwrap_err();
        assert_eq!(error.cause(), cause, "{error}");
    }
    let store = connect(server.url()).await.unwrap();
    store.migrate(suite::fixtures::at(0)).await.unwrap();
    let (secret, _) = suite::fixtures::signed_in(&store, "ada").await;
    server.kill().unwrap();
    // the connections of the pool are dead, and no new one can be made
    for _ in 0..3 {
        let started = Instant::now();
        let now = suite::fixtures::at(1);
        let error = store.sessions().find(&secret, now).await.unwrap_err();
        if error.cause() == StoreCause::StartingUp {
            // sent to an open connection at shutdown
            continue;
        }
        let refused = matches!(
            error.cause(),
            StoreCause::Transport(TransportFault::Refused | TransportFault::Closed)
        );
        assert!(refused, "{error}");
        assert!(started.elapsed() < Duration::from_secs(2), "{error}");
    }
    let started = Instant::now();
    let error = store.ping().await.unwrap_err();
    assert_eq!(error.cause(), fault(TransportFault::Refused), "{error}");
    assert_eq!(error.to_string(), "reach the database: connection refused");
    assert!(started.elapsed() < Duration::from_secs(2));
    let error = connect(server.url()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "connect to the database: connection refused"
    );
    server.start_again().unwrap();
    store.ping().await.unwrap();
}

suite::each_test!(database().await);
suite::each_sql_test!(database().await);
