//! Tokens that end while a command waits for a cluster. Keystone has no shorter tokens than those of its
//! configuration, so each is revoked when it would end.
use crate::service_proxy::{Rules, ServiceProxy};
use crate::tenant::{Tenant, cluster, slow};
use portico_openstack::magnum::Status;
use portico_openstack::rest::ScopedToken;
use portico_testkit::Person;
use secrecy::ExposeSecret as _;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// How long each token works, in seconds, unless the variable has another number. The acceptance
/// criterion is 60, with a creation of 150: the proportion is the same, and `create` has sent its request
/// long before the first token ends.
const TOKEN_SECONDS: u64 = 8;
const TOKEN_SECONDS_VARIABLE: &str = "PORTICO_TEST_TOKEN_SECONDS";
/// How long Magnum trusts a token after it has asked Keystone, in seconds (`token_cache_time` in
/// `scripts/services/magnum.sh`).
const TRUST_SECONDS: u64 = 2;
/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(100);
/// Maximum time until a command has sent its request.
const PATIENCE: Duration = Duration::from_secs(30);

fn token_seconds() -> u64 {
    let number = std::env::var(TOKEN_SECONDS_VARIABLE);
    number.map_or(TOKEN_SECONDS, |number| number.parse().unwrap())
}

/// Revokes the tokens that Keystone has issued through a proxy.
pub async fn revoke(tenant: &Tenant, keystone: &ServiceProxy) {
    for token in keystone.tokens() {
        tenant.admin.revoke_token(&token.into()).await.unwrap();
    }
}

/// Revokes each token that Keystone issues through a proxy, this long after it was issued. It does not
/// return.
async fn revoke_in_time(tenant: &Tenant, keystone: &ServiceProxy, lifetime: Duration) {
    // when each token ends; `None`: it has ended
    let mut ends: BTreeMap<String, Option<Instant>> = BTreeMap::new();
    loop {
        for token in keystone.tokens() {
            let end = ends
                .entry(token.clone())
                .or_insert_with(|| Some(Instant::now() + lifetime));
            if end.is_some_and(|end| end <= Instant::now()) {
                *end = None;
                tenant.admin.revoke_token(&token.into()).await.unwrap();
            }
        }
        sleep(PAUSE).await;
    }
}

#[tokio::test]
async fn a_creation_that_outlives_its_tokens_signs_in_again_and_is_made_once() {
    Tenant::run(|tenant| async move {
        let (person, magnum, keystone) = tenant.through_both(Rules::default(), None).await;
        let name = tenant.name("tokens");
        let seconds = token_seconds();
        let label = format!("sim_seconds={}", seconds * 5 / 2);
        let words = slow(&name, &label);
        // Magnum would accept it for longer
        let lifetime = Duration::from_secs(seconds - TRUST_SECONDS);
        let ran = tokio::select! {
            ran = cluster(&person, &words) => ran,
            () = revoke_in_time(&tenant, &keystone, lifetime) => panic!("it does not return"),
        };
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(keystone.tokens().len() >= 3, "{}", keystone.tokens().len());
        let creations = magnum.changes();
        assert_eq!(creations.len(), 1, "{creations:?}");
        let made = tenant.named(&name).await;
        assert_eq!(made.len(), 1, "{made:?}");
        assert_eq!(made[0].status, Status::CreateComplete);
    })
    .await;
}

/// Returns the member's machine with a token in place of the password.
fn with_token(tenant: &Tenant, token: &ScopedToken) -> Person {
    let mut person = tenant.person_of(&tenant.member);
    for name in ["OS_USERNAME", "OS_PASSWORD", "OS_USER_DOMAIN_NAME"] {
        person.unset(name);
    }
    person.set("OS_AUTH_TYPE", "v3token");
    person.set("OS_TOKEN", token.token.expose_secret());
    person
}

#[tokio::test]
async fn a_token_that_cannot_be_renewed_ends_the_wait_and_not_the_creation() {
    Tenant::run(|tenant| async move {
        let (token, _) = tenant.sign_in(&tenant.member, &tenant.project).await;
        let mut person = with_token(&tenant, &token);
        let name = tenant.name("fixed");
        let words = slow(&name, "sim_seconds=15");
        let end = async {
            let recorded = async {
                while tenant.named(&name).await.is_empty() {
                    sleep(PAUSE).await;
                }
            };
            // a command that sends nothing ends by itself, and shows why
            let _ = timeout(PATIENCE, recorded).await;
            // the record is there, and the command waits
            sleep(Duration::from_secs(2)).await;
            tenant.admin.revoke_token(&token.token).await.unwrap();
        };
        let (ran, ()) = tokio::join!(cluster(&person, &words), end);
        assert_eq!(ran.code, 10, "{}", ran.err);
        let made = tenant.named(&name).await.remove(0);
        assert!(made.status.is_in_progress(), "{made:?}");
        let uuid = made.uuid.to_string();
        let resume = format!("portico cluster watch {uuid}");
        for part in [
            "does not accept the token",
            "the operation continues",
            &resume,
        ] {
            assert!(ran.err.contains(part), "{part}: {}", ran.err);
        }
        let (token, _) = tenant.sign_in(&tenant.member, &tenant.project).await;
        person.set("OS_TOKEN", token.token.expose_secret());
        let resumed = cluster(&person, &["watch", &uuid]).await;
        assert_eq!(resumed.code, 0, "{}", resumed.err);
        // and so does the command itself
        let repeated = cluster(&person, &words).await;
        assert_eq!(repeated.code, 0, "{}", repeated.err);
        let made = tenant.named(&name).await;
        assert_eq!(made.len(), 1, "{made:?}");
        assert_eq!(made[0].status, Status::CreateComplete);
    })
    .await;
}
