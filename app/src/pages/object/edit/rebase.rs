//! Repetition of a form's edits on a newer version of the object.
use portico_domain::panel::{EditForm, FieldEdit, FormField, FormGroup};

/// Edits that were repeated on a newer version.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Rebased {
    /// The edits, with the pointers of the newer version.
    pub edits: Vec<FieldEdit>,
    /// The fields of the other edits, which the newer version does not have.
    pub gone: Vec<String>,
}

/// Repeats edits of the form `before` on the form `newest`. A field is the same if its label and the
/// title of its group are: the pointer of an environment variable changes when another one is
/// removed. The removal of a field that the newest version does not have is complete already.
pub fn rebase(before: &EditForm, newest: &EditForm, edits: &[FieldEdit]) -> Rebased {
    let mut rebased = Rebased::default();
    for edit in edits {
        let Some((title, label)) = name(before, &edit.pointer) else {
            rebased.gone.push(edit.pointer.clone());
            continue;
        };
        let was_added = field(before, &title, &label, &edit.pointer).is_none();
        let found = field(newest, &title, &label, &edit.pointer).map(|field| field.pointer.clone());
        let pointer = match found {
            None if was_added => addition(newest, &title, &edit.pointer),
            found => found,
        };
        match pointer {
            Some(pointer) => rebased.edits.push(FieldEdit {
                pointer,
                value: edit.value.clone(),
            }),
            None if edit.value.is_none() => {}
            None => rebased.gone.push(format!("{label} ({title})")),
        }
    }
    rebased
}

/// Returns the title of the group and the label of a field that a form has or that the user adds.
fn name(form: &EditForm, pointer: &str) -> Option<(String, String)> {
    let existing = form.groups.iter().find_map(|group| {
        let field = group.fields.iter().find(|field| field.pointer == pointer)?;
        Some((group.title.clone(), field.label.clone()))
    });
    existing.or_else(|| {
        let (base, key) = split(pointer)?;
        let mut groups = form.groups.iter();
        let group = groups.find(|group| group.addable.as_deref() == Some(base))?;
        Some((group.title.clone(), key))
    })
}

/// Returns the field with a label; of several the one at `pointer`.
fn field<'a>(form: &'a EditForm, title: &str, label: &str, pointer: &str) -> Option<&'a FormField> {
    let fields = || {
        group(form, title)
            .flat_map(|group| &group.fields)
            .filter(|field| field.label == label)
    };
    fields()
        .find(|field| field.pointer == pointer)
        .or_else(|| fields().next())
}

/// Returns the pointer at which a field that the user adds is in the newest version.
fn addition(newest: &EditForm, title: &str, pointer: &str) -> Option<String> {
    let base = group(newest, title).find_map(|group| group.addable.as_deref())?;
    let (_, key) = pointer.rsplit_once('/')?;
    Some(format!("{base}/{key}"))
}

fn group<'a>(form: &'a EditForm, title: &str) -> impl Iterator<Item = &'a FormGroup> {
    form.groups.iter().filter(move |group| group.title == title)
}

/// Splits the pointer of an entry into that of its map or list and its key (RFC 6901, section 4).
pub fn split(pointer: &str) -> Option<(&str, String)> {
    let (base, key) = pointer.rsplit_once('/')?;
    Some((base, key.replace("~1", "/").replace("~0", "~")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::panel::FieldKind;

    fn group(title: &str, fields: &[(&str, &str)], addable: Option<&str>) -> FormGroup {
        FormGroup {
            title: title.to_owned(),
            fields: fields
                .iter()
                .map(|(pointer, label)| FormField {
                    pointer: (*pointer).to_owned(),
                    label: (*label).to_owned(),
                    value: String::new(),
                    kind: FieldKind::Text,
                    is_removable: true,
                })
                .collect(),
            addable: addable.map(str::to_owned),
        }
    }

    fn form(groups: Vec<FormGroup>) -> EditForm {
        EditForm {
            groups,
            version: "1".to_owned(),
        }
    }

    fn edit(pointer: &str, value: Option<&str>) -> FieldEdit {
        FieldEdit {
            pointer: pointer.to_owned(),
            value: value.map(str::to_owned),
        }
    }

    fn before() -> EditForm {
        form(vec![
            group("Settings", &[("/spec/replicas", "Replicas")], None),
            group("Container web", &[("/c/0/image", "Image")], None),
            group(
                "Environment of web",
                &[("/c/0/env/0/value", "LEVEL"), ("/c/0/env/1/value", "MODE")],
                Some("/c/0/env"),
            ),
            group("Labels", &[("/l/app", "app")], Some("/l")),
        ])
    }

    #[test]
    fn edits_of_fields_that_still_exist_are_kept() {
        let edits = [
            edit("/spec/replicas", Some("3")),
            edit("/l/app", None),
            edit("/l/example.org~1team", Some("a")),
        ];
        let rebased = rebase(&before(), &before(), &edits);
        assert_eq!(rebased.edits, edits);
        assert!(rebased.gone.is_empty());
    }

    #[test]
    fn an_edit_follows_its_field_to_another_place() {
        let newest = form(vec![
            group("Container proxy", &[("/c/0/image", "Image")], None),
            group("Container web", &[("/c/1/image", "Image")], None),
            group(
                "Environment of web",
                &[("/c/1/env/0/value", "MODE"), ("/c/1/env/1/value", "NEW")],
                Some("/c/1/env"),
            ),
        ]);
        let edits = [
            edit("/c/0/image", Some("web:2")),
            edit("/c/0/env/1/value", Some("fast")),
            // added by the user, and meanwhile by another one
            edit("/c/0/env/NEW", Some("mine")),
            edit("/c/0/env/OWN", Some("mine")),
        ];
        let rebased = rebase(&before(), &newest, &edits);
        assert_eq!(
            rebased.edits,
            [
                edit("/c/1/image", Some("web:2")),
                edit("/c/1/env/0/value", Some("fast")),
                edit("/c/1/env/1/value", Some("mine")),
                edit("/c/1/env/OWN", Some("mine")),
            ]
        );
        assert!(rebased.gone.is_empty());
    }

    #[test]
    fn fields_that_are_gone_are_named() {
        let newest = form(vec![group("Labels", &[], Some("/l"))]);
        let edits = [
            edit("/c/0/image", Some("web:2")),
            edit("/c/0/env/OWN", Some("mine")),
            edit("/l/app", Some("shop")),
            // removed here, and meanwhile by another user
            edit("/c/0/env/0/value", None),
        ];
        let rebased = rebase(&before(), &newest, &edits);
        assert!(rebased.edits.is_empty());
        assert_eq!(
            rebased.gone,
            [
                "Image (Container web)",
                "OWN (Environment of web)",
                "app (Labels)",
            ]
        );
    }
}
