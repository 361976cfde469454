//! `portico audit`: what an operator reads, follows and verifies on the store itself.
use base64::Engine as _;
use jiff::Timestamp;
use portico_store::{
    JournalKey, JournalSource, KeyRing, NewAuditEvent, NewJournalEntry, Outcome, Store,
};
use secrecy::SecretString;
use serde_json::Value;
use sqlx::{AnyConnection, Connection as _, Executor as _};
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use tempfile::TempDir;

const CLUSTER: &str = "00000000-0000-4000-8000-00000000c1c1";

struct Place {
    directory: TempDir,
    store: Store,
}

impl Place {
    async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let key = base64::engine::general_purpose::STANDARD.encode([7; 32]);
        let place = directory.path();
        for (name, text) in [
            ("store.key", key.clone()),
            (
                "other.key",
                base64::engine::general_purpose::STANDARD.encode([8; 32]),
            ),
        ] {
            let path = place.join(name);
            std::fs::write(&path, text).unwrap();
            let owner_only = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            std::fs::set_permissions(&path, owner_only).unwrap();
        }
        let keys = KeyRing::from_base64(&[SecretString::from(key)]).unwrap();
        let url = format!("sqlite://{}", place.join("portico.db").display());
        let store = Store::connect(&url, 1, keys).await.unwrap();
        store.migrate(jiff::Timestamp::UNIX_EPOCH).await.unwrap();
        let place = Self { directory, store };
        place.configure("store.key");
        place
    }

    fn configure(&self, key: &str) {
        let text = format!(
            r#"
[store]
url = {url:?}
key_files = [{key:?}]

[[clusters]]
id = "{CLUSTER}"
name = "prod"
owner_project = "p1"
api_url = "https://127.0.0.1:6443"
sealing_key_file = "/nowhere/kube-auth.pub"
"#,
            url = self.url(),
            key = self.directory.path().join(key),
        );
        std::fs::write(self.config(), text).unwrap();
    }

    fn config(&self) -> PathBuf {
        self.directory.path().join("portico.toml")
    }

    fn url(&self) -> String {
        format!(
            "sqlite://{}",
            self.directory.path().join("portico.db").display()
        )
    }

    async fn append(&self, action: &str, user: &str, outcome: Outcome) {
        let event = NewAuditEvent {
            user_id: Some(format!("{user}-id")),
            user_name: Some(user.to_owned()),
            project_id: Some("p1".to_owned()),
            cluster_id: Some(CLUSTER.to_owned()),
            target: "shop/pods/web\u{1b}[2J".to_owned(),
            detail: serde_json::json!({ "reason": "no role" }),
            ..NewAuditEvent::new(action, outcome)
        };
        let appended = self.store.audit().append(&event, Timestamp::now()).await;
        appended.unwrap();
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_portico"));
        command
            .args(["audit", "--config"])
            .arg(self.config())
            .args(arguments)
            .env_clear();
        command
    }

    /// The exit code, and what is printed and complained about.
    fn audit(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let output = self.command(arguments).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let code = output.status.code();
        (code, text(&output.stdout), text(&output.stderr))
    }

    fn listed(&self, arguments: &[&str]) -> Vec<Value> {
        let all: Vec<&str> = ["list", "-o", "json"]
            .iter()
            .chain(arguments)
            .copied()
            .collect();
        let (code, text, error) = self.audit(&all);
        assert_eq!(code, Some(0), "{error}");
        serde_json::from_str(&text).unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn finding_o5_the_audit_log_is_listed_with_filters() {
    let place = Place::new().await;
    place
        .append("session.sign_in", "ada", Outcome::Succeeded)
        .await;
    place.append("panel.scale", "vera", Outcome::Denied).await;
    place.append("panel.delete", "ada", Outcome::Failed).await;

    let (code, text, error) = place.audit(&["list"]);
    assert_eq!(code, Some(0), "{error}");
    let lines: Vec<&str> = text.lines().collect();
    let headings: Vec<&str> = lines[0].split_whitespace().collect();
    assert_eq!(
        headings,
        [
            "TIME", "USER", "PROJECT", "CLUSTER", "ACTION", "OBJECT", "OUTCOME", "REASON"
        ]
    );
    assert_eq!(lines.len(), 4, "{text}");
    assert!(lines[1].contains("session.sign_in"), "oldest first: {text}");
    assert!(
        lines[3].contains("prod") && lines[3].contains("no role"),
        "{text}"
    );
    assert!(!text.contains('\u{1b}'), "{text:?}");

    for (filter, expected) in [
        (
            &["--user", "ADA"][..],
            &["session.sign_in", "panel.delete"][..],
        ),
        (&["--user", "vera-id"], &["panel.scale"]),
        (&["--action", "panel"], &["panel.scale", "panel.delete"]),
        (&["--outcome", "denied"], &["panel.scale"]),
        (&["--cluster", "prod", "--limit", "1"], &["panel.delete"]),
        (&["--cluster", CLUSTER, "--user", "vera"], &["panel.scale"]),
        (&["--cluster", "other"], &[]),
        (&["--project", "p2"], &[]),
        (
            &["--since", "1h", "--action", "session"],
            &["session.sign_in"],
        ),
        (&["--until", "1h"], &[]),
    ] {
        let found = place.listed(filter);
        let found: Vec<&str> = found
            .iter()
            .map(|row| row["action"].as_str().unwrap())
            .collect();
        assert_eq!(found, expected, "{filter:?}");
    }
    let row = &place.listed(&["--user", "vera"])[0];
    assert_eq!(row["cluster_name"], "prod");
    assert_eq!(row["object"], "shop/pods/web\u{1b}[2J");
    assert_eq!(row["sequence"], 2);
    let (_, yaml, _) = place.audit(&["list", "--user", "vera", "-o", "yaml"]);
    assert!(yaml.contains("action: panel.scale"), "{yaml}");

    for wrong in [
        &["list", "--since", "yesterday"][..],
        &["list", "--outcome", "good"],
        &["list", "--limit", "0"],
    ] {
        let (code, _, error) = place.audit(wrong);
        assert_eq!(code, Some(2), "{error}");
    }
    let (code, _, error) = place.audit(&["list", "--follow", "-o", "json"]);
    assert_eq!(code, Some(1));
    assert!(error.contains("-o jsonl"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn finding_o5_new_entries_are_followed() {
    let place = Place::new().await;
    place
        .append("session.sign_in", "ada", Outcome::Succeeded)
        .await;
    let mut following = place
        .command(&["list", "--follow", "-o", "jsonl", "--user", "ada"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(following.stdout.take().unwrap());
    let mut lines = lines.lines();
    let mut next = || -> Value {
        let line = lines.next().expect("a line").unwrap();
        serde_json::from_str(&line).unwrap()
    };
    assert_eq!(next()["action"], "session.sign_in");
    place
        .append("panel.scale", "vera", Outcome::Succeeded)
        .await;
    place
        .append("session.sign_out", "ada", Outcome::Succeeded)
        .await;
    assert_eq!(next()["action"], "session.sign_out");
    following.kill().unwrap();
    following.wait().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn finding_o5_verify_reports_the_first_break() {
    let place = Place::new().await;
    for number in 1..=4 {
        let action = format!("panel.step-{number}");
        place.append(&action, "ada", Outcome::Succeeded).await;
    }
    let (code, text, error) = place.audit(&["verify"]);
    assert_eq!(code, Some(0), "{error}");
    assert!(text.starts_with("Entries verified: 4\n"), "{text}");
    // the journals of clusters follow
    let mut lines = text.lines();
    let head = lines.find_map(|line| line.strip_prefix("Head: "));
    let head = head.expect("the head");
    place
        .append("panel.step-5", "ada", Outcome::Succeeded)
        .await;
    let (code, _, error) = place.audit(&["verify", "--expect", head]);
    assert_eq!(code, Some(0), "{error}");
    let (code, _, error) = place.audit(&["verify", "--expect", "3:another"]);
    assert_eq!(code, Some(1));
    assert!(error.contains("entry 3"), "{error}");

    place.configure("other.key");
    let (code, _, error) = place.audit(&["verify"]);
    assert_eq!(code, Some(1));
    assert!(error.contains("store.key_files"), "{error}");
    place.configure("store.key");

    sqlx::any::install_default_drivers();
    let mut connection = AnyConnection::connect(&place.url()).await.unwrap();
    for statement in [
        "DROP TRIGGER audit_events_unchangeable",
        "UPDATE audit_events SET user_name = 'vera' WHERE sequence IN (2, 4)",
    ] {
        connection.execute(statement).await.unwrap();
    }
    let (code, text, error) = place.audit(&["verify"]);
    assert_eq!(code, Some(1));
    assert!(
        error.contains("broken at entry 2 (") && error.contains("altered or moved"),
        "{error}"
    );
    assert!(text.starts_with("Entries verified: 1\n"), "{text}");
}

#[tokio::test]
async fn audit_verify_finds_a_journal_of_a_cluster_that_was_cut_or_changed() {
    sqlx::any::install_default_drivers();
    let place = Place::new().await;
    let key = JournalKey {
        project_id: "p1".to_owned(),
        cluster: CLUSTER.parse().unwrap(),
    };
    let journal = place.store.cluster_journal();
    for number in 1..=4 {
        let entry = NewJournalEntry {
            source: JournalSource::Observation,
            content: format!("{{\"status\": \"{number}\"}}"),
        };
        let head = journal
            .append(&key, &entry, Timestamp::now())
            .await
            .unwrap();
        if number % 2 == 0 {
            let event = NewAuditEvent {
                project_id: Some("p1".to_owned()),
                cluster_id: Some(CLUSTER.to_owned()),
                detail: serde_json::json!({ "journal": head.to_string() }),
                ..NewAuditEvent::new("panel.resize_node_group", Outcome::Succeeded)
            };
            let appended = place.store.audit().append(&event, Timestamp::now()).await;
            appended.unwrap();
        }
    }
    let (code, text, error) = place.audit(&["verify"]);
    assert_eq!(code, Some(0), "{error}");
    let line = "Journals of clusters verified: 1, with 4 entries, of which the audit log names 2";
    assert!(text.contains(line), "{text}");
    for (statement, expected) in [
        (
            "UPDATE cluster_journal_entries SET content = '{}' WHERE sequence = 3",
            "entry 3 or the one before it was changed",
        ),
        (
            "DELETE FROM cluster_journal_entries WHERE sequence > 2",
            "the newest entries, up to 4, were removed",
        ),
        (
            "UPDATE cluster_journal_heads SET sequence = 2, hash =
             (SELECT hash FROM cluster_journal_entries WHERE sequence = 2)",
            "the newest entries, up to 4, were removed",
        ),
        (
            "DELETE FROM cluster_journal_heads",
            "there is no journal, but the audit log names its entry 4",
        ),
    ] {
        let mut connection = AnyConnection::connect(&place.url()).await.unwrap();
        connection.execute(statement).await.unwrap();
        connection.close().await.unwrap();
        let (code, _, error) = place.audit(&["verify"]);
        assert_eq!(code, Some(1), "{statement}: {error}");
        assert!(error.contains(expected), "{error}");
        assert!(error.contains(CLUSTER), "{error}");
    }
}
