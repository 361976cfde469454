//! The edits of a form that were not saved, stored in the tab for one user: the end of a session or a
//! reload does not lose them. Never those of a Secret.
use crate::{
    hooks::drafts,
    ui::{Banner, Button, Tone, icons},
};
use leptos::prelude::*;
use portico_domain::panel::{EditForm, FieldEdit, FieldKind};

/// A form as it was read, and the edits of it.
pub type Edits = (EditForm, Vec<FieldEdit>);

/// Where the edits of a form are stored; nowhere without a key. `Copy`.
#[derive(Clone, Copy)]
pub struct Draft {
    key: StoredValue<Option<String>>,
    /// What an earlier page has left, until it is restored or discarded.
    found: RwSignal<Option<Edits>>,
}

impl Draft {
    /// Finds what an earlier page has left of the edits of a form.
    pub fn open(key: Option<String>, form: &EditForm) -> Self {
        let key = key.filter(|_| is_storable(form));
        let found = key
            .as_deref()
            .and_then(drafts::read)
            .and_then(|text| parse(&text));
        Self {
            key: StoredValue::new(key),
            found: RwSignal::new(found),
        }
    }

    /// Stores the edits; removes them if there are none.
    pub fn store(self, form: &EditForm, edits: &[FieldEdit]) {
        let text = (!edits.is_empty())
            .then(|| serde_json::to_string(&(form, edits)).ok())
            .flatten();
        self.write(text.as_deref());
    }

    /// Removes the edits.
    pub fn clear(self) {
        // the page may have been left while it was saved
        let _ = self.found.try_set(None);
        self.write(None);
    }

    fn write(self, text: Option<&str>) {
        if let Some(Some(key)) = self.key.try_get_value() {
            drafts::write(&key, text);
        }
    }

    /// Returns the offer of what was found. `restore` gets it.
    pub fn offer(self, restore: Callback<Edits>) -> AnyView {
        let offer = move || {
            self.found.with(Option::is_some).then(|| {
                view! {
                    <div class="mb-4">
                        <Banner tone=Tone::Info>
                            <span class="flex flex-wrap items-center gap-3">
                                "This tab has changes of this object that were not saved."
                                <Button
                                    label="Restore unsaved changes"
                                    icon=icons::UNDO
                                    small=true
                                    on_click=move |_| {
                                        if let Some(found) = self.found.try_update(Option::take).flatten() {
                                            restore.run(found);
                                        }
                                    }
                                />
                                <Button label="Discard" small=true on_click=move |_| self.clear() />
                            </span>
                        </Banner>
                    </div>
                }
            })
        };
        let is_stored = self.key.with_value(Option::is_some);
        let withheld = (!is_stored).then(|| {
            view! {
                <p class="text-muted">
                    "Unsaved values of a Secret are not stored in this tab: they are lost when the page is left or reloaded."
                </p>
            }
        });
        view! { {offer} {withheld} }.into_any()
    }
}

fn is_storable(form: &EditForm) -> bool {
    let mut fields = form.groups.iter().flat_map(|group| &group.fields);
    fields.all(|field| field.kind != FieldKind::Secret)
}

/// Reads stored edits; `None` for what another version has stored.
fn parse(text: &str) -> Option<Edits> {
    let edits: Edits = serde_json::from_str(text).ok()?;
    (!edits.1.is_empty()).then_some(edits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::panel::{FormField, FormGroup};

    fn form(kind: FieldKind) -> EditForm {
        EditForm {
            groups: vec![FormGroup {
                title: "Settings".to_owned(),
                fields: vec![FormField {
                    pointer: "/spec/replicas".to_owned(),
                    label: "Replicas".to_owned(),
                    value: "1".to_owned(),
                    kind,
                    is_removable: false,
                }],
                addable: None,
            }],
            version: "1".to_owned(),
        }
    }

    #[test]
    fn stored_edits_are_found_with_the_form_that_they_were_made_in() {
        let form = form(FieldKind::Number);
        let edit = FieldEdit {
            pointer: "/spec/replicas".to_owned(),
            value: Some("3".to_owned()),
        };
        let text = serde_json::to_string(&(&form, [&edit])).unwrap();
        assert_eq!(parse(&text), Some((form, vec![edit])));
    }

    #[test]
    fn what_cannot_be_read_is_not_a_draft() {
        let unchanged = serde_json::to_string(&(form(FieldKind::Text), Vec::<FieldEdit>::new()));
        for text in [unchanged.unwrap().as_str(), "", "null", "[1, 2]"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_form_with_a_value_of_a_secret_is_not_stored() {
        assert!(is_storable(&form(FieldKind::Lines)));
        assert!(!is_storable(&form(FieldKind::Secret)));
    }
}
