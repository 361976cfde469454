use super::Database;
use super::fixtures::at;
use portico_store::{JournalKey, JournalSource, NewJournalEntry, NewJournalEvent, StoreError};
use uuid::Uuid;

pub fn key(cluster: u128) -> JournalKey {
    JournalKey {
        project_id: "acme".to_owned(),
        cluster: Uuid::from_u128(cluster),
    }
}

pub fn request(content: &str) -> NewJournalEntry {
    NewJournalEntry {
        source: JournalSource::Request,
        content: content.to_owned(),
    }
}

fn observation(content: &str) -> NewJournalEntry {
    NewJournalEntry {
        source: JournalSource::Observation,
        ..request(content)
    }
}

pub fn event(id: &str) -> NewJournalEvent {
    NewJournalEvent {
        id: id.to_owned(),
        entry: NewJournalEntry {
            source: JournalSource::Heat,
            ..request(id)
        },
    }
}

pub async fn entries_of_a_cluster_form_a_chain(database: &Database) {
    let journal = database.store.cluster_journal();
    let first = journal.append(&key(1), &request("1"), at(0)).await.unwrap();
    let second = journal.append(&key(1), &observation("2"), at(1)).await;
    let second = second.unwrap();
    assert_eq!((first.sequence, second.sequence), (1, 2));
    // another cluster, and the same one of another project, have journals of their own
    let other_project = JournalKey {
        project_id: "globex".to_owned(),
        ..key(1)
    };
    for other in [key(2), other_project] {
        let head = journal.append(&other, &request("x"), at(2)).await.unwrap();
        assert_eq!(head.sequence, 1);
        assert_eq!(journal.list(&other, None, 10).await.unwrap().len(), 1);
    }
    let entries = journal.list(&key(1), None, 10).await.unwrap();
    let shown: Vec<_> = entries
        .iter()
        .map(|entry| (entry.sequence, entry.content.as_str(), entry.source))
        .collect();
    assert_eq!(
        shown,
        [
            (2, "2", JournalSource::Observation),
            (1, "1", JournalSource::Request)
        ]
    );
    assert_eq!(entries[0].hash, second.hash);
    assert!(entries[1].follows(&key(1), ""));
    assert!(entries[0].follows(&key(1), &first.hash));
    let mut changed = entries[0].clone();
    changed.content = "3".to_owned();
    assert!(!changed.follows(&key(1), &first.hash));
    let older = journal.list(&key(1), Some(2), 10).await.unwrap();
    assert_eq!(older.len(), 1);
    assert_eq!(older[0].at, at(0));
}

pub async fn entries_appended_at_once_all_have_a_place(database: &Database) {
    let other = database.with_keys(&[1]).await;
    let appends = (0..20).map(|number| {
        let store = if number % 2 == 0 {
            &database.store
        } else {
            &other
        };
        async move {
            let entry = request(&number.to_string());
            let journal = store.cluster_journal();
            journal.append(&key(1), &entry, at(number)).await.unwrap();
        }
    });
    futures::future::join_all(appends).await;
    let journal = database.store.cluster_journal();
    let mut entries = journal.list(&key(1), None, 100).await.unwrap();
    entries.reverse();
    let sequences: Vec<_> = entries.iter().map(|entry| entry.sequence).collect();
    assert_eq!(sequences, (1..=20).collect::<Vec<_>>());
    let mut previous = String::new();
    for entry in entries {
        assert!(entry.follows(&key(1), &previous), "{entry:?}");
        previous = entry.hash;
    }
}

pub async fn of_two_replicas_one_records_a_difference(database: &Database) {
    let journal = database.store.cluster_journal();
    assert_eq!(journal.last_observation(&key(1)).await.unwrap(), None);
    // the first observation has nothing to be compared with
    let first = journal.observe(&key(1), 0, "a", None, at(0)).await.unwrap();
    let also = journal.observe(&key(1), 0, "a", None, at(0)).await.unwrap();
    assert!(first && !also);
    let last = journal.last_observation(&key(1)).await.unwrap().unwrap();
    assert_eq!((last.content.as_str(), last.revision), ("a", 1));
    assert_eq!(last.observed_at, at(0));
    let entry = observation("a to b");
    let other = database.with_keys(&[1]).await;
    let of_other = other.cluster_journal();
    let key_of_both = key(1);
    let (one, two) = futures::join!(
        journal.observe(&key_of_both, 1, "b", Some(&entry), at(5)),
        of_other.observe(&key_of_both, 1, "b", Some(&entry), at(5)),
    );
    assert_ne!(one.unwrap(), two.unwrap());
    let entries = journal.list(&key(1), None, 10).await.unwrap();
    assert_eq!(entries.len(), 1);
    let last = journal.last_observation(&key(1)).await.unwrap().unwrap();
    assert_eq!((last.content.as_str(), last.revision), ("b", 2));
}

