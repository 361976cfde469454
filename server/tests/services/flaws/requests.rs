//! 1, 3, 5, 11, 18: who may send the panel a request, and what one gets that cannot be read.
use super::{
    calls::{Body, Call, calls},
    site::{Site, foreign_origins},
};
use crate::stack::{CSRF, PUBLIC_URL};
use axum::http::{HeaderMap, HeaderValue};

#[tokio::test]
async fn flaw_01_without_a_session_no_page_function_or_stream_answers() {
    let site = Site::open().await;
    let target = site.storefront();
    let anonymous = HeaderMap::new();
    let mut forged = HeaderMap::new();
    forged.insert("portico-assertion", HeaderValue::from_static("e30.e30.e30"));
    forged.insert("portico-token", HeaderValue::from_static("e30"));
    for stranger in [&anonymous, &forged] {
        for path in site.pages(&target.cluster, "shop", "pods", "any") {
            assert_eq!(site.get(stranger, &path).await.status, 401, "{path}");
        }
        for call in calls(&target) {
            let answer = site.call(stranger, &call).await;
            assert_eq!(answer.status, 401, "{}", call.path);
        }
        for path in site.streams(site.acme(), &target.cluster) {
            let status = site.upgrade(stranger, &path, &[PUBLIC_URL]).await;
            assert_eq!(status, 401, "{path}");
        }
    }
    // a user without a token for the project gets nothing of a cluster in the server's own name
    let mut tokenless = site.user("ada").await;
    tokenless.remove("portico-token");
    for call in calls(&target) {
        let answer = site.call(&tokenless, &call).await;
        // who the viewer is to the cluster is computed from the assertion
        let asks =
            !call.path.starts_with("/api/authentication/") && call.path != "/api/clusters/states";
        if asks && format!("{:?}", call.body).contains(&target.cluster) {
            assert!(answer.status >= 400, "{}: {}", call.path, answer.body);
        }
    }
    let ada = site.user("ada").await;
    for call in calls(&target).iter().filter(|call| !call.changes) {
        let answer = site.call(&ada, call).await;
        assert_eq!(
            answer.status, call.status,
            "the control case, {}: {}",
            call.path, answer.body
        );
    }
}

/// So that the refusals of the other tests are not those of requests that cannot be read.
#[tokio::test]
async fn every_server_function_understands_its_request() {
    let site = Site::open().await;
    let hidden = site.hidden_deployment().await;
    let ada = site.user("ada").await;
    for call in calls(&hidden.target) {
        let answer = site.call(&ada, &call).await;
        assert!(
            !answer.body.contains("was not understood") && !answer.body.contains("does not know"),
            "{}: {} {}",
            call.path,
            answer.status,
            answer.body
        );
    }
    hidden.done().await;
}

#[tokio::test]
async fn flaw_01_every_function_needs_the_sessions_csrf_token() {
    let site = Site::open().await;
    let hidden = site.hidden_deployment().await;
    let ada = site.user("ada").await;
    for call in calls(&hidden.target) {
        let mut wrong: Vec<(Call, Vec<(&str, &str)>)> = vec![
            (call.clone(), vec![]),
            (call.clone(), vec![("x-csrf-token", "")]),
            (call.clone(), vec![("x-csrf-token", "guess")]),
            (call.clone(), vec![("x-csrf-token", &CSRF[1..])]),
            (
                call.clone(),
                vec![("cookie", "csrf_token=csrf-of-this-session")],
            ),
        ];
        if let Body::Form(fields) = &call.body {
            let mut fields = fields.clone();
            fields.push(("csrf_token".to_owned(), "guess".to_owned()));
            let body = Body::Form(fields);
            wrong.push((
                Call {
                    body,
                    ..call.clone()
                },
                vec![],
            ));
        }
        for (call, headers) in wrong {
            let answer = site.call_with(&ada, &call, &headers).await;
            assert_eq!(answer.status, 403, "{} with {headers:?}", call.path);
        }
        let in_query = format!("{}?csrf_token={CSRF}", call.path);
        let mut user = ada.clone();
        user.insert("content-type", HeaderValue::from_static("text/plain"));
        let answer = site.get(&user, &in_query).await;
        assert_ne!(answer.status, 200, "{in_query}");
    }
    assert!(hidden.is_untouched().await);
    let control = calls(&hidden.target)
        .into_iter()
        .find(|call| call.path == "/api/objects/restart");
    let answer = site.call(&ada, &control.unwrap()).await;
    assert_eq!(answer.status, 200, "the control case: {}", answer.body);
    assert!(!hidden.is_untouched().await);
    hidden.done().await;
}

#[tokio::test]
async fn flaw_03_no_foreign_origin_opens_a_list_a_log_or_a_terminal() {
    let site = Site::open().await;
    let cluster = site.stack.acme().to_string();
    let [tab, exec, _] = site.streams(site.acme(), &cluster);
    let ada = site.user("ada").await;
    for path in [tab, exec] {
        for origins in foreign_origins() {
            let origins: Vec<&str> = origins.iter().map(String::as_str).collect();
            let status = site.upgrade(&ada, &path, &origins).await;
            assert_eq!(status, 403, "{path} from {origins:?}");
        }
        let status = site.upgrade(&ada, &path, &[PUBLIC_URL]).await;
        assert_eq!(status, 101, "the control case: {path}");
    }
}

