//! The fields of a form, and which of them the user has changed.
use super::rebase::split;
use crate::ui::{Button, ButtonKind, icons};
use leptos::prelude::*;
use portico_domain::panel::{FieldEdit, FieldKind, FormField, FormGroup};

/// The state of all fields. `Copy`.
#[derive(Clone, Copy)]
pub struct Fields {
    entries: StoredValue<Vec<Entry>>,
    added: RwSignal<Vec<Added>>,
    /// After each change by the user.
    changed: Callback<()>,
}

/// A field of the object.
#[derive(Clone)]
struct Entry {
    pointer: String,
    before: String,
    value: RwSignal<String>,
    is_removed: RwSignal<bool>,
}

/// A field that the user adds.
#[derive(Clone, PartialEq)]
struct Added {
    id: usize,
    base: String,
    name: RwSignal<String>,
    value: RwSignal<String>,
}

impl Fields {
    /// Makes the fields with edits that the user has made already.
    pub fn new(groups: &[FormGroup], edits: &[FieldEdit], changed: Callback<()>) -> Self {
        let entries: Vec<Entry> = groups
            .iter()
            .flat_map(|group| &group.fields)
            .map(|field| {
                let edit = edits.iter().find(|edit| edit.pointer == field.pointer);
                let value = edit.and_then(|edit| edit.value.as_ref());
                Entry {
                    pointer: field.pointer.clone(),
                    before: field.value.clone(),
                    value: RwSignal::new(value.unwrap_or(&field.value).clone()),
                    is_removed: RwSignal::new(edit.is_some_and(|edit| edit.value.is_none())),
                }
            })
            .collect();
        let is_new = |edit: &&FieldEdit| entries.iter().all(|entry| entry.pointer != edit.pointer);
        let added = edits
            .iter()
            .filter(is_new)
            .enumerate()
            .filter_map(|(id, edit)| {
                let (base, name) = split(&edit.pointer)?;
                Some(Added {
                    id,
                    base: base.to_owned(),
                    name: RwSignal::new(name),
                    value: RwSignal::new(edit.value.clone()?),
                })
            })
            .collect();
        Self {
            added: RwSignal::new(added),
            entries: StoredValue::new(entries),
            changed,
        }
    }

    /// Returns what the user has changed.
    pub fn edits(self) -> Vec<FieldEdit> {
        let mut edits: Vec<FieldEdit> = self.entries.with_value(|entries| {
            entries
                .iter()
                .filter_map(|entry| {
                    let value = entry.value.get_untracked();
                    let is_removed = entry.is_removed.get_untracked();
                    (is_removed || value != entry.before).then(|| FieldEdit {
                        pointer: entry.pointer.clone(),
                        value: (!is_removed).then_some(value),
                    })
                })
                .collect()
        });
        self.added.with_untracked(|added| {
            for one in added {
                let name = one.name.get_untracked();
                if !name.trim().is_empty() {
                    let key = name.trim().replace('~', "~0").replace('/', "~1");
                    edits.push(FieldEdit {
                        pointer: format!("{}/{key}", one.base),
                        value: Some(one.value.get_untracked()),
                    });
                }
            }
        });
        edits
    }

    fn entry(self, pointer: &str) -> Option<Entry> {
        self.entries.with_value(|entries| {
            entries
                .iter()
                .find(|entry| entry.pointer == pointer)
                .cloned()
        })
    }

    fn add(self, base: String) {
        self.added.update(|added| {
            let id = added.last().map_or(0, |one| one.id + 1);
            added.push(Added {
                id,
                base,
                name: RwSignal::new(String::new()),
                value: RwSignal::new(String::new()),
            });
        });
    }
}

