//! Files: keys, secrets, the site, the store.
use super::place::{Place, in_words, mode, portico};
use portico_testkit::snapshot_settings;
use serde_json::json;

#[tokio::test]
async fn finding_o4_doctor_finds_keys_that_are_missing_open_or_of_another_pair() {
    let mut place = Place::new().await;
    place.is_sound().await;
    let other = place.path("other");
    let made = portico(&["keys", "generate", "--out"], &[&other]);
    assert!(made.status.success());

    mode(&place.path("keys/panel.key"), 0o644);
    let readable = place.finds("key-file-permissions").await;
    mode(&place.path("keys/panel.key"), 0o600);

    let sound = place.config.clone();
    place.config["kube_auth"]["key_files"] = json!([place.path("keys/no-such.key")]);
    let missing = place.finds("key-file-unusable").await;
    snapshot_settings().bind(|| insta::assert_snapshot!("keys", in_words(&[readable, missing])));
    place.config["kube_auth"]["key_files"] = json!([other.join("kube-auth-1.key")]);
    place.finds("cluster-key-mismatch").await;

    place.config = sound.clone();
    place.config["gateway"]["panel_sealing_key_file"] = json!(other.join("panel.pub"));
    place.finds("panel-key-mismatch").await;

    place.config = sound;
    place.config["panel"]["assertion_public_key_files"] = json!([other.join("assertion.pub")]);
    place.finds("assertion-key-mismatch").await;
}

#[tokio::test]
async fn finding_o4_doctor_finds_secrets_that_cannot_be_read() {
    let mut place = Place::new().await;
    place.config["apps"] = json!([{
        "id": "wiki", "name": "Wiki", "project": "p1", "url": "http://127.0.0.1:9",
        "allow": [{ "role": "member", "project": "p1" }],
        "identity": { "kind": "bearer", "token_file": place.secret("app", "hush") },
    }]);
    place.is_sound().await;
    place.secret("app", " \n");
    let found = place.finds("secret-file-unusable").await;
    assert_eq!(found["subject"], "app wiki");
    place.secret("app", "hush");
    mode(&place.path("app"), 0o644);
    let readable = place.finds("key-file-permissions").await;
    let text = in_words(&[found, readable]);
    assert!(!text.contains("hush"), "{text}");
    snapshot_settings().bind(|| insta::assert_snapshot!("secrets", text));
}

#[tokio::test]
async fn finding_o4_doctor_finds_files_of_the_cluster_list_that_cannot_be_used() {
    let mut place = Place::new().await;
    let other = place.path("other");
    let made = portico(&["keys", "generate", "--out"], &[&other]);
    assert!(made.status.success());
    let token = "0123456789abcdef0123456789abcdef";
    let token_file = place.secret("list.token", token);
    place.config["gateway"]["cluster_list"] = json!({
        "signing_key_file": other.join("assertion.pem"),
        "token_file": token_file,
    });
    place.config["kube_auth"]["cluster_list"] = json!({
        "url": "http://127.0.0.1:9",
        "keys_file": other.join("assertion.pub"),
        "token_file": token_file,
        "state_file": place.path("list.jws"),
    });
    place.is_sound().await;

    place.secret("list.token", &token[1..]);
    let found = place.finds("secret-file-unusable").await;
    let text = in_words(&[found]);
    assert!(!text.contains(&token[1..]), "{text}");
    snapshot_settings().bind(|| insta::assert_snapshot!("token_of_the_cluster_list", text));
    place.secret("list.token", token);
    mode(&token_file, 0o644);
    let found = place.finds("key-file-permissions").await;
    assert_eq!(found["subject"], "gateway cluster list");
    mode(&token_file, 0o600);

    let sound = place.config.clone();
    place.config["gateway"]["cluster_list"]["signing_key_file"] = json!(other.join("panel.key"));
    place.finds("key-file-unusable").await;
    place.config = sound.clone();
    place.config["kube_auth"]["cluster_list"]["keys_file"] = json!(other.join("panel.pub"));
    let found = place.finds("key-file-unusable").await;
    assert_eq!(found["subject"], "kube-auth cluster list");
    place.config = sound;
    let state_file = json!(place.path("missing/list.jws"));
    place.config["kube_auth"]["cluster_list"]["state_file"] = state_file;
    place.finds("cluster-list-state-unusable").await;
}

