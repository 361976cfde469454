//! Imports between the top-level modules of each package go one way: [`SERVER`], [`GATEWAY`] and
//! [`STORE`] are the tables of three packages; in every other package, no module may import itself
//! through others.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot continue has failed"
)]
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use syn::visit::{self, Visit};

/// What each module of a package may import, besides other packages.
type Table = &'static [(&'static str, &'static [&'static str])];

const SERVER: Table = &[
    ("kube", &[]),
    ("config", &[]),
    ("caller", &["kube"]),
    ("session_budgets", &["config"]),
    ("shared_watch", &["kube"]),
    (
        "service",
        &[
            "kube",
            "config",
            "caller",
            "session_budgets",
            "shared_watch",
        ],
    ),
    (
        "stream",
        &[
            "kube",
            "caller",
            "session_budgets",
            "shared_watch",
            "service",
        ],
    ),
    (
        "panel",
        &[
            "kube",
            "config",
            "caller",
            "session_budgets",
            "shared_watch",
            "service",
            "stream",
        ],
    ),
    (
        "cli",
        &[
            "kube",
            "config",
            "caller",
            "session_budgets",
            "shared_watch",
            "service",
            "panel",
        ],
    ),
];

/// From what others build on to what builds on others. `http` has what handlers are made of;
/// `router`, `dispatch` and `tasks` connect handlers with requests and time.
const GATEWAY: Table = &[
    ("own_paths", &[]),
    ("metrics", &[]),
    ("config", &["own_paths"]),
    ("build_error", &["config"]),
    ("hosts", &["config", "own_paths"]),
    ("identity_providers", &["build_error", "config", "metrics"]),
    ("request_context", &["hosts", "metrics", "own_paths"]),
    ("audit", &["request_context"]),
    (
        "sessions",
        &[
            "audit",
            "config",
            "identity_providers",
            "metrics",
            "request_context",
        ],
    ),
    (
        "http",
        &[
            "hosts",
            "identity_providers",
            "metrics",
            "request_context",
            "sessions",
        ],
    ),
    ("pages", &["config", "http", "sessions"]),
    (
        "authentication",
        &["hosts", "http", "request_context", "sessions"],
    ),
    ("browser_state", &["http", "request_context"]),
    (
        "clusters",
        &[
            "audit",
            "build_error",
            "http",
            "request_context",
            "sessions",
        ],
    ),
    (
        "account",
        &[
            "audit",
            "authentication",
            "clusters",
            "hosts",
            "http",
            "identity_providers",
            "pages",
            "request_context",
            "sessions",
        ],
    ),
    (
        "apps",
        &[
            "audit",
            "authentication",
            "browser_state",
            "build_error",
            "client_api",
            "clusters",
            "config",
            "hosts",
            "http",
            "identity_providers",
            "metrics",
            "own_paths",
            "pages",
            "request_context",
            "sessions",
        ],
    ),
    (
        "client_api",
        &[
            "audit",
            "authentication",
            "clusters",
            "hosts",
            "http",
            "metrics",
            "pages",
            "request_context",
            "sessions",
        ],
    ),
    (
        "endpoints",
        &["authentication", "clusters", "http", "sessions"],
    ),
    (
        "sign_in",
        &[
            "audit",
            "authentication",
            "browser_state",
            "config",
            "hosts",
            "http",
            "identity_providers",
            "metrics",
            "pages",
            "request_context",
            "sessions",
        ],
    ),
    (
        "composition",
        &[
            "account",
            "apps",
            "audit",
            "authentication",
            "browser_state",
            "build_error",
            "client_api",
            "clusters",
            "config",
            "endpoints",
            "hosts",
            "http",
            "identity_providers",
            "metrics",
            "request_context",
            "sessions",
            "sign_in",
        ],
    ),
    (
        "dispatch",
        &[
            "apps",
            "composition",
            "hosts",
            "http",
            "metrics",
            "own_paths",
            "pages",
            "request_context",
        ],
    ),
    (
        "router",
        &[
            "account",
            "apps",
            "browser_state",
            "client_api",
            "composition",
            "dispatch",
            "endpoints",
            "http",
            "own_paths",
            "pages",
            "sign_in",
        ],
    ),
    ("tasks", &["composition", "metrics", "sessions"]),
];

