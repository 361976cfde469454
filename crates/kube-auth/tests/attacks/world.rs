//! A corner of the real Keystone for one test: a domain, a project in it, a webhook for the
//! project's cluster.
use crate::reviews::{CLUSTER, seal_until};
use portico_assertion::PublicKey;
use portico_clock::Clock;
use portico_domain::cluster::{ClusterRecord, TokenKind};
use portico_openstack::KeystoneConfig;
use portico_openstack::keystone::{
    ApplicationCredential, AuthOutcome, Client, IssuedToken, Login, Scope, UserRef,
};
use portico_test_support::webhook::{ApiServer, Reply, V1, Webhook, cluster};
use portico_testkit::{Cluster, KeystoneAdmin, TestDomain, TestEnv, TestUser};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};
use std::time::Duration;
use uuid::Uuid;

/// A second cluster of the same project, which takes every kind of token.
pub const LENIENT: Uuid = Uuid::from_u128(2);

/// How long the webhook uses an answer again.
pub const TTL: Duration = Duration::from_secs(2);

pub struct World {
    pub env: TestEnv,
    pub admin: KeystoneAdmin,
    pub client: Client,
    pub domain: TestDomain,
    /// Its ID; the cluster's owner.
    pub project: String,
    /// The ID of `k8s_viewer`.
    pub role: String,
    pub webhook: Webhook,
}

impl World {
    pub async fn new() -> Self {
        let env = TestEnv::load().unwrap();
        let url = env.get("KEYSTONE_URL").unwrap().to_owned();
        Self::behind(&url).await
    }

    /// With a webhook that reaches Keystone at another URL.
    pub async fn behind(keystone_url: &str) -> Self {
        let env = TestEnv::load().unwrap();
        let admin = KeystoneAdmin::sign_in(&env).await.unwrap();
        let domain = admin.create_domain("attack").await.unwrap();
        let project = admin.create_project_called("shop", &domain).await.unwrap();
        let lenient = ClusterRecord {
            accepted_tokens: vec![
                TokenKind::Unscoped,
                TokenKind::Domain,
                TokenKind::System,
                TokenKind::Trust,
                TokenKind::AccessRules,
                TokenKind::Oauth,
                TokenKind::Ec2,
            ],
            ..cluster(2, &project, &[])
        };
        let clusters = vec![cluster(1, &project, &[]), lenient];
        let direct = env.get("KEYSTONE_URL").unwrap().parse().unwrap();
        Self {
            client: Client::new(&KeystoneConfig::new(direct), Clock::system()).unwrap(),
            role: env.get("ROLE_ID_K8S_VIEWER").unwrap().to_owned(),
            webhook: Webhook::new(clusters, keystone_url, TTL),
            env,
            admin,
            domain,
            project,
        }
    }

    /// Removes what Keystone has of it. Not after application credentials were made: Keystone on
    /// SQLite leaves rows of theirs behind, on which the next ones stumble.
    pub async fn end(self) {
        self.admin.delete_domain(&self.domain).await.unwrap();
    }

    /// A user of the domain, with the role in the project.
    pub async fn user(&self, name: &str) -> TestUser {
        let user = self.admin.create_user_called(name, &self.domain).await;
        let user = user.unwrap();
        let granted = self.admin.grant(&user.id, &self.project, &self.role).await;
        granted.unwrap();
        user
    }

    pub async fn sign_in(&self, user: &TestUser) -> IssuedToken {
        self.sign_in_to(user, &self.project).await
    }

    pub async fn sign_in_to(&self, user: &TestUser, project: &str) -> IssuedToken {
        let login = Login::with_password(
            UserRef::Id(user.id.clone()),
            user.password.clone(),
            Scope::Project(project.to_owned()),
        );
        match self.client.authenticate(&login).await.unwrap() {
            AuthOutcome::Token(issued) => *issued,
            AuthOutcome::ReceiptRequired { .. } => panic!("a password is enough"),
        }
    }

    pub fn sealed(&self, issued: &IssuedToken) -> String {
        let key = self.webhook.current.public();
        seal_until(key, CLUSTER, &issued.token, issued.details.expires_at)
    }

    pub fn api_server(&self) -> ApiServer {
        self.webhook.api_server_of(CLUSTER)
    }

    pub async fn review(&self, issued: &IssuedToken) -> Reply {
        self.api_server().review(V1, &self.sealed(issued)).await
    }

    /// The review of a token by any of the two clusters.
    pub async fn review_at(&self, cluster: Uuid, token: &SecretString) -> Reply {
        let sealed = crate::reviews::seal(self.webhook.current.public(), cluster, token);
        self.webhook
            .api_server_of(cluster)
            .review(V1, &sealed)
            .await
    }

    /// An application credential of the token's user.
    pub async fn credential(&self, owner: &IssuedToken, about: Value) -> ApplicationCredential {
        let user = &owner.details.identity.user.id;
        let mut credential = json!({ "name": format!("attack-{}", Uuid::new_v4()) });
        let fields = credential.as_object_mut().unwrap();
        fields.extend(about.as_object().unwrap().clone());
        let made = self
            .post_as(
                &owner.token,
                &format!("/users/{user}/application_credentials"),
                json!({ "application_credential": credential }),
            )
            .await;
        let text = |name: &str| {
            made["application_credential"][name]
                .as_str()
                .unwrap()
                .to_owned()
        };
        ApplicationCredential::Id {
            id: text("id"),
            secret: text("secret").into(),
        }
    }

    /// A call to Keystone as a user other than its administrator.
    pub async fn post_as(&self, token: &SecretString, path: &str, body: Value) -> Value {
        self.admin.as_user(token).post(path, body).await.unwrap()
    }

    /// The stack's cluster with nodes, for a user of this domain with the viewer's role in its
    /// project.
    pub async fn at_the_real_cluster(&self, user: &TestUser) -> (Cluster, IssuedToken, String) {
        let cluster = Cluster::of_stack(&self.env).unwrap();
        let acme = self.env.get("PROJECT_ID_ACME").unwrap();
        self.admin.grant(&user.id, acme, &self.role).await.unwrap();
        let issued = self.sign_in_to(user, acme).await;
        let token = real_token(&cluster, &issued);
        (cluster, issued, token)
    }
}

/// A token for a cluster of the stack.
pub fn real_token(cluster: &Cluster, issued: &IssuedToken) -> String {
    let key = PublicKey::read(&cluster.sealing_key_file).unwrap();
    seal_until(&key, cluster.id, &issued.token, issued.details.expires_at)
}

/// The ID of a role of this name, which the cloud may have already.
pub async fn role_called(admin: &KeystoneAdmin, name: &str) -> String {
    if let Ok(id) = admin.create_role(name).await {
        return id;
    }
    let roles = admin.get("/roles").await.unwrap();
    let known = roles["roles"].as_array().unwrap().iter();
    let mut named = known.filter(|role| role["name"] == name);
    named.next().unwrap()["id"].as_str().unwrap().to_owned()
}

/// What the token of the user's own password is, for calls to Keystone.
pub fn exposed(issued: &IssuedToken) -> &str {
    issued.token.expose_secret()
}
