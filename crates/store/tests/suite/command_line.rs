use super::Database;
use super::fixtures::{at, on_command_line, signed_in};
use jiff::SignedDuration;
use portico_store::{
    DevicePoll, EndReason, NewAuthorizationCode, NewDeviceCode, Rotation, Session, Store,
};
use secrecy::ExposeSecret as _;
use std::collections::BTreeSet;

const GRACE: SignedDuration = SignedDuration::from_secs(20);

fn new_device() -> NewDeviceCode {
    NewDeviceCode {
        client: "kubectl on laptop".to_owned(),
        address: "192.0.2.9".to_owned(),
        project: Some("acme-id".to_owned()),
        cluster: None,
    }
}

pub async fn a_device_request_is_approved_once(database: &Database) {
    let devices = database.store.device_codes();
    let (_, session) = signed_in(&database.store, "ada").await;
    let started = devices.start(&new_device(), at(0)).await.unwrap();
    let device_code = started.device_code.expose_secret();
    let typed = started.user_code.expose_secret().to_lowercase();
    let typed = typed.replace('-', " ");
    let request = devices.find(&typed, at(1)).await.unwrap().unwrap();
    assert_eq!(request.client, "kubectl on laptop");
    let poll = devices.poll(device_code, at(1)).await.unwrap();
    assert_eq!(poll, DevicePoll::Pending);
    assert!(
        devices
            .decide(&typed, Some(session.id), at(2))
            .await
            .unwrap()
    );
    assert!(!devices.decide(&typed, None, at(3)).await.unwrap());
    assert!(devices.find(&typed, at(3)).await.unwrap().is_none());
    let poll = devices.poll(device_code, at(4)).await.unwrap();
    let approved = DevicePoll::Approved {
        session: session.id,
        request,
    };
    assert_eq!(poll, approved);
    let again = devices.poll(device_code, at(5)).await.unwrap();
    assert_eq!(again, DevicePoll::Expired);
}

pub async fn a_device_request_is_denied(database: &Database) {
    let devices = database.store.device_codes();
    let started = devices.start(&new_device(), at(0)).await.unwrap();
    let typed = started.user_code.expose_secret();
    assert!(devices.decide(typed, None, at(1)).await.unwrap());
    let poll = devices.poll(started.device_code.expose_secret(), at(2));
    assert_eq!(poll.await.unwrap(), DevicePoll::Denied);
}

pub async fn a_hasty_client_is_slowed_down(database: &Database) {
    let devices = database.store.device_codes();
    let started = devices.start(&new_device(), at(0)).await.unwrap();
    let device_code = started.device_code.expose_secret();
    let expected = [
        (0, DevicePoll::Pending),
        (1, DevicePoll::SlowDown),
        (7, DevicePoll::SlowDown),
        (30, DevicePoll::Pending),
    ];
    for (second, answer) in expected {
        let poll = devices.poll(device_code, at(second)).await.unwrap();
        assert_eq!(poll, answer, "at second {second}");
    }
}

pub async fn a_device_code_ends_after_five_minutes(database: &Database) {
    let devices = database.store.device_codes();
    let (_, session) = signed_in(&database.store, "ada").await;
    let started = devices.start(&new_device(), at(0)).await.unwrap();
    let typed = started.user_code.expose_secret();
    assert!(
        !devices
            .decide(typed, Some(session.id), at(300))
            .await
            .unwrap()
    );
    let poll = devices.poll(started.device_code.expose_secret(), at(300));
    assert_eq!(poll.await.unwrap(), DevicePoll::Expired);
}

pub async fn an_authorization_code_works_once_for_a_minute(database: &Database) {
    let codes = database.store.authorization_codes();
    let (_, session) = signed_in(&database.store, "ada").await;
    let new = NewAuthorizationCode {
        session: session.id,
        client: "laptop".to_owned(),
        redirect_uri: "http://127.0.0.1:5123/".to_owned(),
        code_challenge: "challenge".to_owned(),
        project: None,
    };
    let code = codes.create(&new, at(0)).await.unwrap();
    let code = code.expose_secret();
    let redeemed = codes.redeem(code, at(59)).await.unwrap().unwrap();
    assert_eq!(redeemed.session, session.id);
    assert_eq!(redeemed.code_challenge, "challenge");
    assert!(codes.redeem(code, at(59)).await.unwrap().is_none());
    let late = codes.create(&new, at(0)).await.unwrap();
    let late = codes.redeem(late.expose_secret(), at(60)).await;
    assert!(late.unwrap().is_none());
}

async fn command_line(store: &Store) -> (Session, Session) {
    let (_, browser) = signed_in(store, "ada").await;
    let cli = on_command_line(store, browser.id).await;
    (browser, cli)
}

