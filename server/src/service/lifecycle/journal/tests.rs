//! Tests of the rows that a page shows.
use super::content::{ObservationContent, RequestContent, RequestOutcome};
use super::rows::{self, Read, Shown};
use super::sending::INTERRUPTED;
use jiff::Timestamp;
use portico_domain::panel::lifecycle::{DeletionOptions, JournalRow};
use portico_lifecycle::journal::{Difference, StackEvent, TemplateNames};
use portico_store::{JournalEntry, JournalKey, JournalSource, KeyRing, NewJournalEntry, Store};
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

/// A journal in a store.
struct Written {
    _directory: tempfile::TempDir,
    store: Store,
    key: JournalKey,
    templates: TemplateNames,
}

impl Written {
    async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", directory.path().join("portico.db").display());
        let keys = KeyRing::random().unwrap();
        let store = Store::connect(&url, 2, keys).await.unwrap();
        store.migrate(jiff::Timestamp::UNIX_EPOCH).await.unwrap();
        Self {
            _directory: directory,
            store,
            key: JournalKey {
                project_id: "acme".to_owned(),
                cluster: Uuid::from_u128(1),
            },
            templates: TemplateNames::default(),
        }
    }

    async fn add<T: Serialize>(&self, second: i64, source: JournalSource, content: &T) {
        let entry = NewJournalEntry {
            source,
            content: serde_json::to_string(content).unwrap(),
        };
        let journal = self.store.cluster_journal();
        let added = journal.append(&self.key, &entry, at(second)).await;
        added.unwrap();
    }

    async fn request(&self, second: i64, outcome: RequestOutcome) {
        let content = RequestContent {
            action: "resize_node_group".to_owned(),
            target: "gpu to 3".to_owned(),
            user_id: "ada-id".to_owned(),
            user_name: "ada".to_owned(),
            request_id: Some("r1".to_owned()),
            reason: Some("CHG-12".to_owned()),
            outcome,
            answer: None,
        };
        self.add(second, JournalSource::Request, &content).await;
    }

    /// Adds what was observed; `difference` is a field, and whether a client must have requested it.
    async fn observation(&self, second: i64, status: &str, difference: Option<(&str, bool)>) {
        let difference = difference.map(|(field, is_requested)| Difference {
            field: field.to_owned(),
            before: Some("1".to_owned()),
            after: Some("2".to_owned()),
            is_requested,
        });
        let content = ObservationContent {
            since: difference.as_ref().map(|_| at(second - 2).as_second()),
            status: status.to_owned(),
            is_busy: status.ends_with("IN_PROGRESS"),
            differences: difference.into_iter().collect(),
            omitted: 0,
        };
        self.add(second, JournalSource::Observation, &content).await;
    }

    /// Returns the entries, the newest first.
    async fn entries(&self) -> Vec<JournalEntry> {
        let journal = self.store.cluster_journal();
        journal.list(&self.key, None, 100).await.unwrap()
    }

    /// Returns what a page shows to a user.
    fn shown(&self, entries: &[JournalEntry], viewer_id: &str) -> Shown {
        let read = Read {
            key: &self.key,
            newer: &[],
            entries,
            context: &[],
            viewer_id,
            templates: &self.templates,
            now: at(600),
        };
        rows::of(&read, 100)
    }
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

#[tokio::test]
async fn rows_name_the_user_another_client_or_magnum() {
    let written = Written::new().await;
    written.observation(0, "CREATE_COMPLETE", None).await;
    written.request(9, RequestOutcome::Sending).await;
    written.request(10, RequestOutcome::Accepted).await;
    let state = |is_requested| Some(("State", is_requested));
    let running = "UPDATE_IN_PROGRESS";
    written.observation(12, running, state(true)).await;
    let complete = "UPDATE_COMPLETE";
    written.observation(30, complete, state(false)).await;
    let nodes = Some(("Nodes of gpu", true));
    written.observation(90, complete, nodes).await;
    written.observation(200, running, state(true)).await;
    let entries = written.entries().await;
    let shown = written.shown(&entries, "ada-id");
    assert_eq!(shown.changed, None);
    let by: Vec<_> = shown.rows.iter().map(|row| row.by.as_str()).collect();
    assert_eq!(
        by,
        [
            "Another client of Magnum, outside of Portico",
            "An autoscaler, or another client of Magnum",
            "Magnum",
            "Requested by ada (you)",
            "ada (you)",
            "Magnum",
        ]
    );
    let request = &shown.rows[4];
    assert_eq!(request.title, "Resize the node group gpu to 3");
    assert_eq!(request.status, "Accepted");
    assert_eq!(request.reason.as_deref(), Some("CHG-12"));
    // a colleague reads the name
    let shown = written.shown(&entries, "grace-id");
    assert_eq!(shown.rows[3].by, "Requested by ada");
}

