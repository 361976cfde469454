//! Every entry of a table of dependencies is named in the sources that it is for.
use crate::{
    graph::{Graph, Section, read_toml},
    named::{Named, named_in},
};
use std::collections::BTreeSet;

/// Entries that no source has to name, with the reason: package and dependency.
const NEEDED_WITHOUT_A_NAME: &[(&str, &str, &str)] = &[];

#[test]
fn every_dependency_is_named_in_the_sources() {
    let graph = Graph::load();
    let versions = graph.versions();
    let mut faults = Vec::new();
    let mut unnamed = BTreeSet::new();
    for package in graph.ours() {
        let folder = |name: &str| named_in(&package.directory.join(name));
        let Named { product, mut all } = folder("src");
        for name in ["tests", "benches", "examples"] {
            all.extend(folder(name).all);
        }
        let build = folder("build.rs").product;
        for entry in &package.entries {
            let library = versions
                .get(entry.package.as_str())
                .and_then(|packages| packages.iter().find_map(|(_, found)| found.library.clone()));
            let name = entry
                .rename
                .clone()
                .or(library)
                .unwrap_or_else(|| entry.package.clone())
                .replace('-', "_");
            let sources = match entry.section {
                Section::Dependencies => &product,
                Section::DevDependencies => &all,
                Section::BuildDependencies => &build,
            };
            if sources.contains(&name) {
                continue;
            }
            unnamed.insert((package.name.as_str(), entry.package.as_str()));
            let step = if entry.section == Section::Dependencies && all.contains(&name) {
                "only tests name it: move it to [dev-dependencies]"
            } else {
                "nothing names it: remove it"
            };
            faults.push((package.name.as_str(), entry.package.as_str(), step));
        }
    }
    let is_needed = |package: &str, dependency: &str| {
        NEEDED_WITHOUT_A_NAME
            .iter()
            .any(|(needing, needed, _)| *needing == package && *needed == dependency)
    };
    faults.retain(|(package, dependency, _)| !is_needed(package, dependency));
    assert!(faults.is_empty(), "{faults:#?}");
    for (package, dependency, _) in NEEDED_WITHOUT_A_NAME {
        assert!(
            unnamed.contains(&(*package, *dependency)),
            "{package} names {dependency}, or has no entry for it: remove it from the list"
        );
    }
}

#[test]
fn every_entry_of_the_workspace_is_used_by_a_package() {
    let graph = Graph::load_workspace();
    let used: BTreeSet<&str> = graph
        .ours()
        .flat_map(|package| &package.entries)
        .map(|entry| entry.rename.as_ref().unwrap_or(&entry.package).as_str())
        .collect();
    let workspace = read_toml("Cargo.toml");
    for name in workspace["workspace"]["dependencies"]
        .as_table()
        .unwrap()
        .keys()
    {
        assert!(
            used.contains(name.as_str()),
            "{name}: no package uses this entry of [workspace.dependencies]: remove it"
        );
    }
}
