use super::Database;
use super::fixtures::{at, minutes, signed_in};
use portico_store::{NewHandover, ThrottleLimit};
use secrecy::{ExposeSecret as _, SecretString};
use uuid::Uuid;

pub async fn a_flow_keeps_its_receipt_sealed(database: &Database) {
    let flows = database.store.sign_in_flows();
    let started = flows.start("/projects/p", at(600), at(0)).await.unwrap();
    let secret = started.secret.expose_secret();
    let flow = flows.find(secret, at(1)).await.unwrap().unwrap();
    assert_eq!(flow.return_path, "/projects/p");
    assert!(flow.receipt.is_none());
    flows
        .set_receipt(flow.id, "mia", "Default", &SecretString::from("receipt"))
        .await
        .unwrap();
    let flow = flows.find(secret, at(2)).await.unwrap().unwrap();
    assert_eq!(flow.user_name.as_deref(), Some("mia"));
    assert_eq!(flow.receipt.unwrap().expose_secret(), "receipt");
    assert_eq!(flows.count_attempt(flow.id).await.unwrap(), Some(1));
    assert_eq!(flows.count_attempt(flow.id).await.unwrap(), Some(2));
    assert!(flows.find(secret, at(600)).await.unwrap().is_none());
}

pub async fn a_flow_is_finished_once(database: &Database) {
    let flows = database.store.sign_in_flows();
    let started = flows.start("/", at(600), at(0)).await.unwrap();
    assert!(flows.finish(started.flow.id).await.unwrap());
    assert!(!flows.finish(started.flow.id).await.unwrap());
    assert_eq!(flows.count_attempt(started.flow.id).await.unwrap(), None);
}

fn new_handover(session: Uuid) -> NewHandover {
    NewHandover {
        session,
        host: "prometheus.apps.localhost".to_owned(),
        nonce: SecretString::from("nonce"),
        return_path: "/graph".to_owned(),
    }
}

pub async fn a_handover_code_works_once(database: &Database) {
    let handovers = database.store.handovers();
    let (_, session) = signed_in(&database.store, "ada").await;
    let new = new_handover(session.id);
    let code = handovers.create(&new, at(0)).await.unwrap();
    let code = code.expose_secret();
    let redeemed = handovers.redeem(code, &new.host, "nonce", at(1)).await;
    let redeemed = redeemed.unwrap().unwrap();
    assert_eq!(redeemed.session, session.id);
    assert_eq!(redeemed.return_path, "/graph");
    let again = handovers.redeem(code, &new.host, "nonce", at(1)).await;
    assert!(again.unwrap().is_none());
}

pub async fn a_handover_code_is_bound_to_host_and_nonce(database: &Database) {
    let handovers = database.store.handovers();
    let (_, session) = signed_in(&database.store, "ada").await;
    let new = new_handover(session.id);
    for (host, nonce) in [("logs.apps.localhost", "nonce"), (new.host.as_str(), "x")] {
        let code = handovers.create(&new, at(0)).await.unwrap();
        let code = code.expose_secret();
        let refused = handovers.redeem(code, host, nonce, at(1)).await;
        assert!(refused.unwrap().is_none());
        let burnt = handovers.redeem(code, &new.host, "nonce", at(1)).await;
        assert!(burnt.unwrap().is_none());
    }
}

pub async fn a_handover_code_is_good_for_thirty_seconds(database: &Database) {
    let handovers = database.store.handovers();
    let (_, session) = signed_in(&database.store, "ada").await;
    let new = new_handover(session.id);
    let code = handovers.create(&new, at(0)).await.unwrap();
    let late = handovers.redeem(code.expose_secret(), &new.host, "nonce", at(30));
    assert!(late.await.unwrap().is_none());
}

pub async fn a_totp_code_counts_once(database: &Database) {
    let marks = database.store.totp_marks();
    assert!(marks.mark("mia-id", "123456", at(90)).await.unwrap());
    assert!(!marks.mark("mia-id", "123456", at(90)).await.unwrap());
    assert!(marks.mark("ada-id", "123456", at(90)).await.unwrap());
    database.store.sweep(at(90)).await.unwrap();
    assert!(marks.mark("mia-id", "123456", at(190)).await.unwrap());
}

pub async fn failures_are_counted_in_a_window(database: &Database) {
    let throttle = database.store.throttle();
    let limit = ThrottleLimit {
        failures: 3,
        window: minutes(1),
    };
    for count in 1..=3 {
        let refused = throttle.refused_until("ada", limit, at(count)).await;
        assert_eq!(refused.unwrap(), None);
        let failed = throttle.failed("ada", limit, at(count)).await;
        assert_eq!(failed.unwrap(), count);
    }
    let refused = throttle.refused_until("ada", limit, at(10)).await;
    assert_eq!(refused.unwrap(), Some(at(61)));
    let other = throttle.refused_until("devi", limit, at(10)).await;
    assert_eq!(other.unwrap(), None);
    let later = throttle.refused_until("ada", limit, at(61)).await;
    assert_eq!(later.unwrap(), None);
    assert_eq!(throttle.failed("ada", limit, at(61)).await.unwrap(), 1);
    throttle.succeeded("ada").await.unwrap();
    assert_eq!(throttle.failed("ada", limit, at(62)).await.unwrap(), 1);
}

pub async fn an_attempt_without_an_outcome_does_not_count(database: &Database) {
    let throttle = database.store.throttle();
    let limit = ThrottleLimit {
        failures: 2,
        window: minutes(1),
    };
    throttle.undecided("ada").await.unwrap();
    throttle.failed("ada", limit, at(0)).await.unwrap();
    throttle.failed("ada", limit, at(1)).await.unwrap();
    throttle.undecided("ada").await.unwrap();
    let refused = throttle.refused_until("ada", limit, at(2)).await.unwrap();
    assert_eq!(refused, None);
    assert_eq!(throttle.failed("ada", limit, at(2)).await.unwrap(), 2);
    let refused = throttle.refused_until("ada", limit, at(3)).await.unwrap();
    assert_eq!(refused, Some(at(60)));
}
