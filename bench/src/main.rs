//! Measures kube-auth as a process of its own, beside a plain echo as the limit of the transport.
//!
//! `kube-auth measure` is what `make bench-kube-auth` runs, `kube-auth soak` is `make soak`. Both start
//! the real `portico kube-auth` with mutual TLS, its own keys and a configuration in a temporary
//! folder, and stop it again. Every answer's identity is compared with the token that was sent.
mod client;
mod echo;
mod expected;
mod keystone;
mod load;
mod machine;
mod measure;
mod pki;
mod process;
mod report;
mod soak;
mod tokens;
mod webhook;

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// Measures kube-auth
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Takes all figures and writes them as JSON, table and plot
    Measure(measure::Options),
    /// Asks for two identities 100,000 times while the cache expires, and compares every answer
    Soak(soak::Options),
    /// Answers every review with the same text: what the transport costs by itself
    #[command(hide = true)]
    Echo {
        /// Where certificates and the answer lie
        #[arg(long)]
        dir: PathBuf,
    },
}

fn main() -> Result<()> {
    portico_runtime::install_crypto_provider();
    let runtime = tokio::runtime::Runtime::new()?;
    match Arguments::parse().command {
        Command::Measure(options) => runtime.block_on(measure::run(&options)),
        Command::Soak(options) => runtime.block_on(soak::run(&options)),
        Command::Echo { dir } => runtime.block_on(echo::serve(&dir)),
    }
}
