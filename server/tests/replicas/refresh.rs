//! Two processes at refresh time, with a provider that rotates its refresh tokens: the real one,
//! steered. On PostgreSQL and on Redis.
use std::time::{Duration, Instant};

use http::StatusCode;
use portico_testkit::{CLIENT_ID, CLIENT_SECRET, OidcPerson, OidcProvider};
use serde_json::json;

use crate::{
    browser::Browser,
    process::{MAIN, MAIN_HOST, Process},
    two::{Database, Two, two_with},
};

/// What a test wants of the provider and of the client's configuration, in seconds.
struct Wanted {
    /// How long an access token lives.
    life: u32,
    /// How long before its end it is refreshed.
    ahead: u32,
    /// How long a call to the provider may take.
    timeout: u32,
}

struct SignedIn {
    two: Two,
    provider: OidcProvider,
    browser: Browser,
    since: Instant,
}

async fn signed_in(database: Database, wanted: &Wanted) -> SignedIn {
    let redirect = format!("{MAIN}/oauth2/callback/corp");
    let provider = OidcProvider::start(&redirect, MAIN, wanted.life).await;
    let provider = provider.expect("provider");
    let secret = tempfile::NamedTempFile::new().expect("file");
    std::fs::write(secret.path(), CLIENT_SECRET).expect("secret");
    let section = format!(
        "\n[[gateway.providers]]\nid = \"corp\"\nname = \"Corp\"\nkind = \"oidc\"\n\
         issuer = {:?}\nclient_id = {CLIENT_ID:?}\nclient_secret_file = {:?}\n\
         scopes = [\"profile\", \"groups\"]\nrefresh_ahead = \"{}s\"\ntimeout = \"{}s\"\n",
        provider.issuer,
        secret.path(),
        wanted.ahead,
        wanted.timeout,
    );
    let two = two_with(database, &section).await;
    let mut browser = Browser::new(two.one.address);
    let page = browser
        .open(&format!("{MAIN}/oauth2/start?provider=corp&rd=/"))
        .await;
    let mut person = OidcPerson::default();
    let callback = person.sign_in(page.location().as_str(), "alice").await;
    let page = browser.open(&callback.expect("an answer")).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    SignedIn {
        two,
        provider,
        browser,
        since: Instant::now(),
    }
}

impl SignedIn {
    /// Waits until so many seconds after the sign-in.
    async fn at(&self, seconds: u64) {
        let until = self.since + Duration::from_secs(seconds);
        tokio::time::sleep_until(until.into()).await;
    }

    /// Parallel requests with the session's cookie, shared out over processes; each must succeed.
    async fn storm(&self, processes: &[&Process], requests: usize) {
        let cookie = self.browser.cookie(MAIN_HOST, "portico").expect("cookie");
        let all = (0..requests).map(|number| {
            let mut browser = Browser::new(processes[number % processes.len()].address);
            browser.set_cookie(MAIN_HOST, "portico", cookie);
            tokio::spawn(async move { browser.open(&format!("{MAIN}/")).await.status })
        });
        for answer in all.collect::<Vec<_>>() {
            assert_eq!(answer.await.expect("an answer"), StatusCode::OK);
        }
    }

    async fn refreshes(&self) -> usize {
        self.provider.refreshes().await.expect("events")
    }

    /// Waits for the one refresh, and a little longer for a second that must not come.
    async fn refreshed_once(&self, within: Duration) {
        let deadline = Instant::now() + within;
        while self.refreshes().await == 0 {
            assert!(Instant::now() < deadline, "no refresh");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        // a refresh that waits for another looks for it every 150 ms
        tokio::time::sleep(Duration::from_millis(400)).await;
        assert_eq!(self.refreshes().await, 1);
        let events = self.provider.events().await.expect("events");
        // what a killed process had begun to send is not a request
        let refused = events
            .iter()
            .any(|event| event.detail["error"] == "invalid_grant");
        assert!(!refused, "a token was used twice: {events:?}");
    }
}

async fn both_at_once(database: Database) {
    let wanted = Wanted {
        life: 20,
        ahead: 15,
        timeout: 8,
    };
    let session = signed_in(database, &wanted).await;
    let both = [&session.two.one, &session.two.other];
    session.storm(&both, 10).await;
    assert_eq!(session.refreshes().await, 0, "it is too early");
    session.at(6).await;
    session.storm(&both, 200).await;
    session.refreshed_once(Duration::from_secs(10)).await;
    // the first tokens have ended: the session lives by the new ones
    session.at(21).await;
    session.storm(&both, 10).await;
}

async fn while_the_provider_is_slow(database: Database) {
    let wanted = Wanted {
        life: 22,
        ahead: 17,
        timeout: 8,
    };
    let session = signed_in(database, &wanted).await;
    let slow = session.provider.control(json!({ "tokenDelay": 6000 }));
    slow.await.expect("control");
    let both = [&session.two.one, &session.two.other];
    session.at(6).await;
    let started = Instant::now();
    session.storm(&both, 200).await;
    assert!(
        started.elapsed() < Duration::from_secs(6),
        "a request waited"
    );
    session.refreshed_once(Duration::from_secs(12)).await;
    session.at(23).await;
    session.storm(&both, 10).await;
}

async fn while_the_refreshing_process_is_killed(database: Database) {
    let wanted = Wanted {
        life: 36,
        ahead: 31,
        timeout: 4,
    };
    let mut session = signed_in(database, &wanted).await;
    let slow = session.provider.control(json!({ "tokenDelay": 3000 }));
    slow.await.expect("control");
    session.at(6).await;
    // the first process takes the lease, asks, and is gone before the provider has looked
    session.storm(&[&session.two.one], 1).await;
    tokio::time::sleep(Duration::from_millis(800)).await;
    session.two.one.kill().await;
    session.storm(&[&session.two.other], 200).await;
    assert_eq!(session.refreshes().await, 0, "the lease is the dead one's");
    session.at(25).await;
    session.storm(&[&session.two.other], 20).await;
    session.refreshed_once(Duration::from_secs(10)).await;
    session.at(37).await;
    session.storm(&[&session.two.other], 10).await;
}

#[tokio::test]
async fn attack_76_two_processes_on_postgresql_refresh_once_between_them() {
    both_at_once(Database::Postgres).await;
}

#[tokio::test]
async fn attack_76_two_processes_on_redis_refresh_once_between_them() {
    both_at_once(Database::Redis).await;
}

#[tokio::test]
async fn attack_76_no_request_waits_at_two_processes_on_postgresql_while_the_provider_is_slow() {
    while_the_provider_is_slow(Database::Postgres).await;
}

#[tokio::test]
async fn attack_76_no_request_waits_at_two_processes_on_redis_while_the_provider_is_slow() {
    while_the_provider_is_slow(Database::Redis).await;
}

#[tokio::test]
async fn attack_76_a_process_on_postgresql_killed_while_it_refreshes_loses_no_session() {
    while_the_refreshing_process_is_killed(Database::Postgres).await;
}

#[tokio::test]
async fn attack_76_a_process_on_redis_killed_while_it_refreshes_loses_no_session() {
    while_the_refreshing_process_is_killed(Database::Redis).await;
}
