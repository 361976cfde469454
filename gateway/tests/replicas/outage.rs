//! A replica that does not reach the database: it does not guess, and no user is signed out.
use std::time::Duration;

use http::StatusCode;
use portico_store::EndReason;
use portico_testkit::{Gate, TestEnv};

use crate::{
    pair::{Pair, close_reason, database, socket},
    support::stack::MAIN,
};

struct Cut {
    pair: Pair,
    gate: Gate,
}

/// The second replica reaches the database through a gate.
async fn cut() -> Cut {
    let env = TestEnv::load().expect("the stack's env file");
    let direct = database().await;
    let url = url::Url::parse(&direct).expect("URL");
    let port = url.port().expect("port");
    let gate = Gate::start(&format!("http://127.0.0.1:{port}")).await;
    let through = url::Url::parse(&gate.url()).expect("URL").port();
    let through = direct.replacen(
        &format!(":{port}/"),
        &format!(":{}/", through.expect("port")),
        1,
    );
    assert_ne!(direct, through);
    let pair = Pair::on(env, direct, through).await;
    Cut { pair, gate }
}

async fn wait_for(browser: &mut crate::support::browser::Browser, status: StatusCode) {
    let wait = async {
        while browser.open(&format!("{MAIN}/projects/p1")).await.status != status {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let in_time = tokio::time::timeout(Duration::from_secs(20), wait).await;
    assert!(in_time.is_ok(), "it never answered {status}");
}

#[tokio::test]
async fn without_the_database_it_answers_503_and_afterwards_all_users_are_still_signed_in() {
    let Cut { pair, gate } = cut().await;
    let (mut here, mut there, _) = pair.signed_in().await;
    let stream = socket(&pair.other, &there).await;
    assert_eq!(there.open(MAIN).await.status, StatusCode::OK);
    gate.set_open(false);
    wait_for(&mut there, StatusCode::SERVICE_UNAVAILABLE).await;
    assert_eq!(
        here.open(MAIN).await.status,
        StatusCode::OK,
        "the other one"
    );
    gate.set_open(true);
    wait_for(&mut there, StatusCode::OK).await;
    // nothing was sent on the socket, and it is open
    let mut byte = [0];
    let peeked = tokio::time::timeout(Duration::from_millis(100), stream.peek(&mut byte)).await;
    assert!(peeked.is_err(), "the socket was closed: {peeked:?}");
}

#[tokio::test]
async fn what_ended_during_the_outage_ends_here_after_it() {
    let Cut { pair, gate } = cut().await;
    let (_, mut there, session) = pair.signed_in().await;
    let mut stream = socket(&pair.other, &there).await;
    gate.set_open(false);
    wait_for(&mut there, StatusCode::SERVICE_UNAVAILABLE).await;
    let sessions = pair.one.store.sessions();
    let end = sessions.end(session.id, EndReason::Revoked, jiff::Timestamp::now());
    end.await.expect("ended");
    gate.set_open(true);
    let closed = tokio::time::timeout(Duration::from_secs(10), close_reason(&mut stream)).await;
    assert_eq!(closed.expect("closed"), "revoked");
    let page = there.open(&format!("{MAIN}/projects/p1")).await;
    assert!(page.location().as_str().ends_with("&reason=revoked"));
}
