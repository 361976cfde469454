//! Checks the panel's built browser files.
use crate::cli::doctor::context::Context;
use crate::cli::doctor::fault::Fault;
use crate::cli::doctor::finding::Finding;
use std::path::Path;

pub(super) fn check(context: &Context) -> Vec<Finding> {
    let Some(section) = context.panel() else {
        return Vec::new();
    };
    let name = section.site_root.display().to_string();
    let packages = section.site_root.join("pkg");
    let missing: Vec<&str> = ["wasm", "js", "css"]
        .into_iter()
        .filter(|extension| !holds(&packages, extension))
        .collect();
    if missing.is_empty() {
        return vec![Finding::ok("panel site", name)];
    }
    let seen = format!("{name}/pkg holds no {} file", missing.join(", "));
    vec![Finding::fault(Fault::PanelSiteMissing, "panel site", seen)]
}

fn holds(directory: &Path, extension: &str) -> bool {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return false;
    };
    entries.filter_map(Result::ok).any(|entry| {
        entry
            .path()
            .extension()
            .is_some_and(|found| found == extension)
    })
}
