//! The feed of changes when Redis loses what it has acknowledged, and credentials that an attacker moves.
use super::database;
use super::raw::Raw;
use crate::suite::fixtures::{at, project, signed_in};
use portico_store::{ChangeKind, EndReason, NewSessionCredential, Session, Store, StoreError};
use secrecy::SecretString;

async fn ended(store: &Store, user: &str) -> Session {
    let (_, session) = signed_in(store, user).await;
    let sessions = store.sessions();
    sessions
        .end(session.id, EndReason::Revoked, at(3))
        .await
        .unwrap();
    session
}

#[tokio::test]
async fn a_reader_of_what_a_failover_lost_gets_an_error() {
    let database = database().await;
    let store = &database.store;
    let mut raw = Raw::connect(&database.url).await;
    let (feed, changes) = (raw.prefix.clone() + "feed", raw.prefix.clone() + "changes");
    ended(store, "ada").await;
    let kept = store.changes().position().await.unwrap();
    let replicated: String = raw.ask(&["GET", &feed]).await;
    ended(store, "devi").await;
    let read = store.changes().position().await.unwrap();
    // the control case: who has read up to a change that is still there misses nothing
    assert!(store.changes().since(kept).await.unwrap().complete);
    // the replica that takes over has never heard of the last change
    let _: i64 = raw.ask(&["ZREMRANGEBYRANK", &changes, "-1", "-1"]).await;
    let _: String = raw.ask(&["SET", &feed, &replicated]).await;
    assert!(!store.changes().since(read).await.unwrap().complete);
    let otto = ended(store, "otto").await;
    let news = store.changes().since(read).await.unwrap();
    assert!(!news.complete, "{news:?}");
    let news = store.changes().since(kept).await.unwrap();
    assert!(news.complete, "{news:?}");
    assert_eq!(news.changes.len(), 1);
    assert_eq!(news.changes[0].session, otto.id);
    let kind = ChangeKind::Ended(EndReason::Revoked);
    assert_eq!(news.changes[0].kind, kind);
}

#[tokio::test]
async fn the_feed_of_a_store_that_was_emptied_cannot_be_read() {
    let database = database().await;
    let changes = database.store.changes();
    let start = changes.position().await.unwrap();
    assert!(changes.since(start).await.is_ok());
    database.store.revert_all().await.unwrap();
    assert!(changes.position().await.is_err());
    assert!(changes.since(start).await.is_err());
}

#[tokio::test]
async fn attack_78_a_credential_that_was_given_to_another_session_is_refused() {
    let database = database().await;
    let store = &database.store;
    let (_, ada) = signed_in(store, "ada").await;
    let (_, mallory) = signed_in(store, "mallory").await;
    let credentials = store.session_credentials();
    for session in [&ada, &mallory] {
        let new = NewSessionCredential {
            session: session.id,
            user_id: session.user.id.clone(),
            project: project("acme"),
            credential_id: format!("of-{}", session.user.name),
            name: "portico".to_owned(),
            secret: SecretString::from("a-secret"),
            expires_at: at(8 * 3600),
        };
        assert!(credentials.store(&new, at(5)).await.unwrap());
    }
    let found = credentials.of_session(mallory.id, at(6)).await.unwrap();
    let hers = credentials.of_session(ada.id, at(6)).await.unwrap();
    let (own, hers) = (found.unwrap(), hers.unwrap());
    let mut raw = Raw::connect(&database.url).await;
    // the whole entry, in the place of mallory's own
    let (from, to) = (
        raw.key("credential", hers.id),
        raw.key("credential", own.id),
    );
    raw.copy(&from, &to).await;
    let moved = credentials.of_session(mallory.id, at(6)).await;
    assert!(matches!(moved, Err(StoreError::Moved { .. })), "{moved:?}");
    // and with mallory's session written into it
    let session = mallory.id.to_string();
    raw.set_field(&to, "session_id", &session).await;
    assert!(credentials.of_session(mallory.id, at(6)).await.is_err());
}
