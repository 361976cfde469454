use super::Database;
use super::fixtures::{at, minutes, signed_in};
use jiff::{SignedDuration, Timestamp};
use portico_store::{FailedSignIns, NewHandover, Reservation, Reserved, StoreError, ThrottleLimit};
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

fn granted(reserved: Result<Reserved, StoreError>) -> Reservation {
    match reserved.unwrap() {
        Reserved::Granted(place) => place,
        Reserved::RefusedUntil(until) => panic!("refused until {until}"),
    }
}

fn refused_until(reserved: Result<Reserved, StoreError>) -> Timestamp {
    match reserved.unwrap() {
        Reserved::Granted(place) => panic!("granted: {place:?}"),
        Reserved::RefusedUntil(until) => until,
    }
}

pub async fn failures_are_counted_in_a_window(database: &Database) {
    let throttle = database.store.throttle();
    let limit = ThrottleLimit::window(3, 60);
    for second in 1..=3 {
        let _counted = granted(throttle.reserve("ada", limit, at(second)).await);
    }
    let refused = throttle.reserve("ada", limit, at(10)).await;
    assert_eq!(refused_until(refused), at(61));
    let _other = granted(throttle.reserve("devi", limit, at(10)).await);
    // a refusal does not make the window longer
    for _ in 0..3 {
        let _later = granted(throttle.reserve("ada", limit, at(61)).await);
    }
    let refused = throttle.reserve("ada", limit, at(62)).await;
    assert_eq!(refused_until(refused), at(121));
}

pub async fn a_success_forgets_the_failures(database: &Database) {
    let throttle = database.store.throttle();
    let limit = ThrottleLimit::window(2, 60);
    let _failed = granted(throttle.reserve("ada", limit, at(0)).await);
    let good = granted(throttle.reserve("ada", limit, at(1)).await);
    throttle.forget(&good).await.unwrap();
    for second in 2..=3 {
        let _counted = granted(throttle.reserve("ada", limit, at(second)).await);
    }
    let refused = throttle.reserve("ada", limit, at(4)).await;
    assert_eq!(refused_until(refused), at(62));
}

pub async fn finding_s3_a_place_is_given_back_to_its_own_window(database: &Database) {
    let throttle = database.store.throttle();
    let limit = ThrottleLimit::window(2, 60);
    let first = granted(throttle.reserve("ada", limit, at(0)).await);
    let second = granted(throttle.reserve("ada", limit, at(1)).await);
    let refused = throttle.reserve("ada", limit, at(2)).await;
    assert_eq!(refused_until(refused), at(60));
    throttle.return_reservation(&first).await.unwrap();
    let _counted = granted(throttle.reserve("ada", limit, at(3)).await);
    let refused = throttle.reserve("ada", limit, at(4)).await;
    assert_eq!(refused_until(refused), at(60));
    // what is given back late takes nothing from the window after
    let _later = granted(throttle.reserve("ada", limit, at(60)).await);
    throttle.return_reservation(&second).await.unwrap();
    let _later = granted(throttle.reserve("ada", limit, at(61)).await);
    let refused = throttle.reserve("ada", limit, at(62)).await;
    assert_eq!(refused_until(refused), at(120));
}

pub async fn finding_s3_places_reserved_at_once_never_pass_the_limit(database: &Database) {
    let reservations = (0..120).map(|_| {
        let store = database.store.clone();
        tokio::spawn(async move {
            let throttle = store.throttle();
            throttle
                .reserve("office", ThrottleLimit::window(60, 60), at(0))
                .await
        })
    });
    let mut count = 0;
    for reservation in reservations.collect::<Vec<_>>() {
        match reservation.await.unwrap().unwrap() {
            Reserved::Granted(_) => count += 1,
            Reserved::RefusedUntil(until) => assert_eq!(until, at(60)),
        }
    }
    assert_eq!(count, 60);
}

fn delays() -> ThrottleLimit {
    ThrottleLimit::Delays {
        free: 2,
        delays: [5, 10, 20, 30].map(SignedDuration::from_secs),
        forget: minutes(10),
    }
}

pub async fn finding_s4_delays_grow_and_are_forgotten(database: &Database) {
    let throttle = database.store.throttle();
    for _ in 0..2 {
        let _free = granted(throttle.reserve("ada", delays(), at(0)).await);
    }
    for (second, until) in [(0, 5), (4, 5)] {
        let refused = throttle.reserve("ada", delays(), at(second)).await;
        assert_eq!(refused_until(refused), at(until));
    }
    // each attempt counts, however long it waited; refused ones do not
    for (second, until) in [(5, 15), (15, 35), (36, 66), (66, 96), (100, 130)] {
        let _counted = granted(throttle.reserve("ada", delays(), at(second)).await);
        let refused = throttle.reserve("ada", delays(), at(second)).await;
        assert_eq!(refused_until(refused), at(until), "after {second}");
    }
    for _ in 0..2 {
        let _free = granted(throttle.reserve("ada", delays(), at(700)).await);
    }
    let refused = throttle.reserve("ada", delays(), at(700)).await;
    assert_eq!(refused_until(refused), at(705));
}

pub async fn finding_s4_an_undecided_attempt_delays_nothing(database: &Database) {
    let throttle = database.store.throttle();
    for _ in 0..2 {
        let _free = granted(throttle.reserve("ada", delays(), at(0)).await);
    }
    for second in [5, 6, 6] {
        let place = granted(throttle.reserve("ada", delays(), at(second)).await);
        throttle.return_reservation(&place).await.unwrap();
    }
    let _counted = granted(throttle.reserve("ada", delays(), at(7)).await);
    let refused = throttle.reserve("ada", delays(), at(7)).await;
    assert_eq!(refused_until(refused), at(17));
    // more is not given back than was counted
    let alone = granted(throttle.reserve("devi", delays(), at(0)).await);
    for _ in 0..3 {
        throttle.return_reservation(&alone).await.unwrap();
    }
    for _ in 0..2 {
        let _free = granted(throttle.reserve("devi", delays(), at(1)).await);
    }
    let refused = throttle.reserve("devi", delays(), at(1)).await;
    assert_eq!(refused_until(refused), at(6));
}

pub async fn finding_s4_an_account_learns_what_failed_since_its_last_sign_in(database: &Database) {
    let accounts = database.store.sign_in_accounts();
    // an account that never signed in has no entry, so that invented names fill nothing
    accounts.failed("ada", false, at(0)).await.unwrap();
    assert_eq!(accounts.signed_in("ada", at(1)).await.unwrap(), None);
    accounts.failed("ada", false, at(10)).await.unwrap();
    accounts.failed("ada", true, at(20)).await.unwrap();
    accounts.failed("devi", false, at(25)).await.unwrap();
    let failed = accounts.signed_in("ada", at(30)).await.unwrap();
    assert_eq!(
        failed,
        Some(FailedSignIns {
            failures: 2,
            from_known_browsers: 1,
            since: at(1),
            last: at(20),
        })
    );
    assert_eq!(accounts.signed_in("ada", at(40)).await.unwrap(), None);
    accounts.failed("ada", false, at(50)).await.unwrap();
    database
        .store
        .sweep(at(400 * 24 * 3600 + 39))
        .await
        .unwrap();
    accounts.failed("ada", false, at(51)).await.unwrap();
    let late = at(400 * 24 * 3600 + 40);
    database.store.sweep(late).await.unwrap();
    assert_eq!(accounts.signed_in("ada", late).await.unwrap(), None);
}