pub async fn an_event_that_several_replicas_read_is_recorded_once(database: &Database) {
    let journal = database.store.cluster_journal();
    journal.append(&key(1), &request("1"), at(0)).await.unwrap();
    let other = database.with_keys(&[1]).await;
    let of_other = other.cluster_journal();
    let key_of_both = key(1);
    let (few, all) = ([event("a"), event("b")], ["a", "b", "c"].map(event));
    let (one, two) = futures::join!(
        journal.append_events(&key_of_both, &few, at(1)),
        of_other.append_events(&key_of_both, &all, at(1)),
    );
    assert_eq!(one.unwrap() + two.unwrap(), 3);
    let again = journal.append_events(&key(1), &all, at(2)).await.unwrap();
    assert_eq!(again, 0);
    // another cluster has events with the same IDs
    assert_eq!(
        journal.append_events(&key(2), &few, at(2)).await.unwrap(),
        2
    );
    journal.append(&key(1), &request("2"), at(3)).await.unwrap();
    let mut entries = journal.list(&key(1), None, 10).await.unwrap();
    entries.reverse();
    let mut previous = String::new();
    for (sequence, entry) in (1..).zip(&entries) {
        assert_eq!(entry.sequence, sequence);
        assert!(entry.follows(&key(1), &previous), "{entry:?}");
        previous.clone_from(&entry.hash);
    }
    assert_eq!(entries.len(), 5);
    let last = journal
        .last_events(&key(1), JournalSource::Heat, 2)
        .await
        .unwrap();
    assert_eq!(last, ["c", "b"]);
    let others = journal.list_without_events(&key(1), None, 10).await;
    let others: Vec<_> = others.unwrap().into_iter().map(|one| one.content).collect();
    assert_eq!(others, ["2", "1"]);
    let older = journal.list_without_events(&key(1), Some(5), 10).await;
    assert_eq!(older.unwrap().len(), 1);
}

pub async fn of_two_replicas_one_records_what_happened_to_nodes(database: &Database) {
    let journal = database.store.cluster_journal();
    assert_eq!(journal.last_nodes(&key(1)).await.unwrap(), None);
    let of_node = |id: &str| NewJournalEvent {
        id: id.to_owned(),
        entry: NewJournalEntry {
            source: JournalSource::Kubernetes,
            ..request(id)
        },
    };
    journal.observe(&key(1), 0, "a", None, at(0)).await.unwrap();
    let joined = [of_node("node-1"), of_node("node-2")];
    let other = database.with_keys(&[1]).await;
    let (key_of_both, of_other) = (key(1), other.cluster_journal());
    let (one, two) = futures::join!(
        journal.observe_nodes(&key_of_both, 0, "two nodes", &joined, at(5)),
        of_other.observe_nodes(&key_of_both, 0, "two nodes", &joined, at(5)),
    );
    assert_ne!(one.unwrap(), two.unwrap());
    let last = journal.last_nodes(&key(1)).await.unwrap().unwrap();
    assert_eq!((last.content.as_str(), last.revision), ("two nodes", 1));
    assert_eq!(last.observed_at, at(5));
    // the cluster has an observation and a revision of its own
    let cluster = journal.last_observation(&key(1)).await.unwrap().unwrap();
    assert_eq!((cluster.content.as_str(), cluster.revision), ("a", 1));
    journal.append(&key(1), &request("r"), at(6)).await.unwrap();
    journal
        .append_events(&key(1), &[event("h")], at(7))
        .await
        .unwrap();
    journal
        .append_events(&key(1), &[of_node("node-3")], at(8))
        .await
        .unwrap();
    let kubernetes = JournalSource::Kubernetes;
    let events = journal
        .list_events(&key(1), kubernetes, None, 2)
        .await
        .unwrap();
    let shown: Vec<_> = events
        .iter()
        .map(|one| (one.sequence, one.content.as_str()))
        .collect();
    assert_eq!(shown, [(5, "node-3"), (2, "node-2")]);
    let older = journal
        .list_events(&key(1), kubernetes, Some(2), 9)
        .await
        .unwrap();
    assert_eq!(older.len(), 1);
    for (since, count) in [(0, 3), (6, 1), (9, 0)] {
        let counted = journal.count_events(&key(1), kubernetes, at(since)).await;
        assert_eq!(counted.unwrap(), count);
    }
    let last = journal
        .last_events(&key(1), JournalSource::Heat, 9)
        .await
        .unwrap();
    assert_eq!(last, ["h"]);
    let all = journal.list(&key(1), None, 10).await.unwrap();
    assert!(
        all.windows(2)
            .all(|pair| pair[0].follows(&key(1), &pair[1].hash))
    );
}

pub async fn an_entry_that_is_too_large_is_refused(database: &Database) {
    let journal = database.store.cluster_journal();
    let large = request(&"x".repeat(16 * 1024 + 1));
    let error = journal.append(&key(1), &large, at(0)).await.unwrap_err();
    assert!(
        matches!(error, StoreError::JournalEntryTooLarge { .. }),
        "{error}"
    );
    assert!(journal.list(&key(1), None, 10).await.unwrap().is_empty());
}

pub async fn a_journal_is_stored_for_400_days_after_its_last_entry(database: &Database) {
    const DAY: i64 = 24 * 3600;
    let journal = database.store.cluster_journal();
    journal.append(&key(1), &request("1"), at(0)).await.unwrap();
    let later = at(300 * DAY);
    journal.append(&key(1), &request("2"), later).await.unwrap();
    database.store.sweep(at(699 * DAY)).await.unwrap();
    assert_eq!(journal.list(&key(1), None, 10).await.unwrap().len(), 2);
    database.store.sweep(at(700 * DAY)).await.unwrap();
    assert!(journal.list(&key(1), None, 10).await.unwrap().is_empty());
    assert_eq!(journal.last_observation(&key(1)).await.unwrap(), None);
}
