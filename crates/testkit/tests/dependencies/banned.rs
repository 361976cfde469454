//! Packages that must not be among the dependencies, on any system, or not among those of ours.
use crate::graph::{Graph, read_toml};

/// Banned in `Cargo.lock`: also as a dependency of a dependency.
const ANYWHERE: &[(&str, &str)] = &[
    ("openssl-sys", "TLS is rustls with ring"),
    ("native-tls", "TLS is rustls with ring"),
    (
        "aws-lc-sys",
        "rustls has one provider, ring; a second one makes its default ambiguous",
    ),
    ("tonic", "traces are sent over HTTP; gRPC is a second stack"),
    ("serde_yaml", "unmaintained: serde-saphyr or serde_norway"),
    (
        "rustls-pemfile",
        "unmaintained: rustls-pki-types reads PEM files",
    ),
    ("async-std", "unmaintained; the runtime is tokio"),
    ("atty", "unmaintained: std::io::IsTerminal"),
    (
        "instant",
        "unmaintained: std::time, or web-time in a browser",
    ),
];

/// Banned in the tables of our own packages.
const OF_OURS: &[(&str, &str)] = &[
    ("chrono", "times are jiff's"),
    ("time", "times are jiff's"),
    ("log", "events are those of tracing"),
    ("lazy_static", "std::sync::LazyLock"),
    ("once_cell", "std::sync::{LazyLock, OnceLock}"),
    ("num_cpus", "std::thread::available_parallelism"),
];

#[test]
fn no_banned_package_is_locked() {
    let lock = read_toml("Cargo.lock");
    let packages = lock["package"].as_array().unwrap();
    for (banned, reason) in ANYWHERE {
        let is_locked = packages
            .iter()
            .any(|package| package["name"].as_str() == Some(*banned));
        assert!(
            !is_locked,
            "{banned} is in Cargo.lock (cargo tree --invert {banned}): {reason}"
        );
    }
}

#[test]
fn no_package_of_ours_has_an_entry_for_a_banned_one() {
    for package in Graph::load_workspace().ours() {
        for entry in &package.entries {
            let banned = OF_OURS.iter().find(|(banned, _)| entry.package == *banned);
            assert!(banned.is_none(), "{}: {banned:?}", package.name);
        }
    }
}

#[test]
fn every_dependency_comes_from_the_registry() {
    let lock = read_toml("Cargo.lock");
    for package in lock["package"].as_array().unwrap() {
        let source = package.get("source").map(|source| source.as_str().unwrap());
        assert!(
            matches!(
                source,
                None | Some("registry+https://github.com/rust-lang/crates.io-index")
            ),
            "{} comes from {source:?}",
            package["name"]
        );
    }
}
