//! 8, 10, 12: text of tenants' in pages, and text of strangers' in addresses.
use super::{
    calls::object,
    site::{Answer, Site},
};
use crate::{own_namespace::OwnNamespace, stack::PUBLIC_URL};
use axum::http::HeaderMap;
use k8s_openapi::api::core::v1::{ConfigMap, Event, Pod};
use kube::{Api, ResourceExt as _};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Ends an attribute, a tag, a script and a comment.
const PAYLOAD: &str = "x\"'></script></title></textarea>--><script>alert(1)</script>\
                       <img src=x onerror=alert(1)>${alert(1)}{{alert(1)}}";

/// Panics if the page holds the payload as markup.
fn assert_is_text(path: &str, answer: &Answer) {
    for markup in ["<script>alert", "</script></title>", "<img src=x"] {
        if let Some(at) = answer.body.find(markup) {
            let from = answer.body.floor_char_boundary(at.saturating_sub(200));
            let to = answer.body.ceil_char_boundary(at + 80);
            panic!("{path}: {}", &answer.body[from..to]);
        }
    }
}

async fn event(own: &OwnNamespace, kind: &str, uid: &str, name: &str) {
    let event: Event = serde_json::from_value(json!({
        "metadata": { "name": format!("{name}.{}", kind.to_lowercase()) }, "type": "Warning", "reason": PAYLOAD,
        "message": format!("{PAYLOAD}\n| javascript:alert(1)"), "count": 3,
        "source": { "component": PAYLOAD, "host": PAYLOAD },
        "involvedObject": { "kind": kind, "apiVersion": "v1", "namespace": own.name, "name": name,
            "uid": uid, "fieldPath": PAYLOAD },
        "lastTimestamp": jiff::Timestamp::from_second(jiff::Timestamp::now().as_second()).unwrap().to_string(),
    }))
    .unwrap();
    Api::<Event>::namespaced(own.client.clone(), &own.name)
        .create(&Default::default(), &event)
        .await
        .unwrap();
}

/// A pod, a ConfigMap and events of a tenant who means harm.
async fn plant(own: &OwnNamespace, text: &str) {
    own.pod_with_status(
        "hostile",
        json!({
            "phase": "Failed", "reason": text, "message": text,
            "conditions": [{ "type": "Hostile", "status": "False", "reason": text, "message": text }],
            "containerStatuses": [{ "name": "c", "image": text, "imageID": text, "ready": false,
                "restartCount": 7, "state": { "waiting": { "reason": text, "message": text } },
                "lastState": { "terminated": { "exitCode": 1, "reason": text, "message": text } } }],
        }),
    )
    .await;
    let map: ConfigMap = serde_json::from_value(json!({
        "metadata": { "name": "hostile", "annotations": {
            "example.org/description": text, "link.argocd.argoproj.io/external-link": text } },
        "data": { "page.html": text },
    }))
    .unwrap();
    Api::<ConfigMap>::namespaced(own.client.clone(), &own.name)
        .create(&Default::default(), &map)
        .await
        .unwrap();
}

/// The pages on which the planted objects are, as read by a user.
async fn pages(site: &Site, own: &OwnNamespace, user: &HeaderMap) -> Vec<(String, Answer)> {
    let cluster = site.stack.acme().to_string();
    let mut paths: BTreeSet<String> = BTreeSet::new();
    for plural in ["pods", "configmaps", "events"] {
        paths.extend(site.pages(&cluster, &own.name, plural, "hostile"));
        paths.insert(format!(
            "/projects/{}/clusters/{cluster}/resources/core/v1/{plural}?namespace={}",
            site.acme(),
            own.name
        ));
    }
    let mut found = Vec::new();
    for path in paths {
        let answer = site.get(user, &path).await;
        found.push((path, answer));
    }
    found
}

