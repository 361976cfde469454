//! What an attacker who can write to the database does, and how it is found: on SQL databases.
//! Redis has counterparts in `redis/audit.rs`.
use super::Database;
use super::audit::{append, event, newest};
use super::fixtures::at;
use portico_store::{AuditFilter, BreakKind, ChainReport};
use sqlx::{AnyConnection, Connection as _, Executor as _};

/// Runs statements with the trigger out of the way, as the owner of the tables may.
async fn tamper(database: &Database, statements: &[&str]) {
    let mut connection = AnyConnection::connect(&database.url).await.unwrap();
    let drop = if database.url.starts_with("postgres") {
        "DROP TRIGGER IF EXISTS audit_events_unchangeable ON audit_events"
    } else {
        "DROP TRIGGER IF EXISTS audit_events_unchangeable"
    };
    for statement in [drop].iter().chain(statements) {
        connection.execute(*statement).await.unwrap();
    }
    connection.close().await.unwrap();
}

async fn verified(database: &Database) -> ChainReport {
    database.store.audit().verify(None).await.unwrap()
}

async fn first_break(database: &Database) -> (i64, BreakKind) {
    let found = verified(database).await.first_break.expect("a break");
    (found.sequence, found.kind)
}

pub async fn events_cannot_be_changed(database: &Database) {
    append(&database.store, 1).await;
    let mut connection = AnyConnection::connect(&database.url).await.unwrap();
    for change in [
        "UPDATE audit_events SET outcome = 'succeeded'",
        "UPDATE audit_events SET sequence = 7",
    ] {
        let changed = connection.execute(change).await;
        let message = changed.unwrap_err().to_string();
        assert!(message.contains("cannot be changed"), "{message}");
    }
}

pub async fn finding_o5_an_altered_entry_is_found(database: &Database) {
    append(&database.store, 5).await;
    tamper(
        database,
        &["UPDATE audit_events SET outcome = 'succeeded' WHERE sequence = 3"],
    )
    .await;
    assert_eq!(first_break(database).await, (3, BreakKind::Altered));
    let listed = newest(&database.store, 10).await;
    let marked: Vec<bool> = listed
        .iter()
        .map(|one| one.event.detail["unverified"].is_string())
        .collect();
    assert_eq!(marked, [false, false, true, false, false]);
}

pub async fn finding_o5_a_removed_entry_is_found(database: &Database) {
    append(&database.store, 5).await;
    tamper(database, &["DELETE FROM audit_events WHERE sequence = 3"]).await;
    assert_eq!(first_break(database).await, (3, BreakKind::Missing));
}

pub async fn finding_o5_swapped_entries_are_found(database: &Database) {
    append(&database.store, 5).await;
    tamper(
        database,
        &[
            "UPDATE audit_events SET sequence = 99 WHERE sequence = 2",
            "UPDATE audit_events SET sequence = 2 WHERE sequence = 4",
            "UPDATE audit_events SET sequence = 4 WHERE sequence = 99",
        ],
    )
    .await;
    assert_eq!(first_break(database).await, (2, BreakKind::Altered));
}

/// The last entries are cut off, and the head is set back to what it was then; the seal is the
/// newest one, since no other was ever visible.
pub async fn finding_o5_a_cut_end_is_found_now_and_later(database: &Database) {
    append(&database.store, 5).await;
    tamper(
        database,
        &[
            "DELETE FROM audit_events WHERE sequence > 3",
            "UPDATE audit_chain SET sequence = 3,
                 hash = (SELECT hash FROM audit_events WHERE sequence = 3)",
        ],
    )
    .await;
    assert_eq!(first_break(database).await, (3, BreakKind::HeadChanged));
    // entries are still taken, and the break is not covered up by them
    let after = event("after", "ada");
    database.store.audit().append(&after, at(9)).await.unwrap();
    let (sequence, kind) = first_break(database).await;
    assert_eq!(sequence, 4);
    assert!(matches!(kind, BreakKind::Noted(_)), "{kind}");
    let newest = newest(&database.store, 2).await;
    let newest: Vec<_> = newest
        .iter()
        .map(|one| (one.event.action.as_str(), one.at))
        .collect();
    assert_eq!(newest, [("after", at(9)), ("audit.break", at(9))]);
}

pub async fn finding_o5_a_cut_beginning_is_found(database: &Database) {
    append(&database.store, 5).await;
    tamper(
        database,
        &[
            "UPDATE audit_chain SET start_sequence = 2,
                 start_hash = (SELECT hash FROM audit_events WHERE sequence = 2)",
            "DELETE FROM audit_events WHERE sequence <= 2",
        ],
    )
    .await;
    assert_eq!(first_break(database).await, (5, BreakKind::HeadChanged));
    // retention does not seal it either
    database.store.audit().trim(at(0), at(6)).await.unwrap();
    database.store.audit().adopt(at(6)).await.unwrap();
    let (_, kind) = first_break(database).await;
    assert!(matches!(kind, BreakKind::Noted(_)), "{kind}");
}

pub async fn audit_head_that_was_removed_loses_no_entry(database: &Database) {
    append(&database.store, 3).await;
    tamper(database, &["DELETE FROM audit_chain"]).await;
    assert_eq!(first_break(database).await, (0, BreakKind::NoHead));
    append(&database.store, 1).await;
    let listed = newest(&database.store, 10).await;
    let listed: Vec<i64> = listed.iter().map(|one| one.sequence).collect();
    assert_eq!(listed, [5, 4, 3, 2, 1]);
    let (sequence, kind) = first_break(database).await;
    assert_eq!(sequence, 4);
    assert!(matches!(kind, BreakKind::Noted(_)), "{kind}");
}

/// What the version before the chain does while it runs beside this one.
pub async fn audit_entries_of_an_earlier_version_join_the_chain(database: &Database) {
    append(&database.store, 1).await;
    let mut connection = AnyConnection::connect(&database.url).await.unwrap();
    for id in [
        "00000000-0000-4000-8000-000000000001",
        "00000000-0000-4000-8000-000000000002",
    ] {
        let insert = format!(
            "INSERT INTO audit_events (
                 id, at_millis, request_id, session_id, user_id, user_name, project_id, action,
                 target, outcome, detail
             )
             VALUES ('{id}', 1800000002000, NULL, NULL, 'ada', NULL, NULL, 'session.end', '',
                 'succeeded', 'null')"
        );
        connection.execute(insert.as_str()).await.unwrap();
    }
    let audit = database.store.audit();
    let report = verified(database).await;
    assert_eq!((report.verified, report.unchained), (1, 2));
    assert_eq!(report.first_break, None);
    assert_eq!(audit.adopt(at(60)).await.unwrap(), 2);
    assert_eq!(audit.adopt(at(61)).await.unwrap(), 0);
    let report = verified(database).await;
    assert_eq!((report.verified, report.unchained), (3, 0));
    assert_eq!((report.adopted, report.first_break), (2, None));
    let listed = audit.list(&AuditFilter::default(), 1).await.unwrap();
    assert_eq!(listed[0].adopted_at, Some(at(60)));
    tamper(
        database,
        &["UPDATE audit_events SET adopted_millis = NULL WHERE sequence = 2"],
    )
    .await;
    assert_eq!(first_break(database).await, (2, BreakKind::Altered));
}
