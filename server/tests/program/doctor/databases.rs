//! Stores on Redis and PostgreSQL of the test's own (Debian's packages of these names).
use super::place::{Place, portico};
use portico_testkit::{PostgresServer, RedisServer};
use serde_json::json;

fn migrate(place: &Place) {
    let file = place.config_file();
    let output = portico(&["migrate", "--config"], &[&file]);
    assert!(output.status.success(), "{output:?}");
}

/// Sends a command past Portico.
fn redis(server: &RedisServer, command: &[&str]) {
    let address = server.address();
    let (host, port) = address.split_once(':').unwrap();
    let output = std::process::Command::new("redis-cli")
        .args(["-h", host, "-p", port])
        .args(command)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[tokio::test]
async fn finding_o4_doctor_finds_a_redis_that_forgets() {
    let mut place = Place::new().await;
    let good = RedisServer::start().unwrap();
    place.config["store"]["url"] = json!(good.url());
    place.finds("store-not-migrated").await;
    migrate(&place);
    let report = place.doctor(&[]).await;
    for id in ["redis-evicts", "redis-not-persistent", "store-plain-text"] {
        assert!(!report.has(id), "{id}");
    }
    let options = "--appendonly no --maxmemory 100mb --maxmemory-policy allkeys-lru";
    let options: Vec<&str> = options.split(' ').collect();
    let bad = RedisServer::with(&options).unwrap();
    place.config["store"]["url"] = json!(bad.url());
    place.finds("redis-evicts").await;
    place.finds("redis-not-persistent").await;
}

#[tokio::test]
async fn finding_o4_doctor_finds_a_redis_that_refuses_or_is_another_ones() {
    let mut place = Place::new().await;
    let locked = RedisServer::with(&["--requirepass", "secret"]).unwrap();
    let with_password = locked.url().replace("redis://", "redis://:secret@");
    place.config["store"]["url"] = json!(with_password);
    migrate(&place);
    place.is_sound().await;
    place.config["store"]["url"] = json!(locked.url());
    let found = place.finds("store-credentials").await.to_string();
    assert!(!found.contains("secret"), "{found}");

    let other = place.path("other");
    assert!(
        portico(&["keys", "generate", "--out"], &[&other])
            .status
            .success()
    );
    place.config["store"]["url"] = json!(with_password);
    let own = place.config["store"]["key_files"].clone();
    place.config["store"]["key_files"] = json!([other.join("store-1.key")]);
    place.finds("store-other-keys").await;
    place.config["store"]["key_files"] = own;
    place.is_sound().await;
}

#[tokio::test]
async fn finding_o4_doctor_finds_a_store_of_a_newer_version() {
    let mut place = Place::new().await;
    let server = RedisServer::start().unwrap();
    place.config["store"]["url"] = json!(server.url());
    migrate(&place);
    place.is_sound().await;
    redis(&server, &["SET", "portico:schema", "99"]);
    place.finds("store-too-new").await;
}

#[tokio::test]
async fn finding_o4_doctor_finds_a_redis_that_takes_no_writes() {
    let mut place = Place::new().await;
    let server = RedisServer::start().unwrap();
    place.config["store"]["url"] = json!(server.url());
    migrate(&place);
    place.is_sound().await;
    redis(&server, &["REPLICAOF", "127.0.0.1", "9"]);
    place.finds("store-read-only").await;
}

#[tokio::test]
async fn finding_o4_doctor_finds_a_postgresql_without_the_database_or_the_user() {
    let mut place = Place::new().await;
    let mut server = PostgresServer::start().unwrap();
    place.config["store"]["url"] = json!(server.url());
    migrate(&place);
    place.is_sound().await;
    place.config["store"]["url"] = json!(format!("{}_missing", server.url()));
    place.finds("store-database-missing").await;
    let stranger = server.url().replace("postgres@", "no_such_user@");
    place.config["store"]["url"] = json!(stranger);
    place.finds("store-credentials").await;
    server.kill().unwrap();
    place.config["store"]["url"] = json!(server.url());
    let found = place.finds("store-unreachable").await;
    let message = found["message"].as_str().unwrap();
    assert_eq!(
        message.matches("connection refused").count(),
        1,
        "{message}"
    );
}

#[tokio::test]
async fn doctor_finds_a_store_that_holds_something_else() {
    let mut place = Place::new().await;
    let server = RedisServer::start().unwrap();
    place.config["store"]["url"] = json!(server.url());
    migrate(&place);
    place.is_sound().await;
    redis(&server, &["SET", "portico:schema", "no number"]);
    let found = place.finds("store-unusable").await.to_string();
    assert!(found.contains("not a number"), "{found}");
    redis(&server, &["SET", "portico:schema", "1"]);
    place.is_sound().await;
    // another program's key: Redis answers WRONGTYPE
    redis(&server, &["SET", "portico:keys", "no set"]);
    place.finds("store-unusable").await;
}

#[tokio::test]
async fn doctor_finds_a_redis_whose_disk_is_full() {
    let mut place = Place::new().await;
    let server = RedisServer::with(&["--appendfsync", "everysec"]).unwrap();
    place.config["store"]["url"] = json!(server.url());
    migrate(&place);
    place.is_sound().await;
    // the next append-only file is on a device that is always full (full(4))
    let next = "appendonlydir/appendonly.aof.2.incr.aof";
    std::os::unix::fs::symlink("/dev/full", server.directory().join(next)).unwrap();
    redis(&server, &["BGREWRITEAOF"]);
    let mut report = place.doctor(&[]).await;
    for _ in 0..50 {
        if report.has("store-full") {
            break;
        }
        redis(&server, &["SET", "filler", "1"]);
        report = place.doctor(&[]).await;
    }
    assert_ne!(report.code, 0);
    report.find("store-full");
}
