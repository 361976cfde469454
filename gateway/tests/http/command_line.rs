//! The command line: both ways in, rotation, revocation, cluster tokens.
use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use http::{Method, StatusCode};
use jiff::Timestamp;
use portico_assertion::cluster_token;
use portico_domain::enrolled_cluster::{ClusterSource, EnrolledCluster};
use portico_store::Session;
use portico_testkit::snapshot_settings;
use secrecy::ExposeSecret as _;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::support::{
    browser::{Browser, Page},
    stack::{CLUSTER, MAIN, Stack, Wanted},
};

const REDIRECT: &str = "http://127.0.0.1:41234/callback";
const VERIFIER: &str = "0123456789012345678901234567890123456789abcde";

async fn started() -> (Stack, Browser, Session) {
    let stack = Stack::start(Wanted::default()).await;
    let (browser, session) = stack.signed_in(&["k8s_admin"]).await;
    (stack, browser, session)
}

async fn post(stack: &Stack, path: &str, fields: &[(&str, &str)]) -> Page {
    let body = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(fields)
        .finish();
    let kind = [("content-type", "application/x-www-form-urlencoded")];
    Browser::new(stack.address)
        .send(Method::POST, &format!("{MAIN}{path}"), &kind, body)
        .await
}

pub async fn bearer(stack: &Stack, method: Method, path: &str, token: &Value) -> Page {
    let authorization = format!("Bearer {}", token.as_str().unwrap_or_default());
    Browser::new(stack.address)
        .send(
            method,
            &format!("{MAIN}{path}"),
            &[("authorization", &authorization)],
            String::new(),
        )
        .await
}

fn authorize_url(redirect: &str) -> String {
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER));
    let query = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs([
            ("response_type", "code"),
            ("client_id", "portico-cli"),
            ("redirect_uri", redirect),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("state", "st&te"),
            ("client_name", "portico on laptop"),
        ])
        .finish();
    format!("{MAIN}/oauth2/authorize?{query}")
}

const HIDDEN_FIELDS: [&str; 8] = [
    "csrf_token",
    "client_id",
    "response_type",
    "redirect_uri",
    "code_challenge",
    "code_challenge_method",
    "state",
    "client_name",
];

async fn decide(browser: &mut Browser, decision: &str) -> Page {
    let page = browser.open(&authorize_url(REDIRECT)).await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    assert!(page.body.contains("portico on laptop") && page.body.contains("acme"));
    let values: Vec<_> = HIDDEN_FIELDS.iter().map(|name| page.field(name)).collect();
    let mut fields: Vec<(&str, &str)> = HIDDEN_FIELDS
        .iter()
        .zip(&values)
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    fields.push(("decision", decision));
    browser
        .submit(MAIN, &format!("{MAIN}/oauth2/authorize"), &fields)
        .await
}

pub async fn tokens(stack: &Stack, browser: &mut Browser) -> Value {
    let page = decide(browser, "approve").await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    let location = page.location();
    assert!(location.as_str().starts_with(REDIRECT));
    let given = |name| {
        let found = location.query_pairs().find(|(key, _)| key == name);
        found
            .map(|(_, value)| value.into_owned())
            .unwrap_or_default()
    };
    assert_eq!(given("state"), "st&te");
    let code = given("code");
    let exchange = |verifier: &'static str| {
        let code = code.clone();
        async move {
            let fields = [
                ("grant_type", "authorization_code"),
                ("client_id", "portico-cli"),
                ("code", code.as_str()),
                ("redirect_uri", REDIRECT),
                ("code_verifier", verifier),
            ];
            post(stack, "/oauth2/token", &fields).await
        }
    };
    let answer = exchange(VERIFIER).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    let again = exchange(VERIFIER).await;
    assert_eq!(again.json()["error"], "invalid_grant");
    answer.json()
}

