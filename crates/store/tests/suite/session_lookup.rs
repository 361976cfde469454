use super::Database;
use super::fixtures::{at, new_token, on_app, signed_in};
use portico_store::{EndReason, SessionKind};

pub async fn an_ended_session_is_found_only_by_who_asks_for_the_end(database: &Database) {
    let sessions = database.store.sessions();
    let (secret, session) = signed_in(&database.store, "ada").await;
    let reason = EndReason::EndedByAdministrator;
    sessions.end(session.id, reason, at(5)).await.unwrap();
    assert!(sessions.find(&secret, at(6)).await.unwrap().is_none());
    let ended = sessions.find_even_ended(&secret).await.unwrap().unwrap();
    assert_eq!(ended.id, session.id);
    assert_eq!(ended.end_reason, Some(reason));
    let unknown = sessions.find_even_ended("no-such-secret").await;
    assert!(unknown.unwrap().is_none());
}

pub async fn users_are_found_by_id_and_by_name_in_any_case(database: &Database) {
    let sessions = database.store.sessions();
    signed_in(&database.store, "ada").await;
    signed_in(&database.store, "ada").await;
    signed_in(&database.store, "vera").await;
    for text in [
        "ada",
        "ADA",
        "ada-id",
        "ada@default",
        "Ada@Default",
        "ada@Default-id",
    ] {
        let users = sessions.users_matching(text, at(1)).await.unwrap();
        let ids: Vec<&str> = users.iter().map(|user| user.id.as_str()).collect();
        assert_eq!(ids, ["ada-id"], "{text}");
    }
    for text in ["", "a%", "ad_", "ada@elsewhere", "nobody"] {
        let users = sessions.users_matching(text, at(1)).await.unwrap();
        assert!(users.is_empty(), "{text}");
    }
    let later = sessions.users_matching("ada", at(3600)).await.unwrap();
    assert!(later.is_empty());
}

pub async fn unfinished_revocations_are_counted_until_they_expire(database: &Database) {
    let (sessions, tokens) = (database.store.sessions(), database.store.keystone_tokens());
    let (_, session) = signed_in(&database.store, "ada").await;
    for (project, token) in [(None, "one"), (Some("acme"), "two")] {
        let new = new_token(session.id, project, token);
        tokens.store(&new, at(0)).await.unwrap();
    }
    assert_eq!(
        tokens.unfinished_of_user("ada-id", at(1)).await.unwrap(),
        None
    );
    let planned = tokens.list(session.id).await.unwrap();
    tokens.revoke_later(planned[0].id, at(30)).await.unwrap();
    assert_eq!(tokens.count_unfinished(at(1)).await.unwrap(), 0);
    assert_eq!(
        tokens.unfinished_of_user("ada-id", at(1)).await.unwrap(),
        None
    );
    sessions
        .end(session.id, EndReason::Revoked, at(40))
        .await
        .unwrap();
    tokens
        .revocation_failed(planned[1].id, at(90))
        .await
        .unwrap();
    let unfinished = tokens.unfinished_of_user("ada-id", at(41)).await.unwrap();
    let unfinished = unfinished.unwrap();
    assert_eq!((unfinished.tokens, unfinished.until), (2, at(3600)));
    assert_eq!(tokens.count_unfinished(at(41)).await.unwrap(), 2);
    assert_eq!(tokens.count_unfinished(at(3600)).await.unwrap(), 0);
    assert_eq!(
        tokens.unfinished_of_user("vera-id", at(41)).await.unwrap(),
        None
    );
    let later = tokens.unfinished_of_user("ada-id", at(3600)).await.unwrap();
    assert_eq!(later, None);
}

pub async fn live_sessions_are_counted_by_kind(database: &Database) {
    let sessions = database.store.sessions();
    let count = async |now| {
        let counts = sessions.count_by_kind(now).await.unwrap();
        let of = |kind| counts.iter().find(|(found, _)| *found == kind).unwrap().1;
        [
            SessionKind::Browser,
            SessionKind::App,
            SessionKind::CommandLine,
        ]
        .map(of)
    };
    assert_eq!(count(at(0)).await, [0, 0, 0]);
    let (_, ada) = signed_in(&database.store, "ada").await;
    signed_in(&database.store, "vera").await;
    on_app(&database.store, ada.id).await;
    assert_eq!(count(at(2)).await, [2, 1, 0]);
    sessions
        .end(ada.id, EndReason::SignedOut, at(3))
        .await
        .unwrap();
    assert_eq!(count(at(4)).await, [1, 0, 0]);
    assert_eq!(count(at(3600)).await, [0, 0, 0]);
}
