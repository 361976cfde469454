//! Makes WebAssembly modules smaller with Binaryen.
use crate::steps::{Paths, done, files, hex, in_parallel, largest_first};
use anyhow::{Context, Result, ensure};
use sha2::{Digest as _, Sha256};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

/// The program, in Debian's package `binaryen`. The package of npm is WebAssembly itself and takes twice as long.
const PROGRAM: &str = "wasm-opt";
/// What browsers have understood for years; `--all-features` would also turn on encodings that they do not read yet. The two
/// sections that are left out, which browsers skip, are a third of a small module that many pages load. One round: a second
/// takes half as long again and saves less than 0.1 % of what browsers load.
const ARGUMENTS: [&str; 9] = [
    "-Oz",
    "--enable-bulk-memory",
    "--enable-mutable-globals",
    "--enable-multivalue",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-sign-ext",
    "--strip-target-features",
    "--strip-producers",
];

/// Checks that the program is installed, before minutes of compiling.
pub fn check_program() -> Result<()> {
    version().map(drop)
}

/// Makes every module of the panel smaller. Results are kept: a change of one page leaves most modules as they were.
pub fn wasm_modules(paths: &Paths) -> Result<()> {
    let start = Instant::now();
    let how = [version()?, ARGUMENTS.join(" ").into_bytes()].concat();
    let cache = paths.front.join("optimised");
    fs::create_dir_all(&cache)?;
    let mut results: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    for module in files(&paths.pkg)? {
        if module.extension().is_some_and(|found| found == "wasm") {
            let result = cache.join(digest(&how, &fs::read(&module)?));
            results.insert(module, result);
        }
    }

    // by result: equal modules are optimised once
    let modules: BTreeMap<&PathBuf, &PathBuf> = results
        .iter()
        .filter(|(_, result)| !result.exists())
        .map(|(module, result)| (result, module))
        .collect();
    let missing = largest_first(modules.into_values().cloned().collect())?;
    in_parallel(&missing, |module| optimise(module, &results[module]))?;

    for (module, result) in &results {
        fs::copy(result, module)?;
    }
    let used: BTreeSet<&PathBuf> = results.values().collect();
    for old in files(&cache)? {
        if !used.contains(&old) {
            fs::remove_file(old)?;
        }
    }
    done(PROGRAM, start);
    Ok(())
}

/// Returns what the program says of its version.
fn version() -> Result<Vec<u8>> {
    let output = Command::new(PROGRAM).arg("--version").output();
    let output = output.context("start wasm-opt: install the package binaryen")?;
    ensure!(
        output.status.success(),
        "{PROGRAM} --version failed: {}",
        output.status
    );
    Ok(output.stdout)
}

/// Writes the result whole or not at all.
fn optimise(module: &Path, result: &Path) -> Result<()> {
    let unfinished = result.with_extension("new");
    let mut command = Command::new(PROGRAM);
    // one thread each: there are as many programs as processors
    command.env("BINARYEN_CORES", "1").args(ARGUMENTS);
    // it warns of names of the linker that it does not know, and then leaves all names out
    let output = command.arg(module).arg("-o").arg(&unfinished).output();
    let output = output.with_context(|| format!("start {PROGRAM}"))?;
    ensure!(
        output.status.success(),
        "{PROGRAM} failed for {}: {}\n{}",
        module.display(),
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(fs::rename(&unfinished, result)?)
}

/// Returns what identifies the result of a module: the module, and how it is optimised.
fn digest(how: &[u8], module: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update(Sha256::digest(how));
    hash.update(module);
    hex(&hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::{digest, optimise, version};
    use std::{fs, path::Path, process::Command};

    /// `(func (export "two") (result i32) i32.const 1 i32.const 1 i32.add)`, and a section `producers` without entries.
    const MODULE: &[u8] =
        b"\0asm\x01\0\0\0\x01\x05\x01\x60\0\x01\x7f\x03\x02\x01\0\x07\x07\x01\x03two\0\0\
        \x0a\x09\x01\x07\0\x41\x01\x41\x01\x6a\x0b\0\x0b\x09producers\0";

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    #[test]
    fn a_module_becomes_smaller_works_as_before_and_loses_what_browsers_skip() {
        let folder = tempfile::tempdir().unwrap();
        let [module, result] = ["a.wasm", "a"].map(|name| folder.path().join(name));
        fs::write(&module, MODULE).unwrap();
        optimise(&module, &result).unwrap();
        let bytes = fs::read(&result).unwrap();
        assert!(bytes.len() < MODULE.len(), "{} bytes", bytes.len());
        assert_eq!(names(folder.path()), ["a", "a.wasm"]);

        let script = "WebAssembly.instantiate(fs.readFileSync(process.argv[1])).then(({ module, instance }) => \
            console.log(instance.exports.two(), WebAssembly.Module.customSections(module, 'producers').length))";
        let output = Command::new("node")
            .args(["-e", script])
            .arg(&result)
            .output();
        assert_eq!(String::from_utf8(output.unwrap().stdout).unwrap(), "2 0\n");
    }

    #[test]
    fn a_file_that_is_not_a_module_is_named_and_has_no_result() {
        let folder = tempfile::tempdir().unwrap();
        let [module, result] = ["bad.wasm", "bad"].map(|name| folder.path().join(name));
        fs::write(&module, "text").unwrap();
        let error = optimise(&module, &result).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("bad.wasm"), "{error}");
        assert!(error.contains("error parsing wasm"), "{error}");
        assert_eq!(names(folder.path()), ["bad.wasm"]);
    }

    #[test]
    fn a_result_depends_on_the_module_and_on_how_it_is_optimised() {
        assert!(version().unwrap().starts_with(b"wasm-opt"));
        assert_eq!(digest(b"once", b"module"), digest(b"once", b"module"));
        assert_ne!(digest(b"once", b"module"), digest(b"twice", b"module"));
        assert_ne!(digest(b"once", b"module"), digest(b"once", b"another"));
        assert_ne!(digest(b"a", b"bc"), digest(b"ab", b"c"));
    }
}
