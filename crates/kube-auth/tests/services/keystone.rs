//! Signing in at the running Keystone, and sealing what comes back.
use jiff::Timestamp;
use portico_assertion::cluster_token;
use portico_clock::Clock;
use portico_domain::cluster::{ClusterRecord, RawTokens};
use portico_openstack::KeystoneConfig;
use portico_openstack::keystone::{AuthOutcome, Client, IssuedToken, Login, Scope, UserRef};
use portico_test_support::webhook::{Webhook, cluster};
use portico_testkit::TestEnv;
use secrecy::ExposeSecret as _;
use std::time::Duration;
use uuid::Uuid;

/// The stack, a client for its Keystone, and a webhook with the clusters of acme (1), globex (2)
/// and both (3), and one of acme that takes bare Keystone tokens (4).
pub struct Stack {
    pub env: TestEnv,
    pub client: Client,
    pub webhook: Webhook,
}

impl Stack {
    pub fn new(cache_ttl: Duration) -> Self {
        let env = TestEnv::load().unwrap();
        let url = env.get("KEYSTONE_URL").unwrap().to_owned();
        Self::behind(&url, cache_ttl)
    }

    /// With a webhook that reaches Keystone at another URL.
    pub fn behind(url: &str, cache_ttl: Duration) -> Self {
        let env = TestEnv::load().unwrap();
        let (acme, globex) = (get(&env, "PROJECT_ID_ACME"), get(&env, "PROJECT_ID_GLOBEX"));
        let clusters = vec![
            cluster(1, &acme, &[]),
            cluster(2, &globex, &[]),
            cluster(3, "service", &[&acme, &globex]),
            ClusterRecord {
                raw_keystone_tokens: RawTokens::Fernet,
                ..cluster(4, &acme, &[])
            },
        ];
        let direct = get(&env, "KEYSTONE_URL").parse().unwrap();
        Self {
            client: Client::new(&KeystoneConfig::new(direct), Clock::system()).unwrap(),
            webhook: Webhook::new(clusters, url, cache_ttl),
            env,
        }
    }

    pub fn value(&self, name: &str) -> String {
        get(&self.env, name)
    }

    pub async fn sign_in(&self, user: &str, scope: Scope) -> IssuedToken {
        let user = UserRef::Name {
            name: user.to_owned(),
            domain: "Default".to_owned(),
        };
        let password = self.value("DEMO_PASSWORD").into();
        let login = Login::with_password(user, password, scope);
        match self.client.authenticate(&login).await.unwrap() {
            AuthOutcome::Token(issued) => *issued,
            AuthOutcome::ReceiptRequired { .. } => panic!("a second factor is asked for"),
        }
    }

    pub async fn sign_in_to(&self, user: &str, project: &str) -> IssuedToken {
        let project = self.value(&format!("PROJECT_ID_{}", project.to_uppercase()));
        self.sign_in(user, Scope::Project(project)).await
    }

    /// A cluster token, as the gateway would make it.
    pub fn sealed(&self, token: &IssuedToken, cluster: u128) -> String {
        let sealed = cluster_token::seal(
            self.webhook.current.public(),
            Uuid::from_u128(cluster),
            &token.token,
            token.details.expires_at,
            Timestamp::now(),
        );
        sealed.unwrap().token.expose_secret().to_owned()
    }
}

fn get(env: &TestEnv, name: &str) -> String {
    env.get(name).unwrap().to_owned()
}
