//! Attributes of keys in the configuration's JSON Schema: defaults, and when a change takes effect.
use super::Config;
use serde_json::Value;

/// The schema attribute of a key for when a change takes effect. Without it: at the next start.
const TAKES_EFFECT: &str = "x-portico-takes-effect";

/// When a changed key takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TakesEffect {
    /// At the next start.
    Restart,
    /// While the process runs, at once after SIGHUP.
    Reload,
    /// For the key, at the next start; for the contents of the file that it names, while the
    /// process runs.
    File,
}

/// The schema as JSON.
pub(crate) struct ConfigSchema(Value);

impl ConfigSchema {
    /// Returns the schema of this program.
    pub fn new() -> Self {
        Self(schemars::schema_for!(Config).into())
    }

    /// Returns the default of a key such as `admin.listen`, if it has one.
    pub fn default_of(&self, key: &str) -> Option<&Value> {
        self.key(key)?.get("default")
    }

    /// Returns when a change of a key such as `apps.0.rules_file` takes effect.
    pub fn takes_effect(&self, key: &str) -> TakesEffect {
        let attribute = self.key(key).and_then(|key| key.get(TAKES_EFFECT));
        match attribute.and_then(Value::as_str) {
            Some("reload") => TakesEffect::Reload,
            Some("file") => TakesEffect::File,
            _ => TakesEffect::Restart,
        }
    }

    /// Returns the schema of a key, with its attributes. Items of lists are numbers.
    fn key(&self, key: &str) -> Option<&Value> {
        key.split('.').try_fold(&self.0, |schema, part| {
            let schema = self.resolved(schema);
            if part.parse::<usize>().is_ok() {
                schema.get("items")
            } else {
                schema.get("properties")?.get(part)
            }
        })
    }

    /// Follows references and options to the schema that lists the keys.
    fn resolved<'s>(&'s self, mut schema: &'s Value) -> &'s Value {
        loop {
            let name = schema["$ref"].as_str().and_then(|to| to.rsplit('/').next());
            let choices = schema["anyOf"].as_array();
            let choice = choices.and_then(|all| all.iter().find(|one| one["type"] != "null"));
            schema = match (name, choice) {
                (Some(name), _) => &self.0["$defs"][name],
                (None, Some(choice)) => choice,
                (None, None) => return schema,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finding_o13_the_schema_has_when_a_key_takes_effect() {
        let schema = ConfigSchema::new();
        for (key, effect) in [
            ("store.key_files", TakesEffect::Reload),
            ("panel.assertion_public_key_files", TakesEffect::Reload),
            ("gateway.tls_cert_file", TakesEffect::File),
            ("gateway.tls_certificates.1.key_file", TakesEffect::File),
            ("gateway.assertion_key_file", TakesEffect::File),
            ("kube_auth.client_ca_file", TakesEffect::File),
            ("apps.0.rules_file", TakesEffect::File),
            ("apps.0.upstream.ca_file", TakesEffect::File),
            ("apps.3.identity.password_file", TakesEffect::File),
            ("clusters.0.authorization_policy_file", TakesEffect::File),
            ("shutdown.notice", TakesEffect::Restart),
            ("clusters.0.ca_file", TakesEffect::Restart),
            ("no.such.key", TakesEffect::Restart),
        ] {
            assert_eq!(schema.takes_effect(key), effect, "{key}");
        }
    }

    #[test]
    fn finding_o13_no_attribute_is_misspelt() {
        fn look(value: &Value, found: &mut usize) {
            match value {
                Value::Object(map) => {
                    for (key, value) in map {
                        if key.starts_with("x-") {
                            let known = ["reload", "file"].map(Value::from);
                            assert!(
                                key == TAKES_EFFECT && known.contains(value),
                                "{key}: {value}"
                            );
                            *found += 1;
                        }
                        look(value, found);
                    }
                }
                Value::Array(items) => items.iter().for_each(|item| look(item, found)),
                _ => {}
            }
        }
        let mut found = 0;
        look(&ConfigSchema::new().0, &mut found);
        assert!(found > 10, "{found}");
    }
}
