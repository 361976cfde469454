//! What is good for one use is redeemed by fifty requests at once: one of them succeeds.
use super::Database;
use super::fixtures::{at, signed_in};
use jiff::Timestamp;
use portico_store::{
    DevicePoll, NewAuthorizationCode, NewDeviceCode, NewHandover, NewProviderFlow, NewSavedForm,
    Store,
};
use secrecy::{ExposeSecret as _, SecretString};
use std::sync::Arc;
use tokio::sync::Barrier;

const REDEMPTIONS: usize = 50;

/// Redeems fifty times at once; returns the results.
async fn at_once<T, F, R>(store: &Store, redeem: F) -> Vec<T>
where
    T: Send + 'static,
    F: Fn(Store) -> R,
    R: Future<Output = T> + Send + 'static,
{
    let start = Arc::new(Barrier::new(REDEMPTIONS));
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..REDEMPTIONS {
        let (start, redemption) = (Arc::clone(&start), redeem(store.clone()));
        tasks.spawn(async move {
            start.wait().await;
            redemption.await
        });
    }
    tasks.join_all().await
}

async fn successes<F, R>(store: &Store, redeem: F) -> usize
where
    F: Fn(Store) -> R,
    R: Future<Output = bool> + Send + 'static,
{
    let all = at_once(store, redeem).await;
    all.into_iter().filter(|succeeded| *succeeded).count()
}

pub async fn a_state_is_redeemed_once_by_fifty_at_once(database: &Database) {
    let store = &database.store;
    let secret = SecretString::from;
    let new = NewProviderFlow {
        provider: "corp".to_owned(),
        state: secret("state"),
        browser: secret("browser"),
        nonce: secret("nonce"),
        verifier: secret("verifier"),
        return_path: "/".to_owned(),
    };
    store.provider_flows().begin(&new, at(0)).await.unwrap();
    let taken = successes(store, |store| async move {
        let flows = store.provider_flows();
        let taken = flows.take("corp", "state", "browser", at(1)).await;
        taken.unwrap().is_some()
    });
    assert_eq!(taken.await, 1);
}

pub async fn an_authorization_code_is_redeemed_once_by_fifty_at_once(database: &Database) {
    let store = &database.store;
    let (_, session) = signed_in(store, "ada").await;
    let new = NewAuthorizationCode {
        session: session.id,
        client: "laptop".to_owned(),
        redirect_uri: "http://127.0.0.1:5123/".to_owned(),
        code_challenge: "challenge".to_owned(),
        project: None,
    };
    let code = store.authorization_codes().create(&new, at(0)).await;
    let code = code.unwrap();
    let redeemed = successes(store, |store| {
        let code = code.clone();
        async move {
            let codes = store.authorization_codes();
            let redeemed = codes.redeem(code.expose_secret(), at(1)).await;
            redeemed.unwrap().is_some()
        }
    });
    assert_eq!(redeemed.await, 1);
}

pub async fn a_handover_code_is_redeemed_once_by_fifty_at_once(database: &Database) {
    let store = &database.store;
    let (_, session) = signed_in(store, "ada").await;
    let new = NewHandover {
        session: session.id,
        host: "prometheus.apps.localhost".to_owned(),
        nonce: SecretString::from("nonce"),
        return_path: "/graph".to_owned(),
    };
    let code = store.handovers().create(&new, at(0)).await.unwrap();
    let redeemed = successes(store, |store| {
        let (code, host) = (code.clone(), new.host.clone());
        async move {
            let handovers = store.handovers();
            let redeemed = handovers.redeem(code.expose_secret(), &host, "nonce", at(1));
            redeemed.await.unwrap().is_some()
        }
    });
    assert_eq!(redeemed.await, 1);
}

pub async fn an_approved_device_code_is_redeemed_once_by_fifty_at_once(database: &Database) {
    let store = &database.store;
    let (_, session) = signed_in(store, "ada").await;
    let devices = store.device_codes();
    let new = NewDeviceCode::default();
    let started = devices.start(&new, at(0)).await.unwrap();
    let typed = started.user_code.expose_secret();
    let approved = devices.decide(typed, Some(session.id), at(1)).await;
    assert!(approved.unwrap());
    let redeemed = successes(store, |store| {
        let code = started.device_code.clone();
        async move {
            let devices = store.device_codes();
            let poll = devices.poll(code.expose_secret(), at(10)).await;
            matches!(poll.unwrap(), DevicePoll::Approved { .. })
        }
    });
    assert_eq!(redeemed.await, 1);
}

pub async fn a_device_request_is_decided_once_by_fifty_at_once(database: &Database) {
    let store = &database.store;
    let (_, session) = signed_in(store, "ada").await;
    let devices = store.device_codes();
    let started = devices.start(&NewDeviceCode::default(), at(0)).await;
    let started = started.unwrap();
    let decided = successes(store, |store| {
        let (code, approver) = (started.user_code.clone(), session.id);
        async move {
            let devices = store.device_codes();
            let typed = code.expose_secret();
            devices.decide(typed, Some(approver), at(1)).await.unwrap()
        }
    });
    assert_eq!(decided.await, 1);
}

pub async fn a_one_time_passcode_counts_once_for_fifty_at_once(database: &Database) {
    let marked = successes(&database.store, |store| async move {
        let marks = store.totp_marks();
        marks.mark("mia-id", "123456", at(90)).await.unwrap()
    });
    assert_eq!(marked.await, 1);
}

pub async fn passcodes_tried_at_once_are_all_counted(database: &Database) {
    let store = &database.store;
    let flows = store.sign_in_flows();
    let flow = flows.start("/", at(600), at(0)).await.unwrap().flow;
    let mut counts = at_once(store, |store| async move {
        let flows = store.sign_in_flows();
        flows.count_attempt(flow.id).await.unwrap().unwrap()
    })
    .await;
    counts.sort_unstable();
    let expected: Vec<i64> = (1..).take(REDEMPTIONS).collect();
    assert_eq!(counts, expected);
}

pub async fn a_flow_is_finished_once_by_fifty_at_once(database: &Database) {
    let store = &database.store;
    let flows = store.sign_in_flows();
    let flow = flows.start("/", at(600), at(0)).await.unwrap().flow;
    let finished = successes(store, |store| async move {
        store.sign_in_flows().finish(flow.id).await.unwrap()
    });
    assert_eq!(finished.await, 1);
}

pub async fn a_saved_form_is_taken_once_by_fifty_at_once(database: &Database) {
    let store = &database.store;
    let new = NewSavedForm {
        user_id: "ada-id".to_owned(),
        target: "/form".to_owned(),
        body: SecretString::from("a=b"),
    };
    let forms = store.saved_forms();
    let secret = forms.save(&new, at(0)).await.unwrap();
    let found = forms.find(secret.expose_secret(), "ada-id", at(1)).await;
    let form = found.unwrap().unwrap();
    let taken = successes(store, |store| async move {
        store.saved_forms().forget(form.id).await.unwrap()
    });
    assert_eq!(taken.await, 1);
}

pub async fn a_logout_token_counts_once_for_fifty_at_once(database: &Database) {
    let until: Timestamp = at(60);
    let marked = successes(&database.store, |store| async move {
        let marks = store.logout_marks();
        marks.mark("corp", "j1", until).await.unwrap()
    });
    assert_eq!(marked.await, 1);
}
