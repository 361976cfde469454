//! 1, 4, 6, 14, 18, 26: the panel as the running gateway shows it.
use super::{
    calls::{Body, Call, calls},
    site::{Answer, Site, pages},
};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use portico_testkit::{KeystoneAdmin, TestEnv};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::json;
use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};
use uuid::Uuid;

/// A client of the stack's own gateway, with cookies.
struct GatewayClient {
    env: TestEnv,
    client: reqwest::Client,
    origin: String,
    cookies: BTreeMap<String, String>,
}

impl GatewayClient {
    fn new() -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let env = TestEnv::load().unwrap();
        let mut client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
        if let Some(file) = env.optional("PORTICO_CA_FILE") {
            let pem = std::fs::read(file).unwrap();
            client = client.add_root_certificate(reqwest::Certificate::from_pem(&pem).unwrap());
        }
        let origin = env
            .get("PORTICO_URL")
            .unwrap()
            .trim_end_matches('/')
            .to_owned();
        Self {
            client: client.build().unwrap(),
            origin,
            env,
            cookies: BTreeMap::new(),
        }
    }

    async fn signed_in(name: &str, password: &SecretString) -> Self {
        let mut client = Self::new();
        let navigation = [("sec-fetch-mode", "navigate"), ("accept", "text/html")];
        let form = client
            .send("GET", "/oauth2/sign_in?rd=/", &navigation, None)
            .await;
        let field = |name: &str| {
            let marker = format!("name=\"{name}\" value=\"");
            let at = form
                .body
                .find(&marker)
                .unwrap_or_else(|| panic!("no {name}: {}", form.body));
            let rest = &form.body[at + marker.len()..];
            rest[..rest.find('"').unwrap()].to_owned()
        };
        let fields = Body::Form(
            [
                ("csrf_token", field("csrf_token")),
                ("rd", field("rd")),
                ("name", name.to_owned()),
                ("password", password.expose_secret().to_owned()),
                ("domain", "Default".to_owned()),
            ]
            .map(|(name, value)| (name.to_owned(), value))
            .to_vec(),
        );
        let origin = client.origin.clone();
        let headers = [("sec-fetch-mode", "navigate"), ("origin", origin.as_str())];
        let answer = client
            .send("POST", "/oauth2/sign_in", &headers, Some(&fields))
            .await;
        assert_eq!(answer.status, 303, "{name} signs in: {}", answer.body);
        client
    }

    async fn demo_user(name: &str) -> Self {
        let password = TestEnv::load()
            .unwrap()
            .get("DEMO_PASSWORD")
            .unwrap()
            .to_owned();
        Self::signed_in(name, &password.into()).await
    }

    async fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Body>,
    ) -> Answer {
        let url = format!("{}{path}", self.origin);
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(
                name.parse::<HeaderName>().unwrap(),
                HeaderValue::from_str(value).unwrap(),
            );
        }
        let line: Vec<String> = self
            .cookies
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        if !line.is_empty() {
            map.insert("cookie", HeaderValue::from_str(&line.join("; ")).unwrap());
        }
        let request = self
            .client
            .request(method.parse().unwrap(), url)
            .headers(map);
        let request = match body {
            None => request,
            Some(Body::Json(body)) => request.json(body),
            Some(Body::Form(fields)) => request.form(fields),
        };
        let answer = request.send().await.unwrap();
        for line in answer.headers().get_all("set-cookie") {
            let line = line.to_str().unwrap();
            let (name, rest) = line.split_once('=').unwrap();
            let value = rest.split(';').next().unwrap();
            if line.to_ascii_lowercase().contains("max-age=0") {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        Answer {
            status: answer.status().as_u16(),
            headers: answer.headers().clone(),
            body: answer.text().await.unwrap(),
        }
    }

    async fn call(&mut self, call: &Call, headers: &[(&str, &str)]) -> Answer {
        let project = self.env.get("PROJECT_ID_ACME").unwrap().to_owned();
        let headers = [
            &[
                ("accept", "application/json"),
                ("portico-project", &project),
            ],
            headers,
        ]
        .concat();
        self.send("POST", call.path, &headers, Some(&call.body))
            .await
    }

    /// The token that a page of the panel gives its scripts.
    async fn csrf(&mut self) -> String {
        let path = format!("/projects/{}", self.env.get("PROJECT_ID_ACME").unwrap());
        let headers = [("sec-fetch-mode", "navigate"), ("accept", "text/html")];
        let page = self.send("GET", &path, &headers, None).await;
        let at = page
            .body
            .find("name=\"csrf-token\"")
            .unwrap_or_else(|| panic!("{}", page.body));
        let rest = &page.body[at..];
        let rest = &rest[rest.find("content=\"").unwrap() + 9..];
        rest[..rest.find('"').unwrap()].to_owned()
    }

    fn origin(&self) -> String {
        self.origin.clone()
    }
}

