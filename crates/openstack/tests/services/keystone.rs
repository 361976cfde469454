use crate::environment::{client, value};
use portico_clock::Clock;
use portico_openstack::KeystoneConfig;
use portico_openstack::keystone::error::Unavailable;
use portico_openstack::keystone::{
    ApplicationCredential, AuthOutcome, Client, Error, IssuedToken, Login, Revoked, Scope,
    TokenScope, UserRef,
};
use portico_transport::TransportFault;
use secrecy::ExposeSecret as _;
use secrecy::SecretString;

fn named(name: &str) -> UserRef {
    UserRef::Name {
        name: name.to_owned(),
        domain: "Default".to_owned(),
    }
}

fn password() -> SecretString {
    value("DEMO_PASSWORD").into()
}

fn acme() -> Scope {
    Scope::ProjectName {
        name: "acme".to_owned(),
        domain: "Default".to_owned(),
    }
}

async fn sign_in(name: &str, scope: Scope) -> Result<IssuedToken, Error> {
    let login = Login::with_password(named(name), password(), scope);
    match client().authenticate(&login).await? {
        AuthOutcome::Token(issued) => Ok(*issued),
        AuthOutcome::ReceiptRequired { .. } => panic!("{name} needs a second factor"),
    }
}

#[tokio::test]
async fn a_password_brings_a_token_with_the_roles_of_its_project() {
    let issued = sign_in("ada", acme()).await.unwrap();
    let details = &issued.details;
    assert_eq!(details.scope, TokenScope::Project);
    assert_eq!(details.identity.user.name, "ada");
    assert_eq!(details.identity.user.domain.name, "Default");
    assert_eq!(details.identity.project.as_ref().unwrap().name, "acme");
    let roles = details.identity.roles.iter();
    assert!(
        roles
            .map(|role| role.name.as_str())
            .any(|role| role == "k8s_admin")
    );
    assert_eq!(details.methods, ["password"]);
    assert_eq!(details.audit_ids.len(), 1);
    assert!(details.expires_at > details.issued_at);
    assert!(details.application_credential.is_none());
}

#[tokio::test]
async fn an_explicitly_unscoped_token_has_no_project() {
    let issued = sign_in("ada", Scope::Unscoped).await.unwrap();
    assert_eq!(issued.details.scope, TokenScope::Unscoped);
    assert!(issued.details.identity.project.is_none());
}

#[tokio::test]
async fn everything_wrong_about_credentials_is_refused_alike() {
    let wrong = Login::with_password(named("ada"), "wrong".into(), acme());
    let unknown = Login::with_password(named("nobody"), password(), acme());
    let no_role = Login::with_password(named("otto"), password(), acme());
    let no_domain = Login::with_password(
        UserRef::Name {
            name: "ada".to_owned(),
            domain: "no-such-domain".to_owned(),
        },
        password(),
        acme(),
    );
    for login in [wrong, unknown, no_role, no_domain] {
        let refused = client().authenticate(&login).await.unwrap_err();
        assert_eq!(refused, Error::InvalidCredentials, "{:?}", login.user);
    }
}

#[tokio::test]
async fn absurd_input_is_refused_and_not_blamed_on_keystone() {
    for length in [300, 10_000, 1024 * 1024] {
        let login = Login::with_password(named(&"x".repeat(length)), password(), acme());
        let refused = client().authenticate(&login).await.unwrap_err();
        assert!(refused.is_refusal(), "{length}: {refused}");
    }
    for token in [
        "",
        "garbage",
        "a b",
        "new\nline",
        "schlüssel",
        "a.b.c",
        &"x".repeat(7000),
    ] {
        let refused = client().validate(&token.into()).await.unwrap_err();
        assert_eq!(refused, Error::InvalidToken, "{token}");
    }
}

#[tokio::test]
async fn a_second_factor_is_asked_for_by_receipt() {
    let login = Login::with_password(named("mia"), password(), acme());
    let outcome = client().authenticate(&login).await.unwrap();
    let AuthOutcome::ReceiptRequired { receipt, required } = outcome else {
        panic!("mia needs a second factor");
    };
    assert!(required.iter().any(|set| set.contains(&"totp".to_owned())));

    let wrong = Login::with_passcode(named("mia"), "000000".into(), receipt.clone(), acme());
    let refused = client().authenticate(&wrong).await.unwrap_err();
    assert_eq!(refused, Error::InvalidCredentials);

    let passcode = passcode(&value("TOTP_SECRET_MIA"));
    let right = Login::with_passcode(named("mia"), passcode.into(), receipt, acme());
    // a passcode is good once: another test run may have used this window's
    match client().authenticate(&right).await {
        Ok(AuthOutcome::Token(issued)) => {
            let mut methods = issued.details.methods;
            methods.sort();
            assert_eq!(methods, ["password", "totp"]);
        }
        Ok(other) => panic!("{other:?}"),
        Err(error) => assert_eq!(error, Error::InvalidCredentials),
    }

    let garbage = Login::with_passcode(named("mia"), "000000".into(), "garbage".into(), acme());
    let refused = client().authenticate(&garbage).await.unwrap_err();
    assert_eq!(refused, Error::InvalidCredentials);
}

