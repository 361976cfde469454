use crate::environment::value;
use portico_clock::Clock;
use portico_openstack::KeystoneConfig;
use portico_openstack::keystone::error::Unavailable;
use portico_openstack::keystone::{AuthOutcome, Client, Error, IssuedToken, Login, Scope, UserRef};
use portico_testkit::Gate;
use portico_transport::TransportFault;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// A client of these endpoints, asked in this order.
fn client_of(urls: &[&str]) -> Client {
    let mut config = KeystoneConfig::new(urls[0].parse().unwrap());
    config.fallback_urls = urls[1..].iter().map(|url| url.parse().unwrap()).collect();
    config.timeout = Duration::from_secs(4);
    Client::new(&config, Clock::system()).unwrap()
}

async fn sign_in(client: &Client) -> Result<IssuedToken, Error> {
    let user = UserRef::Name {
        name: "vera".to_owned(),
        domain: "Default".to_owned(),
    };
    let project = Scope::ProjectName {
        name: "acme".to_owned(),
        domain: "Default".to_owned(),
    };
    let login = Login::with_password(user, value("DEMO_PASSWORD").into(), project);
    match client.authenticate(&login).await? {
        AuthOutcome::Token(issued) => Ok(*issued),
        AuthOutcome::ReceiptRequired { .. } => panic!("vera has no second factor"),
    }
}

async fn closed_port() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    format!("http://{}/v3", listener.local_addr().unwrap())
}

#[tokio::test]
async fn where_the_first_endpoint_is_gone_the_next_answers() {
    let closed = closed_port().await;
    let client = client_of(&[&closed, &value("KEYSTONE_URL")]);
    let issued = sign_in(&client).await.unwrap();
    for _ in 0..20 {
        client.validate(&issued.token).await.unwrap();
    }
    let alone = client_of(&[&closed]);
    let error = alone.validate(&issued.token).await.unwrap_err();
    assert_eq!(
        error,
        Error::Unavailable(Unavailable::Connect(Some(TransportFault::Refused)))
    );
}

#[tokio::test]
async fn a_refusal_is_final_and_no_other_endpoint_is_asked() {
    let gate = Gate::start(&value("KEYSTONE_URL")).await;
    gate.set_open(false);
    let client = client_of(&[&value("KEYSTONE_URL"), &gate.url()]);
    let error = client.validate(&"gAAAA-none".into()).await.unwrap_err();
    assert_eq!(error, Error::InvalidToken);
    assert_eq!(gate.turned_away(), 0);
}

#[tokio::test]
async fn a_silent_endpoint_costs_its_share_of_the_time_until_it_is_known() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v3", silent.local_addr().unwrap());
    let issued = sign_in(&client_of(&[&value("KEYSTONE_URL")]))
        .await
        .unwrap();
    let client = client_of(&[&url, &value("KEYSTONE_URL")]);
    let mut calls = JoinSet::new();
    for _ in 0..5 {
        let (client, token) = (client.clone(), issued.token.clone());
        calls.spawn(async move {
            let started = Instant::now();
            client.validate(&token).await.unwrap();
            started.elapsed()
        });
    }
    for took in calls.join_all().await {
        assert!(took > Duration::from_secs(1), "{took:?}");
        assert!(took < Duration::from_secs(4), "{took:?}");
    }
    // known as gone: one more call looks whether it is back
    let started = Instant::now();
    client.validate(&issued.token).await.unwrap();
    assert!(started.elapsed() > Duration::from_secs(1));
    for _ in 0..5 {
        let started = Instant::now();
        client.validate(&issued.token).await.unwrap();
        let took = started.elapsed();
        assert!(took < Duration::from_secs(1), "{took:?}");
    }
}

#[tokio::test]
async fn a_thousand_clients_of_a_dead_keystone_cost_it_a_call_a_second() {
    let gate = Gate::start(&value("KEYSTONE_URL")).await;
    let client = client_of(&[&gate.url()]);
    let issued = sign_in(&client).await.unwrap();
    gate.set_open(false);
    let outage = Instant::now();
    let mut callers = JoinSet::new();
    for _ in 0..1000 {
        let (client, token) = (client.clone(), issued.token.clone());
        callers.spawn(async move {
            while outage.elapsed() < Duration::from_secs(4) {
                let answer = client.validate(&token).await;
                assert!(matches!(answer, Err(Error::Unavailable(_))), "{answer:?}");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        });
    }
    // until the outage is known; then the calls of so many clients are counted for a while
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let before = gate.turned_away();
    tokio::time::sleep(Duration::from_secs(2)).await;
    let probes = gate.turned_away() - before;
    // each call that finds its connection dropped is sent once more
    assert!((2..=6).contains(&probes), "{probes} calls in 2 s");
    callers.join_all().await;
    // the calls under way when it went, and those that followed before it was known
    assert!(gate.turned_away() < 400, "{}", gate.turned_away());

    gate.set_open(true);
    let back = Instant::now();
    while client.validate(&issued.token).await.is_err() {
        assert!(back.elapsed() < Duration::from_secs(15));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // and asked again, however busy other tests keep it
    for _ in 0..20 {
        let answer = client.validate(&issued.token).await;
        let not_asked = Err(Error::Unavailable(Unavailable::NotAsked));
        assert_ne!(answer.map(drop), not_asked);
    }
}
