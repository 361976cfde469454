//! 15 to 22: identity headers that a client sends, and those that an app receives instead.
use http::{Method, StatusCode};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use crate::{
    api_server,
    support::{
        browser::{Browser, Page},
        received_identity::{claims, header},
        stack::{APP, APP_HOST, MAIN, Stack, Wanted},
        wire,
    },
};

/// As Grafana's auth proxy wants it, with a name of its own that no fixed list knows.
fn auth_proxy() -> Value {
    json!({ "kind": "headers", "headers": {
        "X-WEBAUTH-USER": "user",
        "X-Forwarded-User": "user",
        "Grafana-Role": "roles",
        "X-App-Email": "email",
    }})
}

async fn telling(identity: Value) -> Stack {
    Stack::start(Wanted {
        app: json!({ "identity": identity }),
        ..Wanted::default()
    })
    .await
}

async fn at_app(stack: &Stack) -> Browser {
    let (_, session) = stack.session(&["k8s_admin"]).await;
    stack.at_app(&session).await.0
}

async fn with(browser: &mut Browser, method: Method, headers: &[(&str, &str)]) -> Page {
    let url = format!("{APP}/d/1");
    browser.send(method, &url, headers, String::new()).await
}

/// A request line and headers as they are, with the browser's cookie.
fn request(browser: &Browser, lines: &str) -> Vec<u8> {
    let cookie = browser.cookie_line(APP_HOST);
    format!("GET /d/1 HTTP/1.1\r\nHost: {APP_HOST}:8080\r\nCookie: {cookie}\r\n{lines}")
        .into_bytes()
}

#[tokio::test]
async fn attack_15_no_spelling_of_an_identity_header_passes() {
    let stack = telling(auth_proxy()).await;
    let mut browser = at_app(&stack).await;
    for name in [
        "x-webauth-user",
        "x-forwarded-user",
        "grafana-role",
        "x-app-email",
    ] {
        // every mixture of hyphens, underscores and dots
        let parts: Vec<&str> = name.split('-').collect();
        for first in ["-", "_", "."] {
            for second in ["-", "_", "."] {
                let spelled = match parts.as_slice() {
                    [a, b, c] => format!("{a}{first}{b}{second}{c}"),
                    [a, b] => format!("{a}{first}{b}"),
                    other => panic!("{other:?}"),
                };
                let upper = spelled.to_ascii_uppercase();
                let headers = [
                    (spelled.as_str(), "mallory@forged"),
                    (upper.as_str(), "mallory@forged"),
                ];
                let page = with(&mut browser, Method::GET, &headers).await;
                assert_eq!(page.status, StatusCode::OK);
                assert!(!page.body.contains("forged"), "{spelled}: {}", page.body);
                let echo = page.json();
                assert_eq!(
                    header(&echo, "x-webauth-user"),
                    ["ada@Default"],
                    "{spelled}"
                );
                assert_eq!(
                    header(&echo, "x-forwarded-user"),
                    ["ada@Default"],
                    "{spelled}"
                );
                assert_eq!(header(&echo, "grafana-role"), ["k8s_admin"], "{spelled}");
            }
        }
    }
    let page = with(&mut browser, Method::GET, &[("x-theme", "dark")]).await;
    assert_eq!(
        header(&page.json(), "x-theme"),
        ["dark"],
        "the control case"
    );
}

#[tokio::test]
async fn attack_16_no_clients_headers_arrive_and_an_empty_claim_is_not_a_gap() {
    let stack = telling(auth_proxy()).await;
    let forged = [
        ("x-webauth-user", "admin@forged"),
        ("x-app-email", "admin@forged"),
        ("grafana-role", "Admin-forged"),
        ("portico-assertion", "forged"),
    ];
    let mut anonymous = Browser::new(stack.address);
    for method in [Method::GET, Method::OPTIONS, Method::HEAD] {
        let page = with(&mut anonymous, method.clone(), &forged).await;
        assert!(!page.status.is_success(), "{method}");
    }
    let mut preflight = forged.to_vec();
    preflight.extend([
        ("origin", "https://evil.example"),
        ("access-control-request-method", "POST"),
    ]);
    let page = with(&mut anonymous, Method::OPTIONS, &preflight).await;
    assert!(!page.body.contains("forged"));
    for own in ["/oauth2/auth", "/oauth2/userinfo", "/oauth2/sign_out"] {
        for base in [APP, MAIN] {
            let url = format!("{base}{own}");
            let page = anonymous
                .send(Method::GET, &url, &forged, String::new())
                .await;
            let all = format!("{:?} {}", page.headers, page.body);
            assert!(!all.contains("forged"), "{url}: {all}");
            assert!(
                !page.status.is_success() || own == "/oauth2/sign_out",
                "{url}"
            );
        }
    }
    assert_eq!(stack.app.asked(), 0, "a request reached the app");

    // this session has no e-mail address: the header stays away, the client's too
    let mut browser = at_app(&stack).await;
    for method in [Method::GET, Method::OPTIONS] {
        let page = with(&mut browser, method, &forged).await;
        assert!(!page.body.contains("forged"), "{}", page.body);
        let echo = page.json();
        assert!(header(&echo, "x-app-email").is_empty());
        assert_eq!(
            header(&echo, "x-webauth-user"),
            ["ada@Default"],
            "the control case"
        );
    }
}

