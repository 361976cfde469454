//! Attack 78: an attacker can write to Redis and moves entries, or swaps them with another's.
use super::database;
use super::raw::Raw;
use crate::suite::Database;
use crate::suite::fixtures::{at, new_token, on_command_line, signed_in};
use portico_store::{BrowserSession, NewDeviceCode, NewSavedForm, Session, StoreError};
use secrecy::{ExposeSecret as _, SecretString};

struct Two {
    database: Database,
    raw: Raw,
    ada: (String, Session),
    mallory: (String, Session),
}

async fn two() -> Two {
    let database = database().await;
    let ada = signed_in(&database.store, "ada").await;
    let mallory = signed_in(&database.store, "mallory").await;
    let raw = Raw::connect(&database.url).await;
    let two = Two {
        database,
        raw,
        ada,
        mallory,
    };
    // the control case of every test here: as it was written all opens
    for (secret, session) in [&two.ada, &two.mallory] {
        let found = two.database.store.sessions().find(secret, at(1)).await;
        assert_eq!(found.unwrap().unwrap().id, session.id);
    }
    two
}

impl Two {
    /// The key that leads from a cookie's hash to a session.
    async fn pointer_to(&mut self, session: &Session) -> String {
        for key in self.raw.keys("session_secret:").await {
            let value: String = self.raw.ask(&["GET", &key]).await;
            if value.starts_with(&session.id.to_string()) {
                return key;
            }
        }
        panic!("no secret leads to the session");
    }

    async fn mallory_opens(&self) -> Result<Option<Session>, StoreError> {
        let sessions = self.database.store.sessions();
        sessions.find(&self.mallory.0, at(1)).await
    }

    async fn token_of(&self, session: &Session, text: &str) -> String {
        let token = new_token(session.id, Some("acme"), text);
        let tokens = self.database.store.keystone_tokens();
        tokens.store(&token, at(1)).await.unwrap();
        let all = tokens.list(session.id).await.unwrap();
        all[0].id.to_string()
    }
}

fn moved<T: std::fmt::Debug>(answer: Result<T, StoreError>) {
    let error = answer.unwrap_err();
    assert!(matches!(error, StoreError::Moved { .. }), "{error}");
}

fn unsealable<T: std::fmt::Debug>(answer: Result<T, StoreError>) {
    let error = answer.unwrap_err();
    assert!(matches!(error, StoreError::Unsealable { .. }), "{error}");
}

#[tokio::test]
async fn attack_78_a_cookie_cannot_lead_to_a_foreign_session() {
    let mut two = two().await;
    let (of_ada, of_mallory) = (two.ada.1.clone(), two.mallory.1.clone());
    let (from, to) = (
        two.pointer_to(&of_ada).await,
        two.pointer_to(&of_mallory).await,
    );
    two.raw.copy(&from, &to).await;
    moved(two.mallory_opens().await);
}

#[tokio::test]
async fn attack_78_a_foreign_session_cannot_replace_ones_own() {
    let mut two = two().await;
    let from = two.raw.key("session", two.ada.1.id);
    let to = two.raw.key("session", two.mallory.1.id);
    two.raw.copy(&from, &to).await;
    moved(two.mallory_opens().await);
    let sessions = two.database.store.sessions();
    moved(sessions.get(two.mallory.1.id).await);
}

#[tokio::test]
async fn attack_78_a_session_cannot_become_another_users() {
    for (field, value) in [
        ("user_id", "ada-id"),
        ("user_name", "ada"),
        ("domain_id", "admin-domain"),
        ("kind", "cli"),
        ("parent", "00000000-0000-0000-0000-000000000000"),
    ] {
        let mut two = two().await;
        let key = two.raw.key("session", two.mallory.1.id);
        two.raw.set_field(&key, field, value).await;
        moved(two.mallory_opens().await);
    }
}

#[tokio::test]
async fn attack_78_a_keystone_token_cannot_change_its_session() {
    let mut two = two().await;
    let token = two.token_of(&two.ada.1, "token of ada").await;
    let (key, mallory) = (two.raw.key("token", &token), two.mallory.1.id.to_string());
    let index = two.raw.key("session_tokens", &mallory);
    let _: i64 = two.raw.ask(&["SADD", &index, &token]).await;
    let tokens = two.database.store.keystone_tokens();
    moved(tokens.find(two.mallory.1.id, Some("acme-id"), at(2)).await);
    two.raw.set_field(&key, "session_id", mallory).await;
    unsealable(tokens.find(two.mallory.1.id, Some("acme-id"), at(2)).await);
}

