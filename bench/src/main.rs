//! The program behind `make bench-kube-auth`, `make bench-gateway`, `make bench-panel`, `make bench-cluster` and
//! `make soak`: runs the real program as a separate process, beside what it is compared with, against the services of the test
//! stack.
#![allow(
    clippy::disallowed_methods,
    reason = "a benchmark ends with its tasks, and measures the real time"
)]
mod browser;
mod cluster;
mod gateway;
mod kube_auth;
mod machine;
mod panel;
mod process;
mod report;
mod theme;

use anyhow::Result;
use clap::{Parser, Subcommand};
use portico_runtime::open_files;
use std::path::PathBuf;

/// Measures Portico
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Takes kube-auth's figures and writes them as JSON, table and plot
    KubeAuth(kube_auth::measure::Options),
    /// Takes the gateway's figures and others' beside it, and writes them as JSON, table and plot
    Gateway(gateway::measure::Options),
    /// Takes the panel's figures in a browser and writes them as JSON, table and plot
    Panel(panel::measure::Options),
    /// Takes the figures of clusters of Magnum, in a browser and of the command line, and writes them as JSON and table
    Cluster(cluster::measure::Options),
    /// Asks kube-auth for two identities 100,000 times while its cache expires, and compares every answer
    SoakKubeAuth(kube_auth::soak::Options),
    /// Holds 10,000 WebSockets at the gateway under a mixed load for half an hour, and watches its memory
    SoakGateway(gateway::soak::Options),
    /// Answers every review with the same text: what the transport costs by itself
    #[command(hide = true)]
    Echo {
        /// Where certificates and the answer lie
        #[arg(long)]
        dir: PathBuf,
    },
    /// An upstream that holds WebSockets
    #[command(hide = true)]
    Sockets,
}

fn main() -> Result<()> {
    portico_runtime::install_crypto_provider();
    open_files::raise();
    let runtime = tokio::runtime::Runtime::new()?;
    match Arguments::parse().command {
        Command::KubeAuth(options) => runtime.block_on(kube_auth::measure::run(&options)),
        Command::Gateway(options) => runtime.block_on(gateway::measure::run(&options)),
        Command::Panel(options) => runtime.block_on(panel::measure::run(&options)),
        Command::Cluster(options) => runtime.block_on(cluster::measure::run(&options)),
        Command::SoakKubeAuth(options) => runtime.block_on(kube_auth::soak::run(&options)),
        Command::SoakGateway(options) => runtime.block_on(gateway::soak::run(&options)),
        Command::Echo { dir } => runtime.block_on(kube_auth::echo::serve(&dir)),
        Command::Sockets => runtime.block_on(gateway::sockets::serve()),
    }
}