/// Repositories (types and traits) know neither database; `sql` and `redis` implement them.
const STORE: Table = &[
    ("cause", &[]),
    ("error", &["cause"]),
    ("random", &["error"]),
    ("sealing", &["error", "random"]),
    ("sessions", &["error", "random", "sealing"]),
    ("access_tokens", &["error", "sessions"]),
    ("advice", &[]),
    ("row", &["error"]),
    ("audit", &["error", "row", "sealing"]),
    ("authorization_codes", &["error"]),
    ("browser_marks", &["sealing"]),
    ("browser_sessions", &["error"]),
    ("changes", &["error", "sessions"]),
    ("cluster_journal", &["error"]),
    ("cluster_protections", &["error"]),
    ("creation_attempts", &["error"]),
    ("database", &["advice", "error"]),
    ("device_codes", &["error", "random", "sealing"]),
    ("enrolled_clusters", &["error"]),
    ("handover", &["error"]),
    ("reach", &["cause"]),
    ("instrumented_pool", &["audit", "reach"]),
    ("pending_revocations", &[]),
    ("keystone_tokens", &["error", "pending_revocations"]),
    ("logout_marks", &["error", "sealing"]),
    ("namespace_candidates", &["error"]),
    ("provider_flows", &["error"]),
    ("provider_tokens", &["error", "sessions"]),
    ("saved_forms", &["error"]),
    ("session_credentials", &["error", "sealing"]),
    ("shared", &["audit", "sealing"]),
    ("sign_in_accounts", &["error", "sealing"]),
    ("sign_in_flows", &["error", "random"]),
    ("sweep", &["error", "sessions"]),
    ("throttle", &["error", "sealing"]),
    ("totp_marks", &["error", "sealing"]),
    (
        "redis",
        &[
            "access_tokens",
            "advice",
            "audit",
            "authorization_codes",
            "browser_sessions",
            "changes",
            "cluster_journal",
            "cluster_protections",
            "creation_attempts",
            "database",
            "device_codes",
            "enrolled_clusters",
            "error",
            "handover",
            "instrumented_pool",
            "keystone_tokens",
            "logout_marks",
            "namespace_candidates",
            "pending_revocations",
            "provider_flows",
            "provider_tokens",
            "random",
            "row",
            "saved_forms",
            "sealing",
            "session_credentials",
            "sessions",
            "shared",
            "sign_in_accounts",
            "sign_in_flows",
            "sweep",
            "throttle",
            "totp_marks",
        ],
    ),
    ("config", &["advice", "error", "redis"]),
    ("file_identity", &["cause", "error"]),
    (
        "sql",
        &[
            "access_tokens",
            "advice",
            "audit",
            "authorization_codes",
            "browser_sessions",
            "changes",
            "cluster_journal",
            "cluster_protections",
            "creation_attempts",
            "database",
            "device_codes",
            "enrolled_clusters",
            "error",
            "file_identity",
            "handover",
            "instrumented_pool",
            "keystone_tokens",
            "logout_marks",
            "namespace_candidates",
            "pending_revocations",
            "provider_flows",
            "provider_tokens",
            "random",
            "reach",
            "row",
            "saved_forms",
            "sealing",
            "session_credentials",
            "sessions",
            "shared",
            "sign_in_accounts",
            "sign_in_flows",
            "sweep",
            "throttle",
            "totp_marks",
        ],
    ),
    (
        "store",
        &[
            "access_tokens",
            "advice",
            "audit",
            "authorization_codes",
            "browser_marks",
            "browser_sessions",
            "changes",
            "cluster_journal",
            "cluster_protections",
            "creation_attempts",
            "database",
            "device_codes",
            "enrolled_clusters",
            "error",
            "handover",
            "keystone_tokens",
            "logout_marks",
            "namespace_candidates",
            "provider_flows",
            "provider_tokens",
            "redis",
            "saved_forms",
            "sealing",
            "session_credentials",
            "sessions",
            "shared",
            "sign_in_accounts",
            "sign_in_flows",
            "sql",
            "sweep",
            "throttle",
            "totp_marks",
        ],
    ),
];

type Imports = BTreeMap<String, BTreeSet<String>>;

/// Names that a crate's root imports, each with the top-level module that it comes from.
type RootNames = BTreeMap<String, String>;