#[tokio::test]
async fn a_token_validates_itself_until_it_is_revoked() {
    let issued = sign_in("vera", acme()).await.unwrap();
    let validated = client().validate(&issued.token).await.unwrap();
    assert_eq!(validated, issued.details);
    assert_eq!(client().revoke(&issued.token).await, Ok(Revoked::Now));
    assert_eq!(client().revoke(&issued.token).await, Ok(Revoked::Already));
    let refused = client().validate(&issued.token).await.unwrap_err();
    assert_eq!(refused, Error::InvalidToken);
    let home = &issued.details.identity.user.domain;
    let refused = client().projects(&issued.token, home).await.unwrap_err();
    assert_eq!(refused, Error::InvalidToken);
    let refused = client()
        .rescope(&issued.token, &value("PROJECT_ID_ACME"))
        .await;
    assert_eq!(refused.unwrap_err(), Error::InvalidToken);
}

#[tokio::test]
async fn a_token_is_rescoped_to_another_project_with_the_same_end() {
    let unscoped = sign_in("devi", Scope::Unscoped).await.unwrap();
    let home = &unscoped.details.identity.user.domain;
    let projects = client().projects(&unscoped.token, home).await.unwrap();
    let names: Vec<_> = projects
        .iter()
        .map(|project| project.name.as_str())
        .collect();
    assert_eq!(names, ["acme", "globex"]);
    assert_eq!(projects[0].domain.name, "Default");
    for (project, role) in projects.iter().zip(["k8s_developer", "k8s_viewer"]) {
        let scoped = client()
            .rescope(&unscoped.token, &project.id)
            .await
            .unwrap();
        let identity = &scoped.details.identity;
        assert_eq!(identity.project.as_ref(), Some(project));
        assert!(identity.roles.iter().any(|held| held.name == role));
        assert_eq!(scoped.details.expires_at, unscoped.details.expires_at);
        assert_eq!(scoped.details.audit_ids[1], unscoped.details.audit_ids[0]);
        let back = client().unscope(&scoped.token).await.unwrap();
        assert_eq!(back.details.scope, TokenScope::Unscoped);
    }
    let vera = sign_in("vera", acme()).await.unwrap();
    let elsewhere = client()
        .rescope(&vera.token, &value("PROJECT_ID_GLOBEX"))
        .await;
    assert_eq!(elsewhere.unwrap_err(), Error::InvalidToken);
}

#[tokio::test]
async fn a_wrong_application_credential_is_refused() {
    let by_id = ApplicationCredential::Id {
        id: "0123456789abcdef0123456789abcdef".to_owned(),
        secret: "wrong".into(),
    };
    let by_name = ApplicationCredential::Name {
        name: "none".to_owned(),
        user: named("ada"),
        secret: "wrong".into(),
    };
    for credential in [by_id, by_name] {
        let refused = client()
            .authenticate_application_credential(&credential)
            .await;
        assert_eq!(refused.unwrap_err(), Error::InvalidCredentials);
    }
}

#[tokio::test]
async fn keystone_reports_its_version() {
    let version = client().version().await.unwrap();
    assert!(version.id.starts_with("v3."), "{version:?}");
}

#[tokio::test]
async fn a_closed_port_is_unavailable_and_no_refusal() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v3", listener.local_addr().unwrap());
    drop(listener);
    let client = Client::new(&KeystoneConfig::new(url.parse().unwrap()), Clock::system()).unwrap();
    let error = client.validate(&"gAAAA".into()).await.unwrap_err();
    assert_eq!(
        error,
        Error::Unavailable(Unavailable::Connect(Some(TransportFault::Refused)))
    );
    assert!(!error.is_refusal());
}

#[tokio::test]
async fn a_server_that_never_answers_is_unavailable_in_time() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v3", listener.local_addr().unwrap());
    let mut config = KeystoneConfig::new(url.parse().unwrap());
    config.timeout = std::time::Duration::from_millis(200);
    let client = Client::new(&config, Clock::system()).unwrap();
    let error = client.validate(&"gAAAA".into()).await.unwrap_err();
    assert_eq!(error, Error::Unavailable(Unavailable::Timeout));
}

#[tokio::test]
async fn nothing_printable_holds_the_token() {
    let issued = sign_in("ada", acme()).await.unwrap();
    let token = issued.token.expose_secret().to_owned();
    assert!(!format!("{issued:?}").contains(&token));
}

fn passcode(secret: &str) -> String {
    let secret = totp_rs::Secret::Encoded(secret.to_owned())
        .to_bytes()
        .unwrap();
    totp_rs::TOTP::new_unchecked(totp_rs::Algorithm::SHA1, 6, 1, 30, secret)
        .generate_current()
        .unwrap()
}
