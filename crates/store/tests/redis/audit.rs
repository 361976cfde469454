//! What an attacker who has the password of Redis does to the audit log, and how it is found.
use super::database;
use super::raw::Raw;
use crate::suite::Database;
use crate::suite::audit::{append, event, newest};
use crate::suite::fixtures::at;
use portico_store::{AuditFilter, BreakKind};

async fn first_break(database: &Database) -> (i64, BreakKind) {
    let report = database.store.audit().verify(None).await.unwrap();
    let found = report.first_break.expect("a break");
    (found.sequence, found.kind)
}

/// Five entries, and the keys of them, the oldest first.
async fn five(database: &Database) -> (Raw, Vec<String>) {
    append(&database.store, 5).await;
    let raw = Raw::connect(&database.url).await;
    let keys = newest(&database.store, 10).await;
    let keys = keys.iter().rev().map(|one| raw.key("event", one.id));
    let keys = keys.collect();
    (raw, keys)
}

#[tokio::test]
async fn finding_o5_an_altered_entry_is_found() {
    let database = database().await;
    let (mut raw, keys) = five(&database).await;
    raw.set_field(&keys[2], "outcome", "succeeded").await;
    assert_eq!(first_break(&database).await, (3, BreakKind::Altered));
}

#[tokio::test]
async fn finding_o5_a_removed_entry_is_found() {
    let database = database().await;
    let (mut raw, keys) = five(&database).await;
    let _: i64 = raw.ask(&["DEL", &keys[2]]).await;
    assert_eq!(first_break(&database).await, (3, BreakKind::Missing));
}

#[tokio::test]
async fn finding_o5_swapped_entries_are_found() {
    let database = database().await;
    let (mut raw, keys) = five(&database).await;
    let index = format!("{}audit_sequence", raw.prefix);
    for (key, place) in [(&keys[1], "4"), (&keys[3], "2")] {
        raw.set_field(key, "sequence", place).await;
        let id = key.rsplit(':').next().unwrap();
        let _: i64 = raw.ask(&["ZADD", &index, place, id]).await;
    }
    assert_eq!(first_break(&database).await, (2, BreakKind::Altered));
}

#[tokio::test]
async fn finding_o5_a_cut_end_is_found_now_and_later() {
    let database = database().await;
    let (mut raw, keys) = five(&database).await;
    let index = format!("{}audit_sequence", raw.prefix);
    for key in &keys[3..] {
        let id = key.rsplit(':').next().unwrap();
        let _: i64 = raw.ask(&["ZREM", &index, id]).await;
        let _: i64 = raw.ask(&["DEL", key]).await;
    }
    let third = raw.hash(&keys[2]).await;
    let head = format!("{}audit_chain", raw.prefix);
    raw.set_field(&head, "sequence", "3").await;
    raw.set_field(&head, "hash", &third["hash"]).await;
    assert_eq!(first_break(&database).await, (3, BreakKind::HeadChanged));
    let after = event("after", "ada");
    database.store.audit().append(&after, at(9)).await.unwrap();
    let (sequence, kind) = first_break(&database).await;
    assert_eq!(sequence, 4);
    assert!(matches!(kind, BreakKind::Noted(_)), "{kind}");
}

#[tokio::test]
async fn audit_entries_of_an_earlier_version_join_the_chain() {
    let database = database().await;
    append(&database.store, 1).await;
    let mut raw = Raw::connect(&database.url).await;
    for (id, millis) in [
        ("00000000-0000-4000-8000-000000000002", "1800000003000"),
        ("00000000-0000-4000-8000-000000000001", "1800000002000"),
    ] {
        let key = raw.key("event", id);
        let fields = [
            "HSET",
            &key,
            "id",
            id,
            "at_millis",
            millis,
            "user_id",
            "ada",
            "action",
            "session.end",
            "target",
            "",
            "outcome",
            "succeeded",
            "detail",
            "null",
            "bound",
            "x",
        ];
        let _: i64 = raw.ask(&fields).await;
        for index in ["audit", "audit_user:ada"] {
            let index = format!("{}{index}", raw.prefix);
            let _: i64 = raw.ask(&["ZADD", &index, millis, id]).await;
        }
    }
    let audit = database.store.audit();
    let report = audit.verify(None).await.unwrap();
    assert_eq!((report.verified, report.unchained), (1, 2));
    assert_eq!(audit.adopt(at(60)).await.unwrap(), 2);
    let report = audit.verify(None).await.unwrap();
    assert_eq!((report.verified, report.unchained), (3, 0));
    assert_eq!((report.adopted, report.first_break), (2, None));
    let of_ada = AuditFilter {
        user_id: Some("ada".to_owned()),
        ..AuditFilter::default()
    };
    let listed = audit.list(&of_ada, 10).await.unwrap();
    let times: Vec<_> = listed.iter().map(|one| one.at).collect();
    assert_eq!(times, [at(3), at(2), at(1)]);
    // nothing is left in that version's indexes
    for index in ["audit", "audit_user:ada"] {
        let index = format!("{}{index}", raw.prefix);
        let left: i64 = raw.ask(&["ZCARD", &index]).await;
        assert_eq!(left, 0, "{index}");
    }
}
