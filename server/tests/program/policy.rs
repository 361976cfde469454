//! `portico policy`: what an operator learns about the rules of apps before they apply to any user.
use std::{path::PathBuf, process::Command};

use portico_testkit::snapshot_settings;
use tempfile::TempDir;

const RULES: &str = r#"
[[rules]]
name = "help"
effect = "public"
paths = ["/help/"]

[[rules]]
name = "writes"
effect = "deny"
methods = ["unsafe"]
except = { who = [{ role = "admin", project = "$app" }] }

[[tests]]
name = "help is for everyone"
request = "GET /help/1"
expect = "public"
"#;

/// A configuration with an app on a host of its own name, one on a chosen host, one on a path.
struct Place {
    directory: TempDir,
}

impl Place {
    fn with(rules: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("rules.toml"), rules).unwrap();
        let place = Self { directory };
        let text = format!(
            r#"
[gateway]
public_url = "https://cloud.example.org"
apps_domain = "apps.example.org"
assertion_key_file = "/nowhere/assertion.pem"
panel_url = "http://127.0.0.1:9190"
panel_sealing_key_file = "/nowhere/panel.pub"

[[apps]]
id = "wiki"
name = "Wiki"
project = "p1"
url = "http://127.0.0.1:1"
allow = [{{ role = "member", project = "p1" }}]
rules_file = {rules:?}

[[apps]]
id = "logs"
name = "Logs"
project = "p1"
url = "http://127.0.0.1:2"
host = "logs.example.net"
allow = [{{ role = "member", project = "p1" }}]

[[apps]]
id = "grafana"
name = "Grafana"
project = "p1"
url = "http://127.0.0.1:3"
path = "/grafana"
trusted = true
allow = [{{ role = "member", project = "p1" }}]
"#,
            rules = place.rules()
        );
        std::fs::write(place.directory.path().join("portico.toml"), text).unwrap();
        place
    }

    fn rules(&self) -> PathBuf {
        self.directory.path().join("rules.toml")
    }

    /// The exit code, and what is printed and complained about.
    fn policy(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let config = self.directory.path().join("portico.toml");
        let output = Command::new(env!("CARGO_BIN_EXE_portico"))
            .args(["policy", "--config"])
            .arg(config)
            .args(arguments)
            .env_clear()
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let code = output.status.code();
        (code, text(&output.stdout), text(&output.stderr))
    }
}

#[test]
fn explain_names_the_rule_that_decides_and_fails_where_it_refuses() {
    let place = Place::with(RULES);
    let member = ["--user", "ada@Default", "--role", "member@p1"];
    let asked = |more: &[&str]| {
        let all: Vec<&str> = ["explain"].iter().chain(more).copied().collect();
        place.policy(&all)
    };
    let write = [
        "--method",
        "POST",
        "--url",
        "https://wiki.apps.example.org/x",
    ];
    let (code, message, _) = asked(&[&write[..], &member[..]].concat());
    assert_eq!(code, Some(1), "{message}");
    snapshot_settings().bind(|| insta::assert_snapshot!("explanation_of_a_refusal", message));

    let (code, message, _) = asked(&[&write[..], &["--role", "admin@p1"]].concat());
    assert_eq!(
        code,
        Some(1),
        "the deny lets past, and the list does not: {message}"
    );
    let (code, message, _) = asked(&[&write[..], &member[..], &["--role", "admin@p1"]].concat());
    assert_eq!(code, Some(0), "{message}");
    let (code, message, _) = asked(&["--url", "https://wiki.apps.example.org/help/1?x=/y"]);
    assert_eq!(code, Some(0), "{message}");
    snapshot_settings().bind(|| insta::assert_snapshot!("explanation_of_public", message));
}

#[test]
fn explain_knows_apps_on_chosen_hosts_and_on_paths() {
    let place = Place::with(RULES);
    for url in [
        "https://logs.example.net/x",
        "https://cloud.example.org/grafana",
        "https://Cloud.example.org:443/grafana/d/1",
    ] {
        let (code, message, _) = place.policy(&["explain", "--role", "member@p1", "--url", url]);
        assert_eq!(code, Some(0), "{url}: {message}");
        assert!(message.contains("open by apps.allow"), "{url}: {message}");
    }
    let mut complaints = Vec::new();
    for url in [
        "https://logs.apps.example.org/x",
        "https://cloud.example.org/grafanas",
        "https://elsewhere.example/",
    ] {
        let (code, _, complaint) = place.policy(&["explain", "--url", url]);
        assert_eq!(code, Some(1), "{url}");
        complaints.push(complaint);
    }
    let text = complaints.concat();
    snapshot_settings().bind(|| insta::assert_snapshot!("urls_of_no_app", text));
}

#[test]
fn test_names_the_line_of_a_test_that_fails() {
    let place = Place::with(RULES);
    assert_eq!(place.policy(&["test"]).0, Some(0));
    let wrong = RULES.replace("GET /help/1", "GET /other");
    let (code, message, _) = Place::with(&wrong).policy(&["test"]);
    assert_eq!(code, Some(1));
    snapshot_settings().bind(|| insta::assert_snapshot!("failed_test", message));
}

#[test]
fn lint_fails_on_what_cannot_be_used_and_with_an_option_on_warnings() {
    let place = Place::with(RULES);
    assert_eq!(place.policy(&["lint"]).0, Some(0));
    let twice = Place::with(&format!(
        "{RULES}\n[[rules]]\nname = \"help\"\neffect = \"deny\"\n"
    ));
    let (code, _, complaint) = twice.policy(&["lint"]);
    assert_eq!(code, Some(1));
    snapshot_settings().bind(|| insta::assert_snapshot!("lint_of_a_name_twice", complaint));
    // an expression that names everything opens everything
    let wide = RULES.replace("paths = [\"/help/\"]", "paths = [\"prefix:/\"]");
    let (code, message, _) = Place::with(&wide).policy(&["lint"]);
    assert_eq!(code, Some(0), "{message}");
    snapshot_settings().bind(|| insta::assert_snapshot!("lint_of_a_wide_rule", message));
    assert_eq!(Place::with(&wide).policy(&["lint", "--strict"]).0, Some(1));
}
