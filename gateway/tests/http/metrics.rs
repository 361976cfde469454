//! What the gateway counts, and that dashboard and rules ask for nothing else.
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Mutex,
};

use http::{Method, StatusCode};
use metrics::{
    Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit,
    with_local_recorder,
};
use portico_runtime::metrics::Metrics;

use crate::support::{
    browser::Browser,
    stack::{MAIN, Stack, Wanted},
    time::eventually,
};

fn value(text: &str, series: &str) -> Option<f64> {
    let line = text.lines().find(|line| {
        line.strip_prefix(series)
            .is_some_and(|rest| rest.starts_with(' '))
    });
    line?.rsplit(' ').next()?.parse().ok()
}

fn has(text: &str, series: &str, expected: f64) -> bool {
    value(text, series).is_some_and(|value| (value - expected).abs() < f64::EPSILON)
}

fn is(text: &str, series: &str, expected: f64) {
    assert!(
        has(text, series, expected),
        "{series} is {:?}, not {expected}, in {text}",
        value(text, series)
    );
}

#[tokio::test]
async fn what_alert_rules_ask_about_is_there_before_anything_happens() {
    let metrics = Metrics::install(jiff::Timestamp::UNIX_EPOCH).expect("recorder");
    let _stack = Stack::start(Wanted::default()).await;
    let text = metrics.render();
    for series in [
        r#"portico_gateway_sign_ins_total{provider="keystone",outcome="unavailable"}"#,
        r#"portico_gateway_throttled_sign_ins_total{by="network"}"#,
        r#"portico_gateway_sessions_ended_total{kind="cli",reason="token_reuse"}"#,
        r#"portico_gateway_token_operations_total{operation="refresh",outcome="failed"}"#,
        r#"portico_gateway_validations_total{outcome="failed"}"#,
        r#"portico_gateway_revocations_total{outcome="failed"}"#,
        r#"portico_gateway_decisions_total{route="panel",decision="refused"}"#,
        r#"portico_gateway_open_connections{kind="websocket"}"#,
        "portico_gateway_pending_revocations",
    ] {
        is(&text, series, 0.0);
    }
}

#[tokio::test]
async fn a_session_that_ends_is_counted_with_its_reason_and_its_tokens_as_pending() {
    let metrics = Metrics::install(jiff::Timestamp::UNIX_EPOCH).expect("recorder");
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    let url = format!("{MAIN}/oauth2/sign_out");
    let page = browser.open(&url).await;
    let csrf = page.field("csrf_token");
    let page = browser.submit(MAIN, &url, &[("csrf_token", &csrf)]).await;
    assert_eq!(page.status, StatusCode::OK);
    let text = metrics.render();
    is(
        &text,
        r#"portico_gateway_sessions_ended_total{kind="browser",reason="signed_out"}"#,
        1.0,
    );
    // nothing listens where Keystone should
    is(
        &text,
        r#"portico_gateway_revocations_total{outcome="failed"}"#,
        2.0,
    );

    let (_other, _) = stack.signed_in(&[]).await;
    let stop = tokio_util::sync::CancellationToken::new();
    let gateway = stack.gateway.clone();
    let tasks = tokio::spawn({
        let stop = stop.clone();
        async move { gateway.run(stop).await }
    });
    let browser_sessions = r#"portico_gateway_sessions{kind="browser"}"#;
    let pending = "portico_gateway_pending_revocations";
    eventually("the store's numbers", async || {
        let text = metrics.render();
        has(&text, browser_sessions, 1.0) && has(&text, pending, 2.0)
    })
    .await;
    stop.cancel();
    tasks.await.expect("tasks");
    let text = metrics.render();
    is(&text, browser_sessions, 1.0);
    is(&text, r#"portico_gateway_sessions{kind="cli"}"#, 0.0);
    is(&text, pending, 2.0);
}

#[tokio::test]
async fn a_sign_in_that_cannot_be_decided_is_counted_as_such() {
    let metrics = Metrics::install(jiff::Timestamp::UNIX_EPOCH).expect("recorder");
    let stack = Stack::start(Wanted::default()).await;
    let mut browser = Browser::new(stack.address);
    let url = format!("{MAIN}/oauth2/sign_in");
    let page = browser.open(&url).await;
    let csrf = page.field("csrf_token");
    let fields = [
        ("csrf_token", csrf.as_str()),
        ("name", "ada"),
        ("password", "right"),
    ];
    let page = browser.submit(MAIN, &url, &fields).await;
    assert_eq!(page.status, StatusCode::SERVICE_UNAVAILABLE);
    let text = metrics.render();
    is(
        &text,
        r#"portico_gateway_sign_ins_total{provider="keystone",outcome="unavailable"}"#,
        1.0,
    );
    is(
        &text,
        r#"portico_gateway_sign_ins_total{provider="keystone",outcome="refused"}"#,
        0.0,
    );
}

#[tokio::test]
async fn what_is_open_is_counted_until_it_closes() {
    let metrics = Metrics::install(jiff::Timestamp::UNIX_EPOCH).expect("recorder");
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, _) = stack.signed_in(&[]).await;
    let headers = [
        ("sec-fetch-site", "same-origin"),
        ("sec-fetch-mode", "cors"),
    ];
    let url = format!("{MAIN}/stream");
    let answer = browser
        .start(Method::GET, &url, &headers, String::new())
        .await;
    assert_eq!(answer.status(), StatusCode::OK);
    let open = r#"portico_gateway_open_connections{kind="response"}"#;
    is(&metrics.render(), open, 1.0);
    stack.panel.go_on.notify_one();
    let body = http_body_util::BodyExt::collect(answer.into_body()).await;
    assert_eq!(body.expect("body").to_bytes(), "onetwo");
    eventually("the connection is closed", async || {
        has(&metrics.render(), open, 0.0)
    })
    .await;
}

