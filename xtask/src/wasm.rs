//! The WebAssembly of the panel: compiled, split by groups of pages, bound to JavaScript.
use crate::{
    settings,
    steps::{Paths, done, run},
};
use anyhow::{Context, Result, anyhow, ensure};
use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};
use wasm_bindgen_cli_support::Bindgen;

/// The script that loads split modules. The name is the one that Leptos' macros import.
pub const LOADER: &str = "__wasm_split.______________________.js";
/// Which files a lazily loaded function needs; the server preloads them.
pub const MANIFEST: &str = "__wasm_split_manifest.json";

/// Compiles the panel. `modules` are environment variables with the file names of browser modules.
pub fn compile(
    paths: &Paths,
    release: bool,
    modules: Vec<(&'static str, String)>,
) -> Result<PathBuf> {
    let profile = if release {
        settings::RELEASE_PROFILE
    } else {
        settings::DEVELOPMENT_PROFILE
    };
    let mut cargo = Command::new(env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()));
    cargo
        .current_dir(&paths.root)
        // with an rlib beside the cdylib, cargo leaves out the optimisation at link time
        .args(["rustc", "--lib", "--crate-type=cdylib", "--locked"])
        .args(["--package", settings::PACKAGE])
        .args(["--features", settings::FEATURE])
        .args(["--target=wasm32-unknown-unknown", "--profile", profile])
        .arg("--target-dir")
        .arg(&paths.front)
        // the splitter moves functions; it reads from the relocations who calls them
        .args(["--", "-Clink-args=--emit-relocs"])
        .envs(modules)
        .env_remove("CARGO_MANIFEST_DIR");
    run("wasm", &mut cargo)?;
    Ok(paths
        .front
        .join("wasm32-unknown-unknown")
        .join(profile)
        .join("app.wasm"))
}

fn main_module(paths: &Paths) -> PathBuf {
    paths.front.join("split").join("app.wasm")
}

/// Splits the module: functions with `#[lazy]` and what only they use go to files of their own.
pub fn split(paths: &Paths, module: &Path) -> Result<()> {
    let start = Instant::now();
    let input = fs::read(module)?;
    let main = main_module(paths);
    fs::create_dir_all(main.parent().context("a folder of the front")?)?;
    let link_name = format!("./{LOADER}");
    let mut options = wasm_split_cli_support::Options::new(&input);
    options.output_dir = &paths.pkg;
    options.main_out_path = &main;
    options.main_module = "./app.js";
    options.link_name = &link_name;
    let split = wasm_split_cli_support::transform(options).map_err(|error| anyhow!("{error:?}"))?;
    // sorted: the same source yields the same files
    let manifest: BTreeMap<_, _> = split.prefetch_map.into_iter().collect();
    fs::write(
        paths.pkg.join(MANIFEST),
        serde_json::to_string_pretty(&manifest)?,
    )?;
    done("wasm-split", start);
    reload_when_missing(&paths.pkg.join(LOADER))
}

/// Makes a split module that is missing load the page anew: a tab that was opened before an upgrade
/// asks for files that no longer exist, and would otherwise stay on its page.
fn reload_when_missing(loader: &Path) -> Result<()> {
    const FAILED: &str = "success = false;";
    const CATCH: &str = "console.error(e);";
    let text = fs::read_to_string(loader)?;
    ensure!(
        text.matches(FAILED).count() == 1 && text.matches(CATCH).count() == 1,
        "the splitter's script has changed: see reload_when_missing"
    );
    let text = text.replace(
        FAILED,
        "if (startAnew()) await new Promise(() => {});\n            success = false;",
    );
    fs::write(loader, format!("{text}\n{START_ANEW}"))?;
    Ok(())
}

/// Goes to the link that was clicked last, if that was just now, or reloads the page; at most once in
/// 30 s.
const START_ANEW: &str = r#"let lastClick;
document.addEventListener("click", (event) => {
    const link = event.target instanceof Element && event.target.closest("a[href]");
    if (link) lastClick = { href: link.href, at: Date.now() };
}, true);
function startAnew() {
    const now = Date.now();
    try {
        const before = Number(sessionStorage.getItem("portico-started-anew"));
        if (now - before < 30000) return false;
        sessionStorage.setItem("portico-started-anew", String(now));
    } catch {
        return false;
    }
    if (lastClick && now - lastClick.at < 10000) location.assign(lastClick.href);
    else location.reload();
    return true;
}
"#;

/// Binds the main module to JavaScript. The others take what they need from the main module.
pub fn bind(paths: &Paths, release: bool) -> Result<()> {
    let start = Instant::now();
    Bindgen::new()
        .input_path(main_module(paths))
        .web(true)?
        .out_name(settings::OUTPUT)
        .typescript(false)
        .demangle(false)
        .keep_lld_exports(true)
        .remove_producers_section(release)
        .remove_name_section(release)
        .generate(&paths.pkg)?;
    done("wasm-bindgen", start);
    Ok(())
}
