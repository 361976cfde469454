use super::Database;
use super::fixtures::{at, new_token, on_command_line, roles, signed_in};
use portico_store::{EndReason, StoreError, Stored};
use secrecy::ExposeSecret as _;

pub async fn the_longest_lived_token_of_the_project_is_found(database: &Database) {
    let tokens = database.store.keystone_tokens();
    let (_, session) = signed_in(&database.store, "ada").await;
    let unscoped = new_token(session.id, None, "unscoped");
    let mut later = new_token(session.id, Some("acme"), "later");
    later.expires_at = at(5000);
    let earlier = new_token(session.id, Some("acme"), "earlier");
    for token in [&unscoped, &later, &earlier] {
        let stored = tokens.store(token, at(1)).await.unwrap();
        assert!(matches!(stored, Stored::Usable(_)));
    }
    let found = tokens
        .find(session.id, Some("acme-id"), at(2))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(found.token.expose_secret(), "later");
    assert_eq!(found.project.unwrap().name, "acme");
    let found = tokens.find(session.id, None, at(2)).await.unwrap().unwrap();
    assert_eq!(found.token.expose_secret(), "unscoped");
    assert!(found.project.is_none());
    let expired = tokens.find(session.id, Some("acme-id"), at(5000)).await;
    assert!(expired.unwrap().is_none());
    assert_eq!(tokens.list(session.id).await.unwrap().len(), 3);
}

pub async fn ending_a_session_makes_every_token_due(database: &Database) {
    let tokens = database.store.keystone_tokens();
    let (_, session) = signed_in(&database.store, "ada").await;
    for (project, token) in [(None, "a"), (Some("acme"), "b"), (Some("globex"), "c")] {
        let token = new_token(session.id, project, token);
        tokens.store(&token, at(1)).await.unwrap();
    }
    assert!(tokens.due_revocations(10, at(2)).await.unwrap().is_empty());
    database
        .store
        .sessions()
        .end(session.id, EndReason::SignedOut, at(3))
        .await
        .unwrap();
    let due = tokens.due_revocations(10, at(3)).await.unwrap();
    assert_eq!(due.len(), 3);
    let found = tokens.find(session.id, Some("acme-id"), at(3)).await;
    assert!(found.unwrap().is_none());
    for token in due {
        tokens.forget(token.id).await.unwrap();
    }
    assert!(tokens.list(session.id).await.unwrap().is_empty());
}

pub async fn tokens_of_a_command_line_end_with_it_or_with_its_browser_session(database: &Database) {
    let (store, tokens) = (&database.store, database.store.keystone_tokens());
    let (_, session) = signed_in(store, "ada").await;
    let first = on_command_line(store, session.id).await;
    let second = on_command_line(store, session.id).await;
    for (id, token) in [
        (session.id, "browser"),
        (first.id, "first"),
        (second.id, "second"),
    ] {
        let token = new_token(id, Some("acme"), token);
        tokens.store(&token, at(1)).await.unwrap();
    }
    let end = |id, second| store.sessions().end(id, EndReason::SignedOut, at(second));
    end(first.id, 3).await.unwrap();
    let due = tokens.due_revocations(10, at(3)).await.unwrap();
    let due: Vec<_> = due
        .iter()
        .map(|token| token.token.expose_secret())
        .collect();
    assert_eq!(due, ["first"]);
    end(session.id, 4).await.unwrap();
    assert_eq!(tokens.due_revocations(10, at(4)).await.unwrap().len(), 3);
    let pending = tokens.pending_revocations(session.id).await.unwrap();
    assert_eq!(pending.len(), 3);
}

pub async fn a_token_that_races_with_the_end_is_due_at_once(database: &Database) {
    let tokens = database.store.keystone_tokens();
    let (_, session) = signed_in(&database.store, "ada").await;
    database
        .store
        .sessions()
        .end(session.id, EndReason::SignedOut, at(3))
        .await
        .unwrap();
    let late = new_token(session.id, Some("acme"), "late");
    let Stored::SessionEnded(id) = tokens.store(&late, at(4)).await.unwrap() else {
        panic!("a token of an ended session must not be usable");
    };
    let due = tokens.due_revocations(10, at(4)).await.unwrap();
    assert_eq!(due.len(), 1);
    assert_eq!(due[0].id, id);
    assert_eq!(due[0].token.expose_secret(), "late");
}