/// The names that are described, which is what the program exports.
#[derive(Default)]
struct Names(Mutex<BTreeSet<String>>);

impl Names {
    fn add(&self, name: &KeyName) {
        self.0
            .lock()
            .expect("names")
            .insert(name.as_str().to_owned());
    }
}

impl Recorder for Names {
    fn describe_counter(&self, name: KeyName, _: Option<Unit>, _: SharedString) {
        self.add(&name);
    }

    fn describe_gauge(&self, name: KeyName, _: Option<Unit>, _: SharedString) {
        self.add(&name);
    }

    fn describe_histogram(&self, name: KeyName, _: Option<Unit>, _: SharedString) {
        for suffix in ["", "_bucket", "_sum", "_count"] {
            self.add(&KeyName::from(format!("{}{suffix}", name.as_str())));
        }
    }

    fn register_counter(&self, _: &Key, _: &Metadata<'_>) -> Counter {
        Counter::noop()
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

fn exported() -> BTreeSet<String> {
    let names = Names::default();
    with_local_recorder(&names, || {
        portico_runtime::metrics::describe();
        portico_openstack::keystone::describe_metrics();
        portico_openstack::rest::describe_metrics();
        portico_store::describe_metrics();
        portico_kube_auth::describe_metrics();
        gateway::describe_metrics();
    });
    names.0.into_inner().expect("names")
}

fn deploy(path: &str) -> (PathBuf, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../deploy")
        .join(path);
    let text = std::fs::read_to_string(&path).expect("file");
    (path, text)
}

/// Every name of ours in a text.
fn named(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|word| word.starts_with("portico_"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn dashboard_and_rules_ask_only_for_what_is_exported() {
    let exported = exported();
    for file in [
        "grafana/portico.json",
        "prometheus/portico.rules.yaml",
        "prometheus/portico.tests.yaml",
    ] {
        let (path, text) = deploy(file);
        let asked = named(&text);
        assert!(asked.len() > 10, "{} asks for little", path.display());
        let unknown: Vec<&String> = asked.difference(&exported).collect();
        assert!(unknown.is_empty(), "{}: {unknown:?}", path.display());
    }
}

#[test]
fn metrics_of_calls_to_openstack_services_are_exported_and_documented() {
    let exported = exported();
    let (_, operations) = deploy("../docs/operations.md");
    let documented = named(&operations);
    for name in [
        "portico_openstack_requests_total",
        "portico_openstack_request_seconds",
    ] {
        assert!(exported.contains(name), "{name} is not described");
        assert!(documented.contains(name), "{name} is not documented");
    }
}

#[test]
fn every_alert_has_a_runbook_and_a_test() {
    let (_, rules) = deploy("prometheus/portico.rules.yaml");
    let (_, tests) = deploy("prometheus/portico.tests.yaml");
    let (_, operations) = deploy("../docs/operations.md");
    let anchors: BTreeSet<String> = operations
        .lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| {
            line.trim_start_matches('#')
                .trim()
                .to_lowercase()
                .replace(' ', "-")
        })
        .collect();
    let of = |key: &str| -> Vec<String> {
        let lines = rules.lines().filter_map(|line| {
            let line = line.trim().trim_start_matches("- ");
            line.strip_prefix(key).map(|rest| rest.trim().to_owned())
        });
        lines.collect()
    };
    let (alerts, runbooks) = (of("alert:"), of("runbook:"));
    assert!(alerts.len() > 10);
    assert_eq!(alerts.len(), runbooks.len());
    for runbook in runbooks {
        let anchor = runbook.strip_prefix("docs/operations.md#");
        let anchor = anchor.expect("a section of operations.md");
        assert!(anchors.contains(anchor), "{anchor} is not in {anchors:?}");
    }
    for alert in alerts {
        assert!(
            tests.contains(&format!("alertname: {alert}\n")),
            "{alert} has no test"
        );
    }
}

#[test]
fn the_dashboard_is_one_that_grafana_reads() {
    let (_, text) = deploy("grafana/portico.json");
    let dashboard: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(dashboard["uid"], "portico");
    let panels = dashboard["panels"].as_array().expect("panels");
    let mut ids = BTreeSet::new();
    for panel in panels {
        assert!(ids.insert(panel["id"].as_u64().expect("id")), "an ID twice");
        if panel["type"] != "row" {
            assert!(!panel["targets"].as_array().expect("targets").is_empty());
        }
    }
    assert!(panels.len() > 15);
}
