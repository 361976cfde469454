use super::Database;
use super::fixtures::at;
use portico_store::{AuditFilter, NewAuditEvent, Outcome};
use sqlx::{AnyConnection, Connection as _, Executor as _};
use uuid::Uuid;

fn event(action: &str, user: &str) -> NewAuditEvent {
    NewAuditEvent {
        request_id: Some(Uuid::new_v4()),
        user_id: Some(user.to_owned()),
        detail: serde_json::json!({ "reason": "no role" }),
        ..NewAuditEvent::new(action, Outcome::Denied)
    }
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
    let of_ada = AuditFilter {
        user_id: Some("ada".to_owned()),
        since: Some(at(2)),
        ..AuditFilter::default()
    };
    assert_eq!(audit.list(&of_ada, 10).await.unwrap().len(), 1);
    let deleted = database.store.delete_audit_before(at(2)).await.unwrap();
    assert_eq!(deleted, 1);
}

pub async fn events_cannot_be_changed(database: &Database) {
    database
        .store
        .audit()
        .append(&event("session.sign_in", "ada"), at(1))
        .await
        .unwrap();
    let mut connection = AnyConnection::connect(&database.url).await.unwrap();
    let changed = connection
        .execute("UPDATE audit_events SET outcome = 'succeeded'")
        .await;
    let message = changed.unwrap_err().to_string();
    assert!(message.contains("cannot be changed"), "{message}");
}
