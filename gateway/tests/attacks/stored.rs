//! 72, 73 and 78: what an attacker with a hand in the database can and cannot do. The same of Redis
//! is in crates/store/tests/redis.
use std::collections::HashSet;

use http::{Method, StatusCode};
use secrecy::ExposeSecret as _;
use sqlx::{Connection as _, Row as _, SqliteConnection};

use crate::support::{
    browser::{Browser, Page},
    stack::{MAIN, MAIN_HOST, Stack, Wanted},
};

async fn database(stack: &Stack) -> SqliteConnection {
    let url = format!("sqlite://{}", stack.database.display());
    SqliteConnection::connect(&url).await.expect("database")
}

async fn panel(browser: &mut Browser) -> Page {
    browser
        .call(Method::GET, &format!("{MAIN}/projects/p1"), "")
        .await
}

fn browser_with(stack: &Stack, cookie: &secrecy::SecretString) -> Browser {
    let mut browser = Browser::new(stack.address);
    browser.set_cookie(MAIN_HOST, "portico", cookie.expose_secret());
    browser
}

#[tokio::test]
async fn attack_72_no_nonce_is_used_twice_and_no_secret_is_in_clear_text() {
    let stack = Stack::start(Wanted::on_sqlite()).await;
    let (cookie, session) = stack.session(&["k8s_admin"]).await;
    for _ in 0..300 {
        stack.session(&[]).await;
    }
    let mut database = database(&stack).await;
    let rows = sqlx::query(
        "SELECT csrf_sealed AS sealed FROM sessions
         UNION ALL SELECT token_sealed FROM keystone_tokens",
    )
    .fetch_all(&mut database)
    .await
    .expect("rows");
    assert_eq!(rows.len(), 301 + 602);
    // the same text under the same key 301 times: what is sealed has nothing in common
    let mut seen = HashSet::new();
    for row in &rows {
        let sealed: Vec<u8> = row.get("sealed");
        assert!(sealed.len() > 28, "no room for a nonce and a tag");
        for window in [&sealed[sealed.len() - 16..], &sealed[sealed.len() - 28..]] {
            assert!(seen.insert(window.to_vec()), "sealed alike");
        }
    }
    let bytes = std::fs::read(&stack.database).expect("file");
    let wal = stack.database.with_extension("db-wal");
    let bytes = [bytes, std::fs::read(wal).unwrap_or_default()].concat();
    let holds = |text: &str| bytes.windows(text.len()).any(|at| at == text.as_bytes());
    for secret in [
        cookie.expose_secret(),
        session.csrf.expose_secret(),
        "keystone-token-of-p1",
        "unscoped-keystone-token",
    ] {
        assert!(!holds(secret), "the database holds a secret in the open");
    }
    assert!(
        holds(&session.id.to_string()),
        "the control case: rows are there"
    );
}

#[tokio::test]
async fn attack_73_no_damaged_row_crashes_or_opens_anything() {
    let stack = Stack::start(Wanted::on_sqlite()).await;
    let mut database = database(&stack).await;
    let (mut other, _) = stack.signed_in_as("u2", "vera", &["k8s_admin"]).await;
    for damage in [
        "X''",
        "X'00'",
        "X'0102030405060708090a0b'",
        "zeroblob(12)",
        "zeroblob(28)",
        "zeroblob(100000)",
        "'text'",
        "randomblob(64)",
    ] {
        for statement in [
            format!("UPDATE sessions SET csrf_sealed = {damage} WHERE id = $1"),
            format!("UPDATE keystone_tokens SET token_sealed = {damage} WHERE session_id = $1"),
            format!("UPDATE sessions SET projects = CAST({damage} AS TEXT) WHERE id = $1"),
            format!("UPDATE sessions SET kind = CAST({damage} AS TEXT) WHERE id = $1"),
            format!("UPDATE sessions SET auth_methods = CAST({damage} AS TEXT) WHERE id = $1"),
        ] {
            let (cookie, session) = stack.session(&["k8s_admin"]).await;
            let done = sqlx::query(&statement)
                .bind(session.id.to_string())
                .execute(&mut database)
                .await
                .expect("damage");
            assert!(done.rows_affected() > 0, "{statement}");
            let page = panel(&mut browser_with(&stack, &cookie)).await;
            assert!(
                matches!(
                    page.status,
                    StatusCode::SERVICE_UNAVAILABLE | StatusCode::UNAUTHORIZED
                ),
                "{statement}: {}",
                page.status
            );
            assert!(!page.body.contains("\"target\""), "{statement}");
        }
    }
    let page = panel(&mut other).await;
    assert_eq!(
        page.status,
        StatusCode::OK,
        "the control case: others continue"
    );
}

#[tokio::test]
async fn attack_78_a_moved_or_swapped_secret_does_not_open() {
    let stack = Stack::start(Wanted::on_sqlite()).await;
    let mut database = database(&stack).await;
    let (adas, ada) = stack.session(&["k8s_admin"]).await;
    let (veras, vera) = stack.session_of("u2", "vera", &["k8s_viewer"]).await;
    let copy = "UPDATE keystone_tokens
         SET token_sealed = (
             SELECT token_sealed FROM keystone_tokens
             WHERE session_id = $1 AND project_id = 'p1')
         WHERE session_id = $2 AND project_id = 'p1'";
    let done = sqlx::query(copy)
        .bind(ada.id.to_string())
        .bind(vera.id.to_string())
        .execute(&mut database)
        .await
        .expect("copied");
    assert_eq!(done.rows_affected(), 1);
    let page = panel(&mut browser_with(&stack, &veras)).await;
    assert_ne!(
        page.status,
        StatusCode::OK,
        "ada's token was handed to vera"
    );
    assert!(!page.body.contains("portico-token"));

    let (moved, session) = stack.session_of("u3", "nora", &["k8s_admin"]).await;
    sqlx::query("UPDATE sessions SET csrf_sealed = (SELECT csrf_sealed FROM sessions WHERE id = $1) WHERE id = $2")
        .bind(ada.id.to_string())
        .bind(session.id.to_string())
        .execute(&mut database)
        .await
        .expect("moved");
    let page = panel(&mut browser_with(&stack, &moved)).await;
    assert_ne!(page.status, StatusCode::OK, "a form's token was moved");

    let page = panel(&mut browser_with(&stack, &adas)).await;
    assert_eq!(page.status, StatusCode::OK, "the control case");
    assert!(page.body.contains("portico-token"));
}

#[tokio::test]
async fn attack_78_a_hash_put_into_the_database_needs_our_key() {
    use sha2::{Digest as _, Sha256};
    let stack = Stack::start(Wanted::on_sqlite()).await;
    let mut database = database(&stack).await;
    let (cookie, session) = stack.session(&["k8s_admin"]).await;
    let chosen = "A".repeat(43);
    let digest = Sha256::digest(&chosen);
    let plain = digest
        .iter()
        .fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    let (_, victim) = stack.session_of("u2", "vera", &["k8s_admin"]).await;
    sqlx::query("UPDATE sessions SET secret_hash = $1 WHERE id = $2")
        .bind(&plain)
        .bind(victim.id.to_string())
        .execute(&mut database)
        .await
        .expect("planted");
    let page = panel(&mut browser_with(&stack, &chosen.into())).await;
    assert_eq!(page.status, StatusCode::UNAUTHORIZED);
    let page = panel(&mut browser_with(&stack, &cookie)).await;
    assert_eq!(
        page.status,
        StatusCode::OK,
        "the control case, {}",
        session.id
    );
}
