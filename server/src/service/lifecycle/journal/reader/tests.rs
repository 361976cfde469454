use super::super::template_names::names_by_viewer;
use super::*;
use crate::service::lifecycle::stand_in::{Mode, StandIn};
use jiff::Timestamp;
use portico_domain::panel::lifecycle::JournalSource as Source;
use portico_store::{JournalSource, KeyRing, NewJournalEntry, NewJournalEvent, Store};
use serde_json::{Value, json};
use uuid::Uuid;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

/// A journal: a request of ada, many events of nodes, and an observation.
struct Written {
    _directory: tempfile::TempDir,
    store: Store,
    key: JournalKey,
    magnum: StandIn,
    names: NamesByViewer,
}

impl Written {
    async fn new(events: i64) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", directory.path().join("portico.db").display());
        let store = Store::connect(&url, 2, KeyRing::random().unwrap()).await;
        let store = store.unwrap();
        store.migrate(jiff::Timestamp::UNIX_EPOCH).await.unwrap();
        let written = Self {
            _directory: directory,
            store,
            key: JournalKey {
                project_id: "acme".to_owned(),
                cluster: Uuid::from_u128(1),
            },
            magnum: StandIn::start(Mode::Missing).await,
            names: names_by_viewer(),
        };
        let request = json!({"action": "resize_node_group", "target": "gpu to 3", "user_id": "ada-id",
                             "user_name": "ada", "outcome": "accepted", "reason": "CHG-12"});
        written.add(0, JournalSource::Request, &request).await;
        let events: Vec<NewJournalEvent> = (1..=events)
            .map(|number| NewJournalEvent {
                id: number.to_string(),
                entry: NewJournalEntry {
                    source: JournalSource::Kubernetes,
                    content: json!({"at": at(number), "node": "n1", "change": "cordoned"})
                        .to_string(),
                },
            })
            .collect();
        let journal = written.store.cluster_journal();
        let appended = journal
            .append_events(&written.key, &events, at(5_000))
            .await;
        appended.unwrap();
        let observed = json!({"status": "UPDATE_COMPLETE", "is_busy": false});
        written
            .add(6_000, JournalSource::Observation, &observed)
            .await;
        written
    }

    async fn add(&self, second: i64, source: JournalSource, content: &Value) {
        let entry = NewJournalEntry {
            source,
            content: content.to_string(),
        };
        let journal = self.store.cluster_journal();
        journal.append(&self.key, &entry, at(second)).await.unwrap();
    }

    /// Returns the titles of a page that matches a filter, and where to read on.
    async fn page(
        &self,
        before: Option<i64>,
        change: impl FnOnce(&mut JournalFilter),
    ) -> (Vec<String>, Option<i64>) {
        let viewer = self.magnum.viewer("ada", &["reader"]);
        let reader = Reader {
            clients: &self.magnum.clients,
            names: &self.names,
            journal: self.store.cluster_journal(),
            key: &self.key,
            viewer: &viewer,
            now: at(7_000),
        };
        let mut filter = JournalFilter::default();
        change(&mut filter);
        let page = reader.filtered(before, &filter).await.unwrap();
        assert_eq!(page.changed, None);
        let titles = page.rows.into_iter().map(|row| row.title).collect();
        (titles, page.older)
    }
}

const RESIZE: &str = "Resize the node group gpu to 3";

#[tokio::test]
async fn entries_that_match_are_found_among_all() {
    let written = Written::new(700).await;
    let of_ada = written
        .page(None, |filter| filter.user = "Ada".to_owned())
        .await;
    assert_eq!(of_ada, (vec![RESIZE.to_owned()], None));
    let of_text = written
        .page(None, |filter| filter.text = "chg-12".to_owned())
        .await;
    assert_eq!(of_text, of_ada);
    let hidden = written
        .page(None, |filter| filter.hidden = vec![Source::Kubernetes])
        .await;
    assert_eq!(hidden.0.len(), 2);
    // events have their own times, and nothing older than the first entry of the range is read
    let range = |filter: &mut JournalFilter| {
        filter.since = Some(at(10).as_second());
        filter.until = Some(at(12).as_second());
    };
    assert_eq!(written.page(None, range).await.0.len(), 3);
    let late = |filter: &mut JournalFilter| filter.since = Some(at(5_500).as_second());
    assert_eq!(written.page(None, late).await.0.len(), 1);
    let none = written
        .page(None, |filter| filter.user = "grace".to_owned())
        .await;
    assert_eq!(none, (Vec::new(), None));
}

#[tokio::test]
async fn a_filter_looks_through_a_limited_number_of_entries_at_a_time() {
    let written = Written::new(2_300).await;
    let of_ada = |filter: &mut JournalFilter| filter.user = "ada".to_owned();
    let (found, older) = written.page(None, of_ada).await;
    assert!(found.is_empty());
    let older = older.unwrap();
    assert_eq!(older, 2_302 - 2_000 + 1);
    let (found, last) = written.page(Some(older), of_ada).await;
    assert_eq!((found, last), (vec![RESIZE.to_owned()], None));
    // a filter that matches much ends when a page is full
    let of_nodes = |filter: &mut JournalFilter| filter.text = "cordoned".to_owned();
    let (found, older) = written.page(None, of_nodes).await;
    assert!(found.len() < 1_000 && older.is_some());
}
