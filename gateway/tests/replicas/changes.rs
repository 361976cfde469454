//! What one replica does to a session, the other does too.
use std::time::{Duration, Instant};

use http::StatusCode;
use jiff::Timestamp;
use portico_store::EndReason;
use secrecy::ExposeSecret as _;
use sqlx::{Connection as _, PgConnection};

use crate::{
    pair::{Pair, close_reason, socket},
    support::stack::{MAIN, MAIN_HOST},
};

#[tokio::test]
async fn sign_out_at_one_replica_closes_a_socket_at_the_other_within_a_second() {
    let pair = Pair::start().await;
    let (mut here, mut there, session) = pair.signed_in().await;
    let mut stream = socket(&pair.other, &there).await;
    assert_eq!(there.open(MAIN).await.status, StatusCode::OK);
    let signed_out = Instant::now();
    let fields = [("csrf_token", session.csrf.expose_secret())];
    let url = format!("{MAIN}/oauth2/sign_out");
    let (page, reason) = tokio::join!(here.submit(MAIN, &url, &fields), async {
        let reason = close_reason(&mut stream).await;
        assert!(signed_out.elapsed() < Duration::from_secs(1));
        reason
    });
    assert_eq!(page.status, StatusCode::OK);
    assert_eq!(reason, "signed_out");
    let page = there.open(&format!("{MAIN}/projects/p1")).await;
    assert!(page.location().as_str().ends_with("&reason=signed_out"));
}

#[tokio::test]
async fn a_session_revoked_in_the_database_is_closed_everywhere() {
    let pair = Pair::start().await;
    let (here, there, session) = pair.signed_in().await;
    let mut sockets = [
        socket(&pair.one, &here).await,
        socket(&pair.other, &there).await,
    ];
    // as `portico sessions end` does
    let store = pair.one.another_process().await;
    let started = Instant::now();
    let reason = EndReason::EndedByAdministrator;
    let end = store.sessions().end(session.id, reason, Timestamp::now());
    end.await.expect("ended");
    for stream in &mut sockets {
        assert_eq!(close_reason(stream).await, "ended_by_administrator");
    }
    assert!(started.elapsed() < Duration::from_secs(1));
}

#[tokio::test]
async fn an_idle_session_ends_with_its_reason_and_its_tokens() {
    let pair = Pair::on_postgres().await;
    let (_, there, session) = pair.signed_in().await;
    let mut stream = socket(&pair.other, &there).await;
    let mut database = PgConnection::connect(&pair.database)
        .await
        .expect("connected");
    sqlx::query("UPDATE sessions SET idle_expires_at = $1 WHERE id = $2")
        .bind(Timestamp::now().as_second() - 1)
        .bind(session.id.to_string())
        .execute(&mut database)
        .await
        .expect("changed");
    // the replica that looks first says so to all
    let mut here = crate::support::browser::Browser::new(pair.one.address);
    let cookie = there
        .cookie(MAIN_HOST, "portico")
        .expect("cookie")
        .to_owned();
    here.set_cookie(MAIN_HOST, "portico", &cookie);
    let look = pair.one.store.sweep(Timestamp::now());
    assert_eq!(look.await.expect("swept").ended.len(), 1);
    assert_eq!(close_reason(&mut stream).await, "expired");
    let page = here.open(&format!("{MAIN}/projects/p1")).await;
    assert!(page.location().as_str().ends_with("&reason=expired"));
    let tokens = pair.one.store.keystone_tokens();
    let usable = tokens.usable(session.id, Timestamp::now()).await;
    assert!(usable.expect("tokens").is_empty(), "all are to be revoked");
}

#[tokio::test]
async fn what_the_feed_covers_is_not_asked_of_the_store() {
    let pair = Pair::on_postgres().await;
    let (_, mut there, session) = pair.signed_in().await;
    let url = format!("{MAIN}/oauth2/sign_out");
    assert!(there.open(&url).await.body.contains("ada"));
    let mut database = PgConnection::connect(&pair.database)
        .await
        .expect("connected");
    let mut rename = async |name: &str| {
        sqlx::query("UPDATE sessions SET user_name = $1 WHERE id = $2")
            .bind(name)
            .bind(session.id.to_string())
            .execute(&mut database)
            .await
            .expect("changed");
    };
    // it was not announced, so no replica looks
    rename("renamed").await;
    for _ in 0..20 {
        assert!(there.open(&url).await.body.contains("ada"));
    }
    // announced, it is read anew
    let sessions = pair.one.store.sessions();
    let set = sessions.set_projects(session.id, &session.projects, Timestamp::now());
    set.await.expect("announced");
    let read_anew = async {
        while !there.open(&url).await.body.contains("renamed") {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let in_time = tokio::time::timeout(Duration::from_secs(1), read_anew).await;
    assert!(in_time.is_ok(), "the change was not taken over");
}
