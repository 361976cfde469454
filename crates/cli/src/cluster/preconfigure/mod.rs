//! `portico cluster preconfigure`: whether a cloud has what clusters need. Without `--fix` it changes nothing.
mod checks;
mod document;
mod fix;
mod inventory;
mod lookup;
mod report;
mod roles;
#[cfg(test)]
mod tests;

use super::arguments::SharedArgs;
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use super::exit_code;
use super::views::print_object;
use crate::direct::CloudChoice;
use crate::output::{self, OutputFormat};
use clap::Args;
pub use document::Bootstrap;
use inventory::Inventory;
use report::Check;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::OnceLock;

/// Check whether the cloud has what clusters need
///
/// Checked are the service catalogue, the external network, a template, flavors, the image, the key pair, the
/// quotas and your roles; without a file, any will do. What is missing is listed by who can provide it. Exit code 1 if
/// something is missing or could not be read.
///
/// Without --fix nothing is changed. With it, the key pair and the template that the file names are made, if they are
/// missing; what others have to provide remains a task.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  portico cluster preconfigure
  portico cluster preconfigure -f bootstrap.yaml
  portico cluster preconfigure -f bootstrap.yaml -o json
  portico cluster preconfigure -f bootstrap.yaml --fix --public-key ~/.ssh/id_ed25519.pub")]
pub struct PreconfigureArgs {
    /// A file of `kind: Bootstrap` (YAML or JSON) that states what is needed; `-` is standard input
    #[arg(long, short, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Make the key pair and the template of the file, if they are missing
    #[arg(long, requires = "file")]
    pub fix: bool,
    /// The public key of a key pair that --fix makes (OpenSSH)
    #[arg(long, value_name = "FILE", requires = "fix")]
    pub public_key: Option<PathBuf>,
    /// Standard input can be read once.
    #[arg(skip)]
    read: OnceLock<Bootstrap>,
    #[command(flatten)]
    pub shared: SharedArgs,
}

impl PreconfigureArgs {
    /// Returns what is needed.
    fn wanted(&self) -> Result<&Bootstrap, ClusterError> {
        if let Some(wanted) = self.read.get() {
            return Ok(wanted);
        }
        let wanted = match &self.file {
            Some(path) => Bootstrap::of_file(path)?,
            None => Bootstrap::default(),
        };
        Ok(self.read.get_or_init(|| wanted))
    }

    /// Returns the cloud and the project: those of the options, else those of the file.
    ///
    /// # Errors
    /// [`ClusterError::Usage`] if the file cannot be used.
    pub fn choice(&self) -> Result<CloudChoice, ClusterError> {
        Ok(self.wanted()?.choice(&self.shared))
    }
}

/// What was found.
#[derive(Serialize)]
struct Report {
    cloud: String,
    project_id: String,
    is_ready: bool,
    checks: Vec<Check>,
}

/// Checks the cloud, and returns the exit code.
///
/// # Errors
/// If the file cannot be used, or the cloud does not accept the token.
pub async fn preconfigure(
    connection: &Connection,
    console: &mut Console,
    args: &PreconfigureArgs,
) -> Result<u8, ClusterError> {
    let wanted = args.wanted()?;
    let mut inventory = Inventory::read(connection).await?;
    let mut has_made = false;
    if args.fix {
        let what = (wanted, args.public_key.as_deref());
        has_made = fix::fix(connection, console, &inventory, what).await?;
    }
    if has_made {
        inventory = Inventory::read(connection).await?;
    }
    let checks = checks::run(&inventory, wanted);
    let report = Report {
        cloud: connection.cloud.clone(),
        project_id: connection.token.project_id.clone(),
        is_ready: report::is_ready(&checks),
        checks,
    };
    print_object(
        console,
        args.shared.output,
        &report,
        &connection.cloud,
        || {
            let table = output::list(OutputFormat::Table, &report.checks)?;
            Ok(table + &report::tasks(&report.checks))
        },
    )?;
    if report.is_ready {
        console.say("The cloud has what clusters need.");
        return Ok(0);
    }
    console.say(match has_made {
        true => "Something else is missing, or could not be read.",
        false => "Something is missing, or could not be read; nothing was changed.",
    });
    Ok(exit_code::NEGATIVE)
}
