//! Configuration in layers: defaults in code, TOML files (later ones win), then environment
//! variables `PORTICO_<SECTION>__<KEY>`.
//!
//! Each crate owns the struct of its section; the program composes them and calls [`load`].
//! Relative paths in a file (keys that end in `_file`, `_files` or `_root`) are relative to
//! that file, so that a configuration works from any working directory.
mod environment;
mod error;
mod file;

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
/// When a file cannot be read, is no TOML, or a key is unknown, missing or holds a wrong value;
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
        match figment.extract() {
            Ok(config) => return Ok(config),
            // a variable has no quotes: what looks like a number may be meant as a text
            Err(error) if environment.takes_as_text(&error) => {}
            Err(error) => return Err(ConfigError::from_figment(&figment, error)),
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
        assert!(message.contains("PORTICO_GATEWAY__RETRIES"), "{message}");
    }

    #[test]
    fn an_unknown_key_is_named_with_its_path_and_file() {
        let message = message(
            "[gateway]\nlisten = \"127.0.0.1:1\"\n[gateway.session]\nidel = \"1h\"\n",
            &[],
        );
        assert!(message.contains("gateway.session.idel"), "{message}");
        assert!(message.contains("unknown key"), "{message}");
        assert!(message.contains("portico.toml"), "{message}");
        assert!(message.contains("idle"), "{message}");
    }

    #[test]
    fn an_unknown_key_in_the_environment_names_the_variable() {
        let message = message(
            "[gateway]\nlisten = \"127.0.0.1:1\"\n",
            &[("PORTICO_GATEWAY__LISTNE", "x")],
        );
        assert!(message.contains("PORTICO_GATEWAY__LISTNE"), "{message}");
    }

    #[test]
    fn a_port_out_of_range_says_so() {
        let message = message("[gateway]\nlisten = \"127.0.0.1:99999\"\n", &[]);
        assert!(message.contains("gateway.listen"), "{message}");
        assert!(message.contains("127.0.0.1:99999"), "{message}");
        assert!(message.contains("65535"), "{message}");
    }

    #[test]
    fn a_wrong_type_names_the_key_of_a_list_element() {
        let message = message("[[clusters]]\nname = \"a\"\n[[clusters]]\nname = 3\n", &[]);
        assert!(message.contains("clusters.1.name"), "{message}");
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
        assert!(message.contains("gateway.listen"), "{message}");
        assert!(message.contains("missing"), "{message}");
    }

    #[test]
    fn broken_toml_names_file_and_line() {
        let message = message("[gateway\nlisten = 1", &[]);
        assert!(message.contains("portico.toml"), "{message}");
        assert!(message.contains("line 1"), "{message}");
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
}
