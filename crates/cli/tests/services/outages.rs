//! Services that are gone after Magnum has accepted a request, and services that refuse connections.
//! `faults.rs` has the steps before that.
use crate::service_proxy::{Last, Rules, ServiceProxy};
use crate::tenant::{FULL, Tenant, cluster, create, root, slow};
use crate::tokens::revoke;
use portico_testkit::Person;
use std::net::TcpListener;
use std::time::Duration;
use tokio::time::sleep;

/// The exit code when a service does not answer.
const UNAVAILABLE: i32 = 11;

/// Magnum is gone after `last`; the same command continues with the cluster once Magnum is back.
async fn assert_continued(tenant: &Tenant, last: Last, name: &str) {
    let rules = Rules {
        last: Some(last),
        ..Rules::default()
    };
    let (person, proxy) = tenant.through(rules).await;
    let name = tenant.name(name);
    let words = create(&name, &["--no-wait", "-o", "name"]);
    let ran = cluster(&person, &words).await;
    assert_eq!(ran.code, UNAVAILABLE, "{last:?}: {}", ran.err);
    for part in ["Magnum has accepted the cluster", "Next: "] {
        assert!(ran.err.contains(part), "{last:?}, {part}: {}", ran.err);
    }
    proxy.set_down(false);
    let ran = cluster(&person, &words).await;
    assert_eq!(ran.code, 0, "{last:?}: {}", ran.err);
    assert_eq!(ran.out, format!("{name}\n"), "{last:?}");
    assert_eq!(proxy.changes().len(), 1, "{last:?}");
    assert_eq!(tenant.named(&name).await.len(), 1, "{last:?}");
}

#[tokio::test]
async fn an_accepted_creation_that_could_not_be_read_is_continued_by_the_same_command() {
    Tenant::run(|tenant| async move {
        tokio::join!(
            assert_continued(&tenant, Last::Change, "unread"),
            assert_continued(&tenant, Last::Record, "unprinted"),
        );
    })
    .await;
}

#[tokio::test]
async fn an_accepted_deletion_is_followed_by_the_same_command_after_an_outage() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("deleted");
        tenant.make_complete(&name, FULL, &[]).await;
        let rules = Rules {
            last: Some(Last::Change),
            ..Rules::default()
        };
        let (person, proxy) = tenant.through(rules).await;
        let words = ["delete", &name, "--yes", "--wait", "--timeout", "3s"];
        let ran = cluster(&person, &words).await;
        // it waits for Magnum until the time is over
        assert_eq!(ran.code, 9, "{}", ran.err);
        for part in ["looking again", "portico cluster watch"] {
            assert!(ran.err.contains(part), "{part}: {}", ran.err);
        }
        proxy.set_down(false);
        let ran = cluster(&person, &["delete", &name, "--yes", "--wait"]).await;
        // 3: it is gone by now
        assert!(matches!(ran.code, 0 | 3), "{}", ran.err);
        assert_eq!(proxy.changes().len(), 1);
        assert!(tenant.named(&name).await.is_empty());
    })
    .await;
}

/// Returns an address at which nothing listens.
fn closed() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

/// Returns the member's machine with this Keystone.
fn with_keystone(tenant: &Tenant, keystone: &str) -> Person {
    let mut person = tenant.person_of(&tenant.member);
    person.set("OS_AUTH_URL", &format!("{keystone}/v3"));
    person
}

#[tokio::test]
async fn a_service_that_refuses_connections_is_an_outage_and_nothing_is_sent() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("stays");
        let made = tenant.make_complete(&name, FULL, &[]).await;
        let other = tenant.name("other");
        let closed = closed();
        let rules = Rules {
            replaces: Some((root(tenant.env.get("MAGNUM_URL").unwrap()), closed.clone())),
            ..Rules::default()
        };
        let keystone = root(tenant.env.get("KEYSTONE_URL").unwrap());
        let keystone = ServiceProxy::start(&keystone, rules).await;
        for (gone, person, next) in [
            ("Magnum", with_keystone(&tenant, &keystone.url()), "Next: "),
            ("Keystone", with_keystone(&tenant, &closed), "try again"),
        ] {
            let creation = create(&other, &["--no-wait"]);
            let deletion = vec!["delete", name.as_str(), "--yes"];
            for words in [&creation, &deletion] {
                let ran = cluster(&person, words).await;
                assert_eq!(ran.code, UNAVAILABLE, "{gone}, {words:?}: {}", ran.err);
                assert!(ran.err.contains(next), "{gone}, {words:?}: {}", ran.err);
            }
        }
        assert!(tenant.named(&other).await.is_empty());
        assert_eq!(tenant.named(&name).await[0].status, made.status);
    })
    .await;
}

#[tokio::test]
async fn a_token_that_ends_while_keystone_is_gone_is_renewed_when_it_is_back() {
    Tenant::run(|tenant| async move {
        let (person, magnum, keystone) = tenant.through_both(Rules::default(), None).await;
        let name = tenant.name("renewed");
        let words = slow(&name, "sim_seconds=12");
        let outage = async {
            let sent = async {
                while magnum.changes().is_empty() {
                    sleep(Duration::from_millis(100)).await;
                }
            };
            // a command that sends nothing ends by itself, and shows why
            let _ = tokio::time::timeout(Duration::from_secs(15), sent).await;
            // the record is there, and the command waits
            sleep(Duration::from_secs(2)).await;
            keystone.set_down(true);
            revoke(&tenant, &keystone).await;
            // Magnum trusts a token for two seconds, and the command looks every two seconds
            sleep(Duration::from_secs(6)).await;
            keystone.set_down(false);
        };
        let (ran, ()) = tokio::join!(cluster(&person, &words), outage);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert_eq!(ran.err.matches("looking again").count(), 1, "{}", ran.err);
        assert!(keystone.tokens().len() >= 2);
        assert_eq!(magnum.changes().len(), 1);
    })
    .await;
}
