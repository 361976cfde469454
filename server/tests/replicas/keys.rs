//! Keys that are replaced under running processes.
use crate::{
    browser::Browser,
    process::{MAIN, generate_keys},
    two::{is_signed_in, two},
};

const TAKEN_OVER: &str = "keys reloaded: the new keys are in use";
const NOT_USABLE: &str = "new keys not usable, the old ones stay in use";

#[tokio::test]
async fn store_keys_are_replaced_at_two_processes_and_no_user_is_signed_out() {
    let mut two = two().await;
    let mut before = two.one.sign_in(&two.env, "vera").await;
    let mut before_there = two.other.browser_like(&before);
    assert!(is_signed_in(&mut before_there).await);
    generate_keys(&two.shared.keys.path().join("next")).await;
    let old = two.shared.key("store-1.key");
    let new = two.shared.keys.path().join("next/store-1.key");

    // known to both before either writes with it
    let known = [old.clone(), new.clone()];
    for process in [&two.one, &two.other] {
        process.use_keys(&two.shared, &known);
        process.wait_for_log(TAKEN_OVER, 1).await;
    }
    let first = [new.clone(), old.clone()];
    two.one.use_keys(&two.shared, &first);
    two.one.wait_for_log(TAKEN_OVER, 2).await;
    let between = two.one.sign_in(&two.env, "ada").await;
    assert!(is_signed_in(&mut two.other.browser_like(&between)).await);
    two.other.use_keys(&two.shared, &first);
    two.other.wait_for_log(TAKEN_OVER, 2).await;
    for browser in [&mut before, &mut before_there] {
        assert!(is_signed_in(browser).await);
    }

    // what cannot be used changes nothing, and is logged after each SIGHUP
    let bad = two.shared.keys.path().join("bad.key");
    std::fs::write(&bad, "not a key").expect("written");
    for times in 1..=2 {
        two.other.use_keys(&two.shared, &[bad.clone(), old.clone()]);
        two.other.wait_for_log(NOT_USABLE, times).await;
    }
    assert!(is_signed_in(&mut before_there).await);

    // a process that knows the old key no more knows the old session no more: the control case
    two.other.use_keys(&two.shared, &[new]);
    two.other.wait_for_log(TAKEN_OVER, 3).await;
    two.other.kill().await;
    two.other.start_again().await;
    assert!(!is_signed_in(&mut before_there).await);
    assert!(is_signed_in(&mut two.other.browser_like(&between)).await);
}

#[tokio::test]
async fn the_assertion_key_is_replaced_while_users_are_signed_in() {
    let two = two().await;
    let mut browser = two.one.sign_in(&two.env, "vera").await;
    let kids = async |browser: &mut Browser| -> Vec<String> {
        let jwks = browser.open(&format!("{MAIN}/.well-known/jwks.json")).await;
        let keys = jwks.json()["keys"].as_array().expect("keys").clone();
        keys.iter()
            .map(|key| key["kid"].as_str().expect("kid").to_owned())
            .collect()
    };
    let before = kids(&mut browser).await;
    generate_keys(&two.shared.keys.path().join("next")).await;
    let next = two.shared.keys.path().join("next/assertion.pem");
    std::fs::copy(next, two.shared.key("assertion.pem")).expect("copied");
    // without a signal: it looks by itself
    two.one.wait_for_log(TAKEN_OVER, 1).await;
    let after = kids(&mut browser).await;
    assert_eq!(after.len(), 2);
    assert_ne!(after[0], before[0]);
    assert_eq!(after[1], before[0]);
    assert!(is_signed_in(&mut browser).await);
}
