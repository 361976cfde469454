//! Magnum and Keystone that are gone at each step, and tokens that end: nothing is lost or done twice.
use crate::service_proxy::{Rules, ServiceProxy};
use crate::tenant::{FULL, Tenant, cluster, create, slow};
use portico_testkit::{CommandOutput, Person};
use reqwest::Method;
use std::time::Duration;
use tokio::time::sleep;

/// The exit code when a service does not answer.
const UNAVAILABLE: i32 = 11;
/// How long a service is gone while a command waits.
const OUTAGE: Duration = Duration::from_secs(4);

/// Returns the number of requests before the first one that changes something.
fn reads(proxy: &ServiceProxy) -> usize {
    let received = proxy.received();
    let mut requests = received.iter();
    requests
        .position(|request| request.method != Method::GET)
        .unwrap()
}

fn assert_explained(ran: &CommandOutput, step: usize) {
    assert_eq!(ran.code, UNAVAILABLE, "step {step}: {}", ran.err);
    assert!(ran.err.contains("Next: "), "step {step}: {}", ran.err);
}

fn ends_after(count: usize) -> Rules {
    Rules {
        ends_after: Some(count),
        ..Rules::default()
    }
}

#[tokio::test]
async fn a_creation_without_magnum_at_any_step_sends_nothing_and_is_made_once_later() {
    Tenant::run(|tenant| async move {
        let (person, proxy) = tenant.through(Rules::default()).await;
        let name = tenant.name("steps");
        let words = create(&name, &["--no-wait"]);
        assert_eq!(cluster(&person, &words).await.code, 0);
        let name = tenant.name("again");
        let words = create(&name, &["--no-wait"]);
        for step in 0..reads(&proxy) {
            let (person, proxy) = tenant.through(ends_after(step)).await;
            let ran = cluster(&person, &words).await;
            assert_explained(&ran, step);
            assert!(proxy.changes().is_empty(), "step {step}");
        }
        assert!(tenant.named(&name).await.is_empty());
        let ran = cluster(&person, &words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert_eq!(tenant.named(&name).await.len(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_deletion_without_magnum_at_any_step_sends_nothing_and_is_repeated_later() {
    Tenant::run(|tenant| async move {
        let (person, proxy) = tenant.through(Rules::default()).await;
        let first = tenant.name("first");
        tenant.make_complete(&first, FULL, &[]).await;
        let words = |name| ["delete", name, "--yes"];
        assert_eq!(cluster(&person, &words(&first)).await.code, 0);
        let name = tenant.name("second");
        let made = tenant.make_complete(&name, FULL, &[]).await;
        let mut refused = 0;
        for step in 0..=reads(&proxy) {
            let (person, _proxy) = tenant.through(ends_after(step)).await;
            let ran = cluster(&person, &words(&name)).await;
            // a template that cannot be read leaves only the driver unknown
            if ran.code != 0 {
                assert_explained(&ran, step);
                refused += 1;
                assert_eq!(
                    tenant.named(&name).await[0].status,
                    made.status,
                    "step {step}"
                );
            }
        }
        assert!(refused >= 3, "{refused}");
        let words = ["delete", &name, "--yes", "--wait"];
        let ran = cluster(&person, &words).await;
        assert!(matches!(ran.code, 0 | 3), "{}", ran.err);
        assert!(tenant.named(&name).await.is_empty());
    })
    .await;
}

#[tokio::test]
async fn without_keystone_nothing_is_sent_and_the_outage_is_reported() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("no-keystone");
        let (person, _, keystone) = tenant.through_both(Rules::default(), None).await;
        assert_eq!(cluster(&person, &["list"]).await.code, 0);
        let requests = keystone.received().len();
        for step in 0..requests {
            let (person, magnum, _) = tenant.through_both(Rules::default(), Some(step)).await;
            let ran = cluster(&person, &create(&name, &["--no-wait"])).await;
            assert_eq!(ran.code, UNAVAILABLE, "step {step}: {}", ran.err);
            assert!(magnum.received().is_empty(), "step {step}");
        }
        assert!(tenant.named(&name).await.is_empty());
    })
    .await;
}

/// Runs a command, and stops Magnum for a moment while it waits.
async fn with_outage(person: &Person, proxy: &ServiceProxy, words: &[&str]) -> CommandOutput {
    let outage = async {
        let sent = async {
            while proxy.changes().is_empty() {
                sleep(Duration::from_millis(100)).await;
            }
        };
        // a command that sends nothing ends by itself, and shows why
        let _ = tokio::time::timeout(Duration::from_secs(15), sent).await;
        // it looks every two seconds
        sleep(Duration::from_secs(1)).await;
        proxy.set_down(true);
        sleep(OUTAGE).await;
        proxy.set_down(false);
    };
    tokio::join!(cluster(person, words), outage).0
}

#[tokio::test]
async fn an_outage_of_magnum_while_a_command_waits_is_ridden_out() {
    Tenant::run(|tenant| async move {
        let (person, proxy) = tenant.through(Rules::default()).await;
        let name = tenant.name("outage");
        let words = slow(&name, "sim_seconds=8");
        let ran = with_outage(&person, &proxy, &words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert_eq!(ran.err.matches("looking again").count(), 1, "{}", ran.err);
        assert_eq!(proxy.changes().len(), 1);
        let (person, proxy) = tenant.through(Rules::default()).await;
        let words = ["delete", &name, "--yes", "--wait"];
        let ran = with_outage(&person, &proxy, &words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert_eq!(proxy.changes().len(), 1);
        assert!(tenant.named(&name).await.is_empty());
    })
    .await;
}

/// Revokes the tokens that a command got through a proxy.
pub async fn revoke(tenant: &Tenant, keystone: &ServiceProxy) {
    use secrecy::ExposeSecret as _;
    let url = tenant.env.get("KEYSTONE_URL").unwrap();
    for token in keystone.tokens() {
        let revoked = reqwest::Client::new()
            .delete(format!("{}/auth/tokens", url.trim_end_matches('/')))
            .header("x-auth-token", tenant.admin.token().expose_secret())
            .header("x-subject-token", token)
            .send();
        let status = revoked.await.unwrap().status();
        // revoked before
        assert!(status.is_success() || status == 404, "{status}");
    }
}

/// A tenth of a token that lives for 60 s and a creation of 150 s: Keystone has no shorter tokens than
/// those of its configuration, so they are revoked when they would end.
#[tokio::test]
async fn a_creation_that_outlives_its_tokens_signs_in_again_and_is_made_once() {
    Tenant::run(|tenant| async move {
        let (person, magnum, keystone) = tenant.through_both(Rules::default(), None).await;
        let name = tenant.name("tokens");
        let words = slow(&name, "sim_seconds=15");
        let ends = async {
            for _ in 0..2 {
                sleep(Duration::from_secs(6)).await;
                revoke(&tenant, &keystone).await;
            }
        };
        let (ran, ()) = tokio::join!(cluster(&person, &words), ends);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(
            keystone.tokens().len() >= 3,
            "{:?}",
            keystone.tokens().len()
        );
        let creations = magnum.changes();
        assert_eq!(creations.len(), 1, "{creations:?}");
        assert_eq!(tenant.named(&name).await.len(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_token_that_cannot_be_renewed_ends_the_wait_and_not_the_creation() {
    Tenant::run(|tenant| async move {
        use secrecy::ExposeSecret as _;
        let (token, _) = tenant.sign_in(&tenant.member, &tenant.project).await;
        let mut person = Person::new().unwrap();
        for (name, value) in [
            ("OS_AUTH_URL", tenant.env.get("KEYSTONE_URL").unwrap()),
            ("OS_AUTH_TYPE", "v3token"),
            ("OS_TOKEN", token.token.expose_secret()),
            ("OS_PROJECT_ID", &tenant.project),
        ] {
            person.set(name, value);
        }
        let name = tenant.name("fixed");
        let words = slow(&name, "sim_seconds=6");
        let ends = async {
            sleep(Duration::from_secs(3)).await;
            let url = tenant.env.get("KEYSTONE_URL").unwrap();
            let revoked = reqwest::Client::new()
                .delete(format!("{}/auth/tokens", url.trim_end_matches('/')))
                .header("x-auth-token", tenant.admin.token().expose_secret())
                .header("x-subject-token", token.token.expose_secret())
                .send();
            assert!(revoked.await.unwrap().status().is_success());
        };
        let (ran, ()) = tokio::join!(cluster(&person, &words), ends);
        assert_eq!(ran.code, 10, "{}", ran.err);
        let uuid = tenant.named(&name).await[0].uuid.to_string();
        let resumed = tenant.cluster(&["watch", &uuid]).await;
        assert_eq!(resumed.code, 0, "{}", resumed.err);
    })
    .await;
}
