//! Files and folders that the documentation for developers names exist.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot continue has failed"
)]
use std::path::Path;

/// Top-level folders: a text in backticks that begins with one of them is a path of the repository.
const FOLDERS: [&str; 10] = [
    "app/",
    "bench/",
    "crates/",
    "deploy/",
    "docs/",
    "end2end/",
    "gateway/",
    "migrations/",
    "scripts/",
    "server/",
];

fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Returns the paths that a page names in backticks.
fn named_paths(page: &str) -> Vec<String> {
    let inside = page.split('`').skip(1).step_by(2);
    inside
        .filter(|text| FOLDERS.iter().any(|folder| text.starts_with(folder)))
        .filter(|text| !text.contains(['*', '{', '<', ' ', '\n']))
        .map(str::to_owned)
        .collect()
}

#[test]
fn files_that_the_documentation_names_exist() {
    for (page, at_least) in [
        ("docs/architecture.md", 20),
        ("docs/glossary.md", 20),
        ("CONTRIBUTING.md", 1),
    ] {
        let text = std::fs::read_to_string(repository().join(page)).unwrap();
        let paths = named_paths(&text);
        assert!(
            paths.len() >= at_least,
            "{page} names {} paths",
            paths.len()
        );
        for path in paths {
            assert!(repository().join(&path).exists(), "{page} names {path}");
        }
    }
}

#[test]
fn files_of_the_gateway_that_contributing_names_exist() {
    let text = std::fs::read_to_string(repository().join("CONTRIBUTING.md")).unwrap();
    let (_, section) = text.split_once("## Where to find it").expect("the section");
    let section = section.split("\n## ").next().unwrap();
    let mut found = 0;
    for path in section.split('`').skip(1).step_by(2) {
        let is_path = path.ends_with(".rs") || path.ends_with('/');
        if is_path && !FOLDERS.iter().any(|folder| path.starts_with(folder)) {
            assert!(
                repository().join("gateway/src").join(path).exists(),
                "{path}"
            );
            found += 1;
        }
    }
    assert!(found >= 5, "{found} files");
}