fn all_pages(env: &TestEnv) -> Vec<String> {
    let (project, cluster) = (
        env.get("PROJECT_ID_ACME").unwrap(),
        env.get("CLUSTER_ID").unwrap(),
    );
    let mut found = pages(project, cluster, "shop", "pods", "any");
    found.push(format!("/projects/{project}/clusters/{cluster}/kubeconfig"));
    // a program that is not offered: the ones that are, are large
    found.push(format!("/projects/{project}/downloads/portico-plan9-386"));
    found
}

fn all_streams(env: &TestEnv) -> Vec<String> {
    let (project, cluster) = (
        env.get("PROJECT_ID_ACME").unwrap(),
        env.get("CLUSTER_ID").unwrap(),
    );
    vec![
        format!("/projects/{project}/stream"),
        format!("/projects/{project}/clusters/{cluster}/namespaces/shop/pods/any/exec"),
    ]
}

const UPGRADE: [(&str, &str); 4] = [
    ("connection", "Upgrade"),
    ("upgrade", "websocket"),
    ("sec-websocket-version", "13"),
    ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
];

#[tokio::test]
async fn flaw_01_without_a_session_the_gateway_leads_to_sign_in_and_programs_get_401() {
    let site = Site::open().await;
    let mut stranger = GatewayClient::new();
    let origin = stranger.origin();
    for path in all_pages(&TestEnv::load().unwrap()) {
        let headers = [("sec-fetch-mode", "navigate"), ("accept", "text/html")];
        let answer = stranger.send("GET", &path, &headers, None).await;
        assert_eq!(answer.status, 303, "{path}");
        assert!(
            answer.header("location").contains("/oauth2/sign_in"),
            "{path}"
        );
        let answer = stranger
            .send("GET", &path, &[("sec-fetch-mode", "cors")], None)
            .await;
        assert_eq!(answer.status, 401, "{path}");
    }
    for call in calls(&site.storefront()) {
        let answer = stranger
            .call(&call, &[("origin", &origin), ("sec-fetch-mode", "cors")])
            .await;
        assert_eq!(answer.status, 401, "{}", call.path);
    }
    for path in all_streams(&TestEnv::load().unwrap()) {
        let headers = [&UPGRADE[..], &[("origin", origin.as_str())]].concat();
        assert_eq!(
            stranger.send("GET", &path, &headers, None).await.status,
            401,
            "{path}"
        );
    }
    for path in ["/ping", "/oauth2/sign_in", "/.well-known/jwks.json"] {
        let answer = stranger.send("GET", path, &[], None).await;
        assert_eq!(answer.status, 200, "the control case: {path}");
    }
}

