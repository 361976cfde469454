//! What the figures were taken on.
use anyhow::{Context as _, Result};
use serde::Serialize;
use std::fs;
use std::process::Command;

/// The machine and the commit.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    pub commit: String,
    pub date: String,
    pub cpu: String,
    pub cores: usize,
    pub kernel: String,
}

impl Machine {
    /// Of this process.
    pub fn here() -> Result<Self> {
        let info = fs::read_to_string("/proc/cpuinfo")?;
        let model = info
            .lines()
            .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
            .map_or("unknown", |(_, name)| name.trim());
        Ok(Self {
            commit: commit()?,
            date: jiff::Timestamp::now().strftime("%Y-%m-%d").to_string(),
            cpu: model.to_owned(),
            cores: std::thread::available_parallelism()?.get(),
            kernel: fs::read_to_string("/proc/sys/kernel/osrelease")?
                .trim()
                .to_owned(),
        })
    }
}

/// With `-dirty` where files were changed.
fn commit() -> Result<String> {
    let output = Command::new("git")
        .args([
            "describe",
            "--always",
            "--abbrev=40",
            "--dirty",
            "--exclude=*",
        ])
        .output()
        .context("git")?;
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// How many processes ran or waited, over the last minute.
pub fn load() -> Result<f64> {
    let text = fs::read_to_string("/proc/loadavg")?;
    let first = text.split(' ').next().context("loadavg is empty")?;
    Ok(first.parse()?)
}
