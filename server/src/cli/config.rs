//! `portico config check|print|schema`.
use super::arguments::ConfigCommand;
use super::error::CliError;
use super::print;
use crate::config::{Config, files};
use anyhow::Context as _;
use portico_runtime::config::{ConfigError, Problem};
use std::path::PathBuf;

/// Returns the error for a configuration without any role: neither a file nor the environment
/// configures one, so there is nothing to check.
fn nothing_to_check(read: &[PathBuf]) -> ConfigError {
    let problem = if read.is_empty() {
        Problem::new(
            "configuration",
            "there is none: name a file with --config or PORTICO_CONFIG, or run `portico init` to write one",
        )
    } else {
        Problem::new(
            "configuration",
            "configures no role: add [gateway], [panel] or [kube_auth]",
        )
    };
    ConfigError::Invalid(vec![problem])
}

pub(super) fn config(command: &ConfigCommand, named: &[PathBuf]) -> Result<(), CliError> {
    match command {
        ConfigCommand::Check { role } => {
            let config = Config::load(named)?;
            if config.configured_roles().is_empty() && role.is_empty() {
                return Err(nothing_to_check(&files(named)).into());
            }
            let roles = if role.is_empty() {
                config.configured_roles()
            } else {
                role.clone()
            };
            config.validate(&roles)?;
            let read: Vec<String> = files(named)
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            let names: Vec<String> = roles.iter().map(ToString::to_string).collect();
            print(&format!(
                "The configuration is good ({}) for: {}.\n`portico doctor` also tries key files, \
                 the store, Keystone and the clusters.\n",
                if read.is_empty() {
                    "no file, the environment only".to_owned()
                } else {
                    read.join(", ")
                },
                names.join(", "),
            ))
        }
        ConfigCommand::Print => {
            let text = Config::load(named)?
                .to_toml()
                .context("print the configuration")?;
            print(&text)
        }
        ConfigCommand::Schema => {
            let schema = serde_json::to_string_pretty(&schemars::schema_for!(Config))
                .context("print the schema")?;
            print(&format!("{schema}\n"))
        }
    }
}
