//! Imports go one way: the table below is the one in `docs/architecture.md`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot continue has failed"
)]
use std::{collections::BTreeMap, process::Command};

/// What each package of ours may depend on, of ours.
const MAY_USE: &[(&str, &[&str])] = &[
    ("portico-domain", &[]),
    ("portico-cache", &[]),
    ("portico-clock", &[]),
    ("portico-lifecycle", &[]),
    ("portico-runtime", &[]),
    ("portico-transport", &[]),
    ("portico-assertion", &["portico-domain"]),
    (
        "portico-openstack",
        &["portico-clock", "portico-domain", "portico-transport"],
    ),
    ("portico-oidc", &["portico-clock"]),
    ("portico-store", &["portico-domain", "portico-transport"]),
    ("app", &["portico-domain"]),
    (
        "portico-kube-auth",
        &[
            "portico-clock",
            "portico-domain",
            "portico-assertion",
            "portico-openstack",
            "portico-runtime",
        ],
    ),
    (
        "gateway",
        &[
            "portico-clock",
            "portico-access-policy",
            "portico-proxy",
            "portico-request",
            "portico-domain",
            "portico-assertion",
            "portico-oidc",
            "portico-openstack",
            "portico-store",
            "portico-runtime",
        ],
    ),
    (
        "server",
        &[
            "portico-cache",
            "portico-clock",
            "app",
            "gateway",
            "portico-domain",
            "portico-assertion",
            "portico-openstack",
            "portico-store",
            "portico-runtime",
            "portico-kube-auth",
            "portico-transport",
            "portico-cli",
            "portico-cluster-operations",
            "portico-cluster-sync",
            "portico-access-policy",
            "portico-lifecycle",
        ],
    ),
    (
        "portico-cli",
        &[
            "portico-clock",
            "portico-domain",
            "portico-assertion",
            "portico-cluster-operations",
            "portico-lifecycle",
            "portico-openstack",
            "portico-runtime",
        ],
    ),
    (
        "portico-cluster-operations",
        &["portico-lifecycle", "portico-openstack"],
    ),
    (
        "portico-cluster-sync",
        &["portico-domain", "portico-openstack", "portico-runtime"],
    ),
    ("portico-request", &["portico-runtime"]),
    ("portico-proxy", &["portico-request", "portico-runtime"]),
    (
        "portico-access-policy",
        &["portico-domain", "portico-request"],
    ),
    ("portico-testkit", &[]),
    (
        "portico-test-support",
        &[
            "portico-clock",
            "gateway",
            "portico-assertion",
            "portico-domain",
            "portico-kube-auth",
            "portico-oidc",
            "portico-openstack",
            "portico-runtime",
            "portico-store",
            "portico-testkit",
        ],
    ),
    (
        "portico-bench",
        &[
            "portico-clock",
            "portico-assertion",
            "portico-openstack",
            "portico-runtime",
            "portico-testkit",
        ],
    ),
    ("xtask", &[]),
];

/// Libraries that only some packages may name.
const ONLY_IN: &[(&str, &[&str])] = &[
    ("redis", &["portico-store"]),
    // elsewhere each cache would have its own copy of the code (ADR 0032)
    ("moka", &["portico-cache", "portico-kube-auth", "gateway"]),
    // one package speaks OpenID Connect, with one verifier
    ("openidconnect", &["portico-oidc"]),
    // tests tamper with rows
    ("sqlx", &["portico-store", "portico-test-support"]),
    // the state of browsers; sessions that grant access are our own (ADR 0027)
    ("tower-sessions", &["gateway"]),
    ("kube", &["server", "portico-cluster-sync"]),
    ("k8s-openapi", &["server", "portico-cluster-sync"]),
    (
        "reqwest",
        // portico-runtime sends traces with it
        &[
            "portico-oidc",
            "portico-openstack",
            "portico-runtime",
            "portico-cli",
            "server",
            "portico-testkit",
        ],
    ),
    ("leptos_axum", &["app", "server"]),
    ("leptos", &["app", "server"]),
];

fn dependencies() -> BTreeMap<String, Vec<String>> {
    let output = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()))
        .args([
            "metadata",
            "--format-version=1",
            "--no-deps",
            "--locked",
            "--offline",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    packages
        .iter()
        .map(|package| {
            let names = package["dependencies"]
                .as_array()
                .unwrap()
                .iter()
                // tests may start whatever they need
                .filter(|dependency| dependency["kind"] != "dev")
                .map(|dependency| dependency["name"].as_str().unwrap().to_owned())
                .collect();
            (package["name"].as_str().unwrap().to_owned(), names)
        })
        .collect()
}

#[test]
fn every_package_uses_only_what_its_layer_may() {
    let dependencies = dependencies();
    let ours: Vec<&String> = dependencies.keys().collect();
    for (package, names) in &dependencies {
        let Some((_, may_use)) = MAY_USE.iter().find(|(name, _)| name == package) else {
            panic!("{package} has no line in the table of imports");
        };
        for name in names.iter().filter(|name| ours.contains(name)) {
            assert!(
                may_use.contains(&name.as_str()),
                "{package} must not use {name}"
            );
        }
    }
    assert_eq!(
        dependencies.len(),
        MAY_USE.len(),
        "a package was left out or removed"
    );
}

#[test]
fn libraries_with_reach_are_named_only_where_they_belong() {
    for (package, names) in &dependencies() {
        for (library, owners) in ONLY_IN {
            if names.iter().any(|name| name == library) {
                assert!(
                    owners.contains(&package.as_str()),
                    "{package} must not use {library}"
                );
            }
        }
    }
}
