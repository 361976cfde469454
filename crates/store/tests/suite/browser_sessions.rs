use super::Database;
use super::fixtures::at;
use portico_store::{
    BrowserSession, BrowserSessionCreation, MAX_BROWSER_SESSION_BYTES, Store, StoreError,
};
use secrecy::{ExposeSecret as _, SecretString};

const MAX_SESSIONS: u32 = 10;

fn state(data: &str, ends: i64) -> BrowserSession {
    BrowserSession {
        data: SecretString::from(data),
        expires_at: at(ends),
    }
}

async fn created(store: &Store, id: &str, data: &str, second: i64) -> BrowserSessionCreation {
    let new = state(data, 600);
    let created = store
        .browser_sessions()
        .create(id, &new, MAX_SESSIONS, at(second));
    created.await.unwrap()
}

async fn data(store: &Store, id: &str, second: i64) -> Option<String> {
    let found = store.browser_sessions().find(id, at(second)).await.unwrap();
    found.map(|found| found.data.expose_secret().to_owned())
}

pub async fn a_browser_session_is_found_by_its_id_until_it_expires(database: &Database) {
    let store = &database.store;
    let outcome = created(store, "one", "{}", 0).await;
    assert_eq!(outcome, BrowserSessionCreation::Created);
    assert_eq!(data(store, "one", 599).await.as_deref(), Some("{}"));
    assert_eq!(data(store, "other", 1).await, None);
    assert_eq!(data(store, "one", 600).await, None);
    let sessions = store.browser_sessions();
    let later = state("{\"a\":1}", 1200);
    assert!(sessions.save("one", &later, at(1)).await.unwrap());
    assert_eq!(data(store, "one", 1199).await.as_deref(), Some("{\"a\":1}"));
    // what has expired is not stored again
    assert!(!sessions.save("one", &later, at(1200)).await.unwrap());
}

pub async fn a_deleted_browser_session_does_not_come_back(database: &Database) {
    let store = &database.store;
    created(store, "one", "{}", 0).await;
    let sessions = store.browser_sessions();
    assert!(sessions.delete("one").await.unwrap());
    assert!(!sessions.delete("one").await.unwrap());
    assert!(
        !sessions
            .save("one", &state("{}", 600), at(1))
            .await
            .unwrap()
    );
    assert_eq!(data(store, "one", 1).await, None);
}

pub async fn an_id_belongs_to_one_browser_session(database: &Database) {
    let store = &database.store;
    created(store, "one", "first", 0).await;
    let outcome = created(store, "one", "second", 0).await;
    assert_eq!(outcome, BrowserSessionCreation::IdTaken);
    assert_eq!(data(store, "one", 1).await.as_deref(), Some("first"));
}

pub async fn browser_sessions_are_bounded_in_number_and_size(database: &Database) {
    let store = &database.store;
    for number in 0..MAX_SESSIONS {
        let outcome = created(store, &format!("id-{number}"), "{}", 0).await;
        assert_eq!(outcome, BrowserSessionCreation::Created, "{number}");
    }
    let outcome = created(store, "one-more", "{}", 0).await;
    assert_eq!(outcome, BrowserSessionCreation::Full);
    assert_eq!(data(store, "one-more", 1).await, None);
    // those that exist can still be changed
    let sessions = store.browser_sessions();
    let changed = sessions.save("id-0", &state("changed", 600), at(1)).await;
    assert!(changed.unwrap());
    store.sweep(at(600)).await.unwrap();
    let new = state("{}", 900);
    let outcome = sessions.create("one-more", &new, MAX_SESSIONS, at(600));
    assert_eq!(outcome.await.unwrap(), BrowserSessionCreation::Created);
    let large = state(&"x".repeat(MAX_BROWSER_SESSION_BYTES + 1), 900);
    let error = sessions
        .save("one-more", &large, at(601))
        .await
        .unwrap_err();
    assert!(
        matches!(error, StoreError::BrowserSessionTooLarge { .. }),
        "{error}"
    );
}

pub async fn a_browser_session_is_found_after_a_change_of_keys(database: &Database) {
    created(&database.store, "one", "before", 0).await;
    let rotated = database.with_keys(&[2, 1]).await;
    assert_eq!(data(&rotated, "one", 1).await.as_deref(), Some("before"));
    let outcome = created(&rotated, "one", "another", 1).await;
    assert_eq!(outcome, BrowserSessionCreation::IdTaken);
    let sessions = rotated.browser_sessions();
    let saved = sessions.save("one", &state("after", 600), at(1)).await;
    assert!(saved.unwrap());
    assert_eq!(data(&rotated, "one", 2).await.as_deref(), Some("after"));
    assert!(sessions.delete("one").await.unwrap());
}

pub async fn a_stolen_database_shows_no_browser_session(database: &Database) {
    created(&database.store, "one", "{}", 0).await;
    let thief = database.with_keys(&[9]).await;
    assert_eq!(data(&thief, "one", 1).await, None);
}