#[tokio::test]
async fn flaw_05_a_terminals_handshake_is_of_use_to_no_other_user_and_project() {
    let site = Site::open().await;
    let cluster = site.stack.acme().to_string();
    let [_, exec, _] = site.streams(site.acme(), &cluster);
    let devi = site.user("devi").await;
    let vera = site.user("vera").await;
    let upgrade =
        async |user: &HeaderMap, path: &str| site.upgrade(user, path, &[PUBLIC_URL]).await;
    // another session's token under one's own name, and one's own token under another's
    for (assertion, token) in [(&devi, &vera), (&vera, &devi)] {
        let mut mixed = assertion.clone();
        mixed.insert("portico-token", token["portico-token"].clone());
        assert_eq!(upgrade(&mixed, &exec).await, 401);
    }
    let mut doubled = devi.clone();
    doubled.insert(
        "portico-assertion",
        HeaderValue::from_str(&format!("{}x", devi["portico-assertion"].to_str().unwrap()))
            .unwrap(),
    );
    assert_eq!(upgrade(&doubled, &exec).await, 401);
    // the same handshake at another project's address
    for project in [site.stack.var("PROJECT_ID_GLOBEX"), "unknown"] {
        let [tab, exec, _] = site.streams(project, &cluster);
        assert_eq!(upgrade(&devi, &exec).await, 403, "{project}");
        assert_eq!(upgrade(&devi, &tab).await, 403, "{project}");
    }
    // written down and sent again after the minute for which it is valid
    let old = site.stack.headers_of_age("devi", 120).await;
    assert_eq!(upgrade(&old, &exec).await, 401);
    assert_eq!(upgrade(&devi, &exec).await, 101, "the control case");
}

#[tokio::test]
async fn flaw_11_what_cannot_be_read_is_answered_in_json_and_never_in_html() {
    let site = Site::open().await;
    let ada = site.user("ada").await;
    let payload = "<script>alert(1)</script>";
    for call in calls(&site.storefront()) {
        for (kind, body) in [
            ("application/json", payload.to_owned()),
            ("application/json", "{".to_owned()),
            ("application/json", format!("{{\"cluster\":\"{payload}\"}}")),
            ("application/json", "[".repeat(10_000)),
            (
                "application/x-www-form-urlencoded",
                format!("cluster={payload}&object[name]={payload}"),
            ),
            ("application/x-www-form-urlencoded", "object[".repeat(500)),
            ("multipart/form-data; boundary=x", payload.to_owned()),
        ] {
            let answer = site.raw(&ada, call.path, kind, body).await;
            let context = format!("{} {kind}: {} {}", call.path, answer.status, answer.body);
            // a function without arguments reads nothing, and answers as always
            assert!(
                answer.status < 500 || answer.status == call.status,
                "{context}"
            );
            assert_eq!(
                answer.header("x-content-type-options"),
                "nosniff",
                "{context}"
            );
            assert!(!answer.header("content-type").contains("html"), "{context}");
        }
    }
    let segment = "%3Cscript%3Ealert(1)%3C%2Fscript%3E";
    let acme = site.acme();
    for path in [
        format!("/api/{segment}"),
        format!("/api/objects/{segment}"),
        format!("/projects/{acme}/clusters/{segment}/kubeconfig"),
        format!(
            "/projects/{segment}/clusters/{}/kubeconfig",
            site.stack.acme()
        ),
        format!("/projects/{segment}/stream"),
        format!("/projects/{acme}/downloads/{segment}"),
        format!(
            "/projects/{acme}/clusters/{}/namespaces/{segment}/pods/{segment}/exec",
            site.stack.acme()
        ),
        format!("/projects/{acme}/clusters/{segment}"),
        format!(
            "/projects/{acme}/clusters/{}/resources/{segment}/{segment}/{segment}",
            site.stack.acme()
        ),
        format!("/{segment}"),
        format!("/pkg/{segment}"),
    ] {
        for answer in [
            site.get(&ada, &path).await,
            site.raw(&ada, &path, "application/json", "{}".to_owned())
                .await,
        ] {
            assert!(
                !answer.header("content-type").contains("html")
                    || !answer.body.contains("<script>alert"),
                "{path}: {}",
                answer.body
            );
            assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        }
    }
    let control = site.get(&ada, &format!("/projects/{acme}?x=1")).await;
    assert!(
        control.header("content-type").contains("html"),
        "the control case"
    );
}

#[tokio::test]
async fn flaw_18_the_kubeconfig_holds_no_credential_and_is_neither_framed_nor_stored() {
    let site = Site::open().await;
    let cluster = site.stack.acme().to_string();
    let [_, _, path] = site.streams(site.acme(), &cluster);
    let answer = site.get(&site.user("vera").await, &path).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.header("cache-control"), "no-store");
    assert_eq!(answer.header("x-frame-options"), "DENY");
    assert!(
        answer
            .header("content-security-policy")
            .contains("frame-ancestors 'none'")
    );
    assert!(
        answer
            .header("content-disposition")
            .starts_with("attachment")
    );
    assert!(!answer.header("content-type").contains("html"));
    for secret in [
        "token:",
        "password",
        "client-key",
        "client-certificate",
        "portico_v1.",
        "gAAAA",
        "PRIVATE KEY",
    ] {
        assert!(!answer.body.contains(secret), "{secret} in {}", answer.body);
    }
    assert!(
        answer.body.contains("exec:"),
        "the control case: {}",
        answer.body
    );
    assert!(
        answer.body.contains("certificate-authority-data"),
        "{}",
        answer.body
    );
}
