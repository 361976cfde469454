//! Against a stand-in for Heat, inside of the test.
use super::*;
use crate::service::lifecycle::viewer::tests::viewer;
use axum::{
    Json, Router,
    http::{StatusCode, Uri},
    response::{IntoResponse as _, Response},
};
use portico_openstack::{
    keystone::{Catalog, CatalogEndpoint},
    rest::{RestClient, ServiceOptions},
};
use portico_store::{KeyRing, Store};
use serde_json::json;

const STACK: &str = "6e03b504-1563-4dc7-9cda-eaeed562ea66";

/// How Heat answers.
#[derive(Clone, Copy)]
enum Mode {
    /// It has the stack, with this number of events.
    Events(usize),
    /// It has no stack.
    Absent,
    Outage,
}

/// Heat, and a store with a journal.
struct Cloud {
    _directory: tempfile::TempDir,
    store: Store,
    mode: Arc<parking_lot::Mutex<Mode>>,
    /// The paths that were asked for.
    calls: Arc<parking_lot::Mutex<Vec<String>>>,
    heat: heat::Client,
    token: ScopedToken,
    key: JournalKey,
}

impl Cloud {
    async fn start(mode: Mode) -> Self {
        portico_runtime::install_crypto_provider();
        let mode = Arc::new(parking_lot::Mutex::new(mode));
        let calls = Arc::new(parking_lot::Mutex::new(Vec::new()));
        let (of_handler, log) = (Arc::clone(&mode), Arc::clone(&calls));
        let router = Router::new().fallback(move |uri: Uri| async move {
            log.lock().push(uri.path().to_owned());
            answer(*of_handler.lock(), uri.path())
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1/acme", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        let mut token = viewer("ada", &["reader"]).token;
        token.catalog = Arc::new(Catalog {
            endpoints: vec![CatalogEndpoint {
                service_type: "orchestration".to_owned(),
                interface: "public".to_owned(),
                region: None,
                url: url.parse().unwrap(),
            }],
        });
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", directory.path().join("portico.db").display());
        let store = Store::connect(&url, 2, KeyRing::random().unwrap()).await;
        let store = store.unwrap();
        store.migrate(jiff::Timestamp::UNIX_EPOCH).await.unwrap();
        Self {
            _directory: directory,
            store,
            mode,
            calls,
            heat: heat::Client::new(RestClient::new(ServiceOptions::default()).unwrap()),
            token,
            key: JournalKey {
                project_id: "acme".to_owned(),
                cluster: Uuid::from_u128(1),
            },
        }
    }

    /// Returns what one replica has.
    fn replica(&self) -> StackEvents {
        let journal = Journal::new(Some(self.store.clone()));
        StackEvents::new(self.heat.clone(), journal, Clock::system())
    }

    /// Reads at once, whenever the last read was.
    async fn read(&self, replica: &StackEvents) -> Option<String> {
        let stack = STACK.parse().unwrap();
        let read = replica.read(&self.token, &self.key, stack, Duration::ZERO);
        read.await
    }

    fn set(&self, mode: Mode) {
        *self.mode.lock() = mode;
    }

    fn calls(&self) -> usize {
        self.calls.lock().len()
    }

    /// Returns the resources of the recorded events, the oldest entry first.
    async fn recorded(&self) -> Vec<String> {
        let journal = self.store.cluster_journal();
        let entries = journal.list(&self.key, None, 500).await.unwrap();
        let events = entries.iter().rev().map(|entry| {
            assert_eq!(entry.source, JournalSource::Heat);
            let event: StackEvent = serde_json::from_str(&entry.content).unwrap();
            event.resource
        });
        events.collect()
    }
}

fn answer(mode: Mode, path: &str) -> Response {
    let is_list = path == "/v1/acme/stacks";
    match mode {
        Mode::Outage => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        Mode::Absent => Json(json!({"stacks": []})).into_response(),
        Mode::Events(_) if is_list => {
            let stack =
                json!({"id": STACK, "stack_name": "shop", "stack_status": "CREATE_COMPLETE"});
            Json(json!({"stacks": [stack]})).into_response()
        }
        Mode::Events(count) => {
            let event = |number: usize| {
                json!({"id": format!("e{number}"), "resource_name": format!("r{number}"),
                    "event_time": format!("2026-11-28T06:47:{number:02}Z"),
                    "resource_status": "CREATE_COMPLETE", "links": []})
            };
            let events: Vec<_> = (1..=count).rev().map(event).collect();
            Json(json!({"events": events})).into_response()
        }
    }
}

#[tokio::test]
async fn an_event_is_recorded_once_among_replicas_and_after_a_restart() {
    let cloud = Cloud::start(Mode::Events(2)).await;
    let (one, two) = (cloud.replica(), cloud.replica());
    let read = futures::join!(cloud.read(&one), cloud.read(&two));
    assert_eq!(read, (None, None));
    assert_eq!(cloud.recorded().await, ["r1", "r2"]);
    cloud.set(Mode::Events(4));
    assert_eq!(cloud.read(&one).await, None);
    assert_eq!(cloud.read(&two).await, None);
    assert_eq!(cloud.read(&cloud.replica()).await, None);
    assert_eq!(cloud.recorded().await, ["r1", "r2", "r3", "r4"]);
}

#[tokio::test]
async fn an_outage_of_heat_is_a_gap_and_what_is_recorded_remains() {
    let cloud = Cloud::start(Mode::Events(2)).await;
    let replica = cloud.replica();
    cloud.read(&replica).await;
    cloud.set(Mode::Outage);
    let gap = cloud.read(&replica).await.unwrap();
    assert!(
        gap.starts_with("New events of Heat are not shown. Heat: "),
        "{gap}"
    );
    assert!(gap.ends_with("Try again in a minute."), "{gap}");
    assert_eq!(cloud.recorded().await, ["r1", "r2"]);
    cloud.set(Mode::Events(3));
    assert_eq!(cloud.read(&replica).await, None);
    assert_eq!(cloud.recorded().await.len(), 3);
}

#[tokio::test]
async fn looks_in_the_same_seconds_cost_one_read() {
    let cloud = Cloud::start(Mode::Events(2)).await;
    let replica = cloud.replica();
    let look = || replica.refresh(&cloud.token, &cloud.key, Some(STACK));
    futures::future::join_all((0..20).map(|_| look())).await;
    // the stack, and its events
    assert_eq!(cloud.calls(), 2);
}

#[tokio::test]
async fn a_cluster_without_a_stack_has_no_events_and_no_gap() {
    let cloud = Cloud::start(Mode::Absent).await;
    let replica = cloud.replica();
    let (token, key) = (&cloud.token, &cloud.key);
    for stack in [None, Some(""), Some("shop-tiknlanatle3")] {
        assert_eq!(replica.refresh(token, key, stack).await, None, "{stack:?}");
    }
    assert_eq!(cloud.calls(), 0);
    // the UUID of another driver
    assert_eq!(replica.refresh(token, key, Some(STACK)).await, None);
    assert_eq!(cloud.read(&replica).await, None);
    assert_eq!(cloud.calls(), 1);
    assert!(cloud.recorded().await.is_empty());
    // a cloud without Heat
    let mut token = cloud.token.clone();
    token.catalog = Arc::new(Catalog {
        endpoints: Vec::new(),
    });
    let other = cloud.replica();
    assert_eq!(other.refresh(&token, key, Some(STACK)).await, None);
    assert_eq!(cloud.calls(), 1);
}

#[tokio::test]
async fn events_are_followed_while_magnum_works_and_once_after_that() {
    let cloud = Cloud::start(Mode::Events(1)).await;
    let replica = cloud.replica();
    let (token, key) = (&cloud.token, &cloud.key);
    replica.follow(token, key, Some(STACK), false).await;
    replica.follow(token, key, Some(STACK), true).await;
    until(&cloud, 1).await;
    cloud.set(Mode::Events(2));
    // the read before is young
    replica.follow(token, key, Some(STACK), true).await;
    replica.follow(token, key, Some(STACK), false).await;
    until(&cloud, 2).await;
    cloud.set(Mode::Events(3));
    replica.follow(token, key, Some(STACK), false).await;
    assert_eq!(cloud.recorded().await.len(), 2);
    replica.finish(token, key, Some(STACK));
    until(&cloud, 3).await;
}

/// Waits until a number of events is recorded.
async fn until(cloud: &Cloud, count: usize) {
    let started = Instant::now();
    while cloud.recorded().await.len() != count {
        assert!(started.elapsed() < Duration::from_secs(20));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