#[tokio::test]
async fn flaw_04_with_a_live_session_no_function_answers_a_foreign_page() {
    let site = Site::open().await;
    let mut ada = GatewayClient::demo_user("ada").await;
    let csrf = ada.csrf().await;
    let own = ada.origin();
    let foreign = [
        "null".to_owned(),
        "https://evil.example".to_owned(),
        format!("{own}.evil.example"),
        own.replacen("://", "://evil.", 1),
        own.replacen("://", "://prometheus.apps.", 1),
        format!("{own}1"),
    ];
    for call in calls(&site.storefront()) {
        for origin in &foreign {
            let headers = [("origin", origin.as_str()), ("x-csrf-token", &csrf)];
            let answer = ada.call(&call, &headers).await;
            assert_eq!(answer.status, 403, "{} from {origin}", call.path);
        }
        let cross_site = [("sec-fetch-site", "cross-site"), ("x-csrf-token", &csrf)];
        assert_eq!(
            ada.call(&call, &cross_site).await.status,
            403,
            "{}",
            call.path
        );
        let missing = [("origin", own.as_str()), ("sec-fetch-mode", "cors")];
        assert_eq!(
            ada.call(&call, &missing).await.status,
            403,
            "{} without a token",
            call.path
        );
    }
    for path in all_streams(&TestEnv::load().unwrap()) {
        for origin in &foreign {
            let headers = [&UPGRADE[..], &[("origin", origin.as_str())]].concat();
            let status = ada.send("GET", &path, &headers, None).await.status;
            assert_eq!(status, 403, "{path} from {origin}");
        }
        let status = ada.send("GET", &path, &UPGRADE, None).await.status;
        assert_eq!(status, 403, "{path} without an origin");
    }
    let control = calls(&site.storefront())
        .into_iter()
        .find(|call| call.path == "/api/objects/get");
    let headers = [("origin", own.as_str()), ("x-csrf-token", csrf.as_str())];
    let answer = ada.call(&control.unwrap(), &headers).await;
    assert_eq!(answer.status, 200, "the control case: {}", answer.body);
}

#[tokio::test]
async fn flaw_06_no_foreign_page_reads_an_event_stream() {
    let mut ada = GatewayClient::demo_user("ada").await;
    let env = TestEnv::load().unwrap();
    let own = ada.origin();
    for path in [all_pages(&env), all_streams(&env)].concat() {
        for origin in ["https://evil.example", "null"] {
            let headers = [
                ("accept", "text/event-stream"),
                ("origin", origin),
                ("sec-fetch-mode", "cors"),
            ];
            let answer = ada.send("GET", &path, &headers, None).await;
            assert_eq!(answer.status, 403, "{path} from {origin}");
            assert!(
                answer.header("access-control-allow-origin").is_empty(),
                "{path}"
            );
        }
        let headers = [
            ("accept", "text/event-stream"),
            ("sec-fetch-site", "cross-site"),
        ];
        let answer = ada.send("GET", &path, &headers, None).await;
        assert_eq!(answer.status, 403, "{path} from another site");
        // lists and logs have one stream, a WebSocket: the panel answers nothing else with a stream
        let headers = [("accept", "text/event-stream"), ("origin", own.as_str())];
        let answer = ada.send("GET", &path, &headers, None).await;
        assert!(
            !answer.header("content-type").contains("event-stream"),
            "{path}"
        );
        assert_ne!(answer.status, 403, "the control case: {path}");
    }
}

