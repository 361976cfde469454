//! The packages that are built, and how they depend on each other.
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::Command,
};

/// What is built: the programs, and the browser half. Dependencies of other systems only are left out.
const TARGETS: [&str; 2] = ["host-tuple", "wasm32-unknown-unknown"];

/// Kinds of targets that other packages can name.
const LIBRARIES: [&str; 5] = ["lib", "rlib", "dylib", "cdylib", "proc-macro"];

pub struct Package {
    pub name: String,
    pub version: String,
    pub licence: Option<String>,
    /// In this workspace.
    pub is_ours: bool,
    pub directory: PathBuf,
    /// The name of its library in sources.
    pub library: Option<String>,
    pub entries: Vec<Entry>,
}

/// An entry of a table of dependencies.
pub struct Entry {
    pub package: String,
    pub rename: Option<String>,
    pub section: Section,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    Dependencies,
    DevDependencies,
    BuildDependencies,
}

#[derive(Default)]
pub struct Graph {
    /// By their IDs.
    pub packages: BTreeMap<String, Package>,
    /// The IDs of the packages that depend on a package, by its ID.
    dependents: BTreeMap<String, BTreeSet<String>>,
}

impl Graph {
    pub fn load() -> Self {
        let mut graph = Self::default();
        for target in TARGETS {
            let metadata = metadata(&["--filter-platform", target]);
            graph.add_packages(&metadata);
            graph.add_dependents(&metadata);
        }
        graph
    }

    /// The packages of the workspace only, which takes a tenth of the time.
    pub fn load_workspace() -> Self {
        let mut graph = Self::default();
        graph.add_packages(&metadata(&["--no-deps"]));
        graph
    }

    fn add_packages(&mut self, metadata: &Value) {
        for value in metadata["packages"].as_array().unwrap() {
            self.packages.insert(text(&value["id"]), package(value));
        }
    }

    fn add_dependents(&mut self, metadata: &Value) {
        for node in metadata["resolve"]["nodes"].as_array().unwrap() {
            for dependency in node["deps"].as_array().unwrap() {
                let dependents = self.dependents.entry(text(&dependency["pkg"])).or_default();
                dependents.insert(text(&node["id"]));
            }
        }
    }

    pub fn ours(&self) -> impl Iterator<Item = &Package> {
        self.packages.values().filter(|package| package.is_ours)
    }

    /// Returns the packages of each name, with their IDs: several if there are several versions.
    pub fn versions(&self) -> BTreeMap<&str, Vec<(&str, &Package)>> {
        let mut versions = BTreeMap::<&str, Vec<(&str, &Package)>>::new();
        for (id, package) in &self.packages {
            versions
                .entry(package.name.as_str())
                .or_default()
                .push((id.as_str(), package));
        }
        versions
    }

    /// Returns the packages that depend on a package.
    pub fn dependents(&self, id: &str) -> impl Iterator<Item = &Package> {
        let ids = self.dependents.get(id).into_iter().flatten();
        ids.map(|id| &self.packages[id])
    }
}

fn metadata(arguments: &[&str]) -> Value {
    let output = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()))
        .args(["metadata", "--format-version=1", "--locked"])
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

fn package(value: &Value) -> Package {
    let manifest = PathBuf::from(text(&value["manifest_path"]));
    let targets = value["targets"].as_array().unwrap();
    let library = targets.iter().find(|target| {
        let kinds = target["kind"].as_array().unwrap();
        kinds
            .iter()
            .any(|kind| LIBRARIES.contains(&kind.as_str().unwrap()))
    });
    let entries = value["dependencies"].as_array().unwrap();
    Package {
        name: text(&value["name"]),
        version: text(&value["version"]),
        licence: value["license"].as_str().map(str::to_owned),
        is_ours: value["source"].is_null(),
        directory: manifest.parent().unwrap().to_owned(),
        library: library.map(|library| text(&library["name"]).replace('-', "_")),
        entries: entries.iter().map(entry).collect(),
    }
}

fn entry(value: &Value) -> Entry {
    Entry {
        package: text(&value["name"]),
        rename: value["rename"].as_str().map(str::to_owned),
        section: match value["kind"].as_str() {
            None => Section::Dependencies,
            Some("dev") => Section::DevDependencies,
            Some("build") => Section::BuildDependencies,
            Some(other) => panic!("an unknown kind of dependency: {other}"),
        },
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// Reads a TOML file of the workspace's root.
pub fn read_toml(name: &str) -> toml::Table {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(name);
    toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}
