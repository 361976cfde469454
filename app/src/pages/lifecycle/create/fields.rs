//! The fields of the form: each reads and writes one value.
use super::state::Wizard;
use crate::ui::{Choice, Icon, icons};
use leptos::prelude::*;
use portico_domain::panel::{Reading, lifecycle::CreationForm};

/// What a field is about.
pub struct Head {
    /// The field of the file, such as `spec.keypair`.
    pub field: String,
    pub label: String,
    /// Empty: none.
    pub hint: String,
}

impl Head {
    pub fn new(field: impl Into<String>, label: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            label: label.into(),
            hint: String::new(),
        }
    }

    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: hint.into(),
            ..self
        }
    }
}

/// What is typed into a field.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    Text,
    /// The digits of a number. It is not `type="number"`, in which a browser hides what it cannot read.
    Digits,
    /// Several lines.
    Lines,
}

/// The IDs of a field's elements.
struct Ids {
    input: String,
    hint: String,
    error: String,
}

impl Ids {
    fn of(field: &str) -> Self {
        let input = id_of(field);
        Self {
            hint: format!("{input}-hint"),
            error: format!("{input}-error"),
            input,
        }
    }
}

/// Returns the ID of a field's element: `cluster-spec-nodeGroups-0-name`.
pub fn id_of(field: &str) -> String {
    let field: String = field
        .chars()
        .filter(|letter| *letter != ']')
        .map(|letter| {
            if matches!(letter, '.' | '[') {
                '-'
            } else {
                letter
            }
        })
        .collect();
    format!("cluster-{field}")
}

/// Returns the IDs of the texts that describe a field: what is wrong, and the hint.
fn described(
    error: Signal<Option<String>>,
    ids: &Ids,
    has_hint: bool,
) -> impl Fn() -> Option<String> + Send + Sync + 'static + use<> {
    let (hint_id, error_id) = (ids.hint.clone(), ids.error.clone());
    move || match (error.with(Option::is_some), has_hint) {
        (true, true) => Some(format!("{error_id} {hint_id}")),
        (true, false) => Some(error_id.clone()),
        (false, true) => Some(hint_id.clone()),
        (false, false) => None,
    }
}

/// Returns what is wrong with a field, in an element with this ID.
pub fn message(error: Signal<Option<String>>, id: String) -> AnyView {
    view! {
        {move || error.get().map(|error| view! {
            <span class="field-error" id=id.clone() role="alert">
                <Icon icon=icons::WARNING />
                {error}
            </span>
        })}
    }
    .into_any()
}

fn hint_of(hint: String, id: String) -> Option<AnyView> {
    (!hint.is_empty()).then(|| view! { <span class="field-hint" id=id>{hint}</span> }.into_any())
}

/// Returns a labelled input. What is typed stays as it is, also if the form cannot hold it.
pub fn input(
    wizard: Wizard,
    head: Head,
    entry: Entry,
    read: impl Fn(&CreationForm) -> String,
    write: impl Fn(&mut CreationForm, &str) + 'static,
) -> AnyView {
    let text = RwSignal::new(wizard.form.with_untracked(read));
    let ids = Ids::of(&head.field);
    let error = wizard.problem(&head.field);
    let describedby = described(error, &ids, !head.hint.is_empty());
    let invalid = move || error.with(Option::is_some).then_some("true");
    let on_input = move |event| {
        let typed = event_target_value(&event);
        wizard.change(|form| write(form, &typed));
        text.set(typed);
    };
    let control = match entry {
        Entry::Lines => view! {
            <textarea
                class="input mono h-auto py-2"
                id=ids.input.clone()
                rows="3"
                spellcheck="false"
                autocomplete="off"
                aria-invalid=invalid
                aria-describedby=describedby
                prop:value=move || text.get()
                on:input=on_input
            ></textarea>
        }
        .into_any(),
        Entry::Text | Entry::Digits => view! {
            <input
                class="input"
                id=ids.input.clone()
                type="text"
                inputmode=(entry == Entry::Digits).then_some("numeric")
                spellcheck="false"
                autocomplete="off"
                aria-invalid=invalid
                aria-describedby=describedby
                prop:value=move || text.get()
                on:input=on_input
            />
        }
        .into_any(),
    };
    view! {
        <div class="field">
            <label for=ids.input>{head.label}</label>
            {control}
            {hint_of(head.hint, ids.hint)}
            {message(error, ids.error)}
        </div>
    }
    .into_any()
}

