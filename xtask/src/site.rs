//! The steps of `cargo xtask site`, in order.
use crate::compress;
use anyhow::{Context, Result, ensure};
use sha2::{Digest as _, Sha256};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};
use wasm_bindgen_cli_support::Bindgen;

/// What browsers have understood for years. `--all-features` would also turn on encodings that
/// they do not read yet.
const WASM_FEATURES: [&str; 6] = [
    "bulk-memory",
    "mutable-globals",
    "multivalue",
    "nontrapping-float-to-int",
    "reference-types",
    "sign-ext",
];

struct Paths {
    root: PathBuf,
    /// Cargo's output for the browser: a directory of its own, so that it neither waits for the
    /// server's build nor mixes features with it.
    front: PathBuf,
    site: PathBuf,
    pkg: PathBuf,
    node_bin: PathBuf,
}

/// Builds everything that browsers load. A site that is being served is replaced at the very end
/// only, and stays when a step fails.
pub fn build(release: bool, out: Option<PathBuf>) -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .context("xtask stands in the workspace")?
        .to_path_buf();
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let out = out.unwrap_or_else(|| root.join("target/site"));
    let site = out.with_extension("new");
    let paths = Paths {
        front: target.join("front"),
        pkg: site.join("pkg"),
        node_bin: root.join("node_modules/.bin"),
        site,
        root,
    };
    ensure!(
        paths.node_bin.join("tailwindcss").exists(),
        "node_modules is missing: run `npm ci` first"
    );

    let wasm = compile(&paths, release)?;
    if paths.site.exists() {
        fs::remove_dir_all(&paths.site)?;
    }
    copy(&paths.root.join("public"), &paths.site)?;
    fs::create_dir_all(&paths.pkg)?;
    bind(&paths, &wasm, release)?;
    styles(&paths, release)?;
    terminal(&paths, release)?;
    if release {
        optimise(&paths)?;
        shrink(&paths)?;
    }
    if out.exists() {
        fs::remove_dir_all(&out)?;
    }
    fs::rename(&paths.site, &out)?;
    Ok(())
}

fn compile(paths: &Paths, release: bool) -> Result<PathBuf> {
    let profile = if release { "wasm-release" } else { "wasm-dev" };
    let mut cargo = Command::new(env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()));
    cargo
        .current_dir(&paths.root)
        .args([
            "build",
            "--package=app",
            "--lib",
            "--features=hydrate",
            "--locked",
        ])
        .args(["--target=wasm32-unknown-unknown", "--profile", profile])
        .arg("--target-dir")
        .arg(&paths.front)
        .env_remove("CARGO_MANIFEST_DIR");
    run("wasm", &mut cargo)?;
    Ok(paths
        .front
        .join("wasm32-unknown-unknown")
        .join(profile)
        .join("app.wasm"))
}

fn bind(paths: &Paths, wasm: &Path, release: bool) -> Result<()> {
    let start = Instant::now();
    Bindgen::new()
        .input_path(wasm)
        .web(true)?
        .typescript(false)
        .remove_producers_section(release)
        .remove_name_section(release)
        .generate(&paths.pkg)?;
    done("wasm-bindgen", start);
    Ok(())
}

fn styles(paths: &Paths, release: bool) -> Result<()> {
    let mut tailwind = Command::new(paths.node_bin.join("tailwindcss"));
    tailwind
        .current_dir(&paths.root)
        .args(["--input", "style/main.css", "--output"])
        .arg(paths.pkg.join("app.css"));
    if release {
        tailwind.arg("--minify");
    }
    run("tailwindcss", &mut tailwind)
}

/// The terminal tab's module with xterm.js; no other page loads it.
fn terminal(paths: &Paths, release: bool) -> Result<()> {
    let mut esbuild = Command::new(paths.node_bin.join("esbuild"));
    esbuild
        .current_dir(&paths.root)
        .args([
            "app/browser/terminal.js",
            "--bundle",
            "--format=esm",
            "--target=es2022",
        ])
        .args(["--legal-comments=none", "--log-level=warning"])
        .arg(format!(
            "--outfile={}",
            paths.pkg.join("terminal.js").display()
        ));
    if release {
        esbuild.arg("--minify");
    }
    run("esbuild", &mut esbuild)
}

fn optimise(paths: &Paths) -> Result<()> {
    let wasm = paths.pkg.join("app_bg.wasm");
    let options: Vec<String> = std::iter::once("-Oz".to_owned())
        .chain(WASM_FEATURES.map(|feature| format!("--enable-{feature}")))
        .collect();
    // by far the slowest step, and mostly for a module that was optimised before
    let kept = paths.front.join("optimised");
    let of = digest(&fs::read(&wasm)?, &options);
    let (known, known_of) = (kept.join("app_bg.wasm"), kept.join("of"));
    if fs::read_to_string(&known_of).is_ok_and(|text| text == of) && known.exists() {
        fs::copy(&known, &wasm)?;
        eprintln!("wasm-opt: as before");
    } else {
        let mut wasm_opt = Command::new(paths.node_bin.join("wasm-opt"));
        wasm_opt.args(&options).arg(&wasm).arg("-o").arg(&wasm);
        run("wasm-opt", &mut wasm_opt)?;
        fs::create_dir_all(&kept)?;
        // without it until the module is whole: an interrupted copy counts for nothing
        let _ = fs::remove_file(&known_of);
        fs::copy(&wasm, &known)?;
        fs::write(&known_of, of)?;
    }

    let script = paths.pkg.join("app.js");
    let mut esbuild = Command::new(paths.node_bin.join("esbuild"));
    esbuild
        .arg(&script)
        .args([
            "--minify",
            "--format=esm",
            "--target=es2022",
            "--log-level=error",
            "--allow-overwrite",
        ])
        .arg(format!("--outfile={}", script.display()));
    run("app.js", &mut esbuild)
}

/// What an optimised module was made from, and how.
fn digest(module: &[u8], options: &[String]) -> String {
    let mut hash = Sha256::new();
    hash.update(options.join(" "));
    hash.update(module);
    hash.finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn shrink(paths: &Paths) -> Result<()> {
    let start = Instant::now();
    let mut files: Vec<PathBuf> = fs::read_dir(&paths.pkg)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    files.sort();
    for file in files.iter().filter(|file| file.is_file()) {
        let raw = file.metadata()?.len();
        let brotli = compress::beside(file)?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        eprintln!("  {name}: {raw} B, brotli {brotli} B");
    }
    done("compression", start);
    Ok(())
}

fn run(what: &str, command: &mut Command) -> Result<()> {
    let start = Instant::now();
    let status = command.status().with_context(|| format!("start {what}"))?;
    ensure!(status.success(), "{what} failed: {status}");
    done(what, start);
    Ok(())
}

fn done(what: &str, start: Instant) {
    eprintln!("{what}: {:.1} s", start.elapsed().as_secs_f32());
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
