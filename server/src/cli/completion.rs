//! `portico completion`: completion scripts for shells.
use super::arguments;
use super::error::CliError;
use super::print;
use clap::{Arg, Args, Command, ValueHint};
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
    print(&script(arguments.shell))
}

fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    let mut command = hinted(arguments::command());
    clap_complete::generate(shell, &mut command, "portico", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// Adds to each argument what a shell offers for it: files, directories, or nothing for a value that
/// only the user or the cloud knows, such as the name of a cluster. Without a hint, shells offer files.
fn hinted(command: Command) -> Command {
    command.mut_args(hint).mut_subcommands(hinted)
}

fn hint(argument: Arg) -> Arg {
    if !argument.get_action().takes_values() {
        return argument;
    }
    let names = argument.get_value_names().unwrap_or_default();
    let is_directory = names.iter().any(|name| name.as_str() == "DIR");
    let has_choice = argument.get_value_parser().possible_values().is_some();
    match argument.get_value_hint() {
        ValueHint::AnyPath if is_directory => argument.value_hint(ValueHint::DirPath),
        ValueHint::AnyPath => argument.value_hint(ValueHint::FilePath),
        ValueHint::Unknown if !has_choice => argument.value_hint(ValueHint::Other),
        _ => argument,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls `check` with each argument of `portico cluster` that takes a value, and its command.
    fn each_value(command: &Command, check: &mut dyn FnMut(&Command, &Arg)) {
        for argument in command.get_arguments() {
            if argument.get_action().takes_values() {
                check(command, argument);
            }
        }
        for command in command.get_subcommands() {
            each_value(command, check);
        }
    }

    #[test]
    fn files_and_values_of_cluster_commands_are_completed_and_names_are_not_files() {
        let command = hinted(arguments::command());
        let cluster = command.find_subcommand("cluster").unwrap();
        let (mut files, mut outputs, mut authorities) = (0, 0, 0);
        each_value(cluster, &mut |command, argument| {
            let place = format!("{} {}", command.get_name(), argument.get_id());
            let names = argument.get_value_names().unwrap_or_default();
            let values = argument.get_value_parser().possible_values();
            let values: Vec<String> = values
                .into_iter()
                .flatten()
                .map(|value| value.get_name().to_owned())
                .collect();
            match argument.get_long() {
                _ if names.iter().any(|name| name.as_str() == "FILE") => {
                    assert_eq!(argument.get_value_hint(), ValueHint::FilePath, "{place}");
                    files += 1;
                }
                Some("output") => {
                    let expected: &[&str] = match command.get_name() {
                        "export" => &["file", "terraform", "json"],
                        _ => &[
                            "table",
                            "wide",
                            "json",
                            "yaml",
                            "name",
                            "jsonpath=PATH",
                            "template=TEXT",
                        ],
                    };
                    assert_eq!(values, expected, "{place}");
                    outputs += 1;
                }
                Some("authority") => {
                    assert_eq!(values, ["kubernetes", "etcd", "front-proxy"], "{place}");
                    authorities += 1;
                }
                _ if values.is_empty() => {
                    assert_eq!(argument.get_value_hint(), ValueHint::Other, "{place}");
                }
                _ => {}
            }
        });
        assert!(files >= 7, "{files}");
        assert!(outputs > 30, "{outputs}");
        assert_eq!(authorities, 2);
    }

    #[test]
    fn scripts_of_all_shells_have_the_cluster_commands_with_their_values() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = script(shell);
            // clap_complete writes values for fish down to the second level of commands only
            let authority = (shell != Shell::Fish).then_some("front-proxy");
            let words = ["nodegroup", "preconfigure", "terraform"];
            for word in words.into_iter().chain(authority) {
                assert!(script.contains(word), "{shell}: {word}");
            }
        }
        // by file names, and not by the names of clusters
        assert!(script(Shell::Bash).contains("compopt -o filenames"));
        assert!(script(Shell::Zsh).contains(":FILE:_files"));
    }
}