#[tokio::test]
async fn attack_16_on_a_public_path_no_clients_headers_arrive() {
    let rules = json!([{
        "name": "help", "effect": "public", "paths": ["/help/"],
    }]);
    let stack = Stack::start(Wanted {
        app: json!({ "identity": auth_proxy(), "rules": rules }),
        ..Wanted::default()
    })
    .await;
    let url = format!("{APP}/help/1");
    let forged = [
        ("x-webauth-user", "admin@forged"),
        ("x-forwarded-user", "admin@forged"),
        ("grafana-role", "Admin-forged"),
        ("portico-assertion", "forged"),
        ("authorization", "Bearer forged"),
        ("x-theme", "dark"),
    ];
    let mut anonymous = Browser::new(stack.address);
    let mut ada = at_app(&stack).await;
    for (browser, user) in [(&mut anonymous, None), (&mut ada, Some("ada@Default"))] {
        for method in [Method::GET, Method::OPTIONS, Method::POST] {
            // a page of the app's own sends it
            let mut headers = forged.to_vec();
            headers.push(("origin", APP));
            let page = browser
                .send(method.clone(), &url, &headers, String::new())
                .await;
            assert_eq!(page.status, StatusCode::OK, "{method} {}", page.body);
            assert!(!page.body.contains("forged"), "{method}: {}", page.body);
            let echo = page.json();
            let named = header(&echo, "x-webauth-user");
            assert_eq!(named, Vec::from_iter(user), "{method}");
            assert_eq!(header(&echo, "x-theme"), ["dark"], "the control case");
        }
    }
}

#[tokio::test]
async fn a_user_whose_identity_cannot_be_passed_on_is_anonymous_on_a_public_path() {
    let password = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(password.path(), "hush").expect("written");
    let stack = Stack::start(Wanted {
        app: json!({
            // this session has no e-mail address
            "identity": { "kind": "basic", "user": "email", "password_file": password.path() },
            "rules": [{ "name": "help", "effect": "public", "paths": ["/help/"] }],
        }),
        ..Wanted::default()
    })
    .await;
    let mut browser = at_app(&stack).await;
    let page = browser.open(&format!("{APP}/help/1")).await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    assert!(header(&page.json(), "authorization").is_empty());
    let page = with(&mut browser, Method::GET, &[]).await;
    assert_eq!(
        page.status,
        StatusCode::FORBIDDEN,
        "the control case: {}",
        page.body
    );
}

#[tokio::test]
async fn attack_16_with_an_identity_of_none_a_client_still_sends_no_identity() {
    let stack = telling(json!({ "kind": "none" })).await;
    let mut browser = at_app(&stack).await;
    let forged = [
        ("remote-user", "forged"),
        ("x-remote-user", "forged"),
        ("x-forwarded-email", "forged"),
        ("x-auth-request-groups", "forged"),
        ("authorization", "Basic Zm9yZ2VkOmZvcmdlZA=="),
        ("proxy-authorization", "Basic Zm9yZ2VkOmZvcmdlZA=="),
    ];
    let page = with(&mut browser, Method::GET, &forged).await;
    assert_eq!(page.status, StatusCode::OK, "the control case");
    assert!(
        !page.body.contains("orged") && !page.body.contains("Zm9y"),
        "{}",
        page.body
    );
}

