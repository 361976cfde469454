//! The program's own commands: help, exit codes and output formats.
use portico_testkit::snapshot_settings;
use std::process::{Command, Output};
use tempfile::TempDir;

/// Runs the program with an empty home and without the configuration of this process.
fn portico(home: &TempDir, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_portico"))
        .args(arguments)
        .current_dir(home.path())
        .env_clear()
        .env("HOME", home.path())
        .env("PATH", "/usr/bin:/bin")
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn finding_o8_bare_portico_prints_help_and_starts_nothing() {
    let home = tempfile::tempdir().unwrap();
    let output = portico(&home, &[]);
    assert_eq!(output.status.code(), Some(2));
    let help = text(&output.stderr);
    let users = help.find("User commands:").unwrap();
    let operators = help.find("Operator commands:").unwrap();
    assert!(users < operators, "{help}");
    assert!(help[users..operators].contains("login"), "{help}");
    assert!(help[operators..].contains("kube-auth"), "{help}");
}

#[test]
fn finding_o8_config_check_without_a_configuration_is_an_error() {
    let home = tempfile::tempdir().unwrap();
    let output = portico(&home, &["config", "check"]);
    assert_eq!(output.status.code(), Some(64));
    let without = text(&output.stderr);
    std::fs::write(home.path().join("empty.toml"), "[log]\nlevel = \"info\"\n").unwrap();
    let output = portico(&home, &["config", "check", "--config", "empty.toml"]);
    assert_eq!(output.status.code(), Some(64));
    let errors = without + &text(&output.stderr);
    snapshot_settings().bind(|| insta::assert_snapshot!("config_check_without_a_role", errors));
}

#[test]
fn finding_o12_exit_codes_distinguish_usage_configuration_outage_and_session() {
    let home = tempfile::tempdir().unwrap();
    let code = |arguments: &[&str]| portico(&home, arguments).status.code();
    assert_eq!(code(&["version"]), Some(0));
    assert_eq!(code(&["no-such-command"]), Some(2));
    assert_eq!(code(&["gateway", "--config", "absent.toml"]), Some(64));
    // nothing listens at port 1
    assert_eq!(code(&["login", "http://127.0.0.1:1"]), Some(69));
    let commands = ["whoami", "status", "clusters"];
    let errors = commands.map(|command| {
        let output = portico(&home, &[command]);
        assert_eq!(output.status.code(), Some(77), "{command}");
        text(&output.stderr)
    });
    let errors = errors.concat();
    snapshot_settings().bind(|| insta::assert_snapshot!("commands_without_a_session", errors));
}

#[test]
fn finding_o12_a_fault_names_the_file_as_it_was_given() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("bad.toml");
    std::fs::write(&file, "[log]\nnope = 1\n").unwrap();
    let file = file.to_str().unwrap();
    // a unit's working directory
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_portico"))
        .args(["--config", file, "config", "check"])
        .current_dir("/")
        .output()
        .unwrap();
    let error = text(&output.stderr);
    assert!(error.contains(&format!("(in {file})")), "{error}");
}

#[test]
fn completion_scripts_know_the_commands() {
    let home = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let output = portico(&home, &["completion", shell]);
        assert!(output.status.success(), "{shell}");
        let script = text(&output.stdout);
        for command in ["kubeconfig", "whoami", "doctor"] {
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
}

#[test]
fn the_version_is_printed_for_programs_too() {
    let home = tempfile::tempdir().unwrap();
    let output = portico(&home, &["version", "-o", "json"]);
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value[0]["version"], env!("CARGO_PKG_VERSION"));
    let output = portico(&home, &["version", "-o", "yaml"]);
    assert!(text(&output.stdout).contains("version: "), "{output:?}");
}

#[test]
fn an_empty_variable_about_magnum_is_as_one_that_is_not_set() {
    let home = tempfile::tempdir().unwrap();
    let list = |variables: &[(&str, &str)]| {
        let output = Command::new(env!("CARGO_BIN_EXE_portico"))
            .args(["cluster", "list"])
            .current_dir(home.path())
            .env_clear()
            .env("HOME", home.path())
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        (output.status.code(), text(&output.stderr))
    };
    let names = ["PORTICO_MAGNUM_DRIVERS", "PORTICO_MAGNUM_RELEASE"];
    assert_eq!(list(&names.map(|name| (name, ""))), list(&[]));
    for name in names {
        assert_ne!(list(&[(name, "0")]), list(&[]), "{name}");
    }
}
