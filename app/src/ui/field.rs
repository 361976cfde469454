use super::{Icon, icons};
use leptos::prelude::*;

/// A labelled text input with a hint and an error.
#[component]
pub fn Field(
    id: &'static str,
    #[prop(into)] label: String,
    value: RwSignal<String>,
    #[prop(optional)] name: &'static str,
    #[prop(default = "text")] kind: &'static str,
    #[prop(optional)] required: bool,
    #[prop(default = "off")] autocomplete: &'static str,
    #[prop(into, optional)] hint: String,
    #[prop(into, optional)] error: Signal<Option<String>>,
    #[prop(into, optional)] placeholder: String,
) -> impl IntoView {
    let hint_id = format!("{id}-hint");
    let error_id = format!("{id}-error");
    let described = {
        let error_id = error_id.clone();
        let hint_id = (!hint.is_empty()).then(|| hint_id.clone());
        move || match (error.with(Option::is_some), &hint_id) {
            (true, _) => Some(error_id.clone()),
            (false, hint) => hint.clone(),
        }
    };
    view! {
        <div class="field">
            <label for=id>{label}</label>
            <input
                class="input"
                id=id
                name=name
                type=kind
                required=required
                autocomplete=autocomplete
                placeholder=placeholder
                spellcheck="false"
                aria-invalid=move || error.with(Option::is_some).then_some("true")
                aria-describedby=described
                // the attribute is the initial value in a browser without scripts
                value=value.get_untracked()
                prop:value=move || value.get()
                on:input=move |event| value.set(event_target_value(&event))
            />
            {(!hint.is_empty()).then(|| view! { <span class="field-hint" id=hint_id>{hint}</span> })}
            {move || error.get().map(|error| view! {
                <span class="field-error" id=error_id.clone() role="alert">
                    <Icon icon=icons::WARNING />
                    {error}
                </span>
            })}
        </div>
    }
    .into_any()
}

/// One entry of a select.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    pub value: String,
    pub label: String,
}

impl Choice {
    pub fn new(value: impl Into<String>, label: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            label: label.into(),
        }
    }
}

/// A labelled choice among a few.
#[component]
pub fn SelectField(
    id: &'static str,
    #[prop(into)] label: String,
    #[prop(optional)] name: &'static str,
    value: RwSignal<String>,
    #[prop(into)] choices: Signal<Vec<Choice>>,
    #[prop(into, optional)] hint: String,
    #[prop(into, optional)] on_change: Option<Callback<String>>,
) -> impl IntoView {
    let options = move || {
        let chosen = value.get_untracked();
        choices
            .get()
            .into_iter()
            .map(|choice| {
                let selected = choice.value == chosen;
                view! { <option value=choice.value selected=selected>{choice.label}</option> }
            })
            .collect_view()
    };
    view! {
        <div class="field">
            <label for=id>{label}</label>
            <select
                class="select"
                id=id
                name=name
                prop:value=move || {
                    choices.track();
                    value.get()
                }
                on:change=move |event| {
                    let chosen = event_target_value(&event);
                    value.set(chosen.clone());
                    if let Some(on_change) = on_change {
                        on_change.run(chosen);
                    }
                }
            >
                {options}
            </select>
            {(!hint.is_empty()).then(|| view! { <span class="field-hint">{hint}</span> })}
        </div>
    }
    .into_any()
}
