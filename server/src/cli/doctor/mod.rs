//! `portico doctor`: checks everything that the roles depend on, one finding per line.
//!
//! Each check is a function of its own in [`checks`], with a time limit; a bounded number of them
//! runs at once. [`fault::Fault`] lists the faults, with cause and remedy.
mod checks;
mod context;
mod fault;
mod finding;
mod http;
mod report;

use super::arguments::DoctorArgs;
use super::error::CliError;
use crate::config::Config;
use checks::Check;
use context::Context;
use fault::Fault;
use finding::Finding;
use futures::StreamExt as _;
use futures::stream;
use portico_clock::Clock;
use report::Report;
use std::path::PathBuf;
use std::process::ExitCode;

/// Bounds the concurrent checks.
const MAX_CONCURRENT_CHECKS: usize = 8;

/// Runs every check of the roles. The exit code is 0 without faults, 1 with faults, and 64 if the
/// configuration cannot be used.
pub(super) async fn doctor(
    named: &[PathBuf],
    arguments: &DoctorArgs,
) -> Result<ExitCode, CliError> {
    let config = match Config::load(named) {
        Ok(config) => config,
        Err(error) if arguments.json => {
            let mut report = Report::new(true, None, &arguments.role);
            let seen = error.to_string();
            let finding = Finding::fault(Fault::ConfigurationInvalid, "configuration", seen);
            report.add(vec![finding])?;
            return report.finish();
        }
        Err(error) => return Err(error.into()),
    };
    let files = crate::config::files(named);
    let context = Context::new(config, files, &arguments.role, Clock::system());
    let docs_url = context.config.panel.as_ref();
    let docs_url = docs_url.and_then(|panel| panel.docs_url.clone());
    let mut report = Report::new(arguments.json, docs_url, &context.roles);
    let mut running = stream::iter(checks::all(&context, arguments))
        .map(Check::run)
        .buffered(MAX_CONCURRENT_CHECKS);
    while let Some(findings) = running.next().await {
        report.add(findings)?;
    }
    report.finish()
}
