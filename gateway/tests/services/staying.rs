//! Staying signed in after the end of one's token, at the real Keystone.
use std::time::Duration;

use http::StatusCode;
use jiff::{SignedDuration, Timestamp};
use portico_assertion::cluster_token;
use portico_store::{NewKeystoneToken, Session};
use portico_testkit::{KeystoneAdmin, TestUser};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    keystone::{Running, running, running_with},
    support::{
        browser::{Browser, Page},
        form::{enter, sign_out},
        stack::{CLUSTER, MAIN},
    },
    validation::{cluster_token_of, post},
};

struct Stay {
    running: Running,
    admin: KeystoneAdmin,
    user: TestUser,
    browser: Browser,
    globex: String,
}

const PROJECT: &str = "http://localhost:8080/oauth2/project";

/// A user with two projects who has asked to stay signed in, in acme.
async fn staying() -> Stay {
    let offered = json!({ "session": { "stay_signed_in": "offered", "validate_every": "1s" } });
    let running = running_with(offered).await;
    let admin = KeystoneAdmin::sign_in(&running.env).await.expect("admin");
    let user = admin.create_user("staying").await.expect("user");
    let role = running.env.get("ROLE_ID_K8S_VIEWER").expect("role");
    let globex = running
        .env
        .get("PROJECT_ID_GLOBEX")
        .expect("globex")
        .to_owned();
    for project in [&running.acme, &globex] {
        admin.grant(&user.id, project, role).await.expect("granted");
    }
    let mut browser = Browser::new(running.stack.address);
    let page = browser.open(&format!("{MAIN}/oauth2/sign_in")).await;
    assert!(page.body.contains("Stay signed in"), "{}", page.body);
    let fields = [
        ("csrf_token", &*page.field("csrf_token")),
        ("rd", "/projects/x"),
        ("name", &user.name),
        ("password", user.password.expose_secret()),
        ("domain", "Default"),
        ("stay", "1"),
    ];
    let url = format!("{MAIN}/oauth2/sign_in");
    let page = browser.submit(MAIN, &url, &fields).await;
    assert_eq!(page.location().path(), "/oauth2/project", "{}", page.body);
    let page = browser.follow(page.location().as_str()).await;
    assert!(
        page.body.contains("That is for one project"),
        "{}",
        page.body
    );
    let fields = [
        ("csrf_token", &*page.field("csrf_token")),
        ("rd", &*page.field("rd")),
        ("stay", &*page.field("stay")),
        ("project", &running.acme),
    ];
    let page = browser.submit(MAIN, PROJECT, &fields).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    Stay {
        running,
        admin,
        user,
        browser,
        globex,
    }
}

impl Stay {
    async fn session(&self) -> Session {
        let sessions = self.running.stack.store.sessions();
        let all = sessions.list_of_user(&self.user.id, Timestamp::now()).await;
        all.expect("sessions").pop().expect("a session")
    }

    /// The user's credentials as Keystone lists them.
    async fn credentials(&self) -> Vec<Value> {
        let path = format!("/users/{}/application_credentials", self.user.id);
        let listed = self.admin.get(&path).await.expect("listed");
        listed["application_credentials"]
            .as_array()
            .expect("a list")
            .clone()
    }

    /// Makes the session's tokens those of an hour ago: none is there any more.
    async fn an_hour_later(&self) {
        let tokens = self.running.stack.store.keystone_tokens();
        let session = self.session().await.id;
        for token in tokens.list(session).await.expect("tokens") {
            tokens.forget(token.id).await.expect("forgotten");
        }
        let changes = self.running.stack.store.changes();
        let kind = portico_store::ChangeKind::Changed;
        let announced = changes.announce(session, kind, Timestamp::now()).await;
        announced.expect("announced");
    }

    /// The same gateway with nothing in memory: what it knows is in the store.
    async fn open(&mut self, project: &str) -> Page {
        self.browser
            .open(&format!("{MAIN}/projects/{project}"))
            .await
    }

