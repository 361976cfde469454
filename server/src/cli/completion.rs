//! `portico completion`: completion scripts for shells.
use super::arguments;
use super::error::CliError;
use super::print;
use clap::Args;
use clap_complete::Shell;

/// Print a completion script for your shell
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  portico completion bash > ~/.local/share/bash-completion/completions/portico\n  portico completion zsh > \"${fpath[1]}/_portico\"\n  portico completion fish > ~/.config/fish/completions/portico.fish"
)]
pub(super) struct CompletionArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

pub(super) fn completion(arguments: &CompletionArgs) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut arguments::command(),
        "portico",
        &mut script,
    );
    print(&String::from_utf8_lossy(&script))
}
