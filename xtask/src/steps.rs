//! What the steps of the build share: where things are, and how a step is run.
use anyhow::{Context, Result, ensure};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

pub struct Paths {
    pub root: PathBuf,
    /// Cargo's output for the browser: a directory of its own, so that it neither waits for the
    /// server's build nor mixes features with it.
    pub front: PathBuf,
    pub site: PathBuf,
    pub pkg: PathBuf,
    pub node_bin: PathBuf,
}

/// The files of a folder, sorted.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    files.retain(|file| file.is_file());
    files.sort();
    Ok(files)
}

pub fn run(what: &str, command: &mut Command) -> Result<()> {
    let start = Instant::now();
    let status = command.status().with_context(|| format!("start {what}"))?;
    ensure!(status.success(), "{what} failed: {status}");
    done(what, start);
    Ok(())
}

pub fn done(what: &str, start: Instant) {
    eprintln!("{what}: {:.1} s", start.elapsed().as_secs_f32());
}

/// Returns bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
