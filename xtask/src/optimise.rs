//! Makes WebAssembly modules smaller with Binaryen, which `npm ci` installs.
use crate::steps::{Paths, done, files, hex, in_parallel, processors};
use anyhow::{Context, Result, ensure};
use sha2::{Digest as _, Sha256};
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

/// Runs Binaryen; a path below the workspace.
const SCRIPT: &str = "xtask/src/optimise.mjs";
/// Has Binaryen's version; a path below the workspace.
const PACKAGE: &str = "node_modules/binaryen/package.json";

/// Makes every module of the panel smaller. Results are kept: a change of one page leaves most modules as they were.
pub fn wasm_modules(paths: &Paths) -> Result<()> {
    let start = Instant::now();
    let script = paths.root.join(SCRIPT);
    let how = [fs::read(&script)?, fs::read(paths.root.join(PACKAGE))?].concat();
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
    let missing: BTreeMap<&Path, &Path> = results
        .iter()
        .filter(|(_, result)| !result.exists())
        .map(|(module, result)| (result.as_path(), module.as_path()))
        .collect();
    let sized = missing
        .into_iter()
        .map(|(result, module)| Ok((module.metadata()?.len(), (module, result))))
        .collect::<Result<Vec<_>>>()?;
    in_parallel(&batches(sized, processors()), |batch| {
        let status = Command::new("node")
            .arg(&script)
            .args(batch.iter().flat_map(|(module, result)| [module, result]))
            .status()
            .context("start node")?;
        ensure!(status.success(), "{SCRIPT} failed: {status}");
        Ok(())
    })?;

    for (module, result) in &results {
        fs::copy(result, module)?;
    }
    let used: BTreeSet<&PathBuf> = results.values().collect();
    for old in files(&cache)? {
        if !used.contains(&old) {
            fs::remove_file(old)?;
        }
    }
    done("wasm-opt", start);
    Ok(())
}

/// Distributes items over batches of about the same size, at most one for each processor. Every batch takes seconds to
/// start, so there are no more of them than make the whole faster: the largest item takes as long in a batch of its own.
fn batches<T>(mut sized: Vec<(u64, T)>, processors: usize) -> Vec<Vec<T>> {
    sized.sort_by_key(|(bytes, _)| Reverse(*bytes));
    let total: u64 = sized.iter().map(|(bytes, _)| bytes).sum();
    let largest = sized.first().map_or(1, |(bytes, _)| (*bytes).max(1));
    let useful = usize::try_from(total.div_ceil(largest)).unwrap_or(usize::MAX);
    let mut batches: Vec<(u64, Vec<T>)> = (0..useful.min(processors).max(1))
        .map(|_| (0, Vec::new()))
        .collect();
    for (bytes, item) in sized {
        if let Some((sum, items)) = batches.iter_mut().min_by_key(|(sum, _)| *sum) {
            *sum += bytes;
            items.push(item);
        }
    }
    batches
        .into_iter()
        .map(|(_, items)| items)
        .filter(|items| !items.is_empty())
        .collect()
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
    use super::{batches, digest};

    fn sized(sizes: &[u64]) -> Vec<(u64, u64)> {
        sizes.iter().map(|size| (*size, *size)).collect()
    }

    #[test]
    fn batches_have_about_the_same_size() {
        let found = batches(sized(&[1, 10, 4, 6, 8, 3]), 2);
        assert_eq!(found, [vec![10, 4, 3], vec![8, 6, 1]]);
        assert_eq!(batches(sized(&[2, 1, 3]), 1), [vec![3, 2, 1]]);
    }

    #[test]
    fn there_are_no_more_batches_than_are_useful() {
        assert_eq!(
            batches(sized(&[10, 4, 3, 2]), 64),
            [vec![10], vec![4, 3, 2]]
        );
        assert_eq!(batches(sized(&[0, 0]), 64), [vec![0, 0]]);
        assert!(batches(sized(&[]), 64).is_empty());
    }

    #[test]
    fn a_result_depends_on_the_module_and_on_how_it_is_optimised() {
        assert_eq!(digest(b"once", b"module"), digest(b"once", b"module"));
        assert_ne!(digest(b"once", b"module"), digest(b"twice", b"module"));
        assert_ne!(digest(b"once", b"module"), digest(b"once", b"another"));
        assert_ne!(digest(b"a", b"bc"), digest(b"ab", b"c"));
    }
}
