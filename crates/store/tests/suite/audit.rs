use super::fixtures::at;
use super::{Database, keys};
use portico_store::{AuditEvent, AuditFilter, ChainMark, NewAuditEvent, Outcome, Store};
use std::collections::BTreeSet;
use uuid::Uuid;

pub fn event(action: &str, user: &str) -> NewAuditEvent {
    NewAuditEvent {
        request_id: Some(Uuid::new_v4()),
        user_id: Some(user.to_owned()),
        user_name: Some(user.to_uppercase()),
        project_id: Some("p1".to_owned()),
        cluster_id: Some("c1".to_owned()),
        detail: serde_json::json!({ "reason": "no role" }),
        ..NewAuditEvent::new(action, Outcome::Denied)
    }
}

/// Appends so many entries, one a second from second 1 on.
pub async fn append(store: &Store, count: i64) {
    for second in 1..=count {
        let event = event(&format!("event.{second}"), "ada");
        store.audit().append(&event, at(second)).await.unwrap();
    }
}

pub async fn newest(store: &Store, limit: i64) -> Vec<AuditEvent> {
    let all = AuditFilter::default();
    store.audit().list(&all, limit).await.unwrap()
}

pub async fn events_are_listed_newest_first(database: &Database) {
    let audit = database.store.audit();
    for (second, user) in [(1, "ada"), (2, "devi"), (3, "ada")] {
        let event = event(&format!("event {second}"), user);
        audit.append(&event, at(second)).await.unwrap();
    }
    let all = audit.list(&AuditFilter::default(), 10).await.unwrap();
    let actions: Vec<_> = all.iter().map(|one| one.event.action.as_str()).collect();
    assert_eq!(actions, ["event 3", "event 2", "event 1"]);
    assert_eq!(all[0].event.detail["reason"], "no role");
    assert_eq!(all[0].event.outcome, Outcome::Denied);
    assert_eq!(all[0].sequence, 3);
    let of_ada = AuditFilter {
        user_id: Some("ada".to_owned()),
        since: Some(at(2)),
        ..AuditFilter::default()
    };
    assert_eq!(audit.list(&of_ada, 10).await.unwrap().len(), 1);
}

pub async fn audit_filters_are_all_applied(database: &Database) {
    let audit = database.store.audit();
    let session = Uuid::new_v4();
    let one = NewAuditEvent {
        session: Some(session),
        outcome: Outcome::Failed,
        ..event("session.sign_in", "ada")
    };
    audit.append(&one, at(1)).await.unwrap();
    let mut other = event("session", "devi");
    other.target = "shop/pods/web to 3".to_owned();
    other.project_id = Some("p2".to_owned());
    other.cluster_id = None;
    audit.append(&other, at(2)).await.unwrap();
    audit
        .append(&event("sessions", "ada"), at(3))
        .await
        .unwrap();

    let all = AuditFilter::default;
    let text = |text: &str| Some(text.to_owned());
    for (filter, expected) in [
        (all(), &[3, 2, 1][..]),
        (
            AuditFilter {
                user_id: text("ada"),
                ..all()
            },
            &[3, 1],
        ),
        (
            AuditFilter {
                user: text("Devi"),
                ..all()
            },
            &[2],
        ),
        (
            AuditFilter {
                user: text("devi"),
                ..all()
            },
            &[2],
        ),
        (
            AuditFilter {
                session: Some(session),
                ..all()
            },
            &[1],
        ),
        (
            AuditFilter {
                project_id: text("p1"),
                ..all()
            },
            &[3, 1],
        ),
        (
            AuditFilter {
                cluster_id: text("c1"),
                ..all()
            },
            &[3, 1],
        ),
        (
            AuditFilter {
                action: text("session"),
                ..all()
            },
            &[2, 1],
        ),
        (
            AuditFilter {
                action: text("session.sign_in"),
                ..all()
            },
            &[1],
        ),
        (
            AuditFilter {
                action: text("s%"),
                ..all()
            },
            &[],
        ),
        (
            AuditFilter {
                target: text("shop/pods/web"),
                ..all()
            },
            &[2],
        ),
        (
            AuditFilter {
                target: text("shop/pods/we"),
                ..all()
            },
            &[],
        ),
        (
            AuditFilter {
                outcome: Some(Outcome::Failed),
                ..all()
            },
            &[1],
        ),
        (
            AuditFilter {
                since: Some(at(2)),
                until: Some(at(3)),
                ..all()
            },
            &[2],
        ),
        (
            AuditFilter {
                before: Some(3),
                ..all()
            },
            &[2, 1],
        ),
        (
            AuditFilter {
                after: Some(1),
                ..all()
            },
            &[3, 2],
        ),
        (
            AuditFilter {
                user_id: text("ada"),
                project_id: text("p2"),
                ..all()
            },
            &[],
        ),
    ] {
        let found = audit.list(&filter, 10).await.unwrap();
        let found: Vec<i64> = found.iter().map(|one| one.sequence).collect();
        assert_eq!(found, expected, "{filter:?}");
    }
    let limited = audit.list(&all(), 2).await.unwrap();
    assert_eq!(limited.len(), 2);
    let forward = AuditFilter {
        after: Some(1),
        ..all()
    };
    let forward = audit.list_forward(&forward, 1).await.unwrap();
    assert_eq!(forward[0].sequence, 2);
}

