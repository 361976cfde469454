use http::{HeaderName, HeaderValue};
use proptest::prelude::*;

use super::*;

fn map(pairs: &[(&str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        headers.append(
            name.parse::<HeaderName>().expect("name"),
            value.parse().expect("value"),
        );
    }
    headers
}

fn after(pairs: &[(&str, &str)]) -> Vec<String> {
    let mut headers = map(pairs);
    clean_request(&mut headers, &[HeaderName::from_static("x-app-user")]);
    headers
        .keys()
        .map(|name| name.as_str().to_owned())
        .collect()
}

#[test]
fn a_clients_identity_and_forwarding_headers_never_pass() {
    for name in [
        "X-Forwarded-For",
        "X-Forwarded-Host",
        "X-Forwarded-Proto",
        "X-Forwarded-Prefix",
        "X-Forwarded-User",
        "X_Forwarded_User",
        "x-forwarded_user",
        "Forwarded",
        "X-Real-IP",
        "X-Auth-Token",
        "X-Auth-Request-User",
        "X-Subject-Token",
        "X-Service-Token",
        "X-Identity-Status",
        "X-Roles",
        "X-Project-Id",
        "X-Remote-User",
        "Remote-User",
        "Remote-Groups",
        "Impersonate-User",
        "Impersonate-Group",
        "Impersonate-Uid",
        "Impersonate-Extra-Scope",
        "Impersonate_User",
        "Portico-Assertion",
        "Portico-Token",
        "Portico-Project",
        "X-Portico-User",
        "X-Webauth-User",
        "Authorization",
        "Proxy-Authorization",
        "X-HTTP-Method-Override",
        "X-Original-URL",
        "X-Rewrite-URL",
        "X-Client-IP",
        "SSL-Client-Verify",
        "X-App-User",
        "X_App_User",
        "x-app_user",
        "X.App.User",
        "X-Forwarded~User",
        "X-Proxy-User",
        "X-JWT-Assertion",
        "X-Grafana-User",
        "X-Vouch-User",
        "X-Dex-User",
        "X-OpenStack-User",
        "X-Anonymous-Consumer",
        "X-MS-TOKEN-AAD-ID-TOKEN",
        "X-Is-Admin",
        "ES-Security-RunAs-User",
        "Upgrade",
        "HTTP2-Settings",
        "TE",
    ] {
        assert!(after(&[(name, "x")]).is_empty(), "{name} passed");
    }
}

#[test]
fn finding_s6_identity_headers_of_other_proxies_never_pass() {
    for name in [
        "kubeflow-userid",
        "X-Scope-OrgID",
        "X-Access-Token",
        "X-ID-Token",
        "X-Consumer-Username",
        "X-Consumer-Groups",
        "X-Credential-Identifier",
        "X-Gitea-User",
        "X-Grafana-Org-Id",
        "X-Org-Id",
        "X-Account",
        "X-Login",
        "X-Group",
        "X-Trusted-User",
        "X-Sso-User",
        "X-Nginx-User",
        "X-Kubernetes-User",
        "X-Authentication",
        "User",
        "Username",
        "Userid",
        "Sec-Portico-Forward-Auth",
        "kubeflow_userid",
        "X_Scope_OrgID",
        "X.Access.Token",
    ] {
        assert!(after(&[(name, "x")]).is_empty(), "{name} passed");
    }
    // the control cases: names that only begin like one of them carry no identity
    let kept = [
        "user-agent",
        "x-account-meta-colour",
        "x-grafana-device-id",
        "x-login-hint",
    ];
    let pairs: Vec<_> = kept.iter().map(|name| (*name, "x")).collect();
    assert_eq!(after(&pairs), kept);
}

#[test]
fn ordinary_headers_pass() {
    let kept = [
        "accept",
        "accept-language",
        "content-type",
        "if-none-match",
        "origin",
        "range",
        "referer",
        "sec-fetch-site",
        "sec-websocket-key",
        "user-agent",
        "x-csrf-token",
        "x-requested-with",
        "last-event-id",
    ];
    let pairs: Vec<_> = kept.iter().map(|name| (*name, "x")).collect();
    assert_eq!(after(&pairs), kept);
}

#[test]
fn headers_named_by_connection_are_removed() {
    assert_eq!(
        after(&[
            ("connection", "close, X-Secret"),
            ("x-secret", "1"),
            ("accept", "*/*")
        ]),
        ["accept"]
    );
}

#[test]
fn what_connection_names_cannot_remove_what_is_added_later() {
    let mut headers = map(&[("connection", "close, Portico-Assertion")]);
    clean_request(&mut headers, &[]);
    headers.insert("portico-assertion", HeaderValue::from_static("ours"));
    assert_eq!(headers["portico-assertion"], "ours");
}

#[test]
fn what_connection_names_cannot_remove_the_request_id() {
    let mut headers = map(&[
        ("connection", "close, X-Request-Id"),
        ("connection", "x-request-id,x-secret"),
        ("x-request-id", "ours"),
        ("x-secret", "1"),
    ]);
    clean_request(&mut headers, &[]);
    assert_eq!(headers["x-request-id"], "ours");
    assert_eq!(headers.len(), 1, "{headers:?}");
}

#[test]
fn what_connection_names_is_removed_also_where_most_messages_have_it() {
    let mut headers = map(&[
        ("cookie", "a=b"),
        ("connection", "cookie"),
        ("connection", "content-length , Referer"),
        ("content-length", "1"),
        ("referer", "x"),
        ("user-agent", "x"),
    ]);
    clean_request(&mut headers, &[]);
    let kept: Vec<_> = headers.keys().map(HeaderName::as_str).collect();
    assert_eq!(kept, ["user-agent"]);
    let mut headers = map(&[
        ("set-cookie", "a=b"),
        ("etag", "x"),
        ("connection", "Set-Cookie, ETag"),
        ("date", "x"),
    ]);
    clean_response(&mut headers, Trust::App);
    for (name, is_kept) in [("set-cookie", false), ("etag", false), ("date", true)] {
        assert_eq!(headers.contains_key(name), is_kept, "{name}");
    }
    let mut trailers = map(&[("connection", "x-secret"), ("x-secret", "1")]);
    clean_trailers(&mut trailers);
    assert!(trailers.is_empty());
}

#[test]
fn a_response_is_private_also_where_connection_names_its_cache_control() {
    for connection in ["Cache-Control", "KEEP-ALIVE, cache-control"] {
        let mut headers = map(&[
            ("connection", "Keep-Alive"),
            ("cache-control", "public, max-age=60"),
            ("connection", connection),
            ("cache-control", "s-maxage=60"),
            ("keep-alive", "timeout=5"),
        ]);
        clean_response(&mut headers, Trust::App);
        let lines: Vec<_> = headers.get_all("cache-control").iter().collect();
        assert_eq!(lines, ["private"], "{connection}");
        for name in ["connection", "keep-alive"] {
            assert!(!headers.contains_key(name), "{name}");
        }
    }
}

#[test]
fn what_the_gateways_own_server_answers_does_not_pass() {
    let pairs = [
        ("Expect", "100-continue"),
        ("expect", ""),
        ("accept", "*/*"),
    ];
    assert_eq!(after(&pairs), ["accept"]);
}

#[test]
fn a_token_among_the_subprotocols_does_not_pass() {
    let mut headers = map(&[(
        "sec-websocket-protocol",
        "v4.channel.k8s.io, base64url.bearer.authorization.k8s.io.Zm9yZ2Vk",
    )]);
    clean_request(&mut headers, &[]);
    assert_eq!(headers["sec-websocket-protocol"], "v4.channel.k8s.io");
    let alone = "Base64Url.Bearer.authorization.k8s.io.Zm9yZ2Vk";
    assert!(after(&[("sec-websocket-protocol", alone)]).is_empty());
    let mut headers = map(&[("sec-websocket-protocol", "a,b")]);
    clean_request(&mut headers, &[]);
    assert_eq!(headers["sec-websocket-protocol"], "a,b", "the control case");
}

#[test]
fn attack_24_no_spelling_of_our_cookies_is_set_by_an_upstream() {
    for line in [
        "portico=x",
        "PORTICO=x",
        "portico = x",
        "\tportico=x",
        "__Host-portico=x; Path=/; Secure",
        "__host-Portico=x",
        "__Secure-portico=x; Domain=example.org",
        "__Http-portico=x",
        "__Host-Http-portico=x",
        "portico-sign-in-AAAAAAAA=x",
        "portico-anything=x",
        // browsers send a cookie without a name as its value alone
        "=portico=x",
        "= portico=x; Path=/",
        "=__Host-portico=x",
        "portico",
        "portico=",
    ] {
        let mut headers = map(&[("set-cookie", line), ("set-cookie2", line)]);
        clean_response(&mut headers, Trust::App);
        assert!(!headers.contains_key("set-cookie"), "{line}");
        assert!(!headers.contains_key("set-cookie2"), "{line}");
    }
    for (line, kept) in [
        ("theme=portico; DOMAIN=.example.org", "theme=portico"),
        ("a=b;\tDomain = example.org ; Path=/x", "a=b; Path=/x"),
        (
            "grafana_session=1; domain; Secure",
            "grafana_session=1; Secure",
        ),
        ("porticos=1", "porticos=1"),
        ("a=\"b;Domain=example.org\"", "a=\"b"),
    ] {
        let mut headers = map(&[("set-cookie", line)]);
        clean_response(&mut headers, Trust::App);
        assert_eq!(headers["set-cookie"], kept, "the control case");
    }
}

#[test]
fn upstream_cookies_become_host_only_and_never_ours() {
    let mut headers = map(&[
        ("set-cookie", "a=b; Domain=example.org; Path=/; HttpOnly"),
        ("set-cookie", "c=d;domain = .example.org"),
        ("set-cookie", "__Host-portico=stolen; Path=/"),
        ("set-cookie", " portico = stolen"),
        ("set-cookie", "portico-flow=stolen"),
    ]);
    clean_response(&mut headers, Trust::App);
    let lines: Vec<_> = headers.get_all("set-cookie").iter().collect();
    assert_eq!(lines, ["a=b; Path=/; HttpOnly", "c=d"]);
}

#[test]
fn apps_may_not_reach_beyond_their_pages() {
    let mut headers = map(&[
        ("service-worker-allowed", "/"),
        ("clear-site-data", "\"*\""),
        ("strict-transport-security", "max-age=1; includeSubDomains"),
        ("portico-assertion", "x"),
        ("content-security-policy", "default-src *"),
        ("content-type", "text/html"),
    ]);
    clean_response(&mut headers, Trust::App);
    let policies: Vec<_> = headers.get_all("content-security-policy").iter().collect();
    assert_eq!(policies, ["default-src *", "frame-ancestors 'none'"]);
    assert!(headers.contains_key("content-type"));
    assert_eq!(headers.len(), 5);
}

proptest! {
    #[test]
    fn no_underscore_and_no_identity_survives(
        name in "(x[-_]forwarded[-_][a-z]{1,8}|portico[-_][a-z]{1,8}|impersonate[-_][a-z]{1,8})"
    ) {
        prop_assert!(after(&[(&name, "x")]).is_empty());
    }
}
