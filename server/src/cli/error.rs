use portico_cli::{CommandError, exit_code, output::OutputError};
use portico_runtime::{config::ConfigError, error_chain};
use std::fmt;
use std::process::ExitCode;

/// An error that ends a command.
#[derive(Debug)]
pub(super) enum CliError {
    /// The configuration cannot be used.
    Config(ConfigError),
    /// An error of a command for users, with its own advice.
    Command(CommandError),
    /// Any other error, with the operation that failed.
    Other(anyhow::Error),
}

impl CliError {
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Config(_) => ExitCode::from(exit_code::BAD_CONFIGURATION),
            Self::Command(error) => ExitCode::from(error.exit_code()),
            Self::Other(_) => ExitCode::from(exit_code::FAILURE),
        }
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => write!(
                f,
                "the configuration cannot be used\n{}\nRun `portico config check` after changing \
                 it; `portico config schema` describes every key.",
                indented(&error.to_string())
            ),
            Self::Command(error) => error.fmt(f),
            Self::Other(error) => f.write_str(&error_chain(&**error)),
        }
    }
}

fn indented(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("  {line}")).collect();
    lines.join("\n")
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl From<CommandError> for CliError {
    fn from(error: CommandError) -> Self {
        Self::Command(error)
    }
}

impl From<OutputError> for CliError {
    fn from(error: OutputError) -> Self {
        Self::Other(error.into())
    }
}

impl From<anyhow::Error> for CliError {
    fn from(error: anyhow::Error) -> Self {
        Self::Other(error)
    }
}
