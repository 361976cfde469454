use super::Database;
use super::fixtures::{at, minutes, new_session, on_app, project, signed_in};
use portico_store::{ChangeKind, EndReason, Renewal};
use std::collections::HashSet;

pub async fn ends_and_renewals_are_reported_in_their_order(database: &Database) {
    let (store, other) = (&database.store, database.with_keys(&[1]).await);
    let (_, ada) = signed_in(store, "ada").await;
    let (_, devi) = signed_in(store, "devi").await;
    let child = on_app(store, ada.id).await.1;
    let start = other.changes().position().await.unwrap();
    let renewal = Renewal {
        auth_methods: vec!["password".to_owned()],
        idle_expires_at: at(7200),
        absolute_expires_at: at(20 * 3600),
        keystone_expires_at: at(7300),
        authenticated_at: None,
    };
    let sessions = store.sessions();
    sessions.renew(devi.id, &renewal, at(2)).await.unwrap();
    sessions
        .set_projects(devi.id, &[project("acme")], at(2))
        .await
        .unwrap();
    sessions
        .end(ada.id, EndReason::SignedOut, at(3))
        .await
        .unwrap();
    // a second end changes nothing
    sessions
        .end(ada.id, EndReason::Revoked, at(4))
        .await
        .unwrap();
    sessions
        .end(child.id, EndReason::Revoked, at(4))
        .await
        .unwrap();
    let news = other.changes().since(start).await.unwrap();
    let reported: Vec<_> = news
        .changes
        .iter()
        .map(|change| (change.session, change.kind, change.own))
        .collect();
    assert_eq!(
        reported,
        [
            (devi.id, ChangeKind::Renewed, false),
            (devi.id, ChangeKind::Changed, false),
            (ada.id, ChangeKind::Ended(EndReason::SignedOut), false),
        ]
    );
    assert!(news.complete && !news.more);
    let again = other.changes().since(news.position).await.unwrap();
    assert!(again.changes.is_empty() && again.complete);
    let own = store.changes().since(start).await.unwrap();
    assert!(own.changes.iter().all(|change| change.own));
}

pub async fn changes_made_at_once_are_reported_without_a_gap(database: &Database) {
    let store = &database.store;
    let start = store.changes().position().await.unwrap();
    let mut expected = HashSet::new();
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..24 {
        let (_, session) = signed_in(store, &format!("user{number}")).await;
        expected.insert(session.id);
        let store = store.clone();
        tasks.spawn(async move {
            let end = store.sessions().end(session.id, EndReason::Revoked, at(3));
            end.await.unwrap();
        });
    }
    // read while they are written, as replicas do: what appears late must not be passed over
    let (mut position, mut reported) = (start, Vec::new());
    while reported.len() < expected.len() {
        let news = store.changes().since(position).await.unwrap();
        assert!(news.complete, "a gap after {position:?}");
        position = news.position;
        reported.extend(news.changes.iter().map(|change| change.session));
        if let Some(done) = tasks.try_join_next() {
            done.unwrap();
        }
    }
    assert_eq!(reported.iter().copied().collect::<HashSet<_>>(), expected);
    assert_eq!(reported.len(), expected.len(), "each once");
}

pub async fn a_change_that_was_rolled_back_is_not_reported(database: &Database) {
    let store = &database.store;
    let (_, session) = signed_in(store, "ada").await;
    let start = store.changes().position().await.unwrap();
    // not expired: nothing ends, and nothing is reported
    let ended = store.sessions().expire(session.id, at(10)).await.unwrap();
    assert!(ended.is_empty());
    assert_eq!(store.changes().position().await.unwrap(), start);
    let ended = store.sessions().expire(session.id, at(3600)).await.unwrap();
    assert_eq!(ended.len(), 1);
    let news = store.changes().since(start).await.unwrap();
    assert_eq!(news.changes[0].kind, ChangeKind::Ended(EndReason::Expired));
}

pub async fn a_reader_that_was_away_for_too_long_gets_an_error(database: &Database) {
    let store = &database.store;
    let start = store.changes().position().await.unwrap();
    let (_, session) = signed_in(store, "ada").await;
    let end = store.sessions().end(session.id, EndReason::Revoked, at(3));
    end.await.unwrap();
    store.sweep(at(3) + minutes(11)).await.unwrap();
    let news = store.changes().since(start).await.unwrap();
    assert!(!news.complete, "the change was cleared away unread");
    let now = store.changes().position().await.unwrap();
    assert_eq!(news.position, now);
    assert!(store.changes().since(now).await.unwrap().complete);
    // and one that is followed by another which is still there
    let (_, session) = signed_in(store, "ada").await;
    let end = store
        .sessions()
        .end(session.id, EndReason::Revoked, at(5000));
    end.await.unwrap();
    assert!(!store.changes().since(start).await.unwrap().complete);
    assert!(store.changes().since(now).await.unwrap().complete);
}

pub async fn a_session_used_at_another_replica_meanwhile_does_not_expire(database: &Database) {
    let store = &database.store;
    let (_, session) = signed_in(store, "ada").await;
    on_app(store, session.id).await;
    let touched = store.sessions().touch(&session, at(9000), at(3590)).await;
    assert!(touched.unwrap());
    let ended = store.sessions().expire(session.id, at(3700)).await.unwrap();
    assert!(ended.is_empty());
    let ended = store.sessions().expire(session.id, at(9000)).await.unwrap();
    assert_eq!(ended.len(), 2, "with its child");
    assert_eq!(new_session("ada").idle_expires_at, at(3600));
}