#[tokio::test]
async fn attack_17_a_connection_header_removes_no_identity_header() {
    let stack = telling(auth_proxy()).await;
    let browser = at_app(&stack).await;
    for connection in [
        "close, X-WEBAUTH-USER, Grafana-Role, X-Forwarded-User",
        "close,x-webauth-user\r\nConnection: grafana-role , x-forwarded-user",
        "close, Cookie, Host, X-Forwarded-For, Portico-Assertion",
    ] {
        let lines = format!("Connection: {connection}\r\nX-Secret: 1\r\n\r\n");
        let echo = wire::json(&wire::exchange(stack.address, &request(&browser, &lines)).await);
        assert_eq!(
            header(&echo, "x-webauth-user"),
            ["ada@Default"],
            "{connection}"
        );
        assert_eq!(header(&echo, "grafana-role"), ["k8s_admin"], "{connection}");
        assert_eq!(
            header(&echo, "x-forwarded-for"),
            ["127.0.0.1"],
            "{connection}"
        );
        assert_eq!(header(&echo, "x-secret"), ["1"], "the control case");
    }
    let lines = "Connection: close, X-Secret\r\nX-Secret: 1\r\n\r\n";
    let echo = wire::json(&wire::exchange(stack.address, &request(&browser, lines)).await);
    assert!(header(&echo, "x-secret").is_empty(), "it was for this hop");
}

#[tokio::test]
async fn attack_18_of_two_lines_none_is_the_clients() {
    let stack = telling(auth_proxy()).await;
    let mut browser = at_app(&stack).await;
    let twice = [
        ("x-webauth-user", "admin"),
        ("x-webauth-user", "ada@Default, admin"),
        ("grafana-role", "Admin"),
        ("authorization", "Bearer one"),
        ("authorization", "Bearer two"),
    ];
    let echo = with(&mut browser, Method::GET, &twice).await.json();
    assert_eq!(header(&echo, "x-webauth-user"), ["ada@Default"]);
    assert_eq!(header(&echo, "grafana-role"), ["k8s_admin"]);
    assert!(header(&echo, "authorization").is_empty());

    // where bearers count, two of them belong to no user
    let stack = Stack::start(Wanted {
        bearer: &["keystone"],
        ..Wanted::default()
    })
    .await;
    let mut browser = at_app(&stack).await;
    for headers in [
        &[
            ("authorization", "Bearer one"),
            ("authorization", "Bearer two"),
        ][..],
        &[("authorization", "Bearer one"), ("x-auth-token", "one")],
        &[("authorization", "Bearer one, Bearer two")],
    ] {
        let page = with(&mut browser, Method::GET, headers).await;
        assert_eq!(page.status, StatusCode::BAD_REQUEST, "{headers:?}");
    }
    assert_eq!(stack.app.asked(), 0);
    let page = with(&mut browser, Method::GET, &[]).await;
    assert_eq!(page.status, StatusCode::OK, "the control case");
}

#[tokio::test]
async fn attack_19_a_name_never_begins_a_line_of_its_own() {
    let stack = telling(auth_proxy()).await;
    for (name, expected) in [
        ("ada\r\nX-Forged: 1", "ada%0D%0AX-Forged: 1@Default"),
        ("ada\rX-Forged: 1", "ada%0DX-Forged: 1@Default"),
        ("ada\n\n", "ada%0A%0A@Default"),
        ("Ädä", "%C3%84d%C3%A4@Default"),
        ("ada@evil", "ada%40evil@Default"),
        ("ada%40evil", "ada%2540evil@Default"),
        ("ada ", "ada%20@Default"),
    ] {
        let (_, session) = stack.session_of("u2", name, &["k8s_admin"]).await;
        let (mut browser, _) = stack.at_app(&session).await;
        let echo = with(&mut browser, Method::GET, &[]).await.json();
        assert_eq!(header(&echo, "x-webauth-user"), [expected], "{name:?}");
        assert!(header(&echo, "x-forged").is_empty(), "{name:?}");
    }
    let stack = telling(json!({ "kind": "jwt" })).await;
    let (_, session) = stack.session_of("u2", "ä\r\n\"}", &["k8s_admin"]).await;
    let (mut browser, _) = stack.at_app(&session).await;
    let echo = with(&mut browser, Method::GET, &[]).await.json();
    let claims = claims(header(&echo, "x-jwt-assertion")[0]);
    assert_eq!(
        claims["name"], "ä\r\n\"}",
        "the control case: a token holds any name"
    );
}

