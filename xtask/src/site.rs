//! The steps of `cargo xtask site`, in order.
use crate::{
    compress, modules, names, optimise, settings,
    steps::{Paths, files, run},
    wasm,
};
use anyhow::{Context, Result, ensure};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Builds everything that browsers load. A site that is being served is replaced at the very end
/// only, and stays when a step fails.
pub fn build(release: bool, out: Option<PathBuf>) -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .context("xtask is a folder of the workspace")?
        .to_path_buf();
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let out = out.unwrap_or_else(|| root.join(settings::SITE));
    let site = out.with_extension("new");
    let paths = Paths {
        front: target.join("front"),
        pkg: site.join(settings::PKG),
        node_bin: root.join("node_modules/.bin"),
        site,
        root,
    };
    ensure!(
        paths.node_bin.join("tailwindcss").exists(),
        "node_modules is missing: run `npm ci` first"
    );

    if paths.site.exists() {
        fs::remove_dir_all(&paths.site)?;
    }
    copy(&paths.root.join(settings::ASSETS), &paths.site)?;
    fs::create_dir_all(&paths.pkg)?;
    let modules = modules::bundle(&paths, release)?;
    let module = wasm::compile(&paths, release, modules)?;
    wasm::split(&paths, &module)?;
    wasm::bind(&paths, release)?;
    styles(&paths, release)?;
    if release {
        optimise::wasm_modules(&paths)?;
    }
    names::rename_all(&paths.site, &paths.pkg, modules::is_module)?;
    if release {
        minify_scripts(&paths)?;
        compress::site_files(&paths)?;
    }
    if out.exists() {
        fs::remove_dir_all(&out)?;
    }
    fs::rename(&paths.site, &out)?;
    Ok(())
}

fn styles(paths: &Paths, release: bool) -> Result<()> {
    let mut tailwind = Command::new(paths.node_bin.join("tailwindcss"));
    tailwind
        .current_dir(&paths.root)
        .args(["--input", settings::STYLES, "--output"])
        .arg(paths.pkg.join(settings::OUTPUT).with_extension("css"));
    if release {
        tailwind.arg("--minify");
    }
    run("tailwindcss", &mut tailwind)
}

/// Minifies the scripts that wasm-bindgen and the splitter have written.
fn minify_scripts(paths: &Paths) -> Result<()> {
    let scripts = files(&paths.pkg)?.into_iter().filter(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".js") && !modules::is_module(&name)
    });
    let mut esbuild = Command::new(paths.node_bin.join("esbuild"));
    esbuild.args(scripts).args([
        "--minify",
        "--format=esm",
        "--target=es2022",
        "--log-level=error",
        "--allow-overwrite",
    ]);
    esbuild.arg(format!("--outdir={}", paths.pkg.display()));
    run("scripts", &mut esbuild)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
