//! Case 90: pages in frames, and what their addresses tell others.
use http::{HeaderMap, Method, StatusCode, header};
use portico_testkit::{CLIENT_ID, CLIENT_SECRET, OidcPerson, OidcProvider};

use crate::{
    browser::Page,
    program::{Program, Wanted},
};

fn value<'h>(headers: &'h HeaderMap, name: &str) -> &'h str {
    let value = headers.get(name).and_then(|value| value.to_str().ok());
    value.unwrap_or_default()
}

/// No frame, no guessing of types, no address for others.
fn is_guarded(what: &str, page: &Page) {
    let headers = &page.headers;
    assert_eq!(
        value(headers, "x-frame-options"),
        "DENY",
        "{what}: {headers:?}"
    );
    assert_eq!(
        value(headers, "x-content-type-options"),
        "nosniff",
        "{what}"
    );
    let referrer = value(headers, "referrer-policy");
    // the origin alone may be seen where a form leads to another host of ours
    assert!(
        matches!(
            referrer,
            "no-referrer" | "same-origin" | "strict-origin" | "origin"
        ),
        "{what}: {referrer:?}"
    );
    if value(headers, "content-type").starts_with("text/html") {
        let policy = value(headers, "content-security-policy");
        for part in [
            "frame-ancestors 'none'",
            "default-src 'none'",
            "base-uri 'none'",
        ] {
            assert!(policy.contains(part), "{what}: {policy}");
        }
        assert!(!policy.contains("unsafe-inline"), "{what}: {policy}");
    }
}

#[tokio::test]
async fn attack_90_no_page_of_ours_is_framed_or_reveals_its_address() {
    let redirect = "http://localhost:8080/oauth2/callback/corp";
    let provider = OidcProvider::start(redirect, "http://localhost:8080", 600).await;
    let provider = provider.expect("provider");
    let secret = tempfile::NamedTempFile::new().expect("file");
    std::fs::write(secret.path(), CLIENT_SECRET).expect("secret");
    let sections = format!(
        "[[gateway.providers]]\nid = \"cloud\"\nname = \"OpenStack\"\nkind = \"keystone\"\n\
         [[gateway.providers]]\nid = \"corp\"\nname = \"Corp\"\nkind = \"oidc\"\nissuer = {:?}\n\
         client_id = {CLIENT_ID:?}\nclient_secret_file = {:?}\nscopes = [\"profile\"]\n\
         [[apps]]\nid = \"prometheus\"\nname = \"Prometheus\"\nproject = \"ACME\"\n\
         url = \"UPSTREAM\"\nallow = [{{ role = \"k8s_admin\", project = \"ACME\" }}]\n",
        provider.issuer,
        secret.path(),
    );
    let program = Program::start(Wanted {
        sections: &sections,
        ..Wanted::default()
    })
    .await;
    let main = program.main();
    let mut stranger = program.browser();
    for path in [
        "/oauth2/sign_in",
        "/oauth2/sign_in?rd=/projects/x",
        "/oauth2/sign_in/application_credential",
        "/oauth2/sign_out",
        "/oauth2/signed_out",
        "/oauth2/totp",
        "/oauth2/project",
        "/oauth2/device",
        "/oauth2/authorize",
        "/oauth2/sessions",
        "/oauth2/saved_form",
        "/oauth2/handover",
        "/oauth2/start?provider=corp",
        "/oauth2/start?provider=none",
        "/oauth2/callback/corp?code=stolen&state=none",
        "/oauth2/callback/corp?error=access_denied&error_description=%3Cb%3E",
        "/oauth2/auth",
        "/oauth2/userinfo",
        "/oauth2/nothing",
        "/oauth2/../etc/passwd",
        "/ping",
        "/ready",
        "/.well-known/jwks.json",
        "/.well-known/portico-clusters",
        "/api/v1/clusters",
        "/projects/x",
    ] {
        let url = format!("{main}{path}");
        let page = stranger.open(&url).await;
        is_guarded(path, &page);
        let page = stranger.call(Method::GET, &url, "").await;
        is_guarded(path, &page);
    }
    let app = "http://prometheus.apps.localhost:8080";
    for (what, url) in [
        ("an app's host", format!("{app}/graph")),
        (
            "another app's host",
            "http://nobody.apps.localhost:8080/".to_owned(),
        ),
        ("another host", "http://other.example/".to_owned()),
    ] {
        is_guarded(what, &stranger.open(&url).await);
    }

    // the callback with a real code: neither in the answer nor told to another host
    let mut browser = program.browser();
    let page = browser
        .open(&format!("{main}/oauth2/start?provider=corp&rd=/"))
        .await;
    is_guarded("the way to the provider", &page);
    let mut person = OidcPerson::default();
    let callback = person.sign_in(page.location().as_str(), "alice").await;
    let callback = callback.expect("an answer");
    let code = url::Url::parse(&callback).expect("URL");
    let code = code
        .query_pairs()
        .find(|(name, _)| name == "code")
        .expect("a code")
        .1;
    let page = browser.open(&callback).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    is_guarded("the callback", &page);
    assert_eq!(value(&page.headers, "referrer-policy"), "no-referrer");
    let location = value(&page.headers, header::LOCATION.as_str());
    assert!(!location.contains(&*code) && !page.body.contains(&*code));
    // used a second time it is an error page, whose address still has the code
    let page = browser.open(&callback).await;
    is_guarded("the callback again", &page);
    assert!(!page.body.contains(&*code), "{}", page.body);

    // signed in
    let mut browser = program.sign_in("ada").await;
    for path in [
        "/oauth2/sign_in",
        "/oauth2/sign_out",
        "/oauth2/sessions",
        "/oauth2/reauthenticate",
        "/oauth2/device",
        "/oauth2/nothing",
    ] {
        is_guarded(path, &browser.open(&format!("{main}{path}")).await);
    }
    let offered = browser.follow(&format!("{app}/graph")).await;
    assert_eq!(offered.status, StatusCode::OK);
    is_guarded("the hand-over", &offered);
    let code = offered.field("code");
    let taken = browser
        .submit(main, &format!("{app}/oauth2/handover"), &[("code", &code)])
        .await;
    assert_eq!(taken.status, StatusCode::SEE_OTHER, "{}", taken.body);
    is_guarded("the end of the hand-over", &taken);

    // the control case: an app's own page is shown, in no frame of others, with its own referrer policy
    let page = browser.open(&format!("{app}/graph")).await;
    assert_eq!(page.status, StatusCode::OK);
    assert_eq!(page.json()["target"], "/graph");
    let policy = value(&page.headers, "content-security-policy");
    assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
}