#[tokio::test]
async fn a_request_whose_outcome_is_on_the_page_before_is_not_shown_twice() {
    let written = Written::new().await;
    let running = "UPDATE_IN_PROGRESS";
    written.observation(0, running, Some(("State", true))).await;
    written.request(1, RequestOutcome::Sending).await;
    written.request(2, RequestOutcome::Accepted).await;
    let all = written.entries().await;
    let shown = |newer: usize| {
        let (newer, entries) = all.split_at(newer);
        let read = Read {
            key: &written.key,
            newer,
            entries,
            context: &[],
            viewer_id: "ada-id",
            templates: &written.templates,
            now: at(600),
        };
        let rows = rows::of(&read, 100).rows;
        rows.into_iter().map(|row| row.by).collect::<Vec<_>>()
    };
    let by = "Requested by ada (you)";
    assert_eq!(shown(0), ["ada (you)", by]);
    assert_eq!(shown(1), [by]);
    // written after its effect was observed
    assert_eq!(shown(2), [by]);
}

#[tokio::test]
async fn a_request_that_a_stop_has_cut_off_is_shown_with_what_is_known() {
    let written = Written::new().await;
    // of `shown`, at 600 s: the first one is as old as no request can be
    written.request(0, RequestOutcome::Sending).await;
    let entries = written.entries().await;
    let shown = written.shown(&entries, "ada-id");
    let [row] = &shown.rows[..] else {
        panic!("{:?}", shown.rows);
    };
    assert_eq!(row.status, "Interrupted; its outcome is not known");
    assert_eq!(row.lines, [INTERRUPTED]);
    // nothing is written for it
    assert_eq!(shown.changed, None);
    // what another replica may be sending now
    let request = json!({"action": "upgrade_cluster", "user_id": "bob", "user_name": "bob",
                         "request_id": "r2", "outcome": "sending"});
    written.add(550, JournalSource::Request, &request).await;
    let entries = written.entries().await;
    let row = &written.shown(&entries, "ada-id").rows[0];
    assert_eq!((row.status.as_str(), row.lines.len()), ("Being sent", 0));
    // an outcome that is recorded later is shown instead
    written.request(590, RequestOutcome::Accepted).await;
    let entries = written.entries().await;
    let shown = written.shown(&entries, "ada-id");
    let statuses: Vec<_> = shown.rows.iter().map(|row| row.status.as_str()).collect();
    assert_eq!(statuses, ["Accepted", "Being sent"]);
}

#[tokio::test]
async fn an_entry_that_was_changed_or_removed_is_named() {
    let written = Written::new().await;
    for second in [0, 10, 20] {
        let difference = Some(("State", false));
        written
            .observation(second, "UPDATE_COMPLETE", difference)
            .await;
    }
    let entries = written.entries().await;
    assert_eq!(written.shown(&entries, "ada-id").changed, None);
    let mut altered = entries.clone();
    altered[1].content = altered[1].content.replace("\"2\"", "\"3\"");
    let changed = written.shown(&altered, "ada-id").changed.unwrap();
    assert!(changed.contains("at number 2."), "{changed}");
    let mut shortened = entries;
    shortened.remove(1);
    let changed = written.shown(&shortened, "ada-id").changed.unwrap();
    assert!(changed.contains("at number 3."), "{changed}");
}

fn entry(sequence: i64, source: JournalSource, content: &Value) -> JournalEntry {
    JournalEntry {
        sequence,
        at: at(sequence),
        source,
        content: content.to_string(),
        hash: String::new(),
    }
}

/// Returns the rows of entries, of which the newest are first.
fn rows_of(entries: &[JournalEntry], templates: &TemplateNames) -> Vec<JournalRow> {
    let key = JournalKey {
        project_id: "acme".to_owned(),
        cluster: Uuid::from_u128(1),
    };
    let read = Read {
        key: &key,
        newer: &[],
        entries,
        context: &[],
        viewer_id: "ada",
        templates,
        now: at(600),
    };
    rows::of(&read, 10).rows
}

#[test]
fn a_request_that_only_portico_carries_out_explains_no_change_in_magnum() {
    let is_outside = |action: &str| {
        let request = json!({"action": action, "user_id": "ada", "user_name": "ada",
                             "outcome": "accepted"});
        let state = json!({"field": "State", "before": "CREATE_COMPLETE",
                           "after": "UPDATE_IN_PROGRESS", "is_requested": true});
        let observed = json!({"status": "UPDATE_IN_PROGRESS", "is_busy": true,
                              "differences": [state]});
        let entries = [
            entry(2, JournalSource::Observation, &observed),
            entry(1, JournalSource::Request, &request),
        ];
        rows_of(&entries, &TemplateNames::default())[0].is_outside
    };
    for action in ["protect_cluster", "unprotect_cluster", "enrol"] {
        assert!(is_outside(action), "{action}");
    }
    // control case
    assert!(!is_outside("upgrade_cluster"));
}