#[tokio::test]
async fn flaw_14_a_disabled_user_is_signed_out() {
    let keystone = KeystoneAdmin::sign_in(&TestEnv::load().unwrap())
        .await
        .unwrap();
    let env = TestEnv::load().unwrap();
    let (acme, role) = (
        env.get("PROJECT_ID_ACME").unwrap(),
        env.get("ROLE_ID_K8S_VIEWER").unwrap(),
    );
    let user = keystone.create_user("disabled").await.unwrap();
    keystone.grant(&user.id, acme, role).await.unwrap();
    let mut client = GatewayClient::signed_in(&user.name, &user.password).await;
    let page = format!("/projects/{acme}");
    let headers = [("sec-fetch-mode", "cors")];
    assert_eq!(
        client.send("GET", &page, &headers, None).await.status,
        200,
        "the control case"
    );
    let disable = json!({ "user": { "enabled": false } });
    keystone
        .patch(&format!("/users/{}", user.id), disable)
        .await
        .unwrap();
    let start = Instant::now();
    while client.send("GET", &page, &headers, None).await.status != 401 {
        // a session is validated each minute
        assert!(
            start.elapsed() < Duration::from_secs(75),
            "the session lives on"
        );
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
    keystone.delete_user(&user.id).await.unwrap();
}

#[tokio::test]
async fn flaw_18_no_cookie_gets_a_cluster_token_and_no_link_a_form() {
    let mut ada = GatewayClient::demo_user("ada").await;
    let csrf = ada.csrf().await;
    let own = ada.origin();
    let env = TestEnv::load().unwrap();
    let token = format!("/api/v1/clusters/{}/token", env.get("CLUSTER_ID").unwrap());
    let headers = [("origin", own.as_str()), ("x-csrf-token", csrf.as_str())];
    for method in ["GET", "POST", "PUT"] {
        let answer = ada.send(method, &token, &headers, None).await;
        assert!(
            matches!(answer.status, 401 | 405),
            "{method}: {}",
            answer.status
        );
        assert!(!answer.body.contains("portico_v1."), "{}", answer.body);
    }
    // pages on which a user hands out access are not framed, not stored, and decide by POST only
    for path in [
        "/oauth2/device",
        "/oauth2/sessions",
        "/oauth2/sign_out",
        "/oauth2/project",
    ] {
        let navigation = [("sec-fetch-mode", "navigate"), ("accept", "text/html")];
        let answer = ada.send("GET", path, &navigation, None).await;
        assert_eq!(answer.header("x-frame-options"), "DENY", "{path}");
        assert!(
            answer
                .header("content-security-policy")
                .contains("frame-ancestors 'none'"),
            "{path}"
        );
        assert!(
            answer.header("cache-control").contains("no-store"),
            "{path}"
        );
    }
    for path in ["/oauth2/device/decision", "/oauth2/token", "/oauth2/revoke"] {
        let answer = ada.send("GET", path, &headers, None).await;
        assert_eq!(answer.status, 405, "{path}");
    }
    let userinfo = ada.send("GET", "/oauth2/userinfo", &headers, None).await;
    assert_eq!(userinfo.status, 200, "the control case: the cookie is good");
}

#[tokio::test]
async fn flaw_26_another_tenants_project_and_a_missing_one_give_the_same_answer() {
    let site = Site::open().await;
    let env = TestEnv::load().unwrap();
    let acme = env.get("PROJECT_ID_ACME").unwrap().to_owned();
    let foreign = env.get("PROJECT_ID_GLOBEX").unwrap().to_owned();
    let missing = Uuid::new_v4().simple().to_string();
    let mut ada = GatewayClient::demo_user("ada").await;
    let csrf = ada.csrf().await;
    let own = ada.origin();
    for call in calls(&site.storefront()) {
        let mut answers = Vec::new();
        for project in [&foreign, &missing] {
            let headers = [
                ("accept", "application/json"),
                ("portico-project", project.as_str()),
                ("origin", own.as_str()),
                ("x-csrf-token", csrf.as_str()),
            ];
            let answer = ada
                .send("POST", call.path, &headers, Some(&call.body))
                .await;
            answers.push((answer.status, comparable(&answer, project)));
        }
        assert_eq!(answers[0], answers[1], "{}", call.path);
        assert!(!answers[0].1.contains("storefront"), "{}", call.path);
    }
    for path in [all_pages(&env), all_streams(&env)].concat() {
        let mut statuses = Vec::new();
        for project in [&foreign, &missing] {
            let path = path.replace(&acme, project);
            let headers = [("sec-fetch-mode", "navigate"), ("accept", "text/html")];
            let answer = ada.send("GET", &path, &headers, None).await;
            assert!(!answer.body.contains("globex-dev"), "{path}");
            statuses.push(answer.status);
        }
        assert_eq!(statuses[0], statuses[1], "{path}");
    }
    let launchpad = Call {
        path: "/api/launchpad/get",
        body: Body::Form(Vec::new()),
        changes: false,
        status: 200,
    };
    let headers = [("origin", own.as_str()), ("x-csrf-token", csrf.as_str())];
    let answer = ada.call(&launchpad, &headers).await;
    assert!(
        answer.body.contains("storefront") || answer.body.contains("acme-prod"),
        "the control case"
    );
}

/// A body without what differs from request to request.
fn comparable(answer: &Answer, project: &str) -> String {
    let Ok(mut body) = serde_json::from_str::<serde_json::Value>(&answer.body) else {
        return answer.body.replace(project, "PROJECT");
    };
    for changing in ["request_id", "now", "session_expires_at", "read_at"] {
        if let Some(value) = body.get_mut(changing) {
            *value = serde_json::Value::Null;
        }
    }
    body.to_string().replace(project, "PROJECT")
}