    /// On SQLite Keystone leaves credentials behind when a user is deleted.
    async fn clear_away(self) {
        for credential in self.credentials().await {
            let id = credential["id"].as_str().expect("ID");
            let path = format!("/users/{}/application_credentials/{id}", self.user.id);
            self.admin.delete(&path).await.expect("deleted");
        }
        self.admin
            .delete_user(&self.user.id)
            .await
            .expect("deleted");
    }
}

#[tokio::test]
async fn a_session_outlives_its_token_in_one_project() {
    let mut stay = staying().await;
    let session = stay.session().await;
    let made = stay.credentials().await;
    assert_eq!(made.len(), 1);
    assert_eq!(made[0]["name"], format!("portico-session-{}", session.id));
    assert_eq!(made[0]["unrestricted"], false);
    assert_eq!(made[0]["project_id"], stay.running.acme);
    let in_hours = |hours| Timestamp::now() + SignedDuration::from_hours(hours);
    assert!(session.keystone_expires_at > in_hours(11));
    assert!(session.keystone_expires_at <= in_hours(12));
    let expires: String = made[0]["expires_at"].as_str().expect("a time").to_owned() + "Z";
    let expires: Timestamp = expires.parse().expect("a time");
    assert_eq!(expires.as_second(), session.keystone_expires_at.as_second());
    let page = stay.browser.open(&format!("{MAIN}/oauth2/sessions")).await;
    assert!(page.body.contains("portico-session-"), "{}", page.body);

    // no other project, and the page says so
    let globex = stay.globex.clone();
    assert!(!stay.open(&globex).await.body.contains("portico-token"));
    let page = stay.browser.open(PROJECT).await;
    assert!(page.body.contains("You stay signed in"), "{}", page.body);
    assert!(!page.body.contains("globex"));

    stay.an_hour_later().await;
    let acme = stay.running.acme.clone();
    // Keystone is asked about it again, too
    let clock = stay.running.stack.clock.clone();
    clock.advance(Duration::from_millis(1200));
    for _ in 0..3 {
        let page = stay.open(&acme).await;
        assert!(page.body.contains("portico-token"), "{}", page.body);
        clock.advance(Duration::from_millis(600));
    }
    assert!(!stay.open(&globex).await.body.contains("portico-token"));
    // it says how its tokens are come by: no fresh factor
    let session = stay.session().await;
    assert_eq!(session.auth_methods, ["application_credential"]);
    let store = &stay.running.stack.store;
    let tokens = store
        .keystone_tokens()
        .list(session.id)
        .await
        .expect("tokens");
    assert_eq!(tokens.len(), 1, "fetched once");
    let good = stay.admin.token_is_good(&tokens[0].token).await;
    assert!(good.expect("answer"));

    // nothing is left that may delete the credential: the next sign-in does
    let page = sign_out(&mut stay.browser).await;
    assert!(
        page.body.contains("still listed in Keystone"),
        "{}",
        page.body
    );
    assert_eq!(stay.credentials().await.len(), 1);
    let good = stay.admin.token_is_good(&tokens[0].token).await;
    assert!(!good.expect("answer"), "but its token is revoked");
    let left = store
        .session_credentials()
        .left_of_user(&stay.user.id)
        .await;
    assert!(left.expect("listed")[0].secret.is_none());
    let password = stay.user.password.clone();
    let name = stay.user.name.clone();
    enter(
        &mut stay.browser,
        "/projects/x",
        &name,
        password.expose_secret(),
    )
    .await;
    assert!(stay.credentials().await.is_empty());
    stay.clear_away().await;
}

#[tokio::test]
async fn sign_out_deletes_the_credential_while_a_token_may() {
    let mut stay = staying().await;
    assert_eq!(stay.credentials().await.len(), 1);
    let page = sign_out(&mut stay.browser).await;
    assert!(!page.body.contains("still listed"), "{}", page.body);
    assert!(!page.body.contains("could not be reached"), "{}", page.body);
    assert!(stay.credentials().await.is_empty());
    stay.clear_away().await;
}