#[tokio::test]
async fn attack_20_a_group_with_a_comma_is_not_two_groups() {
    let provider = json!({ "providers": [{
        "id": "corp", "name": "Corp", "kind": "oidc", "issuer": "https://id.invalid",
        "client_id": "portico",
    }]});
    let stack_with = |groups: Value| {
        let provider = provider.clone();
        async move {
            let identity = json!({ "kind": "headers", "headers": { "X-Groups": groups } });
            Stack::start(Wanted {
                app: json!({ "identity": identity }),
                groups: &[("staff", "corp")],
                gateway: provider,
                ..Wanted::default()
            })
            .await
        }
    };
    let commas = stack_with(json!("groups")).await;
    let session = commas.session_of_provider("bob", &["a,ops", "staff"]).await;
    let (mut browser, _) = commas.at_app(&session).await;
    let page = with(&mut browser, Method::GET, &[("accept", "application/json")]).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
    assert_eq!(page.json()["error"], "identity_refused");
    assert!(page.body.contains("a,ops"), "{}", page.body);
    assert_eq!(commas.app.asked(), 0);
    let session = commas.session_of_provider("bob", &["dev", "staff"]).await;
    let (mut browser, _) = commas.at_app(&session).await;
    let echo = with(&mut browser, Method::GET, &[]).await.json();
    assert_eq!(header(&echo, "x-groups"), ["dev,staff"], "the control case");

    let lines = stack_with(json!({ "value": "groups", "lines": true })).await;
    let session = lines.session_of_provider("bob", &["a,ops", "staff"]).await;
    let (mut browser, _) = lines.at_app(&session).await;
    let echo = with(&mut browser, Method::GET, &[]).await.json();
    assert_eq!(header(&echo, "x-groups"), ["a%2Cops", "staff"]);
}

#[tokio::test]
async fn attack_21_no_user_impersonates_at_a_cluster() {
    let stack = telling(json!({ "kind": "cluster", "cluster": "acme-prod" })).await;
    let (_, session) = stack.session(&["k8s_admin"]).await;
    let (mut browser, child) = stack.at_app(&session).await;
    stack.own_token(&child, "keystone-token").await;
    let forged = [
        ("impersonate-user", "forged"),
        ("Impersonate-Group", "forged:masters"),
        ("impersonate-uid", "forged"),
        ("impersonate-extra-scopes", "forged"),
        ("impersonate-extra-%2f", "forged"),
        ("impersonate_user", "forged"),
        ("Impersonate.User", "forged"),
        ("x-remote-user", "forged"),
        ("x-remote-group", "forged:masters"),
        ("x-remote-extra-scopes", "forged"),
        ("authorization", "Bearer forged"),
        (
            "sec-websocket-protocol",
            "v4.channel.k8s.io, base64url.bearer.authorization.k8s.io.forged",
        ),
    ];
    let page = with(&mut browser, Method::GET, &forged).await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(!page.body.contains("forged"), "{}", page.body);
    let echo = page.json();
    let bearer = header(&echo, "authorization");
    assert_eq!(bearer.len(), 1);
    assert!(
        bearer[0].starts_with("Bearer portico_v1."),
        "the control case"
    );
    assert_eq!(
        header(&echo, "sec-websocket-protocol"),
        ["v4.channel.k8s.io"]
    );

    // in trailers, announced or not
    for announced in ["Trailer: Impersonate-User, X-Any\r\nTE: trailers\r\n", ""] {
        let lines = format!(
            "Origin: {APP}\r\n{announced}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n\
             2\r\nhi\r\n0\r\nImpersonate-User: forged\r\nX-Any: forged\r\n\r\n"
        );
        let post = request(&browser, &lines);
        let post = [b"POST", &post[3..]].concat();
        let answer = wire::exchange(stack.address, &post).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(!answer.contains("forged"), "{answer}");
        let echo = wire::json(&answer);
        assert_eq!(echo["body"], "hi", "the control case");
        assert_eq!(echo["trailers"], json!([]));
    }
}

#[tokio::test]
async fn attack_21_a_real_api_server_sees_the_signed_in_user_and_no_other() {
    let running = api_server::in_front_of_the_api_server().await;
    let mut browser = api_server::signed_in(&running, "vera").await;
    for forged in [
        &[("impersonate-user", "system:admin")][..],
        &[
            ("impersonate-user", "ada@Default"),
            ("impersonate-group", "system:masters"),
        ],
        &[
            ("Impersonate_User", "system:admin"),
            ("impersonate.group", "system:masters"),
        ],
        &[
            ("impersonate-uid", "1"),
            ("impersonate-extra-scopes", "all"),
        ],
        &[
            ("x-remote-user", "system:admin"),
            ("x-remote-group", "system:masters"),
        ],
        &[("authorization", "Bearer forged")],
        &[("connection", "authorization")],
        &[],
    ] {
        let user = api_server::taken_for(&mut browser, forged).await;
        assert_eq!(user, "vera@Default", "{forged:?}");
    }
}