pub async fn parallel_stores_and_ends_forget_no_token(database: &Database) {
    let (_, session) = signed_in(&database.store, "ada").await;
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..12 {
        let store = database.store.clone();
        let id = session.id;
        tasks.spawn(async move {
            if number == 6 {
                let end = store.sessions().end(id, EndReason::SignedOut, at(3));
                end.await.unwrap();
            } else {
                let token = new_token(id, Some("acme"), &format!("token {number}"));
                store.keystone_tokens().store(&token, at(3)).await.unwrap();
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    let due = database
        .store
        .keystone_tokens()
        .due_revocations(50, at(3))
        .await
        .unwrap();
    assert_eq!(due.len(), 11);
}

pub async fn a_failed_revocation_waits(database: &Database) {
    let tokens = database.store.keystone_tokens();
    let (_, session) = signed_in(&database.store, "ada").await;
    let token = new_token(session.id, Some("acme"), "token");
    let Stored::Usable(id) = tokens.store(&token, at(1)).await.unwrap() else {
        panic!("the session is live");
    };
    tokens.revoke_later(id, at(2)).await.unwrap();
    tokens.revocation_failed(id, at(10)).await.unwrap();
    assert!(tokens.due_revocations(10, at(9)).await.unwrap().is_empty());
    let pending = tokens.pending_revocations(session.id).await.unwrap();
    assert_eq!(pending.len(), 1);
    assert_eq!(pending[0].attempts, 1);
    assert_eq!(tokens.due_revocations(10, at(10)).await.unwrap().len(), 1);
    // a token that has run out by itself needs no revocation
    let late = tokens.due_revocations(10, at(3600)).await.unwrap();
    assert!(late.is_empty());
}

pub async fn a_wrong_key_is_an_error_and_not_a_missing_token(database: &Database) {
    let (_, session) = signed_in(&database.store, "ada").await;
    let token = new_token(session.id, Some("acme"), "token");
    database
        .store
        .keystone_tokens()
        .store(&token, at(1))
        .await
        .unwrap();
    let stranger = database.with_keys(&[3]).await;
    let error = stranger
        .keystone_tokens()
        .find(session.id, Some("acme-id"), at(2))
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::Unsealable { .. }), "{error}");
}

pub async fn new_roles_are_taken_over(database: &Database) {
    let tokens = database.store.keystone_tokens();
    let (_, session) = signed_in(&database.store, "ada").await;
    let token = new_token(session.id, Some("acme"), "token");
    let Stored::Usable(id) = tokens.store(&token, at(1)).await.unwrap() else {
        panic!("the session is live");
    };
    tokens.set_roles(id, &roles(&["k8s_viewer"])).await.unwrap();
    let found = tokens.find(session.id, Some("acme-id"), at(2)).await;
    assert_eq!(found.unwrap().unwrap().roles, roles(&["k8s_viewer"]));
}

pub async fn a_revocation_is_tried_by_one_replica_at_a_time(database: &Database) {
    let tokens = database.store.keystone_tokens();
    let (_, session) = signed_in(&database.store, "ada").await;
    let token = new_token(session.id, None, "token");
    tokens.store(&token, at(1)).await.unwrap();
    let end = database
        .store
        .sessions()
        .end(session.id, EndReason::SignedOut, at(2));
    end.await.unwrap();
    let due = tokens.due_revocations(10, at(2)).await.unwrap();
    assert!(due[0].unscoped);
    let claim = |second| tokens.claim_revocation(&due[0], at(second + 15), at(second));
    assert!(claim(2).await.unwrap());
    assert!(!claim(3).await.unwrap());
    assert!(tokens.due_revocations(10, at(3)).await.unwrap().is_empty());
    // the replica that had it has gone
    assert_eq!(tokens.due_revocations(10, at(17)).await.unwrap().len(), 1);
    assert!(claim(17).await.unwrap());
    tokens.revocation_failed(due[0].id, at(19)).await.unwrap();
    assert!(!claim(20).await.unwrap(), "it was tried since it was read");
}
