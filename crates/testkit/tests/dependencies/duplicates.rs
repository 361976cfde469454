//! One version of each package, but for those that the dependencies need in several.
use crate::graph::Graph;
use std::collections::BTreeMap;

/// Why packages are there in several versions.
struct Reason {
    text: &'static str,
    /// Each with the number of its versions.
    packages: &'static [(&'static str, usize)],
}

/// Before adding a package: `cargo tree --duplicates` shows what needs which version.
const DUPLICATES: &[Reason] = &[
    Reason {
        text: "digest 0.11 comes with tungstenite 0.30; signatures, HPKE and HMAC are on 0.10, ours too",
        packages: &[
            ("block-buffer", 2),
            ("const-oid", 2),
            ("cpufeatures", 2),
            ("crypto-common", 2),
            ("digest", 2),
            ("sha1", 2),
        ],
    },
    Reason {
        text: "rand 0.8 in jsonwebtoken, oauth2 and sqlx; 0.9 in ours; 0.10 in tungstenite and proptest",
        packages: &[
            ("chacha20", 2),
            ("getrandom", 3),
            ("rand", 3),
            ("rand_chacha", 2),
            ("rand_core", 3),
        ],
    },
    Reason {
        text: "axum 0.8 has 0.29 for its WebSockets; kube has 0.30, ours too",
        packages: &[("tokio-tungstenite", 2), ("tungstenite", 2)],
    },
    Reason {
        text: "figment has toml 0.8, leptos' configuration 1, ours 0.9; bolero has an old proc-macro-crate",
        packages: &[
            ("proc-macro-crate", 2),
            ("serde_spanned", 2),
            ("toml", 3),
            ("toml_datetime", 3),
            ("toml_edit", 2),
            ("winnow", 3),
        ],
    },
    Reason {
        text: "macros are between syn 2 and syn 3; they run in the compiler only",
        packages: &[
            ("prettyplease", 2),
            ("proc-macro2-diagnostics", 2),
            ("syn", 2),
            ("synstructure", 2),
        ],
    },
    Reason {
        text: "wasm-bindgen and the splitter of leptos read modules with versions of their own; xtask only",
        packages: &[("gimli", 2), ("wasm-encoder", 2), ("wasmparser", 2)],
    },
    Reason {
        text: "hash tables inside of sqlx, dashmap, governor, kube and both of indexmap; foldhash 0.2 is ours too; in no \
               interface",
        packages: &[("foldhash", 2), ("hashbrown", 5)],
    },
    Reason {
        text: "0.23 in kube, hyper-util and serde-saphyr; 0.22 in axum, leptos and jsonwebtoken, ours too; \
               openidconnect 4.0 has 0.21",
        packages: &[("base64", 3)],
    },
    Reason {
        text: "serde_with 3.12 names an old one that no feature of ours compiles",
        packages: &[("indexmap", 2)],
    },
    Reason {
        text: "jsonwebtoken has pem 3, rcgen and kube have 4",
        packages: &[("pem", 2)],
    },
    Reason {
        text: "postcard names both of embedded-io",
        packages: &[("embedded-io", 2)],
    },
    Reason {
        text: "oauth2 and gloo-net (of leptos) have thiserror 1",
        packages: &[("thiserror", 2), ("thiserror-impl", 2)],
    },
    Reason {
        text: "yasna (of rcgen) has 0.9, proptest 0.10",
        packages: &[("bit-vec", 2)],
    },
    Reason {
        text: "openidconnect 4.0 has 0.10, prometheus-parse 0.12, leptos 0.14",
        packages: &[("itertools", 3)],
    },
    Reason {
        text: "leptos' configuration has 0.6, its macros 0.11",
        packages: &[("convert_case", 2)],
    },
    Reason {
        text: "the parser of promql-parser has 0.1",
        packages: &[("unicode-width", 2)],
    },
    Reason {
        text: "reqwest 0.12 has 0.4, leptos 0.5; in the browser only",
        packages: &[("wasm-streams", 2)],
    },
    Reason {
        text: "0.26 (of sqlx) is 1.0 under its old name",
        packages: &[("webpki-roots", 2)],
    },
    Reason {
        text: "0.6 in leptos_axum 0.8 and reqwest (also 0.13), 0.7 in kube, ours too; see OLD_TOWER_HTTP",
        packages: &[("tower-http", 2)],
    },
];

/// What still needs tower-http 0.6. Ours must not be on two versions.
const OLD_TOWER_HTTP: [&str; 2] = ["leptos_axum", "reqwest"];

#[test]
fn each_package_has_one_version_but_for_a_reason() {
    let graph = Graph::load();
    let mut allowed = BTreeMap::new();
    for reason in DUPLICATES {
        for (package, count) in reason.packages {
            let before = allowed.insert(*package, (*count, reason.text));
            assert!(before.is_none(), "{package} is in the list twice");
        }
    }
    let mut faults = Vec::new();
    for (name, packages) in graph.versions() {
        let (count, reason) = allowed.remove(name).unwrap_or((1, "not in the list"));
        if packages.len() == count {
            continue;
        }
        let mut lines = vec![format!(
            "{name}: {} versions, not {count} ({reason})",
            packages.len()
        )];
        for (id, package) in packages {
            let needing: Vec<String> = graph
                .dependents(id)
                .map(|dependent| format!("{} {}", dependent.name, dependent.version))
                .collect();
            lines.push(format!("  {} for {}", package.version, needing.join(", ")));
        }
        faults.push(lines.join("\n"));
    }
    let gone = allowed.keys();
    faults.extend(gone.map(|name| format!("{name} is no dependency: remove it from the list")));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn ours_use_one_version_of_each_tower_package() {
    let graph = Graph::load();
    let versions = graph.versions();
    for name in ["tower", "tower-layer", "tower-service"] {
        assert_eq!(versions[name].len(), 1, "{name}");
    }
    let (ours, others): (Vec<_>, Vec<_>) = versions["tower-http"]
        .iter()
        .partition(|(id, _)| graph.dependents(id).any(|package| package.is_ours));
    assert_eq!(ours.len(), 1, "versions of tower-http in our packages");
    assert_eq!(others.len(), 1, "other versions of tower-http");
    let needing: Vec<&str> = others
        .iter()
        .flat_map(|(id, _)| graph.dependents(id))
        .map(|package| package.name.as_str())
        .collect();
    assert_eq!(needing, OLD_TOWER_HTTP);
}
