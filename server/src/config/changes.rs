//! Comparison of two configurations by key. Names only: values may be secrets.
use super::Config;
use super::schema::{ConfigSchema, TakesEffect};
use secrecy::ExposeSecret as _;
use serde_json::Value;
use std::collections::BTreeSet;

/// The keys that differ between the configuration of a running process and one that was read now.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    /// Keys that take effect while the process runs.
    pub reload: Vec<String>,
    /// Keys that take effect at the next start.
    pub restart: Vec<String>,
}

impl Changes {
    /// Returns the keys that differ, in alphabetical order.
    ///
    /// # Errors
    /// If a configuration cannot be serialised as JSON.
    pub fn between(old: &Config, new: &Config) -> Result<Self, serde_json::Error> {
        let mut keys = BTreeSet::new();
        collect(
            "",
            &serde_json::to_value(old)?,
            &serde_json::to_value(new)?,
            &mut keys,
        );
        // serialised without its password
        let url = |config: &Config| {
            let store = config.store.as_ref();
            store.map(|store| store.url.expose_secret().to_owned())
        };
        if old.store.is_some() && new.store.is_some() && url(old) != url(new) {
            keys.insert("store.url".to_owned());
        }
        let schema = ConfigSchema::new();
        let (reload, restart) = keys
            .into_iter()
            .partition(|key| schema.takes_effect(key) == TakesEffect::Reload);
        Ok(Self { reload, restart })
    }
}

fn collect(key: &str, old: &Value, new: &Value, keys: &mut BTreeSet<String>) {
    let below = |part: &str| match key {
        "" => part.to_owned(),
        key => format!("{key}.{part}"),
    };
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            for name in names {
                let value = |map: &serde_json::Map<String, Value>| map.get(name).cloned();
                let (old, new) = (value(old), value(new));
                collect(
                    &below(name),
                    &old.unwrap_or_default(),
                    &new.unwrap_or_default(),
                    keys,
                );
            }
        }
        (Value::Array(old), Value::Array(new))
            if old.len() == new.len() && old.iter().chain(new).all(Value::is_object) =>
        {
            for (index, (old, new)) in old.iter().zip(new).enumerate() {
                collect(&below(&index.to_string()), old, new, keys);
            }
        }
        (old, new) if old == new => {}
        _ => {
            keys.insert(key.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Config {
        toml::from_str(text).unwrap()
    }

    const OLD: &str = r#"
[store]
url = "postgres://portico:one@db/portico"
key_files = ["1.key"]
[shutdown]
notice = "3s"
[[clusters]]
id = "6f0c1a52-0000-4000-8000-000000000001"
name = "prod"
owner_project = "p1"
api_url = "https://127.0.0.1:6443"
sealing_key_file = "kube-auth-1.pub"
"#;

    #[test]
    fn finding_o13_changed_keys_are_named_by_when_they_take_effect() {
        let old = config(OLD);
        let between = |new: &str| Changes::between(&old, &config(new)).unwrap();
        assert_eq!(between(OLD), Changes::default());
        let new = OLD
            .replace("\"3s\"", "\"5s\"")
            .replace("[\"1.key\"]", "[\"2.key\", \"1.key\"]")
            .replace("portico:one@", "portico:two@")
            .replace("\"prod\"", "\"production\"");
        let changes = between(&format!("[log]\nlevel = \"debug\"\n{new}"));
        assert_eq!(changes.reload, ["store.key_files"]);
        let expected = [
            "clusters.0.name",
            "log.level",
            "shutdown.notice",
            "store.url",
        ];
        assert_eq!(changes.restart, expected);
        // never a value
        assert!(!format!("{changes:?}").contains("two"));
    }

    #[test]
    fn finding_o13_sections_and_items_that_come_and_go_are_named_as_a_whole() {
        let old = config(OLD);
        let cut = OLD.split("[[clusters]]").next().unwrap();
        let changes = Changes::between(&old, &config(cut)).unwrap();
        assert_eq!(changes.restart, ["clusters"]);
        let changes = Changes::between(&Config::default(), &old).unwrap();
        assert_eq!(changes.restart, ["clusters", "store"]);
    }
}
