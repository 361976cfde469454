//! The commands that change clusters, and the tests that each of them has to pass.
use super::ClusterArgs;
use clap::{Command, CommandFactory as _, Parser};
use std::collections::BTreeSet;

/// Operations of Magnum on a cluster.
const OPERATIONS: &[&str] = &[
    "create shop -t small",
    "apply -f shop.yaml",
    "delete shop",
    "resize shop 5",
    "upgrade shop --to v1.32 --approve",
    "nodegroup create shop gpu --flavor m1.large",
    "nodegroup update shop gpu --min 1",
    "nodegroup delete shop gpu",
    "nodes add shop -n 1",
    "nodes remove shop node-1",
    "nodes remove shop -n 1 -g gpu",
    "nodes replace shop node-1",
    "autoscale shop set --min 1",
    "ca rotate shop",
    "credential rotate shop",
];

/// Other changes that are in the journal of a cluster: there is nothing to wait for.
const IMMEDIATE_CHANGES: &[&str] = &[
    "cert sign shop --csr a.csr",
    "kubeconfig shop --certificate --out a",
    "import shop",
    "import --all",
];

/// The names of the commands that the journal of a cluster does not have: they read, or what they change is not
/// a cluster.
const NOT_IN_JOURNAL: &[&str] = &[
    "autoscale status",
    "ca list",
    "ca show",
    "describe",
    "diff",
    "events",
    "export",
    "heal status",
    "health",
    "leftovers",
    "list",
    "nodegroup list",
    "nodegroup show",
    "nodes list",
    "preconfigure",
    "quota",
    "schema",
    "services list",
    "services status",
    "show",
    "stats",
    "template create",
    "template delete",
    "template hide",
    "template list",
    "template publish",
    "template show",
    "template update",
    "templates",
    "validate",
    "versions",
    "wait",
    "watch",
];

#[derive(Parser)]
struct Program {
    #[command(flatten)]
    cluster: ClusterArgs,
}

/// Returns the command line of a command with further options.
fn command_line<'a>(words: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let all = std::iter::once("portico").chain(words.split(' '));
    all.chain(more.iter().copied()).collect()
}

fn parse(words: &str, more: &[&str]) -> Program {
    Program::try_parse_from(command_line(words, more)).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the names of the commands that are called, such as `nodes add`.
fn names(calls: &[&str]) -> BTreeSet<String> {
    let name = |words: &&str| {
        let matches = Program::command().try_get_matches_from(command_line(words, &[]));
        let matches = matches.unwrap_or_else(|error| panic!("{error}"));
        let (mut names, mut inner) = (Vec::new(), &matches);
        while let Some((name, next)) = inner.subcommand() {
            names.push(name);
            inner = next;
        }
        names.join(" ")
    };
    calls.iter().map(name).collect()
}

/// Returns the commands below one, with their names, without those that only have further ones.
fn commands<'a>(command: &'a Command, name: &str) -> Vec<(String, &'a Command)> {
    let mut found = Vec::new();
    for inner in command.get_subcommands() {
        let name = format!("{name} {}", inner.get_name());
        if inner.has_subcommands() {
            found.extend(commands(inner, &name));
        } else {
            found.push((name.trim_start().to_owned(), inner));
        }
    }
    found
}

#[test]
fn every_command_is_in_one_of_the_lists() {
    let program = Program::command();
    let commands = commands(&program, "");
    let with = |option: &str| -> BTreeSet<String> {
        let has = |command: &Command| command.get_arguments().any(|arg| arg.get_id() == option);
        let found = commands.iter().filter(|(_, command)| has(command));
        found.map(|(name, _)| name.clone()).collect()
    };
    let operations = names(OPERATIONS);
    assert_eq!(with("no_wait"), operations, "OPERATIONS");
    let changes = &operations | &names(IMMEDIATE_CHANGES);
    assert_eq!(with("reason"), changes, "OPERATIONS and IMMEDIATE_CHANGES");
    let others = commands.iter().map(|(name, _)| name.as_str());
    let others: BTreeSet<&str> = others.filter(|name| !changes.contains(*name)).collect();
    let expected: BTreeSet<&str> = NOT_IN_JOURNAL.iter().copied().collect();
    assert_eq!(
        others, expected,
        "a command that changes a cluster takes --reason"
    );
}

#[test]
fn every_operation_can_be_tried_waited_for_and_limited_in_time() {
    for words in OPERATIONS {
        for more in [
            ["--dry-run", "--timeout", "5m"],
            ["--wait", "--timeout", "5m"],
            ["--no-wait", "--timeout", "5m"],
            ["--reason", "CHG-12", "--wait"],
        ] {
            parse(words, &more);
        }
    }
}

#[test]
fn every_change_of_a_cluster_takes_a_reason() {
    for words in OPERATIONS.iter().chain(IMMEDIATE_CHANGES) {
        let program = parse(words, &["--reason", "CHG-12"]);
        assert_eq!(program.cluster.command.reason(), Some("CHG-12"), "{words}");
    }
    for words in ["list", "show shop", "events shop", "nodes list shop"] {
        let program = parse(words, &[]);
        assert_eq!(program.cluster.command.reason(), None, "{words}");
    }
}
