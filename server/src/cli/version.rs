//! `portico version`: prints the build, for users and for programs.
use clap::Args;
use portico_cli::output::{OutputFormat, TableRow};
use serde::Serialize;

/// Print the version
#[derive(Args, Debug)]
pub(super) struct VersionArgs {
    /// The output format
    #[arg(long, short, value_enum, value_name = "FORMAT", default_value_t)]
    pub output: OutputFormat,
}

#[derive(Debug, Serialize)]
pub(super) struct Version {
    version: &'static str,
    /// The operating system and the processor that it was built for.
    os: &'static str,
    architecture: &'static str,
}

impl Version {
    pub fn current() -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION"),
            os: std::env::consts::OS,
            architecture: std::env::consts::ARCH,
        }
    }
}

impl TableRow for Version {
    const HEADINGS: &'static [&'static str] = &["VERSION", "OS", "ARCHITECTURE"];

    fn cells(&self) -> Vec<String> {
        [self.version, self.os, self.architecture]
            .map(str::to_owned)
            .to_vec()
    }
}