pub async fn an_access_token_ends_with_its_session(database: &Database) {
    let tokens = database.store.access_tokens();
    let (browser, cli) = command_line(&database.store).await;
    let token = tokens.issue(cli.id, at(900)).await.unwrap();
    let token = token.expose_secret();
    let found = tokens.find_session(token, at(10)).await.unwrap().unwrap();
    assert_eq!(found.id, cli.id);
    assert!(tokens.find_session(token, at(900)).await.unwrap().is_none());
    assert_eq!(tokens.session_of_any(token).await.unwrap(), Some(cli.id));
    database
        .store
        .sessions()
        .end(browser.id, EndReason::SignedOut, at(11))
        .await
        .unwrap();
    assert!(tokens.find_session(token, at(12)).await.unwrap().is_none());
}

async fn rotated(store: &Store, token: &str, second: i64) -> Option<String> {
    match store.access_tokens().rotate(token, GRACE, at(second)).await {
        Ok(Rotation::Rotated(grant)) => Some(grant.refresh_token.expose_secret().to_owned()),
        Ok(_) => None,
        Err(error) => panic!("{error}"),
    }
}

async fn first_refresh(store: &Store) -> (Session, String) {
    let (_, cli) = command_line(store).await;
    let token = store
        .access_tokens()
        .issue_refresh(cli.id, at(9000), at(0))
        .await
        .unwrap();
    (cli, token.expose_secret().to_owned())
}

pub async fn a_refresh_token_rotates(database: &Database) {
    let store = &database.store;
    let (cli, first) = first_refresh(store).await;
    let second = rotated(store, &first, 1).await.unwrap();
    let third = rotated(store, &second, 2).await.unwrap();
    assert_ne!(second, third);
    let of_any = store.access_tokens().session_of_any(&third).await.unwrap();
    assert_eq!(of_any, Some(cli.id));
    let late = store.access_tokens().rotate(&third, GRACE, at(9000)).await;
    assert!(matches!(late.unwrap(), Rotation::Unknown));
    let unknown = store.access_tokens().rotate("unknown", GRACE, at(3)).await;
    assert!(matches!(unknown.unwrap(), Rotation::Unknown));
}

pub async fn a_lost_answer_is_repeated_within_the_grace(database: &Database) {
    let store = &database.store;
    let (_, first) = first_refresh(store).await;
    let lost = rotated(store, &first, 1).await.unwrap();
    let second = rotated(store, &first, 21).await.unwrap();
    assert!(rotated(store, &second, 22).await.is_some());
    // a client that has the lost one cannot get on
    assert_eq!(rotated(store, &lost, 23).await, None);
}

pub async fn a_reused_refresh_token_is_noticed(database: &Database) {
    let store = &database.store;
    let (cli, first) = first_refresh(store).await;
    let second = rotated(store, &first, 1).await.unwrap();
    let late = store.access_tokens().rotate(&first, GRACE, at(22)).await;
    let Rotation::Reused { session } = late.unwrap() else {
        panic!("a token used after the grace is a reuse");
    };
    assert_eq!(session, cli.id);
    rotated(store, &second, 23).await.unwrap();
    // within the grace, but its successor has been used
    let (_, first) = first_refresh(store).await;
    let second = rotated(store, &first, 1).await.unwrap();
    rotated(store, &second, 2).await.unwrap();
    let again = store.access_tokens().rotate(&first, GRACE, at(3)).await;
    assert!(matches!(again.unwrap(), Rotation::Reused { .. }));
}

pub async fn a_refresh_token_redeemed_at_once_is_never_reported_as_reuse(database: &Database) {
    let store = &database.store;
    // another replica, with connections of its own
    let other = database.with_keys(&[1]).await;
    let (_, cli) = command_line(store).await;
    for round in 0..20 {
        let token = store.access_tokens().issue_refresh(cli.id, at(9000), at(0));
        let token = token.await.unwrap();
        let mut tasks = tokio::task::JoinSet::new();
        for redemption in 0..8 {
            let store = if redemption % 2 == 0 { store } else { &other };
            let (store, token) = (store.clone(), token.clone());
            tasks.spawn(async move {
                let tokens = store.access_tokens();
                tokens.rotate(token.expose_secret(), GRACE, at(1)).await
            });
        }
        let mut successors = BTreeSet::new();
        for rotation in tasks.join_all().await {
            let rotation = rotation.unwrap();
            let Rotation::Rotated(grant) = rotation else {
                panic!("round {round}: {rotation:?}");
            };
            assert_eq!(grant.session, cli.id);
            successors.insert(grant.refresh_token.expose_secret().to_owned());
        }
        assert_eq!(successors.len(), 8, "round {round}: one for each");
        // all but the last are lost: a client that holds one of them cannot get on
        let mut usable = 0;
        for successor in &successors {
            let tokens = store.access_tokens();
            let rotation = tokens.rotate(successor, SignedDuration::ZERO, at(60)).await;
            usable += usize::from(matches!(rotation.unwrap(), Rotation::Rotated(_)));
        }
        assert_eq!(usable, 1, "round {round}");
    }
    other.close().await;
}
