//! File names with a hash of the content, so that browsers can keep the files for ever.
//!
//! `hash.txt` beside the files tells the server the hashes, in the format of cargo-leptos
//! (`leptos::config::LeptosOptions::hash_file`).
use crate::{
    settings,
    steps::{files, hex},
    wasm,
};
use anyhow::{Context, Result, ensure};
use sha2::{Digest as _, Sha256};
use std::{fs, path::Path};

/// Digits of a hash in a name.
const DIGITS: usize = 10;

fn hash_of(files: &[impl AsRef<Path>]) -> Result<String> {
    let mut hash = Sha256::new();
    for file in files {
        hash.update(fs::read(file)?);
    }
    let mut digits = hex(&hash.finalize());
    digits.truncate(DIGITS);
    Ok(digits)
}

/// Renames `name.extension`; returns the new name.
pub fn rename_one(folder: &Path, name: &str, extension: &str) -> Result<String> {
    let file = folder.join(format!("{name}.{extension}"));
    let new = format!("{name}.{}.{extension}", hash_of(&[&file])?);
    fs::rename(file, folder.join(&new))?;
    Ok(new)
}

/// Renames the styles, and the scripts and modules of the panel. Scripts and modules name each
/// other, so they share one hash over all of them.
pub fn rename_all(site: &Path, pkg: &Path, is_module: fn(&str) -> bool) -> Result<()> {
    let styles = rename_one(pkg, settings::OUTPUT, "css")?;
    let parts: Vec<_> = files(pkg)?
        .into_iter()
        .filter(|file| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            name != styles && !is_module(&name)
        })
        .collect();
    let hash = hash_of(&parts)?;
    let chunks: Vec<String> = parts
        .iter()
        .filter_map(|file| {
            let name = file.file_name()?.to_str()?;
            let stem = name.strip_suffix(".wasm")?;
            (stem != "app_bg").then(|| stem.to_owned())
        })
        .collect();
    for stem in &chunks {
        fs::rename(
            pkg.join(format!("{stem}.wasm")),
            pkg.join(format!("{stem}.{hash}.wasm")),
        )?;
    }
    let script = fs::read_to_string(pkg.join("app.js"))?;
    let loader = format!("__wasm_split.{hash}.js");
    // the module itself still imports it under its first name
    let import = format!("from \"./{}\"", wasm::LOADER);
    ensure!(
        script.contains(&import),
        "app.js does not import the loader"
    );
    fs::write(
        pkg.join(format!("app.{hash}.js")),
        script.replace(&import, &format!("from \"./{loader}\"")),
    )?;
    fs::remove_file(pkg.join("app.js"))?;
    fs::rename(
        pkg.join("app_bg.wasm"),
        pkg.join(format!("app.{hash}.wasm")),
    )?;

    let old_loader = pkg.join(wasm::LOADER);
    let mut text = fs::read_to_string(&old_loader)?;
    ensure!(
        text.contains("\"./app.js\""),
        "the loader does not import app.js"
    );
    text = text.replace("\"./app.js\"", &format!("\"./app.{hash}.js\""));
    for stem in &chunks {
        text = text.replace(
            &format!("\"./{stem}.wasm\""),
            &format!("\"./{stem}.{hash}.wasm\""),
        );
    }
    fs::write(pkg.join(loader), text)?;
    fs::remove_file(old_loader)?;

    let old_manifest = pkg.join(wasm::MANIFEST);
    let manifest: serde_json::Value = serde_json::from_str(&fs::read_to_string(&old_manifest)?)?;
    let manifest = with_hash(manifest, &hash).context("the manifest is not a map of lists")?;
    fs::write(
        pkg.join(format!("__wasm_split_manifest.{hash}.json")),
        serde_json::to_string_pretty(&manifest)?,
    )?;
    fs::remove_file(old_manifest)?;

    let css = styles.split('.').nth(1).unwrap_or_default();
    fs::write(
        site.join("hash.txt"),
        format!("js: {hash}\nwasm: {hash}\ncss: {css}\nsplit: {hash}\nmanifest: {hash}\n"),
    )?;
    Ok(())
}

fn with_hash(mut manifest: serde_json::Value, hash: &str) -> Option<serde_json::Value> {
    for files in manifest.as_object_mut()?.values_mut() {
        for file in files.as_array_mut()? {
            *file = format!("{}.{hash}", file.as_str()?).into();
        }
    }
    Some(manifest)
}
