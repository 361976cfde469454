use super::*;
use portico_store::KeyRing;

pub async fn store(directory: &tempfile::TempDir) -> Store {
    let url = format!("sqlite://{}", directory.path().join("portico.db").display());
    let keys = KeyRing::random().unwrap();
    let store = Store::connect(&url, 2, keys).await.unwrap();
    store.migrate(jiff::Timestamp::UNIX_EPOCH).await.unwrap();
    store
}

fn observed(status: &str) -> Observation {
    serde_json::from_value(serde_json::json!({"status": status, "template": "t1"})).unwrap()
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

#[tokio::test]
async fn two_replicas_record_each_difference_once() {
    let directory = tempfile::tempdir().unwrap();
    let store = store(&directory).await;
    let key = JournalKey {
        project_id: "acme".to_owned(),
        cluster: Uuid::from_u128(1),
    };
    let replicas = [0, 1].map(|_| Journal::new(Some(store.clone())));
    for (second, status) in [
        (0, "CREATE_IN_PROGRESS"),
        (2, "CREATE_IN_PROGRESS"),
        (4, "CREATE_COMPLETE"),
    ] {
        for replica in &replicas {
            replica.observe(&key, observed(status), at(second)).await;
        }
    }
    replicas[0].observe_gone(&key, at(60)).await;
    replicas[1].observe_gone(&key, at(61)).await;
    let entries = store.cluster_journal().list(&key, None, 10).await.unwrap();
    let states: Vec<_> = entries
        .iter()
        .rev()
        .map(|entry| {
            let content: ObservationContent = serde_json::from_str(&entry.content).unwrap();
            (content.status, content.since.is_some())
        })
        .collect();
    assert_eq!(
        states,
        [
            ("CREATE_IN_PROGRESS".to_owned(), false),
            ("CREATE_COMPLETE".to_owned(), true),
            ("DELETE_COMPLETE".to_owned(), true)
        ]
    );
}

#[tokio::test]
async fn an_old_observation_does_not_replace_a_newer_one() {
    let directory = tempfile::tempdir().unwrap();
    let store = store(&directory).await;
    let key = JournalKey {
        project_id: "acme".to_owned(),
        cluster: Uuid::from_u128(1),
    };
    let [slow, fast] = [0, 1].map(|_| Journal::new(Some(store.clone())));
    fast.observe(&key, observed("CREATE_COMPLETE"), at(9)).await;
    slow.observe(&key, observed("CREATE_IN_PROGRESS"), at(7))
        .await;
    let last = store.cluster_journal().last_observation(&key).await;
    let last = last.unwrap().unwrap();
    assert_eq!(last.revision, 1);
    assert!(last.content.contains("CREATE_COMPLETE"));
}

#[tokio::test]
async fn what_an_earlier_version_did_not_observe_is_no_difference_after_the_update() {
    let directory = tempfile::tempdir().unwrap();
    let store = store(&directory).await;
    let key = JournalKey {
        project_id: "acme".to_owned(),
        cluster: Uuid::from_u128(1),
    };
    let old = r#"{"status": "CREATE_COMPLETE", "template": "t1", "groups":
        {"gpu": {"status": "CREATE_COMPLETE", "nodes": 2, "flavor": "g1"}}}"#;
    let stored = store.cluster_journal().observe(&key, 0, old, None, at(0));
    assert!(stored.await.unwrap());
    let of = |max: &str, owner: &str| {
        let mut observation: Observation = serde_json::from_str(old).unwrap();
        observation.record.value("owner", Some(owner));
        let groups = observation.groups.as_mut().unwrap();
        let gpu = groups.get_mut("gpu").unwrap();
        gpu.record.value("max", Some(max));
        observation
    };
    let journal = Journal::new(Some(store.clone()));
    journal.observe(&key, of("3", "ada-id"), at(15)).await;
    let list = || store.cluster_journal().list(&key, None, 10);
    assert!(list().await.unwrap().is_empty());
    journal.observe(&key, of("5", "grace-id"), at(30)).await;
    let entries = list().await.unwrap();
    let content: ObservationContent = serde_json::from_str(&entries[0].content).unwrap();
    let fields: Vec<_> = content
        .differences
        .iter()
        .map(|one| one.field.as_str())
        .collect();
    assert_eq!(
        (entries.len(), fields),
        (1, vec!["Maximum of gpu", "Owner"])
    );
    assert_eq!(content.since, Some(at(15).as_second()));
}

#[tokio::test]
async fn without_a_sql_database_nothing_is_recorded() {
    let journal = Journal::new(None);
    let key = JournalKey {
        project_id: "acme".to_owned(),
        cluster: Uuid::from_u128(1),
    };
    journal
        .observe(&key, observed("CREATE_COMPLETE"), at(0))
        .await;
    assert!(journal.store().is_none());
}