#[test]
fn an_upgrade_shows_the_names_of_templates_that_are_known() {
    let [old, new] = [1, 2].map(|number| Uuid::from_u128(number).to_string());
    let request = json!({"action": "upgrade_cluster", "target": new, "user_id": "ada",
                         "user_name": "ada", "outcome": "accepted"});
    let template = json!({"field": "Template", "before": old, "after": new, "is_requested": true});
    let observed =
        json!({"status": "UPDATE_COMPLETE", "is_busy": false, "differences": [template]});
    let entries = [
        entry(2, JournalSource::Observation, &observed),
        entry(1, JournalSource::Request, &request),
    ];
    let known = TemplateNames::of([(new.clone(), "k8s-1.32".to_owned())]);
    let rows = rows_of(&entries, &known);
    assert_eq!(rows[0].lines, [format!("Template: {old} → k8s-1.32")]);
    assert_eq!(rows[1].title, "Upgrade to k8s-1.32");
    let rows = rows_of(&entries, &TemplateNames::default());
    assert_eq!(rows[0].lines, [format!("Template: {old} → {new}")]);
    assert_eq!(rows[1].title, format!("Upgrade to {new}"));
}

#[tokio::test]
async fn events_of_heat_are_rows_and_hide_no_request_from_what_it_explains() {
    let written = Written::new().await;
    written.observation(0, "CREATE_COMPLETE", None).await;
    written.request(10, RequestOutcome::Accepted).await;
    let event = StackEvent {
        id: "e1".to_owned(),
        at: at(5),
        stack: "k8s-cluster".to_owned(),
        resource: "kube_minions".to_owned(),
        physical_id: None,
        status: "UPDATE_IN_PROGRESS".to_owned(),
        reason: None,
    };
    written.add(11, JournalSource::Heat, &event).await;
    let difference = Some(("State", true));
    written
        .observation(12, "UPDATE_IN_PROGRESS", difference)
        .await;
    let entries = written.entries().await;
    let shown = written.shown(&entries, "ada-id");
    let by: Vec<_> = shown.rows.iter().map(|row| row.by.as_str()).collect();
    assert_eq!(
        by,
        ["Requested by ada (you)", "Heat", "ada (you)", "Magnum"]
    );
    assert_eq!(shown.rows[1].title, "kube_minions");
    // recorded later than it happened
    assert_eq!(shown.rows[1].at, at(5).as_second());
    // the request is older than the page
    let read = Read {
        key: &written.key,
        newer: &[],
        entries: &entries[..2],
        context: &entries[2..],
        viewer_id: "ada-id",
        templates: &written.templates,
        now: at(600),
    };
    let shown = rows::of(&read, 2);
    assert_eq!((shown.rows.len(), shown.changed), (2, None));
    assert_eq!(shown.rows[0].by, "Requested by ada (you)");
}

#[test]
fn another_maximum_and_owner_are_shown_in_words() {
    let request = json!({"action": "enrol", "user_id": "grace-id", "user_name": "grace",
                         "outcome": "accepted"});
    let differences = json!([
        {"field": "Maximum of gpu", "before": "3", "after": "5", "is_requested": true},
        {"field": "Owner", "before": "ada", "after": "grace-id", "is_requested": true},
        {"field": "Owner", "before": "grace-id", "after": "eve-id", "is_requested": true}]);
    let observed = json!({"status": "UPDATE_COMPLETE", "is_busy": false,
                          "differences": differences, "omitted": 7});
    let entries = [
        entry(2, JournalSource::Observation, &observed),
        entry(1, JournalSource::Request, &request),
    ];
    let rows = rows_of(&entries, &TemplateNames::default());
    assert_eq!(rows[0].title, "Maximum of gpu changed");
    assert_eq!(rows[0].by, "Another client of Magnum, outside of Portico");
    assert_eq!(
        rows[0].lines,
        [
            "Maximum of gpu: 3 → 5",
            "Owner: you → grace",
            "Owner: grace → the user with the ID eve-id",
            "7 further differences are not shown.",
        ]
    );
}

#[test]
fn a_deletion_names_what_the_user_has_accepted() {
    let title = |target: &str| {
        let request = RequestContent {
            action: "delete_cluster".to_owned(),
            target: target.to_owned(),
            user_id: "ada-id".to_owned(),
            user_name: "ada".to_owned(),
            request_id: None,
            reason: None,
            outcome: RequestOutcome::Accepted,
            answer: None,
        };
        rows::title(&request, &TemplateNames::default())
    };
    assert_eq!(title(""), "Delete the cluster");
    let options = DeletionOptions {
        services_first: true,
        claims_first: false,
        accepted_partial: vec!["Services were looked for in dev.".to_owned()],
    };
    assert_eq!(
        title(options.accepted().unwrap()),
        "Delete the cluster (accepted: Services of other namespaces may be left)"
    );
}
