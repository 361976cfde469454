use super::Database;
use super::fixtures::{at, minutes, new_token, on_command_line, project, signed_in};
use portico_store::{EndReason, NewSessionCredential, Session};
use secrecy::{ExposeSecret as _, SecretString};

fn new(session: &Session, hours: i64) -> NewSessionCredential {
    NewSessionCredential {
        session: session.id,
        user_id: session.user.id.clone(),
        project: project("acme"),
        credential_id: "c0ffee".to_owned(),
        name: format!("portico-session-{}", session.id),
        secret: SecretString::from("a-secret"),
        expires_at: at(hours * 3600),
    }
}

pub async fn a_session_lives_as_long_as_its_credential_in_its_project_only(database: &Database) {
    let store = &database.store;
    let (secret, session) = signed_in(store, "ada").await;
    let cli = on_command_line(store, session.id).await;
    let credentials = store.session_credentials();
    assert!(credentials.store(&new(&session, 8), at(5)).await.unwrap());
    let found = store
        .sessions()
        .find(&secret, at(6))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(found.keystone_expires_at, at(8 * 3600));
    assert_eq!(found.projects, [project("acme")]);
    let cli = store.sessions().get(cli.id).await.unwrap().unwrap();
    assert_eq!(cli.keystone_expires_at, at(8 * 3600));
    let kept = credentials.of_session(session.id, at(6)).await.unwrap();
    let kept = kept.unwrap();
    assert_eq!(kept.secret.unwrap().expose_secret(), "a-secret");
    assert_eq!(kept.project_name, "acme");
    let later = credentials.of_session(session.id, at(8 * 3600)).await;
    assert!(later.unwrap().is_none());
}

pub async fn the_secret_goes_with_the_session(database: &Database) {
    let store = &database.store;
    let (_, session) = signed_in(store, "ada").await;
    let credentials = store.session_credentials();
    credentials.store(&new(&session, 8), at(5)).await.unwrap();
    let end = store
        .sessions()
        .end(session.id, EndReason::SignedOut, at(9));
    end.await.unwrap();
    assert!(
        credentials
            .of_session(session.id, at(9))
            .await
            .unwrap()
            .is_none()
    );
    let left = credentials.left_of_session(session.id).await.unwrap();
    assert_eq!(left.len(), 1);
    assert!(left[0].secret.is_none());
    let of_user = credentials.left_of_user("ada-id").await.unwrap();
    assert_eq!(of_user[0].credential_id, "c0ffee");
    assert!(
        credentials
            .left_of_user("devi-id")
            .await
            .unwrap()
            .is_empty()
    );
    // one that comes after the end has no secret from the start
    let late = credentials.store(&new(&session, 8), at(10)).await.unwrap();
    assert!(!late);
    let left = credentials.left_of_session(session.id).await.unwrap();
    assert_eq!(left.len(), 2);
    for credential in left {
        assert!(credential.secret.is_none());
        credentials.forget(credential.id).await.unwrap();
    }
    assert!(credentials.left_of_user("ada-id").await.unwrap().is_empty());
}

pub async fn a_token_is_fetched_by_one_shortly_before_the_old_ones_end(database: &Database) {
    let store = &database.store;
    let (_, session) = signed_in(store, "ada").await;
    let credentials = store.session_credentials();
    credentials.store(&new(&session, 8), at(5)).await.unwrap();
    let token = new_token(session.id, Some("acme"), "old");
    store.keystone_tokens().store(&token, at(5)).await.unwrap();
    let ahead = minutes(5);
    let due = async |second| {
        credentials
            .due(at(second) + ahead, at(second))
            .await
            .unwrap()
    };
    assert!(due(3000).await.is_empty(), "the old one is good for long");
    let found = due(3301).await;
    assert_eq!(found.len(), 1);
    let claim = |second| credentials.claim(found[0].id, at(second + 15), at(second));
    assert!(claim(3301).await.unwrap());
    assert!(!claim(3302).await.unwrap(), "another is at it");
    assert!(due(3302).await.is_empty());
    assert!(claim(3317).await.unwrap(), "who is at it has gone");
    let mut token = new_token(session.id, Some("acme"), "new");
    token.expires_at = at(7000);
    store
        .keystone_tokens()
        .store(&token, at(3318))
        .await
        .unwrap();
    let methods = ["application_credential".to_owned()];
    credentials
        .fetched(&found[0], &methods, at(3318))
        .await
        .unwrap();
    assert!(due(3319).await.is_empty());
    let found = store.sessions().get(session.id).await.unwrap().unwrap();
    assert_eq!(found.auth_methods, methods);
}
