//! The grammar of `--dry-run`.

/// Reads `--dry-run`, `--dry-run=client` or `--dry-run=server`. Magnum has no dry run of its own, so all are the
/// same: what exists is read and checked, and nothing is sent that changes something.
pub fn dry_run(text: &str) -> Result<bool, String> {
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
            assert_eq!(args.dry_run, expected, "{word:?}");
        }
        // the name of the cluster is not a value
        let words = ["p", "delete", "--dry-run", "shop"];
        assert!(Program::try_parse_from(words).is_ok());
        assert!(Program::try_parse_from(["p", "delete", "shop", "--dry-run=x"]).is_err());
    }
}
