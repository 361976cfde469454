//! Attack: an attacker has a copy of everything in Redis, and of its files.
use super::raw::Raw;
use super::server::database_on;
use crate::suite::fixtures::{at, new_token, on_app, on_command_line, signed_in};
use crate::suite::keys;
use jiff::SignedDuration;
use portico_store::{
    BrowserSession, NewAuthorizationCode, NewDeviceCode, NewHandover, NewSavedForm, Rotation, Store,
};
use portico_testkit::RedisServer;
use secrecy::{ExposeSecret as _, SecretString};
use std::path::Path;

/// Fills a store with one secret of each kind; answers with all of them.
async fn fill(store: &Store) -> Vec<(&'static str, String)> {
    let mut secrets: Vec<(&'static str, String)> = Vec::new();
    let mut keep = |name, secret: &SecretString| {
        secrets.push((name, secret.expose_secret().to_owned()));
    };
    let (cookie, session) = signed_in(store, "ada").await;
    keep("cookie", &SecretString::from(cookie));
    keep("csrf", &session.csrf);
    let (cookie, app) = on_app(store, session.id).await;
    keep("app's cookie", &SecretString::from(cookie));
    let cli = on_command_line(store, app.id).await;
    let token = new_token(session.id, Some("acme"), "gAAAA-keystone-token");
    store.keystone_tokens().store(&token, at(1)).await.unwrap();
    keep("Keystone token", &token.token);
    let flows = store.sign_in_flows();
    let started = flows.start("/", at(600), at(0)).await.unwrap();
    keep("flow", &started.secret);
    let receipt = SecretString::from("keystone-auth-receipt");
    let set = flows.set_receipt(started.flow.id, "ada", "Default", &receipt);
    set.await.unwrap();
    keep("receipt", &receipt);
    let handover = NewHandover {
        session: session.id,
        host: "prometheus.apps.localhost".to_owned(),
        nonce: SecretString::from("handover-nonce"),
        return_path: "/".to_owned(),
    };
    let code = store.handovers().create(&handover, at(0)).await.unwrap();
    keep("hand-over code", &code);
    keep("nonce", &handover.nonce);
    let form = NewSavedForm {
        user_id: "ada-id".to_owned(),
        target: "/form".to_owned(),
        body: SecretString::from("field=what-was-typed"),
    };
    let secret = store.saved_forms().save(&form, at(0)).await.unwrap();
    keep("form", &secret);
    keep("form's body", &form.body);
    let id = SecretString::from("the-id-of-a-browser-session");
    let state = BrowserSession {
        data: SecretString::from("what-the-browser-chose"),
        expires_at: at(600),
    };
    let states = store.browser_sessions();
    let created = states.create(id.expose_secret(), &state, 10, at(0)).await;
    created.unwrap();
    keep("browser session", &id);
    keep("data of a browser session", &state.data);
    let device = store.device_codes();
    let device = device
        .start(&NewDeviceCode::default(), at(0))
        .await
        .unwrap();
    keep("device code", &device.device_code);
    keep("user code", &device.user_code);
    let user_code = device.user_code.expose_secret().replace('-', "");
    keep("user code, typed", &SecretString::from(user_code));
    let code = NewAuthorizationCode {
        session: session.id,
        client: "laptop".to_owned(),
        redirect_uri: "http://127.0.0.1:1/".to_owned(),
        code_challenge: "challenge".to_owned(),
        project: None,
    };
    let code = store.authorization_codes().create(&code, at(0)).await;
    keep("authorization code", &code.unwrap());
    let tokens = store.access_tokens();
    keep(
        "access token",
        &tokens.issue(cli.id, at(900)).await.unwrap(),
    );
    let refresh = tokens.issue_refresh(cli.id, at(900), at(0)).await.unwrap();
    keep("refresh token", &refresh);
    let rotated = tokens.rotate(refresh.expose_secret(), SignedDuration::ZERO, at(1));
    let Rotation::Rotated(grant) = rotated.await.unwrap() else {
        panic!("the token is good");
    };
    keep("successor", &grant.refresh_token);
    store
        .totp_marks()
        .mark("ada-id", "931574", at(90))
        .await
        .unwrap();
    keep("one-time passcode", &SecretString::from("931574"));
    secrets
}

fn files_below(directory: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files_below(&path));
        } else {
            all.extend(std::fs::read(&path).unwrap());
        }
    }
    all
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|window| window == text.as_bytes())
}

#[tokio::test]
async fn attack_a_stolen_dump_shows_no_secret() {
    let server = RedisServer::with(&["--rdbcompression", "no"]).unwrap();
    let database = database_on(&server).await;
    let secrets = fill(&database.store).await;
    let mut raw = Raw::connect(&database.url).await;
    let values = raw.everything().await;
    let _: String = raw.ask(&["SAVE"]).await;
    let files = files_below(server.directory());
    // what is not secret is found: the search works
    assert!(values.iter().any(|value| value == "ada-id"));
    assert!(holds(&files, "ada-id"));
    for (name, secret) in secrets {
        let found = values.iter().find(|value| value.contains(&secret));
        assert_eq!(found, None, "{name}");
        assert!(!holds(&files, &secret), "{name} is in a file");
    }
}

#[tokio::test]
async fn attack_a_stolen_store_opens_with_its_own_keys_only() {
    let server = RedisServer::start().unwrap();
    let database = database_on(&server).await;
    let (cookie, session) = signed_in(&database.store, "ada").await;
    let token = new_token(session.id, None, "token");
    let tokens = database.store.keystone_tokens();
    tokens.store(&token, at(1)).await.unwrap();
    let thief = Store::connect(&server.url(), 1, keys(&[9])).await.unwrap();
    let found = thief.sessions().find(&cookie, at(1)).await.unwrap();
    assert!(found.is_none());
    assert!(thief.sessions().get(session.id).await.is_err());
    let stolen = thief.keystone_tokens().find(session.id, None, at(1)).await;
    assert!(stolen.is_err());
    // the control case: the store's own keys open all of it
    let found = database.store.sessions().find(&cookie, at(1)).await;
    assert_eq!(found.unwrap().unwrap().id, session.id);
    let found = tokens.find(session.id, None, at(1)).await.unwrap().unwrap();
    assert_eq!(found.token.expose_secret(), "token");
}
