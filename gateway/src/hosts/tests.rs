//! Tests of how the site of a request is determined.
use super::*;
use http::{HeaderMap, header};

fn host_of(headers: &HeaderMap) -> HostHeader<'_> {
    let lines = headers.get_all(header::HOST).iter();
    lines.fold(HostHeader::Missing, HostHeader::and)
}

fn hosts(public: &str) -> Hosts {
    let config = serde_json::from_value(serde_json::json!({
        "public_url": public, "apps_domain": "apps.example.org",
        "assertion_key_file": "a", "panel_url": "http://127.0.0.1:1",
        "panel_sealing_key_file": "p",
    }))
    .expect("config");
    let app = serde_json::from_value(serde_json::json!({
        "id": "prometheus", "name": "Prometheus", "project": "p",
        "url": "http://127.0.0.1:9090",
    }))
    .expect("app");
    Hosts::new(&config, &[app]).expect("hosts")
}

#[test]
fn a_path_of_the_main_host_is_an_apps_by_whole_segments_only() {
    let config = serde_json::from_value(serde_json::json!({
        "public_url": "https://portico.example.org", "apps_domain": "apps.example.org",
        "assertion_key_file": "a", "panel_url": "http://127.0.0.1:1",
        "panel_sealing_key_file": "p",
    }))
    .expect("config");
    let app = serde_json::from_value(serde_json::json!({
        "id": "grafana", "name": "Grafana", "project": "p", "path": "/grafana",
        "trusted": true, "url": "http://127.0.0.1:3000",
    }))
    .expect("app");
    let hosts = Hosts::new(&config, &[app]).expect("hosts");
    let at = |host: &str, uri: &str| {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().expect("header"));
        hosts.resolve(&uri.parse().expect("uri"), host_of(&headers))
    };
    for uri in ["/grafana", "/grafana/", "/grafana/d/x?y", "/grafana?y"] {
        let site = at("portico.example.org", uri);
        assert!(matches!(site, Some(Site::App(_))), "{uri}");
    }
    for uri in [
        "/",
        "/grafana2",
        "/Grafana",
        "/x/grafana",
        "/%67rafana",
        "/?/grafana",
    ] {
        let site = at("portico.example.org", uri);
        assert!(matches!(site, Some(Site::Main)), "{uri}");
    }
    assert!(at("grafana.apps.example.org", "/grafana").is_none());
    let app = hosts.app("grafana").expect("app");
    assert_eq!(app.home, "https://portico.example.org/grafana");
    assert_eq!(app.cookie_of(), None);
}

fn resolve(uri: &str, host: &[&str]) -> Option<String> {
    let hosts = hosts("https://portico.example.org");
    let mut headers = HeaderMap::new();
    for line in host {
        headers.append(header::HOST, line.parse().expect("header"));
    }
    hosts
        .resolve(&uri.parse().expect("uri"), host_of(&headers))
        .map(|site| site.origin(&hosts).to_owned())
}

#[test]
fn hosts_are_folded_and_the_port_does_not_matter() {
    let main = Some("https://portico.example.org".to_owned());
    for host in [
        "portico.example.org",
        "PORTICO.example.ORG",
        "portico.example.org.",
        "portico.example.org:443",
    ] {
        assert_eq!(resolve("/", &[host]), main, "{host}");
    }
    assert_eq!(
        resolve("/", &["Prometheus.apps.example.org"]),
        Some("https://prometheus.apps.example.org".to_owned())
    );
}

#[test]
fn foreign_and_contradicting_hosts_are_unknown() {
    for host in [
        "evil.example",
        "apps.example.org",
        "x.apps.example.org",
        "prometheus.apps.example.org.evil.example",
        "evil@portico.example.org",
        "127.0.0.1",
    ] {
        assert_eq!(resolve("/", &[host]), None, "{host}");
    }
    assert_eq!(resolve("/", &[]), None);
    assert_eq!(
        resolve("/", &["portico.example.org", "portico.example.org"]),
        None
    );
    assert_eq!(
        resolve("http://evil.example/", &["portico.example.org"]),
        None
    );
}

#[test]
fn origins_keep_the_public_port() {
    let hosts = hosts("http://localhost:8080");
    assert_eq!(&**hosts.main(), "http://localhost:8080");
    assert_eq!(
        &*hosts.app("prometheus").expect("app").origin,
        "http://prometheus.apps.example.org:8080"
    );
}
