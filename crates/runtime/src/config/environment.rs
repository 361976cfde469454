use figment::error::{Actual, Kind};
use figment::value::{Dict, Map, Value};
use figment::{Error, Metadata, Profile, Provider, util};
use std::collections::HashMap;

const PREFIX: &str = "PORTICO_";
const NESTING: &str = "__";
/// The layer's name.
pub(super) const NAME: &str = "environment";

/// Returns the process's environment, as [`super::load`] takes it. The program reads settings from
/// the environment nowhere else.
pub fn process_environment() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// How the text of a variable is interpreted. A variable has neither quotes nor types, so it is
/// first interpreted by its form, and differently if its key requires another type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reading {
    /// A text, although it looks like a number.
    Text,
    /// A list of items separated by commas, with brackets or without.
    List,
    /// The same, with every item as a text.
    Texts,
}

/// Variables of the configuration. Only those with a section are read: `PORTICO_URL` and the like
/// are for users and scripts.
pub(super) struct EnvironmentLayer {
    settings: Vec<(String, String)>,
    /// By key. A key only advances to later readings, so that the attempts end.
    readings: HashMap<String, Reading>,
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
        let readings = HashMap::new();
        Self { settings, readings }
    }

    /// Returns whether a variable that has the wrong type according to the errors is interpreted
    /// differently from now on.
    pub(super) fn reads_otherwise(&mut self, errors: &[Error]) -> bool {
        let mut changed = false;
        for error in errors {
            let from_here = error
                .metadata
                .as_ref()
                .is_some_and(|metadata| metadata.name == NAME);
            if let (true, Kind::InvalidType(actual, expected)) = (from_here, &error.kind) {
                changed |= self.read_otherwise(&error.path, actual, expected);
            }
        }
        changed
    }

    fn read_otherwise(&mut self, path: &[String], actual: &Actual, expected: &str) -> bool {
        let is_set = |key: &str| self.settings.iter().any(|(set, _)| set == key);
        let is_text = matches!(actual, Actual::Str(_));
        let whole = path.join(".");
        let (key, reading) = if is_set(&whole) {
            match (expected, actual) {
                ("a sequence", Actual::Map) => return false,
                ("a sequence", _) => (whole, Reading::List),
                _ if is_text => return false,
                _ => (whole, Reading::Text),
            }
        } else {
            // an item of a list
            let list = path
                .split_last()
                .filter(|(item, _)| item.parse::<usize>().is_ok());
            match list.map(|(_, list)| list.join(".")) {
                Some(list) if is_set(&list) && !is_text => (list, Reading::Texts),
                _ => return false,
            }
        };
        let before = self.readings.get(&key).copied();
        if before.is_some_and(|before| before >= reading) {
            return false;
        }
        self.readings.insert(key, reading);
        true
    }
}

fn read(text: &str, reading: Option<Reading>) -> Value {
    match reading {
        None => guess(text),
        Some(Reading::Text) => Value::from(text),
        Some(Reading::List) => items(text)
            .into_iter()
            .map(|item| unquoted(item).map_or_else(|| guess(item), Value::from))
            .collect::<Vec<_>>()
            .into(),
        Some(Reading::Texts) => items(text)
            .into_iter()
            .map(|item| Value::from(unquoted(item).unwrap_or(item)))
            .collect::<Vec<_>>()
            .into(),
    }
}

/// Guesses a value; never fails: what is not a number, boolean, list or table is a text.
fn guess(text: &str) -> Value {
    text.parse().unwrap_or_else(|_| Value::from(text))
}

/// Returns the items of `a, b` and of `[a, b]`.
fn items(text: &str) -> Vec<&str> {
    let text = text.trim();
    let inner = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'))
        .unwrap_or(text);
    let items = inner.split(',').map(str::trim);
    items.filter(|item| !item.is_empty()).collect()
}

/// Returns the text between quotes, if it is quoted.
fn unquoted(item: &str) -> Option<&str> {
    ['"', '\'']
        .into_iter()
        .find_map(|quote| item.strip_prefix(quote)?.strip_suffix(quote))
}

impl Provider for &EnvironmentLayer {
    fn metadata(&self) -> Metadata {
        Metadata::named(NAME).interpolater(|_, path| variable_of(path))
    }

    fn data(&self) -> Result<Map<Profile, Dict>, Error> {
        let mut dict = Dict::new();
        for (key, value) in &self.settings {
            let value = read(value, self.readings.get(key).copied());
            if let Value::Dict(_, nested) = util::nest(key, value) {
                merge(&mut dict, nested);
            }
        }
        Ok(Profile::Default.collect(dict))
    }
}

/// Returns the variable that sets the key. The items of a list have no variables of their own.
pub(super) fn variable_of<S: AsRef<str>>(path: &[S]) -> String {
    let path: Vec<String> = path
        .iter()
        .take_while(|part| part.as_ref().parse::<usize>().is_err())
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
