//! Browser modules of other languages beside the panel's own script, each bundled into one file. Only
//! the pages that need one load it.
use crate::{
    names,
    steps::{Paths, run},
};
use anyhow::Result;
use std::process::Command;

struct Module {
    /// The bundle's name without hash and extension.
    name: &'static str,
    /// Where its source starts.
    entry: &'static str,
    /// The environment variable that holds the name of the built file while the panel is compiled.
    variable: &'static str,
}

const MODULES: [Module; 2] = [
    Module {
        name: "terminal",
        entry: "app/browser/terminal.js",
        variable: "PORTICO_TERMINAL_MODULE",
    },
    Module {
        name: "editor",
        entry: "app/browser/editor/main.js",
        variable: "PORTICO_EDITOR_MODULE",
    },
];

/// Bundles every module under a name with a hash. Returns the variables that tell the panel's build the
/// names.
pub fn bundle(paths: &Paths, release: bool) -> Result<Vec<(&'static str, String)>> {
    MODULES
        .iter()
        .map(|module| {
            esbuild(paths, module, release)?;
            let file = names::rename_one(&paths.pkg, module.name, "js")?;
            Ok((module.variable, file))
        })
        .collect()
}

/// Returns whether a file name is that of a bundled module.
pub fn is_module(name: &str) -> bool {
    MODULES.iter().any(|module| {
        name.strip_prefix(module.name)
            .is_some_and(|rest| rest.starts_with('.') && rest.ends_with(".js"))
    })
}

fn esbuild(paths: &Paths, module: &Module, release: bool) -> Result<()> {
    let bundle = paths.pkg.join(module.name).with_extension("js");
    let mut esbuild = Command::new(paths.node_bin.join("esbuild"));
    esbuild
        .current_dir(&paths.root)
        .args([module.entry, "--bundle", "--format=esm", "--target=es2022"])
        .args(["--legal-comments=none", "--log-level=warning"])
        .arg(format!("--outfile={}", bundle.display()));
    if release {
        esbuild.arg("--minify");
    }
    run(module.name, &mut esbuild)
}

#[cfg(test)]
mod tests {
    use super::is_module;

    #[test]
    fn modules_are_recognised_with_and_without_a_hash() {
        assert!(is_module("terminal.js"));
        assert!(is_module("editor.3f9a1c2b7d.js"));
        assert!(!is_module("editor_helpers.js"));
        assert!(!is_module("editor.wasm"));
        assert!(!is_module("app.js"));
    }
}
