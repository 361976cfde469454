//! 56. Guessing at passwords: slowed down, however the name is spelled, and never for good.
use http::StatusCode;

use crate::{
    keystone::running,
    support::{
        browser::{Browser, Page},
        form::enter,
    },
};

fn unique(name: &str) -> String {
    format!("{name}-{}", uuid::Uuid::new_v4().simple())
}

/// What a user sees of an answer, without what they typed and what is new each time.
fn seen(page: &Page, name: &str) -> String {
    let csrf = page.field("csrf_token");
    let id = page.headers["x-request-id"].to_str().expect("text");
    let body = page.body.replace(name, "NAME").replace(&csrf, "CSRF");
    body.replace(id, "REQUEST")
}

#[tokio::test]
async fn attack_56_an_unknown_user_and_a_wrong_password_look_alike() {
    let running = running().await;
    let mut browser = Browser::new(running.stack.address);
    let unknown_name = unique("unknown");
    let unknown = enter(&mut browser, "/", &unknown_name, "wrong-password").await;
    let wrong = enter(&mut browser, "/", "otto", "wrong-password").await;
    assert_eq!(unknown.status, StatusCode::UNAUTHORIZED);
    assert_eq!(wrong.status, unknown.status);
    assert_eq!(seen(&wrong, "otto"), seen(&unknown, &unknown_name));
    let right = enter(&mut browser, "/", "otto", running.password()).await;
    assert_eq!(right.status, StatusCode::SEE_OTHER, "the control case");
}

#[tokio::test]
async fn attack_56_every_spelling_of_a_name_counts_as_one() {
    let running = running().await;
    let mut browser = Browser::new(running.stack.address);
    let name = unique("guessed");
    let upper = name.to_uppercase();
    let wide = name.replacen('g', "ｇ", 1);
    let spellings = [
        name.clone(),
        upper.clone(),
        format!(" {name} "),
        format!("{name}@Default"),
        format!("{upper}@DEFAULT"),
        wide,
        format!("{name}."),
        format!("{name}@default."),
    ];
    for spelling in &spellings {
        let page = enter(&mut browser, "/", spelling, "x").await;
        assert_eq!(page.status, StatusCode::UNAUTHORIZED, "{spelling}");
    }
    for spelling in &spellings {
        let page = enter(&mut browser, "/", spelling, "x").await;
        assert_eq!(page.status, StatusCode::TOO_MANY_REQUESTS, "{spelling}");
        let wait = page.headers["retry-after"].to_str().expect("text");
        let wait: u64 = wait.parse().expect("seconds");
        assert!((1..=60).contains(&wait), "a lock of {wait} seconds");
    }
    let page = enter(&mut browser, "/", "otto", running.password()).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "others continue");
}

#[tokio::test]
async fn attack_56_guesses_at_the_same_time_count_before_they_are_answered() {
    let running = running().await;
    let name = unique("burst");
    let guesses = (0..30).map(|_| {
        let (name, address) = (name.clone(), running.stack.address);
        tokio::spawn(async move {
            let mut browser = Browser::new(address);
            enter(&mut browser, "/", &name, "x").await.status
        })
    });
    let mut asked = 0;
    for guess in guesses.collect::<Vec<_>>() {
        match guess.await.expect("answer") {
            StatusCode::UNAUTHORIZED => asked += 1,
            status => assert_eq!(status, StatusCode::TOO_MANY_REQUESTS),
        }
    }
    assert!((1..=8).contains(&asked), "{asked} guesses reached Keystone");
}

#[tokio::test]
async fn a_right_password_forgives_what_failed_before() {
    let running = running().await;
    let mut browser = Browser::new(running.stack.address);
    for _ in 0..2 {
        for _ in 0..5 {
            let page = enter(&mut browser, "/", "nora", "wrong-password").await;
            assert_eq!(page.status, StatusCode::UNAUTHORIZED);
        }
        let page = enter(&mut browser, "/", "nora", running.password()).await;
        assert_eq!(page.status, StatusCode::SEE_OTHER);
    }
}