/// Returns a labelled input for a whole number. The form keeps a text that is not one, and the review
/// reports it.
pub fn whole_number(
    wizard: Wizard,
    head: Head,
    read: impl Fn(&CreationForm) -> Option<u32>,
    write: impl Fn(&mut CreationForm, Option<u32>) + 'static,
) -> AnyView {
    let field = head.field.clone();
    let of_text = head.field.clone();
    input(
        wizard,
        head,
        Entry::Digits,
        move |form| match form.unreadable.get(&of_text) {
            Some(text) => text.clone(),
            None => number(read(form)),
        },
        move |form, text| {
            let value = form.read_number(&field, text);
            write(form, value);
        },
    )
}

/// Returns a labelled choice. A value of a file that is not among the choices is one of them.
pub fn select(
    wizard: Wizard,
    head: Head,
    choices: Signal<Vec<Choice>>,
    read: impl Fn(&CreationForm) -> String + Copy + Send + Sync + 'static,
    write: impl Fn(&mut CreationForm, &str) + 'static,
) -> AnyView {
    let ids = Ids::of(&head.field);
    let error = wizard.problem(&head.field);
    let describedby = described(error, &ids, !head.hint.is_empty());
    let options = move || {
        let chosen = wizard.form.with_untracked(read);
        let mut choices = choices.get();
        if !choices.iter().any(|choice| choice.value == chosen) {
            choices.push(Choice::new(chosen.clone(), chosen.clone()));
        }
        choices
            .into_iter()
            .map(|choice| {
                let selected = choice.value == chosen;
                view! { <option value=choice.value selected=selected>{choice.label}</option> }
            })
            .collect_view()
    };
    view! {
        <div class="field">
            <label for=ids.input.clone()>{head.label}</label>
            <select
                class="select"
                id=ids.input
                aria-invalid=move || error.with(Option::is_some).then_some("true")
                aria-describedby=describedby
                prop:value=move || {
                    choices.track();
                    wizard.form.with(read)
                }
                on:change=move |event| {
                    let chosen = event_target_value(&event);
                    wizard.change(|form| write(form, &chosen));
                }
            >
                {options}
            </select>
            {hint_of(head.hint, ids.hint)}
            {message(error, ids.error)}
        </div>
    }
    .into_any()
}

/// Returns a choice among what a service of the cloud lists, or a text input with the reason where it
/// could not be read.
pub fn choose<T>(
    wizard: Wizard,
    head: Head,
    reading: &Reading<Vec<T>>,
    to_choices: impl FnOnce(&[T]) -> Vec<Choice>,
    read: impl Fn(&CreationForm) -> String + Copy + Send + Sync + 'static,
    write: impl Fn(&mut CreationForm, &str) + 'static,
) -> AnyView {
    let reason = match reading {
        Reading::Known(known) => {
            let choices = Signal::stored(to_choices(known));
            return select(wizard, head, choices, read, write);
        }
        Reading::NotPermitted(refusal) => &refusal.reason,
        Reading::Unavailable(reason) => reason,
    };
    let hint = format!("{reason} Enter a name or an ID.");
    input(wizard, head.hint(hint), Entry::Text, read, write)
}

/// Returns a choice between the template's value, on and off.
pub fn switch(
    wizard: Wizard,
    head: Head,
    of_template: Option<bool>,
    read: impl Fn(&CreationForm) -> Option<bool> + Copy + Send + Sync + 'static,
    write: impl Fn(&mut CreationForm, Option<bool>) + 'static,
) -> AnyView {
    let by_default = match of_template {
        Some(true) => "The template's value (on)",
        Some(false) => "The template's value (off)",
        None => "The template's value",
    };
    let choices = vec![
        Choice::new("", by_default),
        Choice::new("true", "On"),
        Choice::new("false", "Off"),
    ];
    select(
        wizard,
        head,
        Signal::stored(choices),
        move |form| {
            read(form)
                .map(|value| value.to_string())
                .unwrap_or_default()
        },
        move |form, text| write(form, text.parse().ok()),
    )
}

/// Returns a text without spaces around it; `None` for an empty one.
pub fn optional(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Returns a number as the text of its field.
pub fn number(value: Option<u32>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_element_of_a_field_has_its_path() {
        assert_eq!(id_of("spec.keypair"), "cluster-spec-keypair");
        assert_eq!(
            id_of("spec.nodeGroups[1].name"),
            "cluster-spec-nodeGroups-1-name"
        );
    }

    #[test]
    fn an_empty_text_is_left_to_the_template() {
        assert_eq!(optional("  "), None);
        assert_eq!(optional(" ops "), Some("ops".to_owned()));
        assert_eq!(number(None), "");
    }
}
