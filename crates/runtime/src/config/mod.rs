//! Configuration in layers: defaults in code, TOML files (later ones win), then environment
//! variables `PORTICO_<SECTION>__<KEY>`. A list in a variable is `a,b` or `["a", "b"]`, a list of
//! tables `[{id="a", name="b"}]`; `clusters` and `apps`, which are in no section, can be set in
//! files only.
//!
//! Each crate defines the struct of its section; the program composes them and calls [`load`].
//! Relative paths in a file (keys that end in `_file`, `_files` or `_root`) are relative to that
//! file, so that a configuration works from any working directory.
mod environment;
mod error;
mod extract;
mod file;
mod form;

pub use environment::process_environment;
pub use error::{ConfigError, Problem};

use environment::EnvironmentLayer;
use figment::Figment;
use file::FileLayer;
use serde::de::DeserializeOwned;
use std::path::PathBuf;

/// Reads a configuration from `files` and `environment`, a list of variables such as
/// [`process_environment`] returns.
///
/// # Errors
/// If a file cannot be read, is not TOML, or a key is unknown, missing or has an invalid value;
/// every problem names its key.
pub fn load<T: DeserializeOwned>(
    files: &[PathBuf],
    environment: impl IntoIterator<Item = (String, String)>,
) -> Result<T, ConfigError> {
    let mut of_files = Figment::new();
    for path in files {
        of_files = of_files.merge(FileLayer::read(path)?);
    }
    let mut environment = EnvironmentLayer::new(environment);
    loop {
        let figment = of_files.clone().merge(&environment);
        match extract::extract(&figment) {
            Ok(config) => return Ok(config),
            // a variable has no quotes and no brackets: `12` may be a text, `a,b` a list
            Err(errors) if environment.reads_otherwise(&errors) => {}
            Err(errors) => return Err(ConfigError::from_figment(&figment, &errors)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use std::net::SocketAddr;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Config {
        gateway: Option<Gateway>,
        #[serde(default)]
        clusters: Vec<Cluster>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Gateway {
        listen: SocketAddr,
        key_file: Option<PathBuf>,
        #[serde(default)]
        session: Session,
        retries: Option<u16>,
        #[serde(default)]
        hosts: Vec<String>,
        #[serde(default)]
        ports: Vec<u16>,
        #[serde(default, with = "humantime_serde")]
        notice: Option<std::time::Duration>,
    }

    #[derive(Debug, Default, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Session {
        idle: Option<String>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Cluster {
        name: String,
    }

    fn load_with(toml: &str, env: &[(&str, &str)]) -> Result<Config, ConfigError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("portico.toml");
        std::fs::write(&path, toml).unwrap();
        let env = env.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
        load(&[path], env)
    }

    fn message(toml: &str, env: &[(&str, &str)]) -> String {
        load_with(toml, env).unwrap_err().to_string()
    }

    /// Compares a message with its snapshot, without the directory of the file.
    macro_rules! assert_message {
        ($name:literal, $message:expr) => {
            portico_testkit::snapshot_settings().bind(|| {
                insta::assert_snapshot!($name, $message);
            })
        };
    }

    #[test]
    fn the_environment_wins_over_files() {
        let config = load_with(
            "[gateway]\nlisten = \"127.0.0.1:1\"\n",
            &[
                ("PORTICO_GATEWAY__LISTEN", "127.0.0.1:2"),
                ("PORTICO_GATEWAY__SESSION__IDLE", "2h"),
                ("PORTICO_URL", "http://ignored"),
                ("HOME", "/root"),
            ],
        )
        .unwrap();
        let gateway = config.gateway.unwrap();
        assert_eq!(gateway.listen.port(), 2);
        assert_eq!(gateway.session.idle.as_deref(), Some("2h"));
    }

    #[test]
    fn a_variable_that_looks_like_a_number_may_be_a_text() {
        for (text, retries) in [("12", "3"), ("1.30", "4"), ("true", "5")] {
            let config = load_with(
                "[gateway]\nlisten = \"127.0.0.1:1\"\n",
                &[
                    ("PORTICO_GATEWAY__SESSION__IDLE", text),
                    ("PORTICO_GATEWAY__KEY_FILE", "7"),
                    ("PORTICO_GATEWAY__RETRIES", retries),
                ],
            );
            let gateway = config.unwrap().gateway.unwrap();
            assert_eq!(gateway.session.idle.as_deref(), Some(text));
            assert_eq!(gateway.key_file, Some("7".into()));
            assert_eq!(gateway.retries, retries.parse().ok());
        }
        let message = message(
            "[gateway]\nlisten = \"127.0.0.1:1\"\n",
            &[("PORTICO_GATEWAY__RETRIES", "true")],
        );
        assert_message!("text_for_a_number", message);
    }

    #[test]
    fn an_unknown_key_is_named_with_its_path_and_file() {
        let message = message(
            "[gateway]\nlisten = \"127.0.0.1:1\"\n[gateway.session]\nidel = \"1h\"\n",
            &[],
        );
        assert_message!("unknown_key", message);
    }

    #[test]
    fn an_unknown_key_in_the_environment_names_the_variable() {
        let message = message(
            "[gateway]\nlisten = \"127.0.0.1:1\"\n",
            &[("PORTICO_GATEWAY__LISTNE", "x")],
        );
        assert_message!("unknown_key_in_the_environment", message);
    }

    #[test]
    fn a_value_of_a_table_from_both_layers_is_answered_with_its_own_layer() {
        let both = |key: &str, variable: (&str, &str)| {
            let text = format!("[gateway]\nlisten = \"127.0.0.1:1\"\n{key}\n");
            message(&text, &[variable])
        };
        let of_file = both("retries = 99999", ("PORTICO_GATEWAY__KEY_FILE", "a"));
        assert!(of_file.contains("portico.toml"), "{of_file}");
        let of_variable = both("key_file = \"a\"", ("PORTICO_GATEWAY__RETRIES", "99999"));
        assert!(
            of_variable.contains("PORTICO_GATEWAY__RETRIES"),
            "{of_variable}"
        );
        assert!(!of_variable.contains("portico.toml"), "{of_variable}");
    }

    #[test]
    fn a_port_out_of_range_is_reported() {
        let message = message("[gateway]\nlisten = \"127.0.0.1:99999\"\n", &[]);
        assert!(message.contains("gateway.listen"), "{message}");
        assert!(message.contains("127.0.0.1:99999"), "{message}");
        assert!(message.contains("65535"), "{message}");
    }

    #[test]
    fn a_number_for_an_address_is_answered_with_the_form_of_one() {
        let message = message("[gateway]\nlisten = 8080\n", &[]);
        let expected = "gateway.listen: must be an address to listen on (IP:PORT), such as \
                        \"127.0.0.1:8080\", not `8080`";
        assert!(message.contains(expected), "{message}");
    }

    #[test]
    fn a_wrong_type_names_the_key_of_a_list_element() {
        let message = message("[[clusters]]\nname = \"a\"\n[[clusters]]\nname = 3\n", &[]);
        assert_message!("wrong_type_in_a_list", message);
    }

    #[test]
    fn a_number_out_of_range_names_the_key() {
        let message = message(
            "[gateway]\nlisten = \"127.0.0.1:1\"\nretries = 99999\n",
            &[],
        );
        assert!(message.contains("gateway.retries"), "{message}");
    }

    #[test]
    fn a_missing_key_is_named() {
        let message = message("[gateway]\nretries = 1\n", &[]);
        assert_message!("missing_key", message);
    }

    #[test]
    fn broken_toml_names_file_and_line() {
        let message = message("[gateway\nlisten = 1", &[]);
        assert_message!("broken_toml", message);
    }

    #[test]
    fn relative_paths_are_relative_to_the_file() {
        let config = load_with(
            "[gateway]\nlisten = \"127.0.0.1:1\"\nkey_file = \"a.key\"\n",
            &[],
        )
        .unwrap();
        let gateway = config.gateway.unwrap();
        assert!(gateway.key_file.unwrap().is_absolute());
        assert_eq!(config.clusters.len(), 0);
        assert_eq!(gateway.retries, None);
    }

    #[test]
    fn lists_and_tables_survive_both_layers() {
        let config = load_with("[[clusters]]\nname = \"a\"\n", &[]).unwrap();
        assert_eq!(config.clusters[0].name, "a");
    }

    const LISTEN: &str = "[gateway]\nlisten = \"127.0.0.1:1\"\n";

    #[test]
    fn finding_o12_a_duration_without_a_unit_is_answered_with_the_units() {
        let mut messages = Vec::new();
        for written in ["\"3\"", "3", "\"3 fortnights\""] {
            let message = message(&format!("{LISTEN}notice = {written}\n"), &[]);
            messages.push(message);
        }
        messages.push(message(LISTEN, &[("PORTICO_GATEWAY__NOTICE", "3")]));
        assert_message!("duration_without_a_unit", messages.join("\n"));
        let good = load_with(LISTEN, &[("PORTICO_GATEWAY__NOTICE", "1h 30m")]).unwrap();
        let notice = good.gateway.unwrap().notice.unwrap();
        assert_eq!(notice.as_secs(), 5400);
    }

    #[test]
    fn finding_o12_a_number_out_of_range_is_answered_with_the_range() {
        let message = message(&format!("{LISTEN}retries = 99999\n"), &[]);
        assert_message!("number_out_of_range", message);
    }

    #[test]
    fn finding_o12_a_variable_holds_a_list() {
        for (written, hosts) in [
            ("a.example", &["a.example"][..]),
            ("a.example,b.example", &["a.example", "b.example"]),
            ("a.example, b.example,", &["a.example", "b.example"]),
            ("[a.example, b.example]", &["a.example", "b.example"]),
            (r#"["a.example", "b.example"]"#, &["a.example", "b.example"]),
            ("['a.example','b.example']", &["a.example", "b.example"]),
            ("10,1.30", &["10", "1.30"]),
            ("[10, 1.30]", &["10", "1.30"]),
            ("10", &["10"]),
            ("", &[]),
            ("[]", &[]),
        ] {
            let config = load_with(LISTEN, &[("PORTICO_GATEWAY__HOSTS", written)]);
            let gateway = config.unwrap().gateway.unwrap();
            assert_eq!(gateway.hosts, hosts, "{written}");
        }
        let ports = load_with(LISTEN, &[("PORTICO_GATEWAY__PORTS", "80, 443")]);
        assert_eq!(ports.unwrap().gateway.unwrap().ports, [80, 443]);
    }

    #[test]
    fn finding_o12_what_is_not_a_list_is_answered_with_the_form_of_one() {
        let messages = [
            ("PORTICO_GATEWAY__HOSTS__0", "a.example"),
            ("PORTICO_GATEWAY__HOSTS", "{a=1}"),
            ("PORTICO_CLUSTERS__0__NAME", "a"),
            ("PORTICO_GATEWAY__PORTS", "80,http"),
        ]
        .map(|variable| message(LISTEN, &[variable]));
        assert_message!("not_a_list", messages.join("\n"));
    }

    #[test]
    fn finding_o12_a_message_never_repeats_a_text_that_may_be_a_secret() {
        let broken = format!("{LISTEN}key_file = \"hush\" oops\n");
        let wrong = format!("{LISTEN}hosts = \"hush\"\n");
        for text in [broken, wrong] {
            let message = message(&text, &[]);
            assert!(!message.contains("hush"), "{message}");
            assert!(message.contains("portico.toml"), "{message}");
        }
    }
}