#[tokio::test]
async fn a_token_is_fetched_before_the_old_one_ends() {
    let stay = staying().await;
    let session = stay.session().await;
    stay.an_hour_later().await;
    let token = stay.admin.token_of(&stay.user, &stay.running.acme).await;
    let ends = Timestamp::now() + SignedDuration::from_mins(2);
    let old = NewKeystoneToken {
        session: session.id,
        project: session.projects.first().cloned(),
        roles: Vec::new(),
        token: token.expect("token"),
        audit_id: "audit".to_owned(),
        expires_at: ends,
    };
    let tokens = stay.running.stack.store.keystone_tokens();
    tokens.store(&old, Timestamp::now()).await.expect("stored");
    let (gateway, stop) = (stay.running.stack.gateway.clone(), CancellationToken::new());
    let until = stop.clone();
    tokio::spawn(async move { gateway.run(until).await });
    let fetched = async {
        loop {
            let usable = tokens.usable(session.id, Timestamp::now()).await;
            let usable = usable.expect("tokens");
            if usable.iter().any(|token| token.expires_at > ends) {
                break usable.len();
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let fetched = tokio::time::timeout(Duration::from_secs(15), fetched).await;
    assert_eq!(fetched.expect("nothing was fetched"), 2);
    stop.cancel();
    stay.clear_away().await;
}

#[tokio::test]
async fn a_command_line_session_continues_as_long() {
    let mut stay = staying().await;
    let device = post(
        &stay.running,
        "/oauth2/device",
        &[("client_id", "portico-cli")],
    )
    .await;
    let page = device["verification_uri_complete"]
        .as_str()
        .expect("address");
    let page = stay.browser.open(page).await;
    let fields = [
        ("csrf_token", &*page.field("csrf_token")),
        ("user_code", &*page.field("user_code")),
        ("decision", "approve"),
    ];
    let url = format!("{MAIN}/oauth2/device/decision");
    stay.browser.submit(MAIN, &url, &fields).await;
    let fields = [
        ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
        ("client_id", "portico-cli"),
        ("device_code", device["device_code"].as_str().expect("code")),
    ];
    let granted = post(&stay.running, "/oauth2/token", &fields).await;
    let access = granted["access_token"].as_str().expect("access token");
    stay.an_hour_later().await;
    let answer = cluster_token_of(&stay.running, access).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    let keys = [stay.running.stack.cluster_key.clone()];
    let sealed = answer.json()["token"].as_str().expect("token").to_owned();
    let opened = cluster_token::open(&keys, CLUSTER, &sealed, Timestamp::now()).expect("opens");
    let good = async || {
        let good = stay.admin.token_is_good(&opened.keystone_token).await;
        good.expect("answer")
    };
    assert!(good().await);
    sign_out(&mut stay.browser).await;
    assert!(!good().await, "it ends with the browser's session");
    stay.clear_away().await;
}

#[tokio::test]
async fn deleting_the_credential_at_keystone_ends_the_session() {
    let mut stay = staying().await;
    let id = stay.credentials().await[0]["id"]
        .as_str()
        .expect("ID")
        .to_owned();
    let path = format!("/users/{}/application_credentials/{id}", stay.user.id);
    stay.admin.delete(&path).await.expect("deleted");
    stay.an_hour_later().await;
    let acme = stay.running.acme.clone();
    let first = stay.open(&acme).await;
    assert_ne!(first.status, StatusCode::OK, "{}", first.body);
    let page = stay.open(&acme).await;
    let location = page.location();
    assert!(
        location.as_str().ends_with("&reason=refused_by_keystone"),
        "{location}"
    );
    stay.clear_away().await;
}

#[tokio::test]
async fn where_it_is_off_no_user_is_offered_it_and_no_user_gets_it() {
    let running = running().await;
    let mut browser = Browser::new(running.stack.address);
    let page = browser.open(&format!("{MAIN}/oauth2/sign_in")).await;
    assert!(!page.body.contains("Stay signed in"));
    enter(&mut browser, "/projects/x", "vera", running.password()).await;
    let page = browser.open(&format!("{PROJECT}?stay=1")).await;
    assert!(!page.body.contains("name=\"stay\""), "{}", page.body);
    let fields = [
        ("csrf_token", &*page.field("csrf_token")),
        ("project", &running.acme),
        ("stay", "1"),
    ];
    let page = browser.submit(MAIN, PROJECT, &fields).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
    assert!(page.body.contains("not offered here"), "{}", page.body);
}
