use figment::error::Kind;
use figment::value::{Dict, Map, Value};
use figment::{Error, Metadata, Profile, Provider, util};
use std::collections::HashSet;

const PREFIX: &str = "PORTICO_";
const NESTING: &str = "__";
/// What the layer is called among others.
pub(super) const NAME: &str = "environment";

/// The process's environment, as [`super::load`] takes it. Nothing else in the program reads
/// settings from the environment.
pub fn process_environment() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// Only variables with a section count: `PORTICO_URL` and the like are for people and scripts.
pub(super) struct EnvironmentLayer {
    settings: Vec<(String, String)>,
    /// Keys whose values are texts, whatever they look like.
    texts: HashSet<String>,
}

impl EnvironmentLayer {
    pub(super) fn new(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let settings = variables
            .into_iter()
            .filter_map(|(name, value)| {
                let key = name.strip_prefix(PREFIX)?;
                key.contains(NESTING)
                    .then(|| (key.to_ascii_lowercase().replace(NESTING, "."), value))
            })
            .collect();
        let texts = HashSet::new();
        Self { settings, texts }
    }

    /// Whether a value that came as something else is tried as a text from now on.
    pub(super) fn takes_as_text(&mut self, error: &Error) -> bool {
        let mut takes = false;
        for error in error.clone() {
            let from_here = error
                .metadata
                .as_ref()
                .is_some_and(|metadata| metadata.name == NAME);
            if from_here && matches!(error.kind, Kind::InvalidType(..)) {
                takes |= self.texts.insert(error.path.join("."));
            }
        }
        takes
    }
}

impl Provider for &EnvironmentLayer {
    fn metadata(&self) -> Metadata {
        Metadata::named(NAME).interpolater(|_, path| variable_of(path))
    }

    fn data(&self) -> Result<Map<Profile, Dict>, Error> {
        let mut dict = Dict::new();
        for (key, value) in &self.settings {
            // never fails: what is no number, boolean or list is a string
            let text = || Value::from(value.as_str());
            let value = if self.texts.contains(key) {
                text()
            } else {
                value.parse::<Value>().unwrap_or_else(|_| text())
            };
            if let Value::Dict(_, nested) = util::nest(key, value) {
                merge(&mut dict, nested);
            }
        }
        Ok(Profile::Default.collect(dict))
    }
}

/// The variable that sets the key.
pub(super) fn variable_of<S: AsRef<str>>(path: &[S]) -> String {
    let path: Vec<String> = path
        .iter()
        .map(|part| part.as_ref().to_ascii_uppercase())
        .collect();
    format!("{PREFIX}{}", path.join(NESTING))
}

fn merge(into: &mut Dict, from: Dict) {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            (Some(Value::Dict(_, present)), Value::Dict(_, more)) => merge(present, more),
            (_, value) => {
                into.insert(key, value);
            }
        }
    }
}
