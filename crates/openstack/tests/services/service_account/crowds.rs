//! A hundred callers at once, for whom Keystone needs seconds. Nothing else runs meanwhile (`.config/nextest.toml`).
use super::{Own, many};

#[tokio::test]
async fn a_hundred_who_wait_sign_in_once() {
    let own = Own::with_role("reader").await;
    let answers = many(&own.account, 100).await;
    assert!(
        answers.iter().all(|answer| *answer == Ok(true)),
        "{answers:?}"
    );
    assert_eq!(own.sign_ins(), 1);
    own.done().await;
}

#[tokio::test]
async fn a_revoked_token_costs_one_sign_in_and_no_caller_notices() {
    let own = Own::with_role("reader").await;
    let token = own.account.call(async |_, token| Ok(token)).await.unwrap();
    own.admin.revoke_token(&token).await.unwrap();
    let answers = many(&own.account, 100).await;
    assert!(
        answers.iter().all(|answer| *answer == Ok(true)),
        "{answers:?}"
    );
    assert_eq!(own.sign_ins(), 2);
    own.done().await;
}