#[tokio::test]
async fn flaw_10_a_tenants_text_is_text_on_every_page() {
    let site = Site::open().await;
    let own = site.stack.namespace("text").await;
    plant(&own, PAYLOAD).await;
    let pod = Api::<Pod>::namespaced(own.client.clone(), &own.name);
    let pod = pod.get("hostile").await.unwrap().uid().unwrap();
    event(&own, "Pod", &pod, "hostile").await;
    let map = Api::<ConfigMap>::namespaced(own.client.clone(), &own.name);
    let map = map.get("hostile").await.unwrap().uid().unwrap();
    event(&own, "ConfigMap", &map, "hostile").await;
    let mut escaped = BTreeSet::new();
    for user in ["vera", "ada"] {
        let headers = site.user(user).await;
        for (path, answer) in pages(&site, &own, &headers).await {
            assert_is_text(&path, &answer);
            let policy = answer.header("content-security-policy");
            assert!(
                policy.starts_with("default-src '")
                    && !policy.contains("unsafe-inline")
                    && !policy.contains("'unsafe-eval'"),
                "{path}: {policy}"
            );
            if answer.body.contains("&lt;img src=x onerror=alert(1)&gt;") {
                escaped.insert(path);
            }
        }
    }
    for part in [
        "pods/hostile",
        "pods/hostile/yaml",
        "pods/hostile/events",
        "resources/core/v1/events?",
    ] {
        let shown = escaped
            .iter()
            .any(|path| path.ends_with(part) || path.contains(part));
        assert!(
            shown,
            "the control case: {part} shows the text: {escaped:?}"
        );
    }
    own.done().await;
}

/// Addresses that run a script or leave the panel, in spellings that filters have let through.
const LINKS: [&str; 16] = [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    " javascript:alert(1)",
    "\tjavascript:alert(1)",
    "java\nscript:alert(1)",
    "java\tscript:alert(1)",
    "\u{1}javascript:alert(1)",
    "label | javascript:alert(1)",
    "javascript&colon;alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "DATA:text/html;base64,PHNjcmlwdD4=",
    "vbscript:msgbox(1)",
    "//evil.example/x",
    "\\\\evil.example\\x",
    "https://evil.example/x",
    "blob:https://evil.example/x",
];

/// The values of attributes that browsers follow or load.
fn addresses(html: &str) -> Vec<String> {
    let mut found = Vec::new();
    for name in [
        "href",
        "src",
        "action",
        "formaction",
        "poster",
        "data",
        "srcdoc",
        "xlink:href",
    ] {
        let marker = format!(" {name}=\"");
        for (at, _) in html.match_indices(&marker) {
            let rest = &html[at + marker.len()..];
            let value = &rest[..rest.find('"').unwrap_or(rest.len())];
            found.push(value.replace("&amp;", "&").replace("&#x27;", "'"));
        }
    }
    found
}

#[tokio::test]
async fn flaw_08_no_address_of_a_page_is_taken_from_a_clusters_objects() {
    let site = Site::open().await;
    let own = site.stack.namespace("links").await;
    plant(&own, &LINKS.join("\n")).await;
    let alone = Api::<ConfigMap>::namespaced(own.client.clone(), &own.name);
    for (number, link) in LINKS.iter().enumerate() {
        let map: ConfigMap = serde_json::from_value(json!({
            "metadata": { "name": format!("link-{number}"), "annotations": {
                "link.argocd.argoproj.io/external-link": link, "example.org/runbook_url": link } },
            "data": { "link": link },
        }))
        .unwrap();
        alone.create(&Default::default(), &map).await.unwrap();
    }
    let ada = site.user("ada").await;
    let cluster = site.stack.acme().to_string();
    let mut all = pages(&site, &own, &ada).await;
    for number in 0..LINKS.len() {
        for tab in ["", "/yaml"] {
            let path = format!(
                "/projects/{}/clusters/{cluster}/namespaces/{}/core/v1/configmaps/link-{number}{tab}",
                site.acme(),
                own.name
            );
            let answer = site.get(&ada, &path).await;
            all.push((path, answer));
        }
    }
    let apps = "apps.localhost:8080";
    let mut seen = 0;
    for (path, answer) in &all {
        for address in addresses(&answer.body) {
            seen += 1;
            let is_own = (address.starts_with('/') && !address.starts_with("//"))
                || address.starts_with('#')
                || address.starts_with('?')
                || address.starts_with(PUBLIC_URL)
                || (address.starts_with("http://") && address.contains(apps));
            assert!(is_own, "{path}: {address:?}");
            // a filter by status may repeat a text of the cluster, as a parameter of our own page
            let place = address.split('?').next().unwrap_or_default();
            assert!(
                !address.starts_with("/\\") && !place.contains("evil.example"),
                "{path}: {address:?}"
            );
        }
    }
    assert!(seen > 500, "the control case: {seen} addresses");
    let shown = |text: &str| all.iter().any(|(_, answer)| answer.body.contains(text));
    assert!(
        shown("javascript:alert(1)") && shown("vbscript:msgbox(1)"),
        "the control case: shown as text"
    );
    own.done().await;
}

