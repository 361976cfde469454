//! Apps on hosts of their own: the hand-over, its refusals, and what an app may not do.
use http::{Method, StatusCode};
use secrecy::ExposeSecret as _;

use crate::support::{
    browser::{Browser, Page},
    stack::{APP, APP_HOST, MAIN, MAIN_HOST, Stack, Wanted},
};

/// Up to the form on the main host.
async fn offered(browser: &mut Browser, path: &str) -> Page {
    let page = browser.open(&format!("{APP}{path}")).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER);
    let there = page.location();
    assert!(
        there
            .as_str()
            .starts_with(&format!("{MAIN}/oauth2/handover?"))
    );
    browser.open(there.as_str()).await
}

async fn accept(browser: &mut Browser, origin: &str, code: &str) -> Page {
    browser
        .submit(origin, &format!("{APP}/oauth2/handover"), &[("code", code)])
        .await
}

#[tokio::test]
async fn an_app_opens_without_signing_in_again() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, session) = stack.signed_in(&["k8s_developer"]).await;
    let form = offered(&mut browser, "/graph?g0.expr=up").await;
    assert_eq!(form.status, StatusCode::OK);
    let policy = form.headers["content-security-policy"]
        .to_str()
        .expect("text");
    assert!(
        policy.contains(&format!("form-action 'self' {APP}")),
        "{policy}"
    );
    assert!(policy.contains("script-src 'self'") && !policy.contains("unsafe"));
    let nonce = browser.cookie(APP_HOST, "portico-handover").expect("nonce");
    assert!(
        !form.url.as_str().contains(nonce),
        "the nonce is in the URL"
    );

    let page = accept(&mut browser, MAIN, &form.field("code")).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER);
    assert_eq!(page.location().as_str(), format!("{APP}/graph?g0.expr=up"));
    assert!(browser.cookie(APP_HOST, "portico-handover").is_none());
    let child = browser
        .cookie(APP_HOST, "portico")
        .expect("child")
        .to_owned();
    assert_ne!(Some(child.as_str()), browser.cookie(MAIN_HOST, "portico"));

    let page = browser.open(page.location().as_str()).await;
    assert_eq!(page.json()["target"], "/graph?g0.expr=up");
    assert!(page.body.contains("portico-assertion"));
    assert!(
        !page.body.contains("portico-token"),
        "an app got the Keystone token"
    );
    assert!(!page.body.contains(&child), "an app got our cookie");
    let policies: Vec<_> = page
        .headers
        .get_all("content-security-policy")
        .iter()
        .collect();
    assert_eq!(policies, ["frame-ancestors 'none'"]);

    let csrf = session.csrf.expose_secret();
    let page = browser
        .submit(
            MAIN,
            &format!("{MAIN}/oauth2/sign_out"),
            &[("csrf_token", csrf)],
        )
        .await;
    assert!(page.body.contains("1 app"), "{}", page.body);
    let answer = browser.call(Method::GET, &format!("{APP}/graph"), "").await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_code_is_good_once_from_the_main_host_and_for_its_browser() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    let code = offered(&mut browser, "/").await.field("code");
    let page = accept(&mut browser, "https://evil.example", &code).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);

    let mut other = Browser::new(stack.address);
    other.open(APP).await;
    let page = accept(&mut other, MAIN, &code).await;
    assert_eq!(page.status, StatusCode::BAD_REQUEST);
    assert!(other.cookie(APP_HOST, "portico").is_none());

    // the failed try has used it up
    let page = accept(&mut browser, MAIN, &code).await;
    assert_eq!(page.status, StatusCode::BAD_REQUEST);
    let code = offered(&mut browser, "/").await.field("code");
    assert_eq!(
        accept(&mut browser, MAIN, &code).await.status,
        StatusCode::SEE_OTHER
    );
}

#[tokio::test]
async fn a_refused_user_sees_which_role_opens_it() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, _) = stack.signed_in(&["k8s_viewer"]).await;
    let page = offered(&mut browser, "/").await;
    portico_testkit::snapshot_settings().bind(|| {
        insta::assert_snapshot!("refused_by_the_list", page.snapshot());
    });
    let answer = browser
        .call(
            Method::GET,
            &format!("{MAIN}/oauth2/auth?app=prometheus"),
            "",
        )
        .await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn cookies_of_one_host_open_no_other() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    let code = offered(&mut browser, "/").await.field("code");
    accept(&mut browser, MAIN, &code).await;
    let child = browser
        .cookie(APP_HOST, "portico")
        .expect("child")
        .to_owned();
    let parent = browser
        .cookie(MAIN_HOST, "portico")
        .expect("parent")
        .to_owned();
    let mut crossed = Browser::new(stack.address);
    crossed.set_cookie(MAIN_HOST, "portico", &child);
    crossed.set_cookie(APP_HOST, "portico", &parent);
    for url in [MAIN, APP] {
        let answer = crossed.call(Method::GET, &format!("{url}/x"), "").await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{url}");
    }
}

#[tokio::test]
async fn the_host_of_an_unknown_app_belongs_to_no_app() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    let page = browser.open("http://grafana.apps.localhost:8080/").await;
    assert_eq!(page.status, StatusCode::MISDIRECTED_REQUEST);
}
