//! The version of the structure, prefixes, times to live, and what the server must be like.
use super::raw::Raw;
use super::server::store_on;
use super::{database, with_own_prefix};
use crate::suite::fixtures::{at, new_token, on_app, on_command_line, signed_in};
use crate::suite::keys;
use portico_store::{
    AuditFilter, NewAuditEvent, NewDeviceCode, Outcome, Store, StoreCause, StoreError,
};
use portico_testkit::RedisServer;

#[tokio::test]
async fn a_store_is_migrated_and_deleted_and_migrated() {
    let database = database().await;
    let store = &database.store;
    store.ensure_migrated().await.unwrap();
    signed_in(store, "ada").await;
    store.revert_all().await.unwrap();
    let mut raw = Raw::connect(&database.url).await;
    assert!(raw.keys("").await.is_empty());
    let error = store.ensure_migrated().await.unwrap_err();
    assert!(
        matches!(error, StoreError::NotMigrated { missing: 1 }),
        "{error}"
    );
    assert!(error.to_string().contains("portico migrate"), "{error}");
    let error = store.ping().await.unwrap_err();
    assert!(matches!(error, StoreError::Uninitialised), "{error}");
    store.migrate(at(0)).await.unwrap();
    store.ping().await.unwrap();
    store.migrate(at(0)).await.unwrap();
    store.ensure_migrated().await.unwrap();
}

#[tokio::test]
async fn a_store_of_a_newer_version_is_refused() {
    let database = database().await;
    let mut raw = Raw::connect(&database.url).await;
    let schema = format!("{}schema", raw.prefix);
    let _: String = raw.ask(&["SET", &schema, "99"]).await;
    for error in [
        database.store.ensure_migrated().await.unwrap_err(),
        database.store.migrate(at(0)).await.unwrap_err(),
    ] {
        assert!(
            matches!(error, StoreError::TooNew { found: 99, .. }),
            "{error}"
        );
    }
}

#[tokio::test]
async fn prefixes_keep_stores_apart() {
    let one = database().await;
    let other = database().await;
    let (secret, _) = signed_in(&one.store, "ada").await;
    let elsewhere = other.store.sessions().find(&secret, at(1)).await;
    assert!(elsewhere.unwrap().is_none());
    other.store.revert_all().await.unwrap();
    let found = one.store.sessions().find(&secret, at(1)).await;
    assert!(found.unwrap().is_some());
}

#[tokio::test]
async fn a_store_that_was_emptied_does_not_decide_who_is_signed_in() {
    let database = database().await;
    let (secret, session) = signed_in(&database.store, "ada").await;
    let unknown = database
        .store
        .sessions()
        .find("no-such-secret", at(1))
        .await;
    assert!(unknown.unwrap().is_none());
    let mut raw = Raw::connect(&database.url).await;
    for key in raw.keys("").await {
        let _: i64 = raw.ask(&["DEL", &key]).await;
    }
    let error = database.store.sessions().find(&secret, at(1)).await;
    let error = error.unwrap_err();
    assert_eq!(error.cause(), StoreCause::Uninitialised, "{error}");
    assert!(error.to_string().contains("NOSTORE"), "{error}");
    assert!(database.store.sessions().get(session.id).await.is_err());
    database.store.migrate(at(0)).await.unwrap();
    let found = database.store.sessions().find(&secret, at(1)).await;
    assert!(found.unwrap().is_none());
}

#[tokio::test]
async fn finding_o1_an_emptied_redis_is_not_ready_and_takes_no_sign_in() {
    let server = RedisServer::start().unwrap();
    let store = store_on(&server).await;
    let (secret, session) = signed_in(&store, "ada").await;
    store.ping().await.unwrap();
    let mut raw = Raw::connect(&server.url()).await;
    let _: String = raw.ask(&["FLUSHALL"]).await;
    let error = store.ping().await.unwrap_err();
    assert_eq!(error.cause(), StoreCause::Uninitialised, "{error}");
    assert!(error.next_step().contains("portico migrate"));
    let new = crate::suite::fixtures::new_session("vera");
    let errors = [
        store.sign_in_flows().start("/", at(600), at(0)).await.err(),
        store.sessions().create(&new, at(1)).await.err(),
        store.sessions().find(&secret, at(1)).await.err(),
        store.sweep(at(1)).await.err(),
    ];
    for error in errors {
        let error = error.expect("an emptied store takes nothing");
        assert_eq!(error.cause(), StoreCause::Uninitialised, "{error}");
    }
    // nothing was written into it either
    assert!(raw.keys("").await.is_empty());
    store.migrate(at(0)).await.unwrap();
    store.ping().await.unwrap();
    store.sessions().create(&new, at(2)).await.unwrap();
    let found = store.sessions().get(session.id).await.unwrap();
    assert!(found.is_none());
}

