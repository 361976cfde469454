//! The panel's HTTP side.
use crate::stack::{CSRF, PUBLIC_URL, Stack};
use portico_assertion::audit_report::{self, AuditReport, ReportedOutcome};
use portico_domain::panel::{ObjectRef, ResourceRef};

fn client() -> reqwest::Client {
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap()
}

#[tokio::test]
async fn without_an_assertion_there_is_nothing() {
    let stack = Stack::open();
    let address = stack.serve().await;
    for path in [
        "/",
        "/projects/x",
        "/api/session/get",
        "/pkg/app.js",
        "/projects/x/stream",
    ] {
        let answer = client()
            .get(format!("http://{address}{path}"))
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status(), 401, "{path}");
        assert_eq!(answer.headers()["x-content-type-options"], "nosniff");
    }
}

#[tokio::test]
async fn the_first_page_leads_to_the_project_and_pages_have_a_policy() {
    let stack = Stack::open();
    let address = stack.serve().await;
    let acme = stack.var("PROJECT_ID_ACME").to_owned();
    let headers = stack.headers("vera", &acme).await;
    let get = |path: String| {
        client()
            .get(format!("http://{address}{path}"))
            .headers(headers.clone())
            .send()
    };
    let first = get("/".to_owned()).await.unwrap();
    assert_eq!(
        first.headers()["location"],
        format!("/projects/{acme}").as_str()
    );
    let page = get(format!("/projects/{acme}")).await.unwrap();
    assert_eq!(page.status(), 200);
    assert_eq!(page.headers()["cache-control"], "no-store");
    let policy = page.headers()["content-security-policy"].to_str().unwrap();
    assert!(
        policy.contains("'nonce-") && !policy.contains("unsafe-inline"),
        "{policy}"
    );
    assert_eq!(get("/nowhere".to_owned()).await.unwrap().status(), 404);
}

#[tokio::test]
async fn a_change_needs_the_sessions_secret() {
    let stack = Stack::open();
    let address = stack.serve().await;
    let headers = stack.headers("vera", stack.var("PROJECT_ID_ACME")).await;
    let post = || {
        client()
            .post(format!("http://{address}/api/nothing/here"))
            .headers(headers.clone())
    };
    assert_eq!(post().send().await.unwrap().status(), 403);
    let wrong = post().header("x-csrf-token", "wrong").send().await.unwrap();
    assert_eq!(wrong.status(), 403);
    let right = post().header("x-csrf-token", CSRF).send().await.unwrap();
    assert_eq!(right.status(), 404);
    let form = post().form(&[("csrf_token", CSRF)]).send().await.unwrap();
    assert_eq!(form.status(), 404);
    let large = post()
        .form(&[("a", "x".repeat(70_000).as_str())])
        .send()
        .await
        .unwrap();
    assert_eq!(large.status(), 413);
}

#[tokio::test]
async fn finding_o5_what_was_done_is_reported_to_the_gateway() {
    let stack = Stack::open();
    let address = stack.serve().await;
    let read = async |user: &str, resource: &str, namespace: Option<&str>, name: &str| {
        let object = ObjectRef {
            resource: ResourceRef::core(resource),
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
        };
        let headers = stack.headers(user, stack.var("PROJECT_ID_ACME")).await;
        let answer = client()
            .post(format!("http://{address}/api/objects/yaml"))
            .headers(headers)
            .header("x-csrf-token", CSRF)
            .json(&serde_json::json!({ "cluster": stack.acme(), "object": object }))
            .send()
            .await
            .unwrap();
        let value = answer.headers().get(audit_report::HEADER);
        audit_report::decode(value.expect("a report").as_bytes()).unwrap()
    };
    let expected = |object: &str, outcome| {
        [AuditReport {
            action: "yaml".to_owned(),
            cluster: stack.acme(),
            object: object.to_owned(),
            outcome,
            candidate: None,
            journal: None,
        }]
    };
    let reports = read("ada", "namespaces", None, "shop").await;
    let succeeded = ReportedOutcome::Succeeded;
    assert_eq!(reports, expected("namespaces/shop", succeeded));
    let reports = read("vera", "secrets", Some("shop"), "any").await;
    let denied = ReportedOutcome::Denied;
    assert_eq!(reports, expected("shop/secrets/any", denied));
}

#[tokio::test]
async fn finding_p14_an_apps_old_address_leads_to_it() {
    let stack = Stack::open();
    let address = stack.serve().await;
    let acme = stack.var("PROJECT_ID_ACME").to_owned();
    let location = async |headers: &axum::http::HeaderMap, path: &str| {
        let answer = client()
            .get(format!("http://{address}{path}"))
            .headers(headers.clone())
            .send()
            .await
            .unwrap();
        let to = answer.headers().get("location");
        to.map(|to| to.to_str().unwrap().to_owned())
    };
    let vera = stack.headers("vera", &acme).await;
    let prometheus = Some("http://prometheus.apps.localhost:8080/".to_owned());
    for path in [
        "/apps/prometheus".to_owned(),
        format!("/projects/{acme}/apps/prometheus"),
        format!(
            "/projects/{}/apps/prometheus",
            stack.var("PROJECT_ID_GLOBEX")
        ),
    ] {
        assert_eq!(location(&vera, &path).await, prometheus, "{path}");
    }
    // one with a page of the panel's leads there, and stays there
    let registry = format!("/projects/{acme}/apps/registry");
    assert_eq!(
        location(&vera, "/apps/registry").await,
        Some(registry.clone())
    );
    assert_eq!(location(&vera, &registry).await, None);
    assert_eq!(location(&vera, "/apps/nothing").await, None);
    // an app of a project that is not theirs is none
    let globex = stack.var("PROJECT_ID_GLOBEX").to_owned();
    let otto = stack.headers("otto", &globex).await;
    assert_eq!(location(&otto, "/apps/prometheus").await, None);
}

#[tokio::test]
async fn finding_s8_a_form_leads_back_to_the_panel_with_a_kind_of_error() {
    let stack = Stack::open();
    let address = stack.serve().await;
    let acme = stack.var("PROJECT_ID_ACME").to_owned();
    let headers = stack.headers("vera", &acme).await;
    // vera may not scale
    let scale = async |referer: &str| {
        let cluster = stack.acme().to_string();
        let answer = client()
            .post(format!("http://{address}/api/objects/scale?project={acme}"))
            .headers(headers.clone())
            .header("accept", "text/html")
            .header("referer", referer)
            .form(&[
                ("csrf_token", CSRF),
                ("cluster", &cluster),
                ("object[group]", "apps"),
                ("object[version]", "v1"),
                ("object[plural]", "deployments"),
                ("object[namespace]", "shop"),
                ("object[name]", "storefront"),
                ("replicas", "1"),
            ])
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status(), 302);
        answer.headers()["location"].to_str().unwrap().to_owned()
    };
    let page = format!("/projects/{acme}/clusters/{}", stack.acme());
    assert_eq!(
        scale(&format!("{PUBLIC_URL}{page}?confirm=scale")).await,
        format!("{page}?confirm=scale&error=not-permitted")
    );
    assert_eq!(
        scale("https://evil.example/projects/x").await,
        format!("/projects/{acme}?error=not-permitted")
    );
}
