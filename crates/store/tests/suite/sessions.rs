use super::Database;
use super::fixtures::{at, minutes, new_child, on_app, on_command_line, signed_in};
use portico_store::{ChildKind, EndReason, Renewal};
use secrecy::ExposeSecret as _;

pub async fn a_session_is_found_by_its_secret_only(database: &Database) {
    let sessions = database.store.sessions();
    let (secret, session) = signed_in(&database.store, "ada").await;
    let found = sessions.find(&secret, at(1)).await.unwrap().unwrap();
    assert_eq!(found.id, session.id);
    assert_eq!(found.user.name, "ada");
    assert_eq!(found.projects, session.projects);
    assert_eq!(found.csrf.expose_secret(), session.csrf.expose_secret());
    assert!(sessions.find("wrong", at(1)).await.unwrap().is_none());
    let by_id = sessions.find(&session.id.to_string(), at(1)).await.unwrap();
    assert!(by_id.is_none());
}

pub async fn an_expired_session_is_not_found(database: &Database) {
    let sessions = database.store.sessions();
    let (secret, _) = signed_in(&database.store, "ada").await;
    assert!(sessions.find(&secret, at(3599)).await.unwrap().is_some());
    assert!(sessions.find(&secret, at(3600)).await.unwrap().is_none());
}

pub async fn an_ended_session_takes_its_children_along(database: &Database) {
    let sessions = database.store.sessions();
    let (secret, session) = signed_in(&database.store, "ada").await;
    let (child_secret, child) = on_app(&database.store, session.id).await;
    let mut ended: Vec<_> = sessions
        .end(session.id, EndReason::SignedOut, at(5))
        .await
        .unwrap()
        .into_iter()
        .map(|ended| ended.id)
        .collect();
    ended.sort();
    let mut expected = vec![session.id, child.id];
    expected.sort();
    assert_eq!(ended, expected);
    for secret in [secret, child_secret] {
        assert!(sessions.find(&secret, at(6)).await.unwrap().is_none());
    }
    let again = sessions.end(session.id, EndReason::SignedOut, at(7)).await;
    assert!(again.unwrap().is_empty());
    let reason = |id| async move { sessions.get(id).await.unwrap().unwrap().end_reason };
    assert_eq!(reason(session.id).await, Some(EndReason::SignedOut));
    assert_eq!(reason(child.id).await, Some(EndReason::ParentEnded));
}

pub async fn a_child_of_an_ended_session_is_refused(database: &Database) {
    let sessions = database.store.sessions();
    let (_, session) = signed_in(&database.store, "ada").await;
    sessions
        .end(session.id, EndReason::SignedOut, at(5))
        .await
        .unwrap();
    let child = new_child(session.id, ChildKind::App("logs".to_owned()));
    assert!(
        sessions
            .create_child(&child, at(6))
            .await
            .unwrap()
            .is_none()
    );
}

pub async fn a_child_hangs_on_the_browser_session(database: &Database) {
    let (_, session) = signed_in(&database.store, "ada").await;
    let (_, app) = on_app(&database.store, session.id).await;
    let grandchild = on_command_line(&database.store, app.id).await;
    assert_eq!(grandchild.root(), session.id);
    assert_eq!(grandchild.app, None);
    assert_eq!(grandchild.client.as_deref(), Some("laptop"));
}

pub async fn use_on_an_apps_host_keeps_the_family_alive(database: &Database) {
    let sessions = database.store.sessions();
    let (secret, session) = signed_in(&database.store, "ada").await;
    let (child_secret, child) = on_app(&database.store, session.id).await;
    assert!(
        sessions
            .touch(&child, at(3000 + 3600), at(3000))
            .await
            .unwrap()
    );
    for secret in [secret, child_secret] {
        assert!(sessions.find(&secret, at(5000)).await.unwrap().is_some());
    }
}

pub async fn use_by_a_command_line_keeps_only_itself_alive(database: &Database) {
    let sessions = database.store.sessions();
    let (secret, session) = signed_in(&database.store, "ada").await;
    let cli = on_command_line(&database.store, session.id).await;
    assert!(
        sessions
            .touch(&cli, at(3000 + 3600), at(3000))
            .await
            .unwrap()
    );
    assert!(sessions.find(&secret, at(5000)).await.unwrap().is_none());
    let cli = sessions.get(cli.id).await.unwrap().unwrap();
    assert!(cli.is_live(at(5000)));
}

pub async fn touching_is_rare_and_never_passes_the_absolute_end(database: &Database) {
    let sessions = database.store.sessions();
    let (secret, session) = signed_in(&database.store, "ada").await;
    assert!(!sessions.touch(&session, at(4000), at(29)).await.unwrap());
    assert!(
        sessions
            .touch(&session, at(99 * 3600), at(60))
            .await
            .unwrap()
    );
    let found = sessions.find(&secret, at(61)).await.unwrap().unwrap();
    assert_eq!(found.idle_expires_at, found.absolute_expires_at);
    assert_eq!(found.last_seen_at, at(60));
}

