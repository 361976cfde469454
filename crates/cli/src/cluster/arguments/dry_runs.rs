//! The grammar of `--dry-run`.
use clap::{ArgAction, Args};

/// Whether a command only shows what it would do. What it shows is in the help of the command (`mut_arg`).
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct DryRunArgs {
    /// Check and show what would be done; send nothing. Exit code 1: it would change something
    #[arg(
        long,
        value_name = "client|server",
        value_parser = is_dry_run,
        action = ArgAction::Set,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "client",
        default_value = "none",
        hide_default_value = true
    )]
    dry_run: bool,
}

impl DryRunArgs {
    /// Returns whether nothing is sent.
    pub fn is_on(self) -> bool {
        self.dry_run
    }
}

/// Reads `--dry-run`, `--dry-run=client` or `--dry-run=server`. Magnum has no dry run of its own, so all are the
/// same: what exists is read and checked, and nothing is sent that changes something.
fn is_dry_run(text: &str) -> Result<bool, String> {
    match text {
        "client" | "server" => Ok(true),
        "none" => Ok(false),
        _ => Err("use client, server or none".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use crate::cluster::arguments::{ClusterArgs, ClusterCommand};
    use clap::Parser;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        cluster: ClusterArgs,
    }

    #[test]
    fn a_dry_run_has_the_values_of_kubectl() {
        for (word, expected) in [
            (None, false),
            (Some("--dry-run"), true),
            (Some("--dry-run=client"), true),
            (Some("--dry-run=server"), true),
            (Some("--dry-run=none"), false),
        ] {
            let words = ["p", "delete", "shop"].into_iter().chain(word);
            let read = Program::try_parse_from(words).unwrap_or_else(|error| panic!("{error}"));
            let ClusterCommand::Delete(args) = read.cluster.command else {
                panic!("another command");
            };
            assert_eq!(args.dry_run.is_on(), expected, "{word:?}");
        }
        // the name of the cluster is not a value
        let words = ["p", "delete", "--dry-run", "shop"];
        assert!(Program::try_parse_from(words).is_ok());
        assert!(Program::try_parse_from(["p", "delete", "shop", "--dry-run=x"]).is_err());
    }
}
