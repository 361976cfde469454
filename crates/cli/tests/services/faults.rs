//! Magnum and Keystone that are gone at each step: nothing is lost or done twice.
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
