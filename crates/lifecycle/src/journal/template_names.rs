//! Names of templates, for entries that have their UUIDs.
use super::Difference;
use std::collections::BTreeMap;

/// The field of a difference that has the UUIDs of templates.
pub const TEMPLATE_FIELD: &str = "Template";
/// The action of a request whose target is the UUID of a template.
pub const UPGRADE_ACTION: &str = "upgrade_cluster";

/// The templates that a user may list, by their UUIDs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TemplateNames(BTreeMap<String, String>);

impl TemplateNames {
    /// Returns the names of templates; each has its UUID first.
    pub fn of(templates: impl IntoIterator<Item = (String, String)>) -> Self {
        let templates = templates.into_iter();
        Self(templates.filter(|(_, name)| !name.is_empty()).collect())
    }

    /// Returns the name of a template, or the text itself if it is not the UUID of a known one. A name that
    /// several templates have is followed by the UUID.
    pub fn shown(&self, text: &str) -> String {
        let Some(name) = self.0.get(text) else {
            return text.to_owned();
        };
        match self.0.values().filter(|one| *one == name).count() {
            1 => name.clone(),
            _ => format!("{name} ({text})"),
        }
    }

    /// Returns a difference of the template with names, and any other one as it is.
    #[must_use]
    pub fn named(&self, difference: Difference) -> Difference {
        if difference.field != TEMPLATE_FIELD {
            return difference;
        }
        Difference {
            before: difference.before.map(|text| self.shown(&text)),
            after: difference.after.map(|text| self.shown(&text)),
            ..difference
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "f7617ea3-8060-4dd2-9479-e441e1a40404";
    const NEW: &str = "0c6a1e08-5f0e-4b6d-8a53-7b2f1a6f7a11";

    fn names(all: &[(&str, &str)]) -> TemplateNames {
        let pairs = all.iter().map(|(uuid, name)| (*uuid, *name));
        TemplateNames::of(pairs.map(|(uuid, name)| (uuid.to_owned(), name.to_owned())))
    }

    #[test]
    fn a_known_template_has_its_name_and_another_one_its_uuid() {
        let known = names(&[(OLD, "k8s-1.31"), (NEW, "")]);
        assert_eq!(known.shown(OLD), "k8s-1.31");
        assert_eq!(known.shown(NEW), NEW);
        assert_eq!(known.shown("k8s-1.31"), "k8s-1.31");
    }

    #[test]
    fn templates_with_the_same_name_are_followed_by_their_uuids() {
        let known = names(&[(OLD, "k8s"), (NEW, "k8s")]);
        assert_eq!(known.shown(OLD), format!("k8s ({OLD})"));
        assert_eq!(known.shown(NEW), format!("k8s ({NEW})"));
    }

    #[test]
    fn only_the_template_of_a_difference_is_named() {
        let known = names(&[(OLD, "k8s-1.31")]);
        let difference = |field: &str| Difference {
            field: field.to_owned(),
            before: Some(OLD.to_owned()),
            after: Some(NEW.to_owned()),
            is_requested: true,
        };
        let named = known.named(difference("Template"));
        assert_eq!(named.before.as_deref(), Some("k8s-1.31"));
        assert_eq!(named.after.as_deref(), Some(NEW));
        let other = difference("Kubernetes version");
        assert_eq!(known.named(other.clone()), other);
    }
}
