//! Portico's own account at a real Keystone, with the sign-ins counted on the way.
use crate::environment::value;
use portico_clock::Clock;
use portico_openstack::KeystoneConfig;
use portico_openstack::keystone::service_account::ServiceAccountConfig;
use portico_openstack::keystone::{Client, Error, ServiceAccount, ServiceAccountError};
use portico_testkit::{CountingProxy, KeystoneAdmin, TestEnv, TestUser};
use secrecy::{ExposeSecret as _, SecretString};

mod crowds;

/// A user with one role in the whole cloud, and the account that signs in as this user.
struct Own {
    admin: KeystoneAdmin,
    user: TestUser,
    proxy: CountingProxy,
    account: ServiceAccount,
}

impl Own {
    async fn with_role(role: &str) -> Self {
        let admin = KeystoneAdmin::sign_in(&TestEnv::load().unwrap())
            .await
            .unwrap();
        let user = admin.create_user("account").await.unwrap();
        admin.grant_system(&user.id, role).await.unwrap();
        let proxy = CountingProxy::start(&value("KEYSTONE_URL"), "POST /v3/auth/tokens")
            .await
            .unwrap();
        let account = account(&proxy.url(), &user.name, user.password.clone());
        Self {
            admin,
            user,
            proxy,
            account,
        }
    }

    fn sign_ins(&self) -> usize {
        self.proxy.counted()
    }

    async fn done(self) {
        self.admin.delete_user(&self.user.id).await.unwrap();
    }
}

fn account(url: &str, user: &str, password: SecretString) -> ServiceAccount {
    let section = ServiceAccountConfig {
        user: Some(user.to_owned()),
        password_file: Some("password".into()),
        system: true,
        ..ServiceAccountConfig::default()
    };
    account_of(url, section, password)
}

fn account_of(url: &str, section: ServiceAccountConfig, secret: SecretString) -> ServiceAccount {
    let mut config = KeystoneConfig::new(url.parse().unwrap());
    // Keystone answers one request at a time, and a hundred wait for it here
    config.timeout = std::time::Duration::from_secs(20);
    config.service_account = Some(section);
    let client = Client::new(&config, Clock::system()).unwrap();
    ServiceAccount::new(&config, client, move |_| Ok(secret.clone()))
        .unwrap()
        .unwrap()
}

async fn many(account: &ServiceAccount, times: usize) -> Vec<Result<bool, ServiceAccountError>> {
    let project = value("PROJECT_ID_ACME");
    let calls = (0..times).map(|_| async {
        let found = account
            .call(async |client, token| client.project(&token, &project).await)
            .await?;
        Ok(found.is_some_and(|found| found.name == "acme"))
    });
    futures::future::join_all(calls).await
}

#[tokio::test]
async fn tokens_that_are_always_refused_do_not_lead_to_more_and_more_sign_ins() {
    let own = Own::with_role("reader").await;
    for _ in 0..20 {
        let refused: Result<(), _> = own
            .account
            .call(async |_, _| Err(Error::InvalidToken))
            .await;
        assert_eq!(refused, Err(ServiceAccountError::TokenRefused));
    }
    assert_eq!(own.sign_ins(), 2);
    own.done().await;
}

#[tokio::test]
async fn a_wrong_password_is_tried_once_and_then_not_for_a_while() {
    let own = Own::with_role("reader").await;
    let account = account(&own.proxy.url(), &own.user.name, "wrong".into());
    let refused = Err(ServiceAccountError::SignIn(Error::InvalidCredentials));
    for _ in 0..2 {
        let answers = many(&account, 50).await;
        assert!(
            answers.iter().all(|answer| *answer == refused),
            "{answers:?}"
        );
    }
    assert_eq!(own.sign_ins(), 1);
    assert_eq!(many(&own.account, 1).await, [Ok(true)]);
    own.done().await;
}

#[tokio::test]
async fn a_keystone_that_is_away_is_asked_again_soon() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v3", listener.local_addr().unwrap());
    drop(listener);
    let account = account(&url, "nobody", "x".into());
    for answer in many(&account, 20).await {
        let Err(ServiceAccountError::SignIn(error)) = answer else {
            panic!("{answer:?}");
        };
        assert!(!error.is_refusal());
    }
}

#[tokio::test]
async fn an_account_with_the_role_admin_is_distinguished() {
    for (role, is_admin) in [("reader", false), ("admin", true)] {
        let own = Own::with_role(role).await;
        let found = own.account.check().await.unwrap();
        assert_eq!(found.is_admin(), is_admin, "{found:?}");
        assert_eq!(found.user.name, own.user.name);
        own.done().await;
    }
}

