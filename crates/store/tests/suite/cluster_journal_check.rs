//! What someone who can write to the database does to a journal, and how it is found.
use super::Database;
use super::cluster_journal::{event, key, request};
use super::fixtures::at;
use portico_store::{JournalFault, JournalMarks, check_journal};
use sqlx::{AnyConnection, Connection as _, Executor as _};

/// Writes five entries; returns those that the audit log names, the second and the fifth.
async fn written(database: &Database) -> JournalMarks {
    let journal = database.store.cluster_journal();
    let mut marks = JournalMarks::new();
    for number in 1..=4 {
        let entry = request(&number.to_string());
        let head = journal.append(&key(1), &entry, at(number)).await.unwrap();
        if number == 2 {
            marks.insert(head.sequence, head.hash);
        }
        if number == 3 {
            journal
                .append_events(&key(1), &[event("e")], at(3))
                .await
                .unwrap();
        }
    }
    let head = journal.head(&key(1)).await.unwrap().unwrap();
    marks.insert(head.sequence, head.hash);
    marks
}

async fn tamper(database: &Database, statement: &str) {
    let mut connection = AnyConnection::connect(&database.url).await.unwrap();
    connection.execute(statement).await.unwrap();
    connection.close().await.unwrap();
}

async fn fault(database: &Database, marks: &JournalMarks) -> Option<JournalFault> {
    let journal = database.store.cluster_journal();
    let check = check_journal(journal, &key(1), marks).await.unwrap();
    check.fault
}

pub async fn a_journal_agrees_with_the_entries_that_the_audit_log_names(database: &Database) {
    let marks = written(database).await;
    let journal = database.store.cluster_journal();
    let check = check_journal(journal, &key(1), &marks).await.unwrap();
    assert_eq!((check.entries, check.agreeing, check.fault), (5, 2, None));
    // what has never been written is no fault
    assert_eq!(fault(database, &JournalMarks::new()).await, None);
    let other = check_journal(journal, &key(7), &JournalMarks::new()).await;
    assert_eq!(other.unwrap().entries, 0);
    journal.append(&key(2), &request("x"), at(9)).await.unwrap();
    let first = journal.journals(None, 1).await.unwrap();
    assert_eq!(first, [key(1)]);
    assert_eq!(journal.journals(first.first(), 9).await.unwrap(), [key(2)]);
    assert!(journal.journals(Some(&key(2)), 9).await.unwrap().is_empty());
}

pub async fn a_journal_that_was_cut_at_its_end_is_found(database: &Database) {
    let marks = written(database).await;
    tamper(
        database,
        "DELETE FROM cluster_journal_entries WHERE sequence >= 4",
    )
    .await;
    let cut = Some(JournalFault::CutOff { through: 5 });
    assert_eq!(fault(database, &marks).await, cut);
    // with its head, of which only the audit log knows
    let journal = database.store.cluster_journal();
    let third = journal.list(&key(1), None, 1).await.unwrap().remove(0);
    let head = format!(
        "UPDATE cluster_journal_heads SET sequence = 3, hash = '{}'",
        third.hash
    );
    tamper(database, &head).await;
    assert_eq!(fault(database, &marks).await, cut);
    assert_eq!(fault(database, &JournalMarks::new()).await, None);
    // and after new entries in the place of the old ones
    for number in 4..=6 {
        journal
            .append(&key(1), &request("new"), at(number))
            .await
            .unwrap();
    }
    let other = Some(JournalFault::NotAsNamed { sequence: 5 });
    assert_eq!(fault(database, &marks).await, other);
    tamper(database, "DELETE FROM cluster_journal_entries").await;
    tamper(database, "DELETE FROM cluster_journal_heads").await;
    let gone = Some(JournalFault::Gone { named: 5 });
    assert_eq!(fault(database, &marks).await, gone);
}

pub async fn an_entry_of_a_journal_that_was_changed_or_removed_is_found(database: &Database) {
    let marks = written(database).await;
    tamper(
        database,
        "UPDATE cluster_journal_entries SET content = 'other' WHERE sequence = 1",
    )
    .await;
    let changed = Some(JournalFault::Changed { sequence: 1 });
    assert_eq!(fault(database, &marks).await, changed);
    tamper(
        database,
        "DELETE FROM cluster_journal_entries WHERE sequence = 3",
    )
    .await;
    let missing = Some(JournalFault::Missing { sequence: 3 });
    assert_eq!(fault(database, &marks).await, missing);
    // the oldest ones, of a journal that is not full
    tamper(
        database,
        "DELETE FROM cluster_journal_entries WHERE sequence <= 3",
    )
    .await;
    assert_eq!(fault(database, &marks).await, missing);
}