/// A group of fields, and an addition where the user can name one.
#[component]
pub fn Group(group: FormGroup, fields: Fields) -> impl IntoView {
    let is_open = group.addable.is_some();
    let title = group.title.clone();
    let rows = group
        .fields
        .into_iter()
        .filter_map(|field| {
            Some(row(
                &field,
                fields.entry(&field.pointer)?,
                is_open,
                fields.changed,
            ))
        })
        .collect_view();
    let addition = group.addable.map(|base| {
        let (shown, added) = (base.clone(), base);
        let each = move || {
            let shown = shown.clone();
            fields.added.with(|added| {
                added
                    .iter()
                    .filter(|one| one.base == shown)
                    .cloned()
                    .collect::<Vec<_>>()
            })
        };
        let changed = fields.changed;
        let label = format!("Add to {title}");
        view! {
            <For each=each key=|one| one.id children=move |one| added_row(&one, changed) />
            <div>
                <Button
                    label
                    icon=icons::PLUS
                    small=true
                    kind=ButtonKind::Quiet
                    on_click=move |_| fields.add(added.clone())
                />
            </div>
        }
    });
    view! {
        <fieldset class="form-group">
            <legend>{group.title}</legend>
            {rows}
            {addition}
        </fieldset>
    }
    .into_any()
}

fn row(field: &FormField, entry: Entry, is_named: bool, changed: Callback<()>) -> AnyView {
    let id = format!("field{}", field.pointer.replace(['/', '~', '.'], "-"));
    let Entry {
        value, is_removed, ..
    } = entry;
    let input = input(&id, field.kind, value, is_removed, changed);
    let remove = (is_named && field.is_removable).then(|| {
        let label = field.label.clone();
        let words = Signal::derive(move || {
            if is_removed.get() {
                format!("Keep {label}")
            } else {
                format!("Remove {label}")
            }
        });
        view! {
            <Button
                label=words
                icon=icons::TRASH
                icon_only=true
                small=true
                kind=ButtonKind::Quiet
                on_click=move |_| {
                    is_removed.update(|removed| *removed = !*removed);
                    changed.run(());
                }
            />
        }
    });
    view! {
        <div class="form-row" class:is-removed=move || is_removed.get()>
            <label for=id.clone()>{field.label.clone()}</label>
            {input}
            {remove}
        </div>
    }
    .into_any()
}

fn input(
    id: &str,
    kind: FieldKind,
    value: RwSignal<String>,
    is_removed: RwSignal<bool>,
    changed: Callback<()>,
) -> AnyView {
    let write = move |event| {
        value.set(event_target_value(&event));
        changed.run(());
    };
    match kind {
        FieldKind::Lines | FieldKind::Secret => {
            let rows = value.with_untracked(|text| text.lines().count().clamp(1, 12));
            view! {
                <textarea
                    class="input"
                    id=id.to_owned()
                    rows=rows
                    spellcheck="false"
                    autocomplete="off"
                    disabled=move || is_removed.get()
                    prop:value=move || value.get()
                    on:input=write
                ></textarea>
            }
            .into_any()
        }
        FieldKind::Text | FieldKind::Number => {
            let kind = if kind == FieldKind::Number {
                "number"
            } else {
                "text"
            };
            view! {
                <input
                    class="input"
                    id=id.to_owned()
                    type=kind
                    spellcheck="false"
                    autocomplete="off"
                    disabled=move || is_removed.get()
                    prop:value=move || value.get()
                    on:input=write
                />
            }
            .into_any()
        }
    }
}

fn added_row(added: &Added, changed: Callback<()>) -> AnyView {
    let (name, value) = (added.name, added.value);
    view! {
        <div class="form-row">
            <input
                class="input"
                aria-label="Name"
                placeholder="Name"
                spellcheck="false"
                autocomplete="off"
                prop:value=move || name.get()
                on:input=move |event| {
                    name.set(event_target_value(&event));
                    changed.run(());
                }
            />
            <input
                class="input"
                aria-label="Value"
                placeholder="Value"
                spellcheck="false"
                autocomplete="off"
                prop:value=move || value.get()
                on:input=move |event| {
                    value.set(event_target_value(&event));
                    changed.run(());
                }
            />
        </div>
    }
    .into_any()
}