#[tokio::test]
async fn finding_o1_a_redis_of_another_installation_is_not_ready() {
    let server = RedisServer::start().unwrap();
    let store = store_on(&server).await;
    let (secret, _) = signed_in(&store, "ada").await;
    let other = Store::connect(&server.url(), 1, keys(&[2])).await.unwrap();
    for error in [
        other.ping().await.unwrap_err(),
        other.migrate(at(0)).await.unwrap_err(),
        other.ensure_own_keys().await.unwrap_err(),
    ] {
        assert!(matches!(error, StoreError::OtherKeys { .. }), "{error}");
        assert!(error.next_step().contains("store.key_files"));
    }
    // a rotation is announced by a replica that has both, before the old one is dropped
    let both = Store::connect(&server.url(), 1, keys(&[2, 1]))
        .await
        .unwrap();
    both.ping().await.unwrap();
    other.ping().await.unwrap();
    let found = store.sessions().find(&secret, at(1)).await.unwrap();
    assert!(found.is_some());
}

#[tokio::test]
async fn whatever_ends_has_a_time_to_live() {
    let database = database().await;
    let store = &database.store;
    let (_, session) = signed_in(store, "ada").await;
    let (_, app) = on_app(store, session.id).await;
    let cli = on_command_line(store, app.id).await;
    let token = new_token(session.id, Some("acme"), "token");
    store.keystone_tokens().store(&token, at(1)).await.unwrap();
    store
        .sign_in_flows()
        .start("/", at(600), at(0))
        .await
        .unwrap();
    let new = NewDeviceCode::default();
    store.device_codes().start(&new, at(0)).await.unwrap();
    store.access_tokens().issue(cli.id, at(900)).await.unwrap();
    store
        .totp_marks()
        .mark("ada-id", "123456", at(90))
        .await
        .unwrap();
    let limit = portico_store::ThrottleLimit::window(3, 60);
    let reserved = store.throttle().reserve("ada", limit, at(0)).await;
    reserved.unwrap();
    store
        .sign_in_accounts()
        .signed_in("ada", at(0))
        .await
        .unwrap();
    let candidate = portico_store::NamespaceCandidate {
        cluster: uuid::Uuid::from_u128(1),
        namespace: "shop".to_owned(),
    };
    let candidates = store.namespace_candidates();
    candidates.add("a-role", &candidate, at(0)).await.unwrap();
    let state = portico_store::BrowserSession {
        data: secrecy::SecretString::from("{}"),
        expires_at: at(600),
    };
    let states = store.browser_sessions();
    states.create("an-id", &state, 10, at(0)).await.unwrap();
    let mut raw = Raw::connect(&database.url).await;
    let all = raw.keys("").await;
    assert!(all.len() > 15, "{all:?}");
    for key in all {
        let left: i64 = raw.ask(&["TTL", &key]).await;
        let name = key.strip_prefix(&raw.prefix).unwrap();
        let endless = [
            "schema",
            "keys",
            "audit_chain",
            "live",
            "browsers",
            "ended",
            "expiry",
            "revocations",
        ];
        assert_eq!(left < 0, endless.contains(&name), "{key}: {left}");
        assert!(endless.contains(&name) || left >= 86_000, "{key}: {left}");
    }
}

#[tokio::test]
async fn after_the_last_sweep_nothing_is_left() {
    let database = database().await;
    let store = &database.store;
    let (_, session) = signed_in(store, "ada").await;
    let (_, app) = on_app(store, session.id).await;
    let cli = on_command_line(store, app.id).await;
    let token = new_token(session.id, Some("acme"), "token");
    store.keystone_tokens().store(&token, at(1)).await.unwrap();
    store.access_tokens().issue(cli.id, at(900)).await.unwrap();
    let flows = store.sign_in_flows();
    flows.start("/", at(600), at(0)).await.unwrap();
    let state = portico_store::BrowserSession {
        data: secrecy::SecretString::from("{}"),
        expires_at: at(600),
    };
    let states = store.browser_sessions();
    states.create("an-id", &state, 10, at(0)).await.unwrap();
    let day = 24 * 3600;
    store.sweep(at(day)).await.unwrap();
    store.sweep(at(9 * day)).await.unwrap();
    let mut raw = Raw::connect(&database.url).await;
    // the feed continues where it was, and so does the audit log
    let mut left = raw.keys("").await;
    left.sort();
    let expected = ["audit_chain", "feed", "keys", "schema"];
    assert_eq!(left, expected.map(|key| raw.prefix.clone() + key));
}

#[tokio::test]
async fn a_changed_audit_event_is_marked() {
    let database = database().await;
    let audit = database.store.audit();
    for second in [1, 2] {
        let event = NewAuditEvent::new("session.sign_in", Outcome::Denied);
        audit.append(&event, at(second)).await.unwrap();
    }
    let all = audit.list(&AuditFilter::default(), 10).await.unwrap();
    let mut raw = Raw::connect(&database.url).await;
    let key = raw.key("event", all[0].id);
    raw.set_field(&key, "outcome", "succeeded").await;
    let all = audit.list(&AuditFilter::default(), 10).await.unwrap();
    assert!(all[0].event.detail["unverified"].is_string());
    assert!(all[1].event.detail["unverified"].is_null());
}

