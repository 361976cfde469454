//! Labels of a template and of a user, merged as Magnum merges them, with the origin of each.
//!
//! Portico always sends `merge_labels: true`: without it, Magnum drops every label of the template as
//! soon as one is given.
mod known;

use std::collections::BTreeMap;

pub use known::{KNOWN, KnownLabel, Values, known};

use crate::driver::{Driver, Family};

/// Labels by key. Magnum's values may also be numbers or truth values; the caller writes them as text.
pub type Labels = BTreeMap<String, String>;

/// Where the value of a label comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The template; the user gave no other.
    Template,
    /// The user; the template has none.
    Added,
    /// The user, instead of the template's.
    Overridden,
}

/// One line of the table of labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelRow {
    /// The key of the label.
    pub key: String,
    /// The template's value.
    pub template: Option<String>,
    /// The user's value.
    pub yours: Option<String>,
    /// The value that the cluster gets.
    pub result: String,
    /// Where that value comes from.
    pub origin: Origin,
    /// What the label does, if it is known.
    pub meaning: Option<&'static str>,
    /// What the user should know: that it is ignored, invalid, or cannot be changed later.
    pub notes: Vec<String>,
}

/// Returns the labels that a cluster gets.
pub fn merge(template: &Labels, yours: &Labels) -> Labels {
    let mut result = template.clone();
    result.extend(yours.clone());
    result
}

/// Returns the table of labels, in the order of the keys.
pub fn table(template: &Labels, yours: &Labels, driver: Driver) -> Vec<LabelRow> {
    merge(template, yours)
        .into_iter()
        .map(|(key, result)| {
            let from_template = template.get(&key).cloned();
            let from_user = yours.get(&key).cloned();
            let origin = match (&from_template, &from_user) {
                (Some(old), Some(new)) if old != new => Origin::Overridden,
                (None, _) => Origin::Added,
                (Some(_), _) => Origin::Template,
            };
            LabelRow {
                notes: notes(&key, &result, origin, driver),
                meaning: known(&key).map(|label| label.meaning),
                template: from_template,
                yours: from_user,
                key,
                result,
                origin,
            }
        })
        .collect()
}

/// Labels that a user may want to change later; Magnum cannot.
const FIXED_AT_CREATION: &[&str] = &[
    "auto_healing_enabled",
    "auto_upgrade_enabled",
    "auto_scaling_enabled",
];

/// Returns that a driver ignores a label, as a sentence; `None` if it reads it, or that is not known.
pub fn ignored(key: &str, driver: Driver) -> Option<String> {
    let label = known(key)?;
    let is_known_driver = !matches!(driver.family, Family::Unknown | Family::Complete);
    if !is_known_driver || label.read_by.contains(&driver.family) {
        return None;
    }
    let name = driver.family.name();
    Some(match (key, driver.family) {
        ("kube_tag", Family::CapiHelm) => {
            format!("{name} ignores it: the version is the property kube_version of the image.")
        }
        ("auto_upgrade_enabled", _) => format!(
            "{name} does not read it; some clouds do. Ask your operator whether security updates are \
             installed automatically."
        ),
        _ => format!("{name} ignores it."),
    })
}

fn notes(key: &str, value: &str, origin: Origin, driver: Driver) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(label) = known(key) {
        if let Some(problem) = label.values.problem(value) {
            notes.push(problem);
        }
        // labels of the template are the operator's matter
        if origin != Origin::Template {
            notes.extend(ignored(key, driver));
        }
    }
    if FIXED_AT_CREATION.contains(&key) {
        notes.push("Magnum cannot change it on an existing cluster.".to_owned());
    }
    if key == "kube_tag" && origin == Origin::Overridden {
        notes.push("The template was tested with its own version.".to_owned());
    }
    notes
}
