//! The machine on which the figures were measured.
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
    /// Reads them for this process.
    pub fn here() -> Result<Self> {
        let info = fs::read_to_string("/proc/cpuinfo")?;
        Ok(Self {
            commit: commit()?,
            date: jiff::Timestamp::now().strftime("%Y-%m-%d").to_string(),
            cpu: processor(&info),
            cores: std::thread::available_parallelism()?.get(),
            kernel: fs::read_to_string("/proc/sys/kernel/osrelease")?
                .trim()
                .to_owned(),
        })
    }
}

/// Returns the processor's name and, as virtual machines often give a short name to several
/// generations, its family and model.
fn processor(cpuinfo: &str) -> String {
    let field = |name: &str| {
        let mut fields = cpuinfo.lines().filter_map(|line| line.split_once(':'));
        let found = fields.find(|(key, _)| key.trim() == name);
        found.map(|(_, value)| value.trim())
    };
    let name = field("model name").unwrap_or("unknown");
    match (field("cpu family"), field("model")) {
        (Some(family), Some(model)) => format!("{name} (family {family}, model {model})"),
        _ => name.to_owned(),
    }
}

/// Returns the commit, with `-dirty` if files were changed.
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

/// Returns the number of processes that ran or waited, as a one-minute average.
pub fn load() -> Result<f64> {
    let text = fs::read_to_string("/proc/loadavg")?;
    let first = text.split(' ').next().context("loadavg is empty")?;
    Ok(first.parse()?)
}

#[cfg(test)]
mod tests {
    use super::processor;

    #[test]
    fn finding_o18_the_processor_is_named_with_its_generation() {
        let milan = "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\n\
            model name\t: AMD EPYC\nstepping\t: 1\n";
        assert_eq!(processor(milan), "AMD EPYC (family 25, model 1)");
        // Linux names no model on 64-bit ARM
        assert_eq!(processor("processor\t: 0\nBogoMIPS\t: 243.75\n"), "unknown");
    }
}
