//! Errors of `portico init`, which then has written nothing.
use super::checks::Check;
use portico_runtime::{config::ConfigError, error_chain};
use std::path::PathBuf;

/// Each message names the next step. The directory is unchanged, whatever the variant.
#[derive(Debug, thiserror::Error)]
pub(super) enum InitError {
    #[error(
        "standard input is not a terminal, so nothing can be asked: give the options and --yes \
         (`portico init --help` lists them)"
    )]
    NoTerminal,
    #[error("these options are missing or cannot be used:\n{}", indented(.0))]
    Options(Vec<String>),
    #[error(
        "{} is not empty, and existing files are never overwritten:\n{}\n\
         Choose another directory with --out, or add clusters to this one with --add.",
        directory.display(), indented(found)
    )]
    NotEmpty {
        directory: PathBuf,
        found: Vec<String>,
    },
    #[error(
        "{} is missing, so there is nothing to add to: run `portico init` without --add first",
        .0.display()
    )]
    NothingToAddTo(PathBuf),
    #[error(
        "there is nothing to add: name a cluster with --cluster, or remove a certificate and its key \
         below {} to have them made anew", .0.display()
    )]
    NothingToAdd(PathBuf),
    #[error(
        "nothing was written, because not everything answers:\n{}\n\
         Correct what is wrong, or write the files all the same with --skip-checks.",
        indented(&failures(.0))
    )]
    Checks(Vec<Check>),
    #[error("cannot read {}: {source}", path.display())]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("cannot write {}: {source}", path.display())]
    Write {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error(
        "{} appeared while init was running; nothing was written", .0.display()
    )]
    Appeared(PathBuf),
    #[error("{}: {detail}", path.display())]
    Content { path: PathBuf, detail: String },
    #[error("cannot make the certificate of {subject}: {source}")]
    Certificate {
        subject: String,
        source: rcgen::Error,
    },
    #[error(
        "{} is missing: put it back to sign new certificates; it may be moved away again afterwards",
        .0.display()
    )]
    NoAuthority(PathBuf),
    #[error("cannot make the keys: {}", error_chain(&**.0))]
    Keys(anyhow::Error),
    #[error("the configuration would not be usable:\n{}", indented(&lines(.0)))]
    Configuration(#[from] ConfigError),
    #[error("the terminal cannot be used: {0}")]
    Prompt(#[from] dialoguer::Error),
    #[error("stopped; nothing was written")]
    Stopped,
}

fn indented(lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| format!("  {line}")).collect();
    lines.join("\n")
}

fn lines(error: &ConfigError) -> Vec<String> {
    error.to_string().lines().map(str::to_owned).collect()
}

fn failures(checks: &[Check]) -> Vec<String> {
    checks.iter().filter_map(Check::failure).collect()
}