#[tokio::test]
async fn attack_22_no_openstack_header_of_a_clients_arrives() {
    let dir = tempfile::tempdir().expect("directory");
    let file = dir.path().join("token");
    std::fs::write(&file, "ours").expect("written");
    let owner = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&file, owner).expect("permissions");
    for identity in [
        json!({ "kind": "bearer", "token_file": file }),
        json!({}),
        json!({ "kind": "none" }),
    ] {
        let stack = telling(identity.clone()).await;
        let mut browser = at_app(&stack).await;
        let forged = [
            ("x-auth-token", "forged"),
            ("x-subject-token", "forged"),
            ("x-service-token", "forged"),
            ("x-identity-status", "forged"),
            ("x-service-identity-status", "forged"),
            ("x-roles", "forged"),
            ("x-role", "forged"),
            ("x-user-id", "forged"),
            ("x-user", "forged"),
            ("x-project-id", "forged"),
            ("x-project-domain-name", "forged"),
            ("x-domain-id", "forged"),
            ("x-tenant-name", "forged"),
            ("x-trust-id", "forged"),
            ("x-is-admin-project", "forged"),
            ("x-system-scope", "forged"),
            ("openstack-system-scope", "forged"),
            ("x-auth-key", "forged"),
            ("x-storage-token", "forged"),
            ("x_auth_token", "forged"),
        ];
        let page = with(&mut browser, Method::GET, &forged).await;
        assert_eq!(page.status, StatusCode::OK, "the control case");
        assert!(!page.body.contains("forged"), "{identity}: {}", page.body);
    }
}

#[tokio::test]
async fn attack_24_our_cookies_stay_with_us_in_both_directions() {
    let stack = telling(auth_proxy()).await;
    let (_, session) = stack.session(&["k8s_admin"]).await;
    let (mut browser, _) = stack.at_app(&session).await;
    let own = browser
        .cookie(APP_HOST, "portico")
        .expect("cookie")
        .to_owned();
    let line = format!(
        "theme=dark; portico={own}; __Host-portico=mine; PORTICO-flow=mine; portico-sign-in-AA=mine; \
         lang=en;portico-handover=mine"
    );
    let page = with(&mut browser, Method::GET, &[("cookie", &line)]).await;
    assert_eq!(page.status, StatusCode::OK);
    assert_eq!(
        header(&page.json(), "cookie"),
        ["theme=dark; lang=en"],
        "the control case"
    );
    assert!(!page.body.contains(&own) && !page.body.contains("mine"));

    let hostile = [
        "portico=stolen; Path=/",
        "__Host-portico=stolen; Path=/; Secure",
        "__HOST-Portico=stolen; Path=/; Secure",
        "__Secure-portico=stolen; Secure; Domain=localhost",
        "portico=stolen; Path=/d; Domain=apps.localhost",
        "portico-handover=stolen",
        "=portico=stolen",
        "\tportico =stolen",
    ];
    let mut url = url::Url::parse(&format!("{APP}/set-cookies")).expect("url");
    for line in hostile
        .iter()
        .chain(&["theme=light; Domain=localhost; Path=/"])
    {
        url.query_pairs_mut().append_pair("line", line);
    }
    let page = browser.call(Method::GET, url.as_str(), "").await;
    let set: Vec<_> = page.headers.get_all("set-cookie").iter().collect();
    assert_eq!(set, ["theme=light; Path=/"], "the control case");
    assert_eq!(browser.cookie(APP_HOST, "portico"), Some(own.as_str()));
    let page = browser.call(Method::GET, &format!("{APP}/d/1"), "").await;
    assert_eq!(page.status, StatusCode::OK);
}

#[tokio::test]
async fn attack_24_another_sites_cookie_gives_no_identity() {
    let stack = telling(auth_proxy()).await;
    let (root, session) = stack.session(&["k8s_admin"]).await;
    let (browser, _) = stack.at_app(&session).await;
    let child = browser.cookie(APP_HOST, "portico").expect("cookie");
    for (cookie, status) in [
        (
            format!("portico={}", root.expose_secret()),
            StatusCode::UNAUTHORIZED,
        ),
        (
            format!("portico={child}; portico={child}"),
            StatusCode::UNAUTHORIZED,
        ),
        (format!("__Host-portico={child}"), StatusCode::UNAUTHORIZED),
        (format!("portico={child}"), StatusCode::OK),
    ] {
        let mut other = Browser::new(stack.address);
        let headers = [("cookie", cookie.as_str()), ("sec-fetch-mode", "cors")];
        let page = with(&mut other, Method::GET, &headers).await;
        assert_eq!(page.status, status, "{cookie}");
    }
}