#[tokio::test]
async fn it_signs_in_for_a_project_a_domain_or_with_an_application_credential() {
    let own = Own::with_role("reader").await;
    let reader = own.admin.role_id("reader").await.unwrap();
    let acme = value("PROJECT_ID_ACME");
    own.admin.grant(&own.user.id, &acme, &reader).await.unwrap();
    own.admin
        .grant_domain(&own.user.id, "reader")
        .await
        .unwrap();
    let (id, secret) = own
        .admin
        .application_credential(&own.user, &acme, None)
        .await
        .unwrap();
    let user = || ServiceAccountConfig {
        user: Some(own.user.name.clone()),
        password_file: Some("password".into()),
        ..ServiceAccountConfig::default()
    };
    let credential = ServiceAccountConfig {
        application_credential_id: Some(id),
        secret_file: Some("secret".into()),
        ..ServiceAccountConfig::default()
    };
    let project = ServiceAccountConfig {
        project: Some("acme".to_owned()),
        ..user()
    };
    let domain = ServiceAccountConfig {
        domain: Some("Default".to_owned()),
        ..user()
    };
    for (section, secret, lists) in [
        (credential, secret, false),
        (project, own.user.password.clone(), false),
        (domain, own.user.password.clone(), true),
    ] {
        let account = account_of(&value("KEYSTONE_URL"), section.clone(), secret);
        let found = account.check().await.unwrap();
        assert_eq!(found.user.id, own.user.id);
        assert!(found.roles.iter().any(|role| role.name == "reader"));
        let listed = account
            .call(async |client, token| client.role_assignments(&token, &acme).await)
            .await;
        assert_eq!(listed.is_ok(), lists, "{section:?}: {listed:?}");
    }
    own.done().await;
}

#[tokio::test]
async fn a_reader_of_the_cloud_reads_projects_roles_and_assignments() {
    let own = Own::with_role("reader").await;
    let project = own.admin.create_project("listed").await.unwrap();
    let viewer = value("ROLE_ID_K8S_VIEWER");
    own.admin
        .grant(&own.user.id, &project, &viewer)
        .await
        .unwrap();
    let account = &own.account;
    let assignments = account
        .call(async |client, token| client.role_assignments(&token, &project).await)
        .await
        .unwrap()
        .unwrap();
    let held = |role: &str| {
        assignments
            .iter()
            .any(|one| one.user_id == own.user.id && one.role.name == role)
    };
    assert!(held("k8s_viewer") && !held("k8s_admin"), "{assignments:?}");
    let projects = account
        .call(async |client, token| client.projects_of_domain(&token, "default").await)
        .await
        .unwrap();
    for id in [&project, &value("PROJECT_ID_ACME")] {
        assert!(
            projects
                .iter()
                .any(|found| found.id == *id && found.enabled)
        );
    }
    let roles = account
        .call(async |client, token| client.roles(&token).await)
        .await
        .unwrap();
    assert!(
        roles
            .iter()
            .any(|role| role.id == viewer && role.name == "k8s_viewer")
    );
    own.admin.delete_project(&project).await.unwrap();
    let gone = account
        .call(async |client, token| {
            Ok((
                client.project(&token, &project).await?,
                client.role_assignments(&token, &project).await?,
            ))
        })
        .await;
    assert_eq!(gone, Ok((None, None)));
    own.done().await;
}

#[tokio::test]
async fn who_may_not_list_is_forbidden_to_and_not_signed_in_again() {
    let own = Own::with_role("k8s_viewer").await;
    let forbidden = own
        .account
        .call(async |client, token| client.roles(&token).await)
        .await;
    assert_eq!(
        forbidden.err(),
        Some(ServiceAccountError::Call(Error::Forbidden))
    );
    assert_eq!(own.sign_ins(), 1);
    own.done().await;
}

#[tokio::test]
async fn nothing_printable_holds_the_secret() {
    let own = Own::with_role("reader").await;
    let wrong = account(&own.proxy.url(), &own.user.name, "hush-hush".into());
    let error = many(&wrong, 1).await.remove(0).unwrap_err();
    assert!(!format!("{error:?} {error}").contains("hush-hush"));
    let token = own.account.call(async |_, token| Ok(token)).await.unwrap();
    assert!(!token.expose_secret().is_empty());
    assert!(!format!("{:?}", own.account.check().await).contains(token.expose_secret()));
    own.done().await;
}