#[tokio::test]
async fn finding_o4_doctor_finds_a_demo_and_a_readable_password() {
    let mut place = Place::new().await;
    place.is_sound().await;
    let password_file = place.secret("demo", "hush");
    place.config["gateway"]["demo"] = json!({ "password_file": password_file, "users": [] });
    place.finds("demo-users").await;

    place.config["store"]["url"] = json!("postgres://portico:hush@127.0.0.1:9/portico");
    assert!(!place.doctor(&[]).await.has("configuration-readable"));
    let file = place.config_file();
    mode(&file, 0o644);
    let output =
        tokio::task::spawn_blocking(move || portico(&["doctor", "--json", "--config"], &[&file]));
    let report = super::place::Report::of(&output.await.unwrap());
    let found = report.find("configuration-readable").to_string();
    assert!(!found.contains("hush"), "{found}");
}

#[tokio::test]
async fn finding_o4_doctor_finds_a_panel_without_its_browser_half() {
    let place = Place::new().await;
    place.is_sound().await;
    std::fs::remove_file(place.path("site/pkg/app.wasm")).unwrap();
    let found = place.finds("panel-site-missing").await;
    snapshot_settings().bind(|| insta::assert_snapshot!("site", in_words(&[found])));
}

#[tokio::test]
async fn finding_o4_doctor_finds_rules_that_fail_or_open_too_much() {
    let mut place = Place::new().await;
    let rules = "[[rules]]\nname = \"help\"\neffect = \"public\"\npaths = [\"/help/\"]\n\
                 [[tests]]\nname = \"help\"\nrequest = \"GET /help/1\"\nexpect = \"public\"\n";
    let file = place.write("rules.toml", rules);
    place.config["apps"] = json!([{
        "id": "wiki", "name": "Wiki", "project": "p1", "url": "http://127.0.0.1:9",
        "allow": [{ "role": "member", "project": "p1" }], "rules_file": file,
    }]);
    place.is_sound().await;
    assert!(!place.doctor(&[]).await.has("rules-warning"));
    place.write("rules.toml", &rules.replace("GET /help/1", "GET /other"));
    let invalid = place.finds("rules-invalid").await;
    place.write("rules.toml", &rules.replace("\"/help/\"", "\"prefix:/\""));
    let wide = place.finds("rules-warning").await;
    snapshot_settings().bind(|| insta::assert_snapshot!("rules", in_words(&[invalid, wide])));
}

#[tokio::test]
async fn finding_o4_doctor_finds_a_store_that_is_damaged_missing_or_of_another_key() {
    let mut place = Place::new().await;
    let empty = place.finds("store-not-migrated").await;
    assert!(!place.path("portico.db").exists(), "doctor makes no file");
    let config = place.config_file();
    let migrated = portico(&["migrate", "--config"], &[&config]);
    assert!(migrated.status.success(), "{migrated:?}");
    place.is_sound().await;
    assert!(!place.doctor(&[]).await.has("store-not-migrated"));

    sign_in_user(&place).await;
    place.is_sound().await;
    let other = place.path("other");
    assert!(
        portico(&["keys", "generate", "--out"], &[&other])
            .status
            .success()
    );
    let sound = place.config.clone();
    place.config["store"]["key_files"] = json!([other.join("store-1.key")]);
    place.finds("store-other-keys").await;

    place.config = sound;
    let damaged = place.write("damaged.db", &"this is not a database ".repeat(64));
    place.config["store"]["url"] = json!(format!("sqlite://{}", damaged.display()));
    let damaged = place.finds("store-damaged").await;
    place.config["store"]["url"] = json!("sqlite:///no/such/directory/portico.db");
    let missing = place.finds("store-file-unusable").await;
    let text = in_words(&[empty, damaged, missing]);
    snapshot_settings().bind(|| insta::assert_snapshot!("store", text));
}

/// A session in the store, under the keys of the set-up.
async fn sign_in_user(place: &Place) {
    use portico_runtime::secret_file::read_secret_file;
    use portico_store::{KeyRing, Store};
    let key = read_secret_file(&place.path("keys/store-1.key")).unwrap();
    let keys = KeyRing::from_base64(&[key]).unwrap();
    let url = format!("sqlite://{}", place.path("portico.db").display());
    let store = Store::connect(&url, 1, keys).await.unwrap();
    let now = jiff::Timestamp::now();
    let hour = jiff::SignedDuration::from_hours(1);
    let new = portico_store::NewSession {
        user: portico_domain::identity::User {
            id: "ada-id".to_owned(),
            name: "ada".to_owned(),
            domain: portico_domain::identity::Named {
                id: "default".to_owned(),
                name: "Default".to_owned(),
            },
        },
        projects: Vec::new(),
        last_project: None,
        auth_methods: vec!["password".to_owned()],
        user_agent: "curl".to_owned(),
        address: "127.0.0.1".to_owned(),
        idle_expires_at: now + hour,
        absolute_expires_at: now + hour,
        keystone_expires_at: now + hour,
        authenticated_at: Some(now),
    };
    store.sessions().create(&new, now).await.unwrap();
    store.close().await;
}