#[tokio::test]
async fn attack_78_swapped_keystone_tokens_do_not_open() {
    let mut two = two().await;
    let of_ada = two.token_of(&two.ada.1, "token of ada").await;
    let own = two.token_of(&two.mallory.1, "token of mallory").await;
    let (from, to) = (two.raw.key("token", of_ada), two.raw.key("token", own));
    let sealed = two.raw.hash(&from).await["token_sealed"].clone();
    let tokens = two.database.store.keystone_tokens();
    let found = tokens.find(two.mallory.1.id, Some("acme-id"), at(2)).await;
    let found = found.unwrap().unwrap();
    assert_eq!(found.token.expose_secret(), "token of mallory");
    two.raw.set_field(&to, "token_sealed", sealed).await;
    unsealable(tokens.find(two.mallory.1.id, Some("acme-id"), at(2)).await);
}

#[tokio::test]
async fn attack_78_an_access_token_cannot_lead_to_another_session() {
    let mut two = two().await;
    let store = two.database.store.clone();
    let own = on_command_line(&store, two.mallory.1.id).await;
    let token = store.access_tokens().issue(own.id, at(900)).await.unwrap();
    let token = token.expose_secret();
    let found = store.access_tokens().find_session(token, at(1)).await;
    assert_eq!(found.unwrap().unwrap().id, own.id);
    let key = two.raw.keys("access:").await.remove(0);
    let victim = two.ada.1.id.to_string();
    two.raw.set_field(&key, "session_id", victim).await;
    moved(store.access_tokens().find_session(token, at(1)).await);
    moved(store.access_tokens().session_of_any(token).await);
}

#[tokio::test]
async fn attack_78_a_device_cannot_be_approved_for_another() {
    let mut two = two().await;
    let devices = two.database.store.device_codes();
    let started = devices.start(&NewDeviceCode::default(), at(0)).await;
    let started = started.unwrap();
    let key = two.raw.keys("device:").await.remove(0);
    let victim = two.ada.1.id.to_string();
    two.raw.set_field(&key, "session_id", victim).await;
    two.raw.set_field(&key, "status", "approved").await;
    moved(
        devices
            .poll(started.device_code.expose_secret(), at(1))
            .await,
    );
}

#[tokio::test]
async fn attack_78_a_saved_form_cannot_change_its_user() {
    let mut two = two().await;
    let forms = two.database.store.saved_forms();
    let form = |user: &str, body: &str| NewSavedForm {
        user_id: user.to_owned(),
        target: "/form".to_owned(),
        body: SecretString::from(body),
    };
    forms.save(&form("ada-id", "of ada"), at(0)).await.unwrap();
    let from = two.raw.keys("form:").await.remove(0);
    let own = forms.save(&form("mallory-id", "own"), at(0)).await.unwrap();
    let own = own.expose_secret();
    let mut all = two.raw.keys("form:").await;
    all.retain(|key| *key != from);
    let found = forms.find(own, "mallory-id", at(1)).await.unwrap();
    assert_eq!(found.unwrap().body.expose_secret(), "own");
    two.raw.copy(&from, &all[0]).await;
    two.raw.set_field(&all[0], "user_id", "mallory-id").await;
    unsealable(forms.find(own, "mallory-id", at(1)).await);
}

#[tokio::test]
async fn attack_78_the_state_of_a_browser_cannot_be_moved_or_prolonged() {
    let mut two = two().await;
    let states = two.database.store.browser_sessions();
    let state = |data: &str| BrowserSession {
        data: SecretString::from(data),
        expires_at: at(600),
    };
    let ada = state("of ada");
    states.create("ada", &ada, 10, at(0)).await.unwrap();
    let from = two.raw.keys("browser_session:").await.remove(0);
    let own = state("own");
    states.create("mallory", &own, 10, at(0)).await.unwrap();
    let mut all = two.raw.keys("browser_session:").await;
    all.retain(|key| *key != from);
    let found = states.find("mallory", at(1)).await.unwrap();
    assert_eq!(found.unwrap().data.expose_secret(), "own");
    two.raw
        .set_field(&all[0], "expires_at", at(9000).as_second())
        .await;
    unsealable(states.find("mallory", at(1)).await);
    two.raw.copy(&from, &all[0]).await;
    unsealable(states.find("mallory", at(1)).await);
}
