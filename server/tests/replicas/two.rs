//! Two processes on one database.
use std::time::{Duration, Instant};

use http::StatusCode;
use portico_testkit::TestEnv;
use sqlx::{AnyConnection, Connection as _, Executor as _};
use tokio::io::AsyncReadExt as _;

use crate::{
    browser::Browser,
    process::{MAIN, Process, Shared},
};

pub struct Two {
    pub env: TestEnv,
    pub shared: Shared,
    pub one: Process,
    pub other: Process,
}

/// What both processes keep their state in.
#[derive(Clone, Copy, Debug)]
pub enum Database {
    Postgres,
    Redis,
}

impl Database {
    /// A part of it that no other test uses.
    async fn url(self, env: &TestEnv) -> String {
        let name = format!("test_{}", uuid::Uuid::new_v4().simple());
        match self {
            Self::Postgres => {
                let base = env.get("POSTGRES_URL").expect("a stack with PostgreSQL");
                sqlx::any::install_default_drivers();
                let mut connection = AnyConnection::connect(base).await.expect("PostgreSQL");
                let create = format!("CREATE SCHEMA {name}");
                connection.execute(create.as_str()).await.expect("schema");
                format!("{base}?options[search_path]={name}")
            }
            Self::Redis => {
                let base = env.get("REDIS_URL").expect("a stack with Redis");
                format!("{base}?prefix={name}:")
            }
        }
    }
}

/// Two processes on PostgreSQL.
pub async fn two() -> Two {
    two_with(Database::Postgres, "").await
}

/// Two processes with further sections in their configuration.
pub async fn two_with(database: Database, more: &str) -> Two {
    let env = TestEnv::load().expect("the stack's env file");
    let database = database.url(&env).await;
    let mut shared = Shared::new(database, env.get("KEYSTONE_URL").expect("Keystone")).await;
    more.clone_into(&mut shared.more);
    shared.migrate().await;
    let (one, other) = (Process::start(&shared).await, Process::start(&shared).await);
    Two {
        env,
        shared,
        one,
        other,
    }
}

pub async fn is_signed_in(browser: &mut Browser) -> bool {
    browser.open(&format!("{MAIN}/projects/x")).await.status == StatusCode::OK
}

#[tokio::test]
async fn sign_out_at_one_process_closes_a_socket_at_the_other_within_a_second() {
    sign_out_closes_the_other_socket(two().await).await;
}

#[tokio::test]
async fn sign_out_at_one_process_on_redis_closes_a_socket_at_the_other_within_a_second() {
    sign_out_closes_the_other_socket(two_with(Database::Redis, "").await).await;
}

async fn sign_out_closes_the_other_socket(two: Two) {
    let mut here = two.one.sign_in(&two.env, "vera").await;
    let mut there = two.other.browser_like(&here);
    let mut stream = two.other.socket(&there).await;
    let url = format!("{MAIN}/oauth2/sign_out");
    let csrf = here.open(&url).await.field("csrf_token");
    let fields = [("csrf_token", csrf.as_str())];
    let started = Instant::now();
    let (page, closed) = tokio::join!(here.submit(MAIN, &url, &fields), async {
        let mut frame = Vec::new();
        stream.read_to_end(&mut frame).await.expect("readable");
        (frame, started.elapsed())
    });
    assert!(page.body.contains("You are signed out"));
    assert!(closed.1 < Duration::from_secs(1), "{:?}", closed.1);
    assert_eq!(closed.0, b"\x88\x0c\x03\xf0signed_out");
    assert!(!is_signed_in(&mut there).await);
}

#[tokio::test]
async fn a_killed_process_takes_no_session_with_it() {
    let mut two = two().await;
    let mut here = two.one.sign_in(&two.env, "vera").await;
    let mut there = two.other.browser_like(&here);
    let stays = two.other.socket(&there).await;
    let mut goes = two.one.socket(&here).await;
    two.one.kill().await;
    let mut rest = Vec::new();
    // without a close frame: no process was there to send one
    let _ = goes.read_to_end(&mut rest).await;
    assert!(rest.is_empty(), "{rest:?}");
    // for a while: nothing may happen to it
    for _ in 0..10 {
        assert!(is_signed_in(&mut there).await, "the other one continues");
        tokio::time::sleep(Duration::from_millis(150)).await;
    }
    let mut byte = [0];
    let peeked = tokio::time::timeout(Duration::from_millis(100), stays.peek(&mut byte)).await;
    assert!(peeked.is_err(), "its socket was closed: {peeked:?}");
    two.one.start_again().await;
    assert!(is_signed_in(&mut here).await);
}