#[tokio::test]
async fn a_server_that_would_lose_sessions_gets_advice() {
    let good = RedisServer::start().unwrap();
    let advice = store_on(&good).await.advice().await.unwrap();
    assert!(advice.is_empty(), "{advice:?}");
    let bad = RedisServer::with(&[
        "--appendonly",
        "no",
        "--maxmemory",
        "100mb",
        "--maxmemory-policy",
        "allkeys-lru",
    ])
    .unwrap();
    let advice = store_on(&bad).await.advice().await.unwrap();
    assert_eq!(advice.len(), 2, "{advice:?}");
    let stack = database().await;
    let advice = stack.store.advice().await.unwrap();
    assert_eq!(advice.len(), 1, "{advice:?}");
}

#[tokio::test]
async fn a_closed_store_returns_an_error() {
    let database = database().await;
    let clone = database.store.clone();
    clone.ping().await.unwrap();
    database.store.close().await;
    assert!(clone.ping().await.is_err());
    assert!(clone.sessions().find("secret", at(1)).await.is_err());
}

#[tokio::test]
async fn a_cluster_is_refused() {
    let cluster = RedisServer::with(&["--cluster-enabled", "yes"]).unwrap();
    let error = Store::connect(&cluster.url(), 1, keys(&[1])).await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("Redis Cluster"), "{error}");
}

#[tokio::test]
async fn the_prefix_is_part_of_the_url() {
    let url = with_own_prefix(&crate::service("PORTICO_TEST_REDIS", "REDIS_URL"));
    let store = Store::connect(&url, 1, keys(&[1])).await.unwrap();
    store.migrate(at(0)).await.unwrap();
    let mut raw = Raw::connect(&url).await;
    // the version, the IDs of the keys, and the head of the audit log
    assert_eq!(raw.keys("").await.len(), 3);
}

#[tokio::test]
async fn enrolled_clusters_need_a_sql_database() {
    use portico_store::{StoreCause, StoreError};
    let database = super::database().await;
    let all = database.store.enrolled_clusters();
    let error = all.sequence().await.unwrap_err();
    assert!(matches!(error, StoreError::NeedsSql { .. }), "{error}");
    assert_eq!(error.cause(), StoreCause::Configuration);
    let cluster = crate::suite::enrolled_clusters::cluster(1);
    let now = crate::suite::fixtures::at(0);
    assert!(all.put(&cluster, now).await.is_err());
    assert!(all.enrol(&cluster, now).await.is_err());
    assert!(all.remove(cluster.id).await.is_err());
    assert!(all.all().await.is_err());
}

#[tokio::test]
async fn creations_of_clusters_need_a_sql_database() {
    use crate::suite::creation_attempts::{attempt, lease};
    use portico_store::StoreError;
    let database = super::database().await;
    let attempts = database.store.creation_attempts();
    let now = crate::suite::fixtures::at(0);
    let error = attempts
        .begin(&attempt(1), lease(7), now)
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::NeedsSql { .. }), "{error}");
    let key = attempt(1).key;
    assert!(attempts.forget(&key, lease(7).holder).await.is_err());
}

#[tokio::test]
async fn journals_of_clusters_need_a_sql_database() {
    use crate::suite::cluster_journal::{event, key, request};
    use portico_store::StoreError;
    let database = super::database().await;
    let journal = database.store.cluster_journal();
    let now = crate::suite::fixtures::at(0);
    let error = journal
        .append(&key(1), &request("{}"), now)
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::NeedsSql { .. }), "{error}");
    assert!(journal.last_observation(&key(1)).await.is_err());
    assert!(journal.list(&key(1), None, 10).await.is_err());
    let appended = journal.append_events(&key(1), &[event("a")], now).await;
    assert!(appended.is_err());
    let heat = portico_store::JournalSource::Heat;
    assert!(journal.last_events(&key(1), heat, 10).await.is_err());
    assert!(journal.count_events(&key(1), heat, now).await.is_err());
    let events = journal.list_events(&key(1), heat, None, 10).await;
    assert!(events.is_err());
    assert!(journal.last_nodes(&key(1)).await.is_err());
    assert!(journal.head(&key(1)).await.is_err());
    assert!(journal.journals(None, 10).await.is_err());
    let observed = journal.observe_nodes(&key(1), 0, "{}", &[], now).await;
    assert!(observed.is_err());
    let others = journal.list_without_events(&key(1), None, 10).await;
    assert!(others.is_err());
}

#[tokio::test]
async fn protections_of_clusters_need_a_sql_database() {
    use crate::suite::cluster_protections::cluster;
    use portico_store::StoreError;
    let database = super::database().await;
    let protections = database.store.cluster_protections();
    let now = crate::suite::fixtures::at(0);
    let error = protections
        .protect(&cluster(1), "ada", now)
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::NeedsSql { .. }), "{error}");
    assert!(protections.remove(&cluster(1)).await.is_err());
    assert!(protections.get(&cluster(1)).await.is_err());
}