#[tokio::test]
async fn flaw_12_nothing_of_an_address_becomes_markup_or_leaves_its_grammar() {
    let site = Site::open().await;
    let cluster = site.stack.acme().to_string();
    let vera = site.user("vera").await;
    let encoded: String = url::form_urlencoded::byte_serialize(PAYLOAD.as_bytes()).collect();
    let names = [
        "namespace",
        "q",
        "labels",
        "fields",
        "status",
        "sort",
        "rows",
        "offset",
        "columns",
        "error",
        "notice",
        "object",
        "confirm",
        "container",
        "density",
        "__err",
        "__path",
        "unknown",
    ];
    let mut paths = site.pages(&cluster, "shop", "pods", "any");
    paths.push(format!(
        "/projects/{}/clusters/{cluster}/resources/core/v1/{encoded}",
        site.acme()
    ));
    for path in &paths {
        let all: Vec<String> = names
            .iter()
            .map(|name| format!("{name}={encoded}"))
            .collect();
        let answer = site.get(&vera, &format!("{path}?{}", all.join("&"))).await;
        assert!(answer.status < 500, "{path}: {}", answer.status);
        assert_is_text(path, &answer);
    }
    let list = format!(
        "/projects/{}/clusters/{cluster}/resources/core/v1/pods",
        site.acme()
    );
    for (name, hostile) in [
        ("namespace", "../../kube-system"),
        ("namespace", "shop%2F..%2Fkube-system"),
        ("namespace", "SHOP%00"),
        ("sort", "-constructor"),
        ("sort", "%00"),
        ("rows", "99999999999999999999"),
        ("rows", "-1"),
        ("offset", "-1"),
        ("offset", "99999999999999999999999"),
        ("labels", "%3D%3D"),
        ("fields", "%3E%3E%3E"),
        ("status", "%FF%FE"),
    ] {
        let path = format!("{list}?{name}={hostile}");
        let answer = site.get(&vera, &path).await;
        assert!(answer.status < 500, "{path}: {}", answer.status);
        assert!(!answer.body.contains("kube-scheduler"), "{path}");
    }
    // the same straight to the functions
    for namespace in [
        "../../kube-system",
        "shop/../kube-system",
        "<script>alert(1)</script>",
        "a%2fb",
    ] {
        let query = super::calls::query_of("", "pods", &[namespace], "");
        let body =
            json!({ "cluster": cluster, "query": query, "range": { "offset": 0, "limit": 50 } });
        let answer = site.post(&vera, "/api/resources/list", body).await;
        assert!(
            (400..500).contains(&answer.status) || rows(&answer.json()) == 0,
            "{namespace}: {}",
            answer.body
        );
        let body =
            json!({ "cluster": cluster, "object": object("", "pods", Some(namespace), "any") });
        let answer = site.post(&vera, "/api/objects/get", body).await;
        assert!(
            (400..500).contains(&answer.status),
            "{namespace}: {}",
            answer.body
        );
    }
    let answer = site
        .get(&vera, &format!("{list}?namespace=shop&q=storefront"))
        .await;
    assert!(answer.body.contains("storefront-"), "the control case");
}

/// The number of rows of a list.
fn rows(table: &Value) -> usize {
    let rows = table.pointer("/window/rows");
    rows.and_then(Value::as_array).map_or(0, Vec::len)
}
