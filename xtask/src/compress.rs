//! Files as the server sends them to browsers that understand Brotli or gzip.
use crate::steps::{Paths, done, files, largest_first, processors};
use anyhow::{Context, Result, ensure};
use std::{path::PathBuf, process::Command, time::Instant};

/// Compresses with Node.js, a path below the workspace. The crate `brotli` needs the best of three block sizes, and so three
/// times as long, for files as small.
const SCRIPT: &str = "xtask/src/compress.mjs";

/// Writes `<file>.br` and `<file>.gz` beside every script, module and style; prints the sizes.
pub fn site_files(paths: &Paths) -> Result<()> {
    let start = Instant::now();
    let files = files(&paths.pkg)?;
    let status = Command::new("node")
        .env("UV_THREADPOOL_SIZE", processors().to_string())
        .arg(paths.root.join(SCRIPT))
        .args(largest_first(files.clone())?)
        .status()
        .context("start node")?;
    ensure!(status.success(), "{SCRIPT} failed: {status}");
    for file in files {
        let raw = file.metadata()?.len();
        let brotli = PathBuf::from(format!("{}.br", file.display()))
            .metadata()?
            .len();
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        eprintln!("  {name}: {raw} B, brotli {brotli} B");
    }
    done("compression", start);
    Ok(())
}
