//! The shipped configurations of Traefik and Envoy, which do not run here: that they are YAML, and
//! that whatever they name is there. What Portico answers them is tested by their requests.
use std::collections::BTreeSet;

use serde_json::Value;

fn shipped(file: &str) -> Value {
    let path = format!(
        "{}/../deploy/forward-auth/{file}",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(&path).unwrap();
    serde_norway::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The values of all keys of a name, wherever they are.
fn all<'v>(value: &'v Value, key: &str, found: &mut Vec<&'v Value>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                if name == key {
                    found.push(value);
                }
                all(value, key, found);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| all(value, key, found)),
        _ => {}
    }
}

fn values<'v>(value: &'v Value, key: &str) -> Vec<&'v Value> {
    let mut found = Vec::new();
    all(value, key, &mut found);
    found
}

fn names(object: &Value) -> BTreeSet<&str> {
    object
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect()
}

#[test]
fn traefik_finds_every_configured_middleware_and_service() {
    let http = &shipped("traefik/portico.yaml")["http"];
    let (middlewares, services) = (names(&http["middlewares"]), names(&http["services"]));
    let named = values(&http["routers"], "middlewares");
    assert!(!named.is_empty());
    for list in named {
        for name in list.as_array().expect("a list") {
            assert!(middlewares.contains(name.as_str().unwrap()), "{name}");
        }
    }
    for key in ["routers", "middlewares"] {
        for name in values(&http[key], "service") {
            assert!(services.contains(name.as_str().unwrap()), "{name}");
        }
    }
    // the answer's headers replace the client's, and no other sender's word counts
    for asks in values(http, "forwardAuth") {
        assert_eq!(asks["trustForwardHeader"], false);
        let copied = asks["authResponseHeaders"].as_array().expect("a list");
        for name in ["Portico-Assertion", "Authorization", "Cookie"] {
            assert!(copied.iter().any(|copied| copied == name), "{name}");
        }
    }
    let entry_points = &shipped("traefik/traefik.yaml")["entryPoints"];
    for list in values(&http["routers"], "entryPoints") {
        for name in list.as_array().expect("a list") {
            assert!(
                names(entry_points).contains(name.as_str().unwrap()),
                "{name}"
            );
        }
    }
}

#[test]
fn envoy_finds_every_cluster_and_lets_no_request_in_when_portico_is_away() {
    let envoy = shipped("envoy/envoy.yaml");
    let resources = &envoy["static_resources"];
    let clusters: BTreeSet<&str> = resources["clusters"]
        .as_array()
        .expect("clusters")
        .iter()
        .map(|cluster| cluster["name"].as_str().unwrap())
        .collect();
    let named = values(&resources["listeners"], "cluster");
    assert!(named.len() >= 3, "{named:?}");
    for name in named {
        assert!(clusters.contains(name.as_str().unwrap()), "{name}");
    }
    let filters = values(&resources["listeners"], "http_filters");
    let filters: Vec<&str> = filters[0]
        .as_array()
        .expect("a list")
        .iter()
        .map(|filter| filter["name"].as_str().unwrap())
        .collect();
    let place = |name: &str| filters.iter().position(|filter| filter.ends_with(name));
    assert!(place("header_mutation") < place("ext_authz"), "{filters:?}");
    assert!(place("ext_authz") < place("router"), "{filters:?}");
    for fails_open in values(&envoy, "failure_mode_allow") {
        assert_eq!(fails_open, false);
    }
    assert_eq!(values(&envoy, "failure_mode_allow").len(), 1);
}
