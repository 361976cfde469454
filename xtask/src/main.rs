//! `cargo xtask site [--release]`: the browser half of the build. Needs cargo with the
//! wasm32-unknown-unknown target and what `npm ci` installs; no other tool, no download.
#![allow(
    clippy::disallowed_methods,
    reason = "it prints how long its steps took"
)]
mod compress;
#[cfg(test)]
mod contrast;
mod modules;
mod names;
mod optimise;
mod settings;
mod site;
mod steps;
mod wasm;

use clap::{Parser, Subcommand};
use std::path::PathBuf;

#[derive(Parser)]
#[command(about = "Tasks of the build")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Builds WebAssembly, styles, browser modules and assets into target/site
    Site {
        /// Small and compressed, as it is shipped
        #[arg(long)]
        release: bool,
        /// Where to put it instead
        #[arg(long, value_name = "FOLDER")]
        out: Option<PathBuf>,
    },
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().task {
        Task::Site { release, out } => site::build(release, out),
    }
}
