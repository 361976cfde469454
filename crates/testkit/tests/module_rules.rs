//! Imports between the top-level modules of each package go one way. [`MAY_USE`] has the table for
//! the server; in every other package, no module may import itself through others.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on has failed"
)]
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use syn::visit::{self, Visit};

/// What each module of the server may import, besides other packages.
const MAY_USE: &[(&str, &[&str])] = &[
    ("kube", &[]),
    ("config", &[]),
    ("caller", &["kube"]),
    ("session_budgets", &["config"]),
    ("service", &["kube", "caller", "session_budgets"]),
    (
        "stream",
        &["kube", "config", "caller", "session_budgets", "service"],
    ),
    (
        "panel",
        &[
            "kube",
            "config",
            "caller",
            "session_budgets",
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
            "service",
            "stream",
            "panel",
        ],
    ),
];

/// Packages whose modules still import each other in circles.
const WITH_CYCLES: &[&str] = &["gateway"];

type Imports = BTreeMap<String, BTreeSet<String>>;

/// Collects the top-level modules of the crate that a file names.
struct Collector<'a> {
    /// The path of the module that is read, without `crate`.
    module: Vec<String>,
    /// The crate's top-level modules.
    known: &'a BTreeSet<String>,
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
        if let Some(first) = at.first().filter(|first| self.known.contains(*first)) {
            self.found.insert(first.clone());
        }
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
    let mut all = Imports::new();
    for (path, module) in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let file = syn::parse_file(&text).unwrap();
        let top = module[0].clone();
        let mut collector = Collector {
            module,
            known: &known,
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
        let cycle = cycle(&imports(&package));
        if WITH_CYCLES.contains(&package.as_str()) {
            assert!(
                cycle.is_some(),
                "{package} has no cycle any more: remove the exception"
            );
        } else {
            assert_eq!(cycle, None, "{package}");
        }
    }
}

#[test]
fn modules_of_the_server_import_only_what_the_table_allows() {
    let imports = imports("server");
    for (module, used) in &imports {
        let Some((_, may_use)) = MAY_USE.iter().find(|(name, _)| name == module) else {
            panic!("{module} has no line in the table of modules");
        };
        for used in used {
            assert!(
                may_use.contains(&used.as_str()),
                "{module} must not import {used}"
            );
        }
    }
    assert_eq!(imports.len(), MAY_USE.len(), "a module was removed");
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