pub async fn renewing_changes_the_secret_and_the_times(database: &Database) {
    let sessions = database.store.sessions();
    let (secret, session) = signed_in(&database.store, "ada").await;
    let (_, child) = on_app(&database.store, session.id).await;
    let renewal = Renewal {
        auth_methods: vec!["password".to_owned(), "totp".to_owned()],
        idle_expires_at: at(7200),
        absolute_expires_at: at(20 * 3600),
        keystone_expires_at: at(7300),
        authenticated_at: Some(at(100)),
    };
    let renewed = sessions
        .renew(session.id, &renewal, at(100))
        .await
        .unwrap()
        .unwrap();
    assert!(sessions.find(&secret, at(101)).await.unwrap().is_none());
    let found = sessions
        .find(renewed.expose_secret(), at(101))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(found.id, session.id);
    assert_eq!(found.auth_methods, renewal.auth_methods);
    assert_eq!(session.authenticated_at, Some(at(0)));
    assert_eq!(found.authenticated_at, Some(at(100)));
    let child = sessions.get(child.id).await.unwrap().unwrap();
    assert_eq!(child.keystone_expires_at, at(7300));
    // new tokens without a new sign-in move the end of the whole family, and no secret
    let moved = sessions.set_keystone_expires(session.id, at(9000), at(101));
    assert!(moved.await.unwrap());
    let found = sessions.find(renewed.expose_secret(), at(101)).await;
    let found = found.unwrap().unwrap();
    assert_eq!(found.keystone_expires_at, at(9000));
    assert_eq!(found.keystone_checked_at, at(101));
    let child = sessions.get(child.id).await.unwrap().unwrap();
    assert_eq!(child.keystone_expires_at, at(9000));
    // what proves nothing leaves it as it was
    let unproved = Renewal {
        authenticated_at: None,
        ..renewal.clone()
    };
    let renewed = sessions.renew(session.id, &unproved, at(102)).await;
    let found = sessions
        .find(renewed.unwrap().unwrap().expose_secret(), at(102))
        .await;
    assert_eq!(found.unwrap().unwrap().authenticated_at, Some(at(100)));
    sessions
        .end(session.id, EndReason::Revoked, at(102))
        .await
        .unwrap();
    let moved = sessions.set_keystone_expires(session.id, at(9900), at(103));
    assert!(!moved.await.unwrap(), "it has ended");
    assert!(
        sessions
            .renew(session.id, &renewal, at(103))
            .await
            .unwrap()
            .is_none()
    );
}

pub async fn the_last_project_outlives_the_session(database: &Database) {
    let sessions = database.store.sessions();
    let (secret, session) = signed_in(&database.store, "devi").await;
    for project in ["acme-id", "globex-id"] {
        sessions
            .set_last_project(&session, project, at(5))
            .await
            .unwrap();
    }
    let found = sessions.find(&secret, at(6)).await.unwrap().unwrap();
    assert_eq!(found.last_project.as_deref(), Some("globex-id"));
    let last = sessions.last_project_of_user("devi-id").await.unwrap();
    assert_eq!(last.as_deref(), Some("globex-id"));
    assert_eq!(sessions.last_project_of_user("x").await.unwrap(), None);
}

pub async fn ending_all_spares_the_one_asked_for(database: &Database) {
    let sessions = database.store.sessions();
    let (_, first) = signed_in(&database.store, "ada").await;
    let (_, second) = signed_in(&database.store, "ada").await;
    let (_, other) = signed_in(&database.store, "devi").await;
    on_app(&database.store, first.id).await;
    assert_eq!(
        sessions.list_of_user("ada-id", at(2)).await.unwrap().len(),
        3
    );
    let ended = sessions
        .end_all_of_user("ada-id", Some(second.id), EndReason::Revoked, at(3))
        .await
        .unwrap();
    assert_eq!(ended.len(), 2);
    let left = sessions.list_of_user("ada-id", at(4)).await.unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].id, second.id);
    assert!(
        sessions
            .get(other.id)
            .await
            .unwrap()
            .unwrap()
            .is_live(at(4))
    );
    assert_eq!(sessions.count(at(4)).await.unwrap(), 2);
}

pub async fn a_sweep_ends_what_has_expired_and_deletes_what_is_old(database: &Database) {
    let (_, session) = signed_in(&database.store, "ada").await;
    on_app(&database.store, session.id).await;
    assert!(
        database
            .store
            .sweep(at(3599))
            .await
            .unwrap()
            .ended
            .is_empty()
    );
    let swept = database.store.sweep(at(3600)).await.unwrap();
    assert_eq!(swept.ended.len(), 2);
    let late = at(3600) + minutes(8 * 24 * 60);
    let swept = database.store.sweep(late).await.unwrap();
    assert!(swept.deleted >= 1);
    assert!(
        database
            .store
            .sessions()
            .get(session.id)
            .await
            .unwrap()
            .is_none()
    );
}

pub async fn a_rotated_key_still_finds_sessions(database: &Database) {
    let (secret, session) = signed_in(&database.store, "ada").await;
    let rotated = database.with_keys(&[2, 1]).await;
    let found = rotated.sessions().find(&secret, at(1)).await.unwrap();
    assert_eq!(found.unwrap().id, session.id);
    let stranger = database.with_keys(&[3]).await;
    assert!(
        stranger
            .sessions()
            .find(&secret, at(1))
            .await
            .unwrap()
            .is_none()
    );
}

pub async fn keys_are_replaced_under_a_store_in_use(database: &Database) {
    let store = database.with_keys(&[1]).await;
    let (before, session) = signed_in(&store, "ada").await;
    let clone = store.clone();
    store.replace_keys(&super::keys(&[2, 1]));
    let found = clone.sessions().find(&before, at(1)).await.unwrap();
    assert_eq!(found.unwrap().id, session.id);
    let (after, _) = signed_in(&clone, "ada").await;
    // the first key alone does not know what was made since, the second alone not what was before
    let old = database.with_keys(&[1]).await;
    assert!(old.sessions().find(&after, at(1)).await.unwrap().is_none());
    store.replace_keys(&super::keys(&[2]));
    assert!(
        store
            .sessions()
            .find(&after, at(1))
            .await
            .unwrap()
            .is_some()
    );
    assert!(
        store
            .sessions()
            .find(&before, at(1))
            .await
            .unwrap()
            .is_none()
    );
}
