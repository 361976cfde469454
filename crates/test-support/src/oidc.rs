//! Gateways in front of real OIDC providers, and users who sign in with them.
use http::StatusCode;
use jiff::{SignedDuration, Timestamp};
use portico_store::Session;
use portico_testkit::{CLIENT_ID, CLIENT_SECRET, OidcPerson, OidcProvider};
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use crate::{
    browser::{Browser, Page},
    database::Database,
    stack::{APP, MAIN, MAIN_HOST, Stack, Wanted},
};

/// A provider, registered for this gateway as `id`.
pub struct Registered {
    pub id: &'static str,
    pub provider: OidcProvider,
    secret: NamedTempFile,
}

pub async fn registered(id: &'static str) -> Registered {
    let redirect = format!("{MAIN}/oauth2/callback/{id}");
    let provider = OidcProvider::start(&redirect, MAIN, 300)
        .await
        .expect("provider");
    let secret = NamedTempFile::new().expect("file");
    std::fs::write(secret.path(), CLIENT_SECRET).expect("secret");
    Registered {
        id,
        provider,
        secret,
    }
}

impl Registered {
    /// Returns its entry in `gateway.providers`.
    pub fn entry(&self, more: &Value) -> Value {
        let mut entry = json!({
            "id": self.id, "name": format!("{} login", self.id), "kind": "oidc",
            "issuer": self.provider.issuer, "client_id": CLIENT_ID,
            "client_secret_file": self.secret.path(),
            "scopes": ["profile", "email", "groups"],
            "timeout": "8s",
        });
        for (key, value) in more.as_object().expect("object") {
            entry[key] = value.clone();
        }
        entry
    }
}

/// Starts a gateway whose app admits group `ops` of `corp`.
pub async fn gateway(providers: Value) -> Stack {
    on(providers, Database::FromEnvironment).await
}

/// Starts the same on another stack's database.
pub async fn replica(providers: Value, other: &Stack) -> Stack {
    on(providers, Database::At(&other.database_url)).await
}

async fn on(providers: Value, database: Database<'_>) -> Stack {
    Stack::start(Wanted {
        gateway: json!({ "providers": providers }),
        groups: &[("ops", "corp")],
        database,
        ..Wanted::default()
    })
    .await
}

/// Runs a sign-in up to the provider's response; returns the address at the gateway.
pub async fn answered(
    browser: &mut Browser,
    person: &mut OidcPerson,
    id: &str,
    login: &str,
    rd: &str,
) -> String {
    let page = browser
        .open(&format!("{MAIN}/oauth2/start?provider={id}&rd={rd}"))
        .await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    person
        .sign_in(page.location().as_str(), login)
        .await
        .expect("the provider's answer")
}

/// Signs in; returns the last page.
pub async fn signed_in(stack: &Stack, id: &str, login: &str) -> (Browser, OidcPerson) {
    let (mut browser, mut person) = (Browser::new(stack.address), OidcPerson::default());
    let callback = answered(&mut browser, &mut person, id, login, "/").await;
    let page = browser.open(&callback).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    assert!(browser.cookie(MAIN_HOST, "portico").is_some());
    (browser, person)
}

/// Returns another browser with the same cookies.
pub fn again(browser: &Browser, stack: &Stack) -> Browser {
    let mut other = Browser::new(stack.address);
    let cookie = browser.cookie(MAIN_HOST, "portico").expect("session");
    other.set_cookie(MAIN_HOST, "portico", cookie);
    other
}

/// Returns the only session.
pub async fn session(stack: &Stack) -> Session {
    let found = stack
        .store
        .sessions()
        .list_of_provider("corp", Some("alice"), None, Timestamp::now())
        .await
        .expect("sessions");
    found.into_iter().next().expect("a session")
}

/// Makes the session's tokens expire in this number of seconds, as far as the gateway knows: its
/// tasks do not run here, so each request reads the store.
pub async fn expires_in(stack: &Stack, session: &Session, seconds: i64) {
    let profile = &session.provider.as_ref().expect("provider").profile;
    let at = Timestamp::now() + SignedDuration::from_secs(seconds);
    let set = stack
        .store
        .sessions()
        .set_provider(session.id, profile, Some(at), Timestamp::now())
        .await;
    assert!(set.expect("store"));
}

/// Opens the app by the hand-over.
pub async fn open_app(browser: &mut Browser) -> Page {
    let page = browser.open(&format!("{APP}/graph")).await;
    if page.status != StatusCode::SEE_OTHER {
        return page;
    }
    let form = browser.open(page.location().as_str()).await;
    if form.status != StatusCode::OK {
        return form;
    }
    let page = browser
        .submit(
            MAIN,
            &format!("{APP}/oauth2/handover"),
            &[("code", &form.field("code"))],
        )
        .await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    browser.open(page.location().as_str()).await
}