/// Returns the names that the root of a crate (`lib.rs` or `main.rs`) imports from its modules, so
/// that `crate::Store` is seen as an import of the module `store`.
fn root_names(root: &syn::File, known: &BTreeSet<String>) -> RootNames {
    fn walk(module: Option<&str>, tree: &syn::UseTree, found: &mut Vec<(String, String)>) {
        let mut add = |name: &syn::Ident| {
            if let Some(module) = module {
                found.push((name.to_string(), module.to_owned()));
            }
        };
        match tree {
            syn::UseTree::Path(path) => {
                let segment = path.ident.to_string();
                let is_root = module.is_none() && (segment == "crate" || segment == "self");
                let module = module.or_else(|| (!is_root).then_some(segment.as_str()));
                walk(module, &path.tree, found);
            }
            syn::UseTree::Name(name) => add(&name.ident),
            syn::UseTree::Rename(name) => add(&name.rename),
            // its names are in another file
            syn::UseTree::Glob(_) => {
                found.extend(module.map(|module| ("*".to_owned(), module.to_owned())))
            }
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    walk(module, tree, found);
                }
            }
        }
    }
    let mut found = Vec::new();
    for item in &root.items {
        if let syn::Item::Use(item) = item
            && item.leading_colon.is_none()
            && !is_for_tests(&item.attrs)
        {
            walk(None, &item.tree, &mut found);
        }
    }
    found.retain(|(_, module)| known.contains(module));
    assert!(
        found.iter().all(|(name, _)| name != "*"),
        "the root of a crate must list the names that it imports from its modules"
    );
    found.into_iter().collect()
}

/// Collects the top-level modules of the crate that a file names.
struct Collector<'a> {
    /// The path of the module that is read, without `crate`.
    module: Vec<String>,
    /// The crate's top-level modules.
    known: &'a BTreeSet<String>,
    /// What [`root_names`] returns for the crate.
    root_names: &'a RootNames,
    found: BTreeSet<String>,
}

impl Collector<'_> {
    /// Records the module to which a path leads, if it is one of this crate.
    fn note(&mut self, segments: &[String]) {
        let mut at = match segments.first().map(String::as_str) {
            Some("crate") => Vec::new(),
            Some("self" | "super") => self.module.clone(),
            _ => return,
        };
        for segment in segments {
            match segment.as_str() {
                "crate" | "self" => {}
                "super" => {
                    at.pop();
                }
                name => at.push(name.to_owned()),
            }
        }
        let Some(first) = at.first() else { return };
        let module = if self.known.contains(first) {
            Some(first)
        } else {
            self.root_names.get(first)
        };
        self.found.extend(module.cloned());
    }

    fn note_tree(&mut self, prefix: &[String], tree: &syn::UseTree) {
        let with = |name: &syn::Ident| {
            let mut path = prefix.to_vec();
            path.push(name.to_string());
            path
        };
        match tree {
            syn::UseTree::Path(path) => self.note_tree(&with(&path.ident), &path.tree),
            syn::UseTree::Name(name) => self.note(&with(&name.ident)),
            syn::UseTree::Rename(name) => self.note(&with(&name.ident)),
            syn::UseTree::Glob(_) => self.note(prefix),
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.note_tree(prefix, tree);
                }
            }
        }
    }
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || (attribute.path().is_ident("cfg")
                && attribute
                    .parse_args::<syn::Ident>()
                    .is_ok_and(|condition| condition == "test"))
    })
}

impl<'ast> Visit<'ast> for Collector<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if is_for_tests(&item.attrs) || item.content.is_none() {
            return;
        }
        self.module.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if !is_for_tests(&item.attrs) {
            self.note_tree(&[], &item.tree);
        }
    }

    /// Paths in the arguments of a macro are not parsed: those that begin with `crate` are found in
    /// its text.
    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let text = call.tokens.to_string().replace(' ', "");
        for rest in text.split("crate::").skip(1) {
            let name = rest
                .split(|c: char| c != '_' && !c.is_alphanumeric())
                .next();
            let name = name.unwrap_or_default().to_owned();
            self.note(&["crate".to_owned(), name]);
        }
        visit::visit_macro(self, call);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments = path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string());
        self.note(&segments.collect::<Vec<_>>());
        visit::visit_path(self, path);
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The Rust files of a folder with their module paths; files of tests are left out.
fn files(source: &Path) -> Vec<(PathBuf, Vec<String>)> {
    let mut all = Vec::new();
    for entry in walkdir::WalkDir::new(source).sort_by_file_name() {
        let path = entry.unwrap().into_path();
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let relative = path.strip_prefix(source).unwrap().with_extension("");
        let mut module: Vec<String> = relative
            .iter()
            .map(|part| part.to_str().unwrap().to_owned())
            .collect();
        if module.last().is_some_and(|last| last == "mod") {
            module.pop();
        }
        let of_tests =
            |name: &String| name == "tests" || name == "fuzz" || name.ends_with("_tests");
        let is_root = matches!(module.first().map(String::as_str), Some("lib" | "main"));
        if !is_root && !module.iter().any(of_tests) {
            all.push((path, module));
        }
    }
    all
}

