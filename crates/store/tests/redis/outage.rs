//! Redis stands still, is killed, comes back; and what is known afterwards.
use super::raw::Raw;
use super::server::store_on;
use crate::suite::fixtures::{at, signed_in};
use portico_store::{Advice, EndReason, Store, StoreCause, StoreError};
use portico_testkit::RedisServer;
use portico_transport::TransportFault;
use std::time::{Duration, Instant};

/// Until the store answers again; a connection comes back by itself.
async fn back(store: &Store) {
    let until = Instant::now() + Duration::from_secs(10);
    while let Err(error) = store.ping().await {
        assert!(Instant::now() < until, "{error}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_server_that_hangs_is_an_error_within_seconds() {
    let server = RedisServer::start().unwrap();
    let store = store_on(&server).await;
    let (secret, session) = signed_in(&store, "ada").await;
    server.freeze().unwrap();
    let started = Instant::now();
    let error = store.sessions().find(&secret, at(1)).await.unwrap_err();
    assert!(matches!(error, StoreError::RedisTimeout { .. }), "{error}");
    assert!(started.elapsed() < Duration::from_secs(5));
    assert!(store.ping().await.is_err());
    server.thaw().unwrap();
    back(&store).await;
    let found = store.sessions().find(&secret, at(1)).await.unwrap();
    assert_eq!(found.unwrap().id, session.id);
}

#[tokio::test]
async fn a_killed_server_forgets_nothing_that_it_had_answered() {
    let mut server = RedisServer::start().unwrap();
    let store = store_on(&server).await;
    let (secret, session) = signed_in(&store, "ada").await;
    let (gone, other) = signed_in(&store, "ada").await;
    let ended = store.sessions().end(other.id, EndReason::SignedOut, at(1));
    assert_eq!(ended.await.unwrap().len(), 1);
    server.kill().unwrap();
    assert!(store.sessions().find(&secret, at(2)).await.is_err());
    let error = store.ping().await.unwrap_err();
    let refused = StoreCause::Transport(TransportFault::Refused);
    assert_eq!(error.cause(), refused, "{error}");
    server.start_again().unwrap();
    back(&store).await;
    let found = store.sessions().find(&secret, at(2)).await.unwrap();
    assert_eq!(found.unwrap().id, session.id);
    assert!(store.sessions().find(&gone, at(2)).await.unwrap().is_none());
}

#[tokio::test]
async fn a_server_that_became_a_replica_is_left() {
    let server = RedisServer::start().unwrap();
    let store = store_on(&server).await;
    let mut raw = Raw::connect(&server.url()).await;
    // nothing listens there; the server takes no writes from now on
    let _: String = raw.ask(&["REPLICAOF", "127.0.0.1", "9"]).await;
    let new = crate::suite::fixtures::new_session("ada");
    assert!(store.sessions().create(&new, at(0)).await.is_err());
    let advice = store.advice().await.unwrap();
    assert_eq!(advice[0], Advice::Replica);
    let connections = |raw: String| raw.lines().count();
    let clients: String = raw.ask(&["CLIENT", "LIST"]).await;
    assert_eq!(connections(clients), 2);
    let _: String = raw.ask(&["REPLICAOF", "NO", "ONE"]).await;
    store.sessions().create(&new, at(0)).await.unwrap();
}

#[tokio::test]
async fn a_server_out_of_memory_is_an_error_and_drops_nothing() {
    let server = RedisServer::with(&["--maxmemory-policy", "noeviction"]).unwrap();
    let store = store_on(&server).await;
    let (secret, session) = signed_in(&store, "ada").await;
    let mut raw = Raw::connect(&server.url()).await;
    let _: String = raw.ask(&["CONFIG", "SET", "maxmemory", "1"]).await;
    let new = crate::suite::fixtures::new_session("vera");
    assert!(store.sessions().create(&new, at(0)).await.is_err());
    let _: String = raw.ask(&["CONFIG", "SET", "maxmemory", "0"]).await;
    let found = store.sessions().find(&secret, at(1)).await.unwrap();
    assert_eq!(found.unwrap().id, session.id);
}

#[tokio::test]
async fn finding_o3_a_redis_that_cannot_be_used_names_one_cause() {
    let locked = RedisServer::with(&["--requirepass", "secret"]).unwrap();
    let free_port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let fault = StoreCause::Transport;
    for (url, cause) in [
        (locked.url(), StoreCause::Credentials),
        (
            locked.url().replace("127.0.0.1", "portico:wrong@127.0.0.1"),
            StoreCause::Credentials,
        ),
        (
            format!("redis://127.0.0.1:{free_port}/0"),
            fault(TransportFault::Refused),
        ),
        (
            "redis://no-such-host.invalid/0".to_owned(),
            fault(TransportFault::NameResolution),
        ),
    ] {
        let error = Store::connect(&url, 1, crate::suite::keys(&[1])).await;
        let error = error.unwrap_err();
        assert_eq!(error.cause(), cause, "{url}: {error}");
        assert!(!error.to_string().contains("wrong"), "{error}");
    }
}