pub async fn finding_o5_retention_leaves_a_log_that_verifies(database: &Database) {
    let audit = database.store.audit();
    append(&database.store, 6).await;
    let before = audit.verify(None).await.unwrap();
    assert_eq!((before.verified, &before.first_break), (6, &None));
    assert_eq!(audit.size().await.unwrap().oldest, Some(at(1)));

    assert_eq!(audit.trim(at(4), at(8)).await.unwrap(), 3);
    let after = audit.verify(Some(&before.head)).await.unwrap();
    assert_eq!(after.first_break, None);
    assert_eq!((after.verified, after.removed_through), (3, 3));
    let size = audit.size().await.unwrap();
    assert_eq!((size.entries, size.oldest), (3, Some(at(4))));
    let left = audit.list(&AuditFilter::default(), 10).await.unwrap();
    let left: Vec<i64> = left.iter().map(|one| one.sequence).collect();
    assert_eq!(left, [6, 5, 4]);

    // what is appended afterwards continues the chain, and everything may go
    append(&database.store, 1).await;
    assert_eq!(audit.trim(at(100), at(100)).await.unwrap(), 4);
    append(&database.store, 2).await;
    let report = audit.verify(None).await.unwrap();
    assert_eq!((report.verified, report.first_break), (2, None));
    assert_eq!(report.head.sequence, 9);
    assert_eq!(audit.trim(at(0), at(8)).await.unwrap(), 0);
}

pub async fn finding_o5_writers_at_once_make_one_chain(database: &Database) {
    const WRITERS: usize = 4;
    const EACH: usize = 25;
    let mut stores = vec![database.store.clone()];
    for _ in 1..WRITERS {
        // a process of its own, with its own queue
        stores.push(Store::connect(&database.url, 2, keys(&[1])).await.unwrap());
    }
    let writes = stores.iter().enumerate().flat_map(|(writer, store)| {
        (0..EACH).map(move |number| async move {
            let event = event(&format!("event.{writer}.{number}"), "ada");
            store.audit().append(&event, at(1)).await.unwrap();
        })
    });
    // retention at the same time must not fork the chain
    let trims = async {
        for _ in 0..3 {
            database.store.audit().trim(at(0), at(8)).await.unwrap();
        }
    };
    futures::future::join(futures::future::join_all(writes), trims).await;
    let all = newest(&stores[1], 1_000).await;
    let actions: BTreeSet<&str> = all.iter().map(|one| one.event.action.as_str()).collect();
    assert_eq!(actions.len(), WRITERS * EACH, "an entry is lost");
    let report = database.store.audit().verify(None).await.unwrap();
    assert_eq!(report.first_break, None);
    assert_eq!(report.verified, (WRITERS * EACH) as u64);
    assert_eq!(report.head.sequence, 100);
}

pub async fn audit_entry_is_stored_though_its_request_is_given_up(database: &Database) {
    let audit = database.store.audit();
    {
        let event = event("left.early", "ada");
        let mut append = Box::pin(audit.append(&event, at(1)));
        // polled once and dropped, as a handler is when its client leaves
        assert!(futures::poll!(&mut append).is_pending());
    }
    audit.append(&event("after", "ada"), at(2)).await.unwrap();
    let all = audit.list(&AuditFilter::default(), 10).await.unwrap();
    let actions: Vec<_> = all.iter().map(|one| one.event.action.as_str()).collect();
    assert_eq!(actions, ["after", "left.early"]);
}

pub async fn audit_entry_that_a_database_would_refuse_is_adapted(database: &Database) {
    let audit = database.store.audit();
    let long = NewAuditEvent {
        target: "x".repeat(100_000),
        detail: serde_json::json!({ "reason": "y".repeat(100_000) }),
        ..event("with\0nul", "a\0da")
    };
    audit.append(&long, at(1)).await.unwrap();
    let all = audit.list(&AuditFilter::default(), 10).await.unwrap();
    assert_eq!(all[0].event.action, "with\u{fffd}nul");
    assert_eq!(all[0].event.target.len(), 1_000);
    assert!(all[0].event.detail["omitted_bytes"].is_number());
    assert_eq!(audit.verify(None).await.unwrap().first_break, None);
}

pub async fn audit_chain_outlives_its_keys(database: &Database) {
    append(&database.store, 2).await;
    let rotated = database.with_keys(&[2, 1]).await;
    // a running gateway seals the head anew
    rotated.audit().adopt(at(3)).await.unwrap();
    let new_only = database.with_keys(&[2]).await;
    let report = new_only.audit().verify(None).await.unwrap();
    assert_eq!(report.first_break, None);
    assert_eq!((report.verified, report.unknown_key), (2, 2));
    append(&new_only, 1).await;
    let report = new_only.audit().verify(None).await.unwrap();
    assert_eq!((report.verified, report.first_break), (3, None));
    // with other keys nothing can be verified, and the result is so
    let stranger = database.with_keys(&[9]).await;
    let report = stranger.audit().verify(None).await.unwrap();
    let message = report.first_break.unwrap().kind.to_string();
    assert!(message.contains("key that is not configured"), "{message}");
}

pub async fn audit_head_that_was_noted_must_stay_in_the_chain(database: &Database) {
    let audit = database.store.audit();
    append(&database.store, 3).await;
    let noted = audit.verify(None).await.unwrap().head;
    append(&database.store, 2).await;
    assert_eq!(audit.verify(Some(&noted)).await.unwrap().first_break, None);
    let other = ChainMark {
        hash: "another".to_owned(),
        ..noted.clone()
    };
    let report = audit.verify(Some(&other)).await.unwrap();
    assert_eq!(report.first_break.unwrap().sequence, 3);
    let later = ChainMark {
        sequence: 99,
        ..noted
    };
    let report = audit.verify(Some(&later)).await.unwrap();
    assert_eq!(report.first_break.unwrap().sequence, 99);
}