fn imports(package: &str) -> Imports {
    let source = root().join(package).join("src");
    let files = files(&source);
    let known: BTreeSet<String> = files.iter().map(|(_, module)| module[0].clone()).collect();
    let mut root_names = RootNames::new();
    for root in ["lib.rs", "main.rs"] {
        if let Ok(text) = std::fs::read_to_string(source.join(root)) {
            root_names.extend(self::root_names(&syn::parse_file(&text).unwrap(), &known));
        }
    }
    let mut all = Imports::new();
    for (path, module) in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let file = syn::parse_file(&text).unwrap();
        let top = module[0].clone();
        let mut collector = Collector {
            module,
            known: &known,
            root_names: &root_names,
            found: BTreeSet::new(),
        };
        collector.visit_file(&file);
        collector.found.remove(&top);
        all.entry(top).or_default().extend(collector.found);
    }
    all
}

/// Returns modules that import each other in a circle.
fn cycle(imports: &Imports) -> Option<Vec<String>> {
    fn walk(imports: &Imports, path: &mut Vec<String>, done: &mut BTreeSet<String>) -> bool {
        let at = path.last().unwrap().clone();
        if !done.insert(at.clone()) {
            return false;
        }
        for next in &imports[&at] {
            path.push(next.clone());
            let closes = path[..path.len() - 1].contains(next);
            if closes || walk(imports, path, done) {
                return true;
            }
            path.pop();
        }
        false
    }
    let mut done = BTreeSet::new();
    imports.keys().find_map(|start| {
        let mut path = vec![start.clone()];
        walk(imports, &mut path, &mut done).then(|| {
            let end = path.last().unwrap();
            let from = path.iter().position(|module| module == end).unwrap();
            path[from..].to_vec()
        })
    })
}

fn packages() -> Vec<String> {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let (_, members) = manifest.split_once("members = [").unwrap();
    let (members, _) = members.split_once(']').unwrap();
    let members = members.split(',').map(|text| text.trim().trim_matches('"'));
    members
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn no_modules_of_a_package_import_each_other_in_a_circle() {
    for package in packages() {
        assert_eq!(cycle(&imports(&package)), None, "{package}");
    }
}

#[test]
fn modules_import_only_what_the_table_of_their_package_allows() {
    let mut faults = Vec::new();
    for (package, table) in [
        ("server", SERVER),
        ("gateway", GATEWAY),
        ("crates/store", STORE),
    ] {
        let imports = imports(package);
        for (module, used) in &imports {
            let Some((_, may_use)) = table.iter().find(|(name, _)| name == module) else {
                faults.push(format!("{package}: {module} has no line in the table"));
                continue;
            };
            let forbidden = used.iter().filter(|used| !may_use.contains(&used.as_str()));
            faults.extend(
                forbidden.map(|used| format!("{package}: {module} must not import {used}")),
            );
            let unused = may_use.iter().filter(|allowed| !used.contains(**allowed));
            faults.extend(unused.map(|allowed| {
                format!("{package}: {module} does not import {allowed}: remove it from the table")
            }));
        }
        let gone = table
            .iter()
            .filter(|(name, _)| !imports.contains_key(*name));
        faults.extend(gone.map(|(name, _)| format!("{package}: {name} does not exist")));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_circle_is_found() {
    let of = |pairs: &[(&str, &[&str])]| -> Imports {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        pairs
            .iter()
            .map(|(name, used)| ((*name).to_owned(), owned(used)))
            .collect()
    };
    let line = of(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])]);
    assert_eq!(cycle(&line), None);
    let circle = of(&[("a", &["b"]), ("b", &["c"]), ("c", &["b"])]);
    let found = cycle(&circle).unwrap();
    assert_eq!(found.first(), found.last());
    assert!(found.contains(&"b".to_owned()) && found.contains(&"c".to_owned()));
}

#[test]
fn an_import_through_the_root_is_one_of_the_module() {
    let known = ["store", "sessions"].map(str::to_owned).into();
    let root = syn::parse_str(
        "pub use store::Store; pub use crate::sessions::{Session as Stored, live::Live}; \
         use ::store::Other; use http::Request; #[cfg(test)] use store::Fake;",
    );
    let names = root_names(&root.unwrap(), &known);
    let expected = [
        ("Live", "sessions"),
        ("Store", "store"),
        ("Stored", "sessions"),
    ];
    let expected = expected.map(|(name, module)| (name.to_owned(), module.to_owned()));
    assert_eq!(names, expected.into());
    let mut collector = Collector {
        module: vec!["audit".to_owned()],
        known: &known,
        root_names: &names,
        found: BTreeSet::new(),
    };
    let file = "use crate::{Store, Unknown}; fn f(_: super::Live) {}";
    collector.visit_file(&syn::parse_str(file).unwrap());
    assert_eq!(collector.found, known);
}
