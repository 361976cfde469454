//! Snapshots belong to assertions that exist, and are short enough to be reviewed.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot continue has failed"
)]
use std::path::{Path, PathBuf};

const MAX_LINES: usize = 300;

fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Returns all snapshots of the repository.
fn snapshots() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["app", "bench", "crates", "gateway", "server", "xtask"] {
        let files = walkdir::WalkDir::new(repository().join(folder)).sort_by_file_name();
        let files = files.into_iter().map(|entry| entry.unwrap().into_path());
        found.extend(files.filter(|path| path.extension().is_some_and(|ending| ending == "snap")));
    }
    found
}

/// Returns whether a source has this name of a snapshot as a text, or a pattern that makes it, such as
/// `error_{status}`.
fn names(source: &str, name: &str) -> bool {
    source.split('"').any(|text| {
        let Some((before, rest)) = text.split_once('{') else {
            return text == name;
        };
        let after = rest.split_once('}').map_or("", |(_, after)| after);
        let is_plain = !(before.is_empty() && after.is_empty());
        is_plain && name.starts_with(before) && name.ends_with(after)
    })
}

#[test]
fn every_snapshot_belongs_to_an_assertion() {
    for path in snapshots() {
        let text = std::fs::read_to_string(&path).unwrap();
        let source = text.lines().find_map(|line| line.strip_prefix("source: "));
        let source = repository().join(
            source
                .expect("the source of the snapshot")
                .trim_matches('"'),
        );
        let source = std::fs::read_to_string(&source)
            .unwrap_or_else(|error| panic!("{}: {}: {error}", path.display(), source.display()));
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let name = stem.rsplit("__").next().unwrap();
        assert!(
            names(&source, name),
            "{}: no assertion of this name: delete it",
            path.display()
        );
    }
}

#[test]
fn every_snapshot_can_be_reviewed() {
    for path in snapshots() {
        let lines = std::fs::read_to_string(&path).unwrap().lines().count();
        assert!(
            lines <= MAX_LINES,
            "{}: {lines} lines: make several of it",
            path.display()
        );
    }
}

#[test]
fn a_name_is_found_as_a_text_and_as_a_pattern() {
    let source =
        r#"assert_ran!("list", ran); assert_ran!(format!("error_{status}"), ran); "{page}""#;
    assert!(names(source, "list") && names(source, "error_503"));
    assert!(!names(source, "wide_list") && !names(source, "page"));
}
