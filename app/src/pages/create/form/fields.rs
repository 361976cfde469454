//! The fields of the form: each reads and writes one value of the new object.
use super::Form;
use crate::ui::{Icon, icons};
use leptos::prelude::*;
use portico_domain::panel::NewObject;

/// The values that a field suggests.
#[derive(Clone, Copy)]
pub struct Options(Option<Signal<Vec<String>>>);

impl Options {
    pub fn none() -> Self {
        Self(None)
    }

    pub fn of(values: Signal<Vec<String>>) -> Self {
        Self(Some(values))
    }
}

/// The element's ID of a field: `new-ports-0-port`.
pub fn id_of(field: &str) -> String {
    format!("new-{}", field.replace(['.', '_'], "-"))
}

fn problem(form: Form, field: &str) -> Signal<Option<String>> {
    let field = field.to_owned();
    Signal::derive(move || {
        if !form.is_checked.get() {
            return None;
        }
        form.problems.with(|problems| {
            let found = problems.iter().find(|problem| problem.field == field);
            found.map(|problem| problem.message.clone())
        })
    })
}

fn message(error: Signal<Option<String>>, id: String) -> impl IntoView {
    move || {
        error.get().map(|error| {
            view! {
                <span class="field-error" id=id.clone() role="alert">
                    <Icon icon=icons::WARNING />
                    {error}
                </span>
            }
        })
    }
}

/// Returns the problem of a part that has no field of its own.
pub fn problem_of(form: Form, field: &str) -> AnyView {
    message(problem(form, field), format!("{}-error", id_of(field))).into_any()
}

/// Returns a labelled text input, with suggestions.
pub fn input(
    form: Form,
    field: &str,
    label: &'static str,
    hint: &'static str,
    options: Options,
    read: impl Fn(&NewObject) -> String + Copy + Send + Sync + 'static,
    write: impl Fn(&mut NewObject, String) + Copy + 'static,
) -> AnyView {
    let id = id_of(field);
    let (error_id, hint_id, list_id) = (
        format!("{id}-error"),
        format!("{id}-hint"),
        format!("{id}-list"),
    );
    let error = problem(form, field);
    let described = {
        let (error_id, hint_id) = (error_id.clone(), hint_id.clone());
        move || match (error.with(Option::is_some), hint.is_empty()) {
            (true, _) => Some(error_id.clone()),
            (false, false) => Some(hint_id.clone()),
            (false, true) => None,
        }
    };
    let list = options.0.map(|values| {
        let values = move || {
            let values = values.get().into_iter();
            values
                .map(|value| view! { <option value=value></option> })
                .collect_view()
        };
        view! { <datalist id=list_id.clone()>{values}</datalist> }
    });
    view! {
        <div class="field">
            <label for=id.clone()>{label}</label>
            <input
                class="input"
                id=id
                autocomplete="off"
                spellcheck="false"
                list=options.0.map(|_| list_id)
                aria-invalid=move || error.with(Option::is_some).then_some("true")
                aria-describedby=described
                prop:value=move || form.new.with(read)
                on:input=move |event| {
                    let text = event_target_value(&event);
                    form.change(|new| write(new, text));
                }
            />
            {list}
            {(!hint.is_empty()).then(|| view! { <span class="field-hint" id=hint_id>{hint}</span> })}
            {message(error, error_id)}
        </div>
    }
    .into_any()
}

/// Returns a labelled choice among fixed values.
pub fn select(
    form: Form,
    field: &str,
    label: &'static str,
    values: &'static [&'static str],
    read: impl Fn(&NewObject) -> String + Copy + Send + Sync + 'static,
    write: impl Fn(&mut NewObject, String) + Copy + 'static,
) -> AnyView {
    let id = id_of(field);
    let options = values
        .iter()
        .map(|value| {
            let is_chosen = move || form.new.with(read) == *value;
            view! { <option value=*value selected=is_chosen>{*value}</option> }
        })
        .collect_view();
    view! {
        <div class="field">
            <label for=id.clone()>{label}</label>
            <select
                class="select"
                id=id
                prop:value=move || form.new.with(read)
                on:change=move |event| {
                    let text = event_target_value(&event);
                    form.change(|new| write(new, text));
                }
            >
                {options}
            </select>
        </div>
    }
    .into_any()
}
