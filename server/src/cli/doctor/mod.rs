//! `portico doctor`: tries everything that Portico depends on, one line each.
mod files;
mod network;
mod report;
mod reviews;
mod store;

use super::arguments::DoctorArgs;
use super::error::CliError;
use crate::config::Config;
use report::Report;
use std::path::PathBuf;
use std::process::ExitCode;

/// Runs every check; fails when one does.
pub(super) async fn doctor(
    named: &[PathBuf],
    arguments: &DoctorArgs,
) -> Result<ExitCode, CliError> {
    let config = Config::load(named)?;
    let roles = config.configured_roles();
    config.validate(&roles)?;
    let mut report = Report::new();
    report.ok(
        "configuration",
        if roles.is_empty() {
            "good, but no role has a section".to_owned()
        } else {
            let names: Vec<String> = roles.iter().map(ToString::to_string).collect();
            format!("good for: {}", names.join(", "))
        },
    );
    files::check(&config, &mut report);
    store::check(&config, &mut report).await;
    network::keystone(&config, &mut report).await;
    network::clusters(&config, &mut report).await;
    network::listeners(&config, &roles, &mut report).await;
    reviews::asked(&config, &mut report).await;
    if let Some(cluster) = &arguments.revocation {
        reviews::measure(&config, cluster, &mut report).await;
    }
    report.finish()
}
