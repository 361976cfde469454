use jiff::SignedDuration;
use portico_assertion::cluster_token;
use portico_clock::Clock;
use portico_test_support::webhook::{V1, Webhook, closed_port, cluster};
use secrecy::ExposeSecret as _;
use serde_json::Value;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tracing_subscriber::fmt::MakeWriter;
use uuid::Uuid;

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn each_decision_is_one_line_without_a_token() {
    let log = Lines::default();
    let subscriber = tracing_subscriber::fmt()
        .json()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(log.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);

    let webhook = Webhook::new(
        vec![cluster(1, "acme", &[])],
        &closed_port(),
        Duration::from_secs(10),
    );
    let now = Clock::system().now();
    let end = now + SignedDuration::from_hours(1);
    let id = Uuid::from_u128(1);
    let inner = "gAAAA-inner-secret";
    let sealed = cluster_token::seal(webhook.current.public(), id, &inner.into(), end, now);
    let sealed = sealed.unwrap().token.expose_secret().to_owned();
    let api_server = webhook.api_server_of(id);
    let garbage = "portico_v1.garbage\ndecision=authenticated";
    for token in [garbage, &sealed, "eyJhbGciOi.service.account"] {
        api_server.review(V1, token).await;
    }

    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    for secret in [inner, sealed.as_str(), "garbage", "eyJhbGciOi"] {
        assert!(!text.contains(secret), "{text}");
    }
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|line: &Value| line["target"] == "audit")
        .map(|line| line["fields"].clone())
        .collect();
    let seen: Vec<_> = lines
        .iter()
        .map(|line| line["decision"].as_str().unwrap())
        .collect();
    assert_eq!(seen, ["refused", "undecided", "refused"]);
    for line in &lines {
        assert_eq!(line["cluster_id"], id.to_string());
        assert_eq!(line["token"].as_str().unwrap().len(), 12);
        assert!(!line["reason"].as_str().unwrap().is_empty());
        assert_eq!(line["cached"], false);
        assert!(Uuid::parse_str(line["request_id"].as_str().unwrap()).is_ok());
    }
}
