//! Clippy reads a library only with its unit tests (`scripts/lib/lint-wrapper.sh`), so that all of its code has to be in that build,
//! with the same lints.
#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]
use std::path::Path;

/// Returns the attributes of a source that leave code out of the build with unit tests, or relax its lints there.
fn unread(source: &str) -> Vec<&str> {
    let lines = source.lines().map(str::trim_start);
    let attributes = lines.filter(|line| line.starts_with("#[cfg") || line.starts_with("#![cfg"));
    attributes
        .filter(|line| {
            line.contains("not(test)")
                || ["allow(", "expect("]
                    .iter()
                    .any(|lint| line.contains(&format!("cfg_attr(test, {lint}")))
        })
        .collect()
}

#[test]
fn clippy_reads_the_code_of_libraries_with_their_unit_tests() {
    let repository = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let mut faults = Vec::new();
    let mut read = 0;
    for folder in ["app", "bench", "crates", "gateway", "server", "xtask"] {
        for entry in walkdir::WalkDir::new(repository.join(folder)) {
            let path = entry.unwrap().into_path();
            if path.extension().is_none_or(|ending| ending != "rs") {
                continue;
            }
            read += 1;
            let source = std::fs::read_to_string(&path).unwrap();
            let found = unread(&source);
            faults.extend(
                found
                    .iter()
                    .map(|line| format!("{}: {line}", path.display())),
            );
        }
    }
    assert!(read > 500, "only {read} sources were found");
    assert!(
        faults.is_empty(),
        "Clippy does not read this code:\n{}",
        faults.join("\n")
    );
}

#[test]
fn attributes_that_hide_code_from_clippy_are_found() {
    let hidden =
        "#[cfg(not(test))]\nfn a() {}\n    #![cfg_attr(test, allow(clippy::unwrap_used))]\n";
    assert_eq!(unread(hidden).len(), 2);
    let read = "#[cfg(test)]\nmod tests;\n#[cfg_attr(test, derive(PartialEq))]\nstruct A;\n// #[cfg(not(test))]\n";
    assert!(unread(read).is_empty());
}