#[tokio::test]
async fn a_click_lets_the_command_line_in_and_it_gets_cluster_tokens() {
    let (stack, mut browser, session) = started().await;
    let granted = tokens(&stack, &mut browser).await;
    let access = &granted["access_token"];
    let listed = bearer(&stack, Method::GET, "/api/v1/clusters", access).await;
    assert_eq!(listed.json()["clusters"][0]["name"], "acme-prod");
    let path = format!("/api/v1/clusters/{CLUSTER}/token");
    stack
        .token_of_the_command_line(&session, "the-command-lines-own-token")
        .await;
    let answer = bearer(&stack, Method::POST, &path, access).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    let answer = answer.json();
    let sealed = answer["token"].as_str().expect("token");
    let keys = [stack.cluster_key.clone()];
    let opened = cluster_token::open(&keys, CLUSTER, sealed, Timestamp::now()).expect("opens");
    assert_eq!(
        opened.keystone_token.expose_secret(),
        "the-command-lines-own-token"
    );

    let kept = bearer(&stack, Method::POST, &path, access).await.json();
    assert_eq!(
        kept["token"], answer["token"],
        "one per session and cluster"
    );
    let unknown = bearer(
        &stack,
        Method::POST,
        "/api/v1/clusters/00000000-0000-4000-8000-000000000000/token",
        access,
    )
    .await;
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);
    let with_sealed = bearer(&stack, Method::POST, &path, &answer["token"]).await;
    assert_eq!(with_sealed.status, StatusCode::UNAUTHORIZED);
    let with_cookie = browser
        .call(Method::POST, &format!("{MAIN}{path}"), "")
        .await;
    assert_eq!(with_cookie.status, StatusCode::UNAUTHORIZED);

    let csrf = session.csrf.expose_secret();
    let page = browser
        .submit(
            MAIN,
            &format!("{MAIN}/oauth2/sign_out"),
            &[("csrf_token", csrf)],
        )
        .await;
    assert!(page.body.contains("1 command-line session"));
    let after = bearer(&stack, Method::POST, &path, access).await;
    assert_eq!(after.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_refusal_goes_back_and_a_foreign_redirect_nowhere() {
    let (_stack, mut browser, _) = started().await;
    let page = decide(&mut browser, "deny").await;
    assert!(page.location().as_str().contains("error=access_denied"));
    for redirect in [
        "https://evil.example/",
        "http://localhost:1/",
        "http://127.0.0.1/",
    ] {
        let page = browser.open(&authorize_url(redirect)).await;
        assert_eq!(page.status, StatusCode::BAD_REQUEST, "{redirect}");
    }
}

#[tokio::test]
async fn a_used_refresh_token_ends_the_session() {
    let (stack, mut browser, _) = started().await;
    let granted = tokens(&stack, &mut browser).await;
    let refresh = |token: Value| {
        let stack = &stack;
        async move {
            let fields = [
                ("grant_type", "refresh_token"),
                ("client_id", "portico-cli"),
                ("refresh_token", token.as_str().expect("token")),
            ];
            post(stack, "/oauth2/token", &fields).await
        }
    };
    let second = refresh(granted["refresh_token"].clone()).await.json();
    let third = refresh(second["refresh_token"].clone()).await.json();
    assert!(third["access_token"].is_string());
    let reused = refresh(granted["refresh_token"].clone()).await;
    assert_eq!(reused.json()["error"], "invalid_grant");
    let after = bearer(
        &stack,
        Method::GET,
        "/api/v1/clusters",
        &third["access_token"],
    )
    .await;
    assert_eq!(after.status, StatusCode::UNAUTHORIZED);
    assert_eq!(browser.open(MAIN).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_device_code_is_approved_in_another_browser() {
    let (stack, mut browser, _) = started().await;
    let fields = [("client_id", "portico-cli"), ("client_name", "server-1")];
    let device = post(&stack, "/oauth2/device", &fields).await.json();
    let poll = || async {
        let fields = [
            ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
            ("client_id", "portico-cli"),
            ("device_code", device["device_code"].as_str().expect("code")),
        ];
        post(&stack, "/oauth2/token", &fields).await.json()
    };
    assert_eq!(poll().await["error"], "authorization_pending");
    assert_eq!(poll().await["error"], "slow_down");
    let wrong = browser
        .open(&format!("{MAIN}/oauth2/device?user_code=AAAA-AAAA"))
        .await;
    snapshot_settings().bind(|| insta::assert_snapshot!("unknown_code", wrong.snapshot()));
    let page = browser
        .open(
            device["verification_uri_complete"]
                .as_str()
                .expect("address"),
        )
        .await;
    let code = device["user_code"].as_str().expect("code");
    assert!(page.body.contains(code), "{code} in {}", page.body);
    snapshot_settings().bind(|| {
        insta::assert_snapshot!("approval_of_a_terminal", page.snapshot());
    });
    assert_eq!(device["expires_in"], 300);
    // looking at the page decides nothing, and neither does another site's form
    assert_eq!(poll().await["error"], "slow_down");
    let decision = format!("{MAIN}/oauth2/device/decision");
    let forged = [("user_code", code), ("decision", "approve")];
    let page_of_forgery = browser.submit(MAIN, &decision, &forged).await;
    assert_eq!(page_of_forgery.status, StatusCode::FORBIDDEN);
    let typed_by_hand = code.replace('-', "").to_ascii_lowercase();
    let typed = format!("{MAIN}/oauth2/device?user_code={typed_by_hand}");
    assert!(browser.open(&typed).await.body.contains(code));
    let fields = [
        ("csrf_token", page.field("csrf_token")),
        ("user_code", page.field("user_code")),
        ("decision", "approve".to_owned()),
    ];
    let fields: Vec<_> = fields
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let page = browser
        .submit(MAIN, &format!("{MAIN}/oauth2/device/decision"), &fields)
        .await;
    snapshot_settings().bind(|| insta::assert_snapshot!("connected", page.snapshot()));
    let again = browser.submit(MAIN, &decision, &fields).await;
    assert_eq!(again.status, StatusCode::NOT_FOUND, "decided on once");
    let granted = poll().await;
    assert!(granted["access_token"].is_string(), "{granted}");
    assert_eq!(poll().await["error"], "expired_token", "used once");
    let token = granted["refresh_token"].as_str().expect("token");
    post(&stack, "/oauth2/revoke", &[("token", token)]).await;
    let after = bearer(
        &stack,
        Method::GET,
        "/api/v1/clusters",
        &granted["access_token"],
    )
    .await;
    assert_eq!(after.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn the_sealing_key_is_for_every_client_and_the_cluster_is_not() {
    let stack = Stack::start(Wanted::default()).await;
    let get = async |path: &str, headers: &[(&str, &str)]| {
        Browser::new(stack.address)
            .send(
                Method::GET,
                &format!("{MAIN}{path}"),
                headers,
                String::new(),
            )
            .await
    };
    let json = [("accept", "application/json")];
    let path = format!("/api/v1/clusters/{CLUSTER}/sealing-key");
    let answer = get(&path, &json).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    let body = answer.json();
    let names: Vec<_> = body.as_object().expect("object").keys().cloned().collect();
    assert_eq!(names, ["cluster", "sealing_key"]);
    assert_eq!(body["sealing_key"]["kid"], stack.cluster_key.kid());
    for hidden in ["acme", "6443"] {
        assert!(!answer.body.contains(hidden), "{}", answer.body);
    }
    for unknown in ["00000000-0000-4000-8000-000000000000", "acme-prod", "1"] {
        let path = format!("/api/v1/clusters/{unknown}/sealing-key");
        assert_eq!(get(&path, &json).await.status, StatusCode::NOT_FOUND);
    }
    // nothing listens where this gateway's Keystone is: whose token it is cannot be decided
    let with_token = [("accept", "application/json"), ("x-auth-token", "gAAAA")];
    let asked = get("/api/v1/clusters", &with_token).await;
    assert_eq!(asked.status, StatusCode::SERVICE_UNAVAILABLE);
    let anonymous = get("/api/v1/clusters", &json).await;
    assert_eq!(anonymous.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn an_enrolled_cluster_is_listed_and_gets_tokens_until_it_is_removed() {
    let (stack, mut browser, session) = started().await;
    let granted = tokens(&stack, &mut browser).await;
    let access = &granted["access_token"];
    let id = Uuid::from_u128(7);
    let pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let enrolled = |id, name: &str, project: &str| EnrolledCluster {
        id,
        name: name.to_owned(),
        owner_project: project.to_owned(),
        accepted_projects: Vec::new(),
        accepted_roles: Vec::new(),
        api_url: "https://192.0.2.7:6443".to_owned(),
        ca: pem.to_owned(),
        client_ca: pem.to_owned(),
        api_audiences: vec!["https://kubernetes.default.svc".to_owned()],
        source: ClusterSource::Magnum,
    };
    let own = enrolled(id, "shop", &session.projects[0].id);
    let other = enrolled(Uuid::from_u128(8), "foreign", "another-project");
    let key = stack.cluster_key.public();
    stack
        .gateway
        .replace_enrolled_clusters(vec![own, other], key);
    let listed = bearer(&stack, Method::GET, "/api/v1/clusters", access).await;
    let listed = listed.json()["clusters"].clone();
    assert_eq!(listed.as_array().map(Vec::len), Some(2), "{listed}");
    assert_eq!(listed[1]["name"], "shop");
    assert_eq!(listed[1]["api_url"], "https://192.0.2.7:6443");
    assert_eq!(listed[1]["ca_data"], STANDARD.encode(pem));
    stack
        .token_of_the_command_line(&session, "the-command-lines-own-token")
        .await;
    let path = format!("/api/v1/clusters/{id}/token");
    let answer = bearer(&stack, Method::POST, &path, access).await.json();
    let sealed = answer["token"].as_str().expect("token");
    let keys = [stack.cluster_key.clone()];
    cluster_token::open(&keys, id, sealed, Timestamp::now()).expect("opens");
    stack.gateway.replace_enrolled_clusters(Vec::new(), key);
    let gone = bearer(&stack, Method::POST, &path, access).await;
    assert_eq!(gone.status, StatusCode::NOT_FOUND);
}
