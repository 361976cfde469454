//! What the store's metrics say after statements that went well, and after an outage.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot continue has failed"
)]
use base64::Engine as _;
use jiff::Timestamp;
use portico_runtime::metrics::Metrics;
use portico_store::{KeyRing, Store};
use secrecy::SecretString;

async fn store(dir: &tempfile::TempDir) -> Store {
    let key = base64::engine::general_purpose::STANDARD.encode([1; 32]);
    let keys = KeyRing::from_base64(&[SecretString::from(key)]).unwrap();
    let url = format!("sqlite://{}", dir.path().join("portico.db").display());
    let store = Store::connect(&url, 2, keys).await.unwrap();
    store.migrate(Timestamp::UNIX_EPOCH).await.unwrap();
    store
}

fn value(text: &str, series: &str) -> f64 {
    let line = text.lines().find(|line| {
        line.strip_prefix(series)
            .is_some_and(|rest| rest.starts_with(' '))
    });
    let line = line.unwrap_or_else(|| panic!("no {series} in {text}"));
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn statements_are_measured_by_table_and_operation_and_failures_counted() {
    let metrics = Metrics::install(Timestamp::UNIX_EPOCH).unwrap();
    portico_store::describe_metrics();
    let dir = tempfile::tempdir().unwrap();
    let store = store(&dir).await;
    let errors = r#"portico_store_errors_total{table="sessions",operation="select"}"#;
    assert!(value(&metrics.render(), errors).abs() < f64::EPSILON);

    let now = Timestamp::from_second(1_800_000_000).unwrap();
    store.sessions().count(now).await.unwrap();
    store.sweep(now).await.unwrap();
    let text = metrics.render();
    let of = |table: &str, operation: &str| {
        format!(
            r#"portico_store_operation_seconds_count{{table="{table}",operation="{operation}"}}"#
        )
    };
    assert!(value(&text, &of("sessions", "select")) >= 2.0);
    assert!(value(&text, &of("saved_forms", "delete")) >= 1.0);
    assert!(!text.contains(r#"_seconds_count{table="other""#), "{text}");
    assert!(value(&text, errors).abs() < f64::EPSILON);

    store.close().await;
    assert!(store.sessions().count(now).await.is_err());
    assert!(value(&metrics.render(), errors) >= 1.0);
}
