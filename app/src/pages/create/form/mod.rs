//! The form for a new claim, Service or Ingress. What it writes is reviewed and applied as any
//! manifest is, and can be continued in the editor at any time.
mod claim;
mod fields;
mod ingress;
mod service;
mod storage;

pub use storage::{clear, key};

use super::draft::Draft;
use crate::{
    api::{
        creation::{get_creation_choices, write_manifest},
        resources::namespaces_for,
    },
    components::{InlineError, who_can_link},
    ui::{Banner, Button, ButtonKind, Card, Tone},
};
use fields::{Options, input};
use leptos::{html, prelude::*};
use portico_domain::panel::{CreationChoices, CreationKind, FormProblem, NewObject, Refusal};
use wasm_bindgen::JsCast;

/// The state of the form. `Copy`.
#[derive(Clone, Copy)]
struct Form {
    draft: Draft,
    new: RwSignal<NewObject>,
    choices: RwSignal<CreationChoices>,
    problems: Memo<Vec<FormProblem>>,
    /// Whether problems are shown: from the first review on.
    is_checked: RwSignal<bool>,
    element: NodeRef<html::Form>,
}

impl Form {
    fn change(self, change: impl FnOnce(&mut NewObject)) {
        self.new.update(change);
        self.draft.changed();
        self.draft.form_key.with_value(|key| {
            if let Some(key) = key {
                self.new.with_untracked(|new| storage::store(key, new));
            }
        });
    }

    /// Writes the manifest into the editor; then it is reviewed, or the editor is shown.
    fn write(self, to_editor: bool) {
        let draft = self.draft;
        if draft.busy.get_untracked() {
            return;
        }
        draft.busy.set(true);
        let asked = write_manifest(self.new.get_untracked());
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            let _ = draft.busy.try_set(false);
            match answer {
                Ok(text) => {
                    let _ = draft.text.try_set(text);
                    if to_editor {
                        let _ = draft.is_form.try_set(false);
                    } else {
                        draft.check();
                    }
                }
                Err(error) => {
                    let _ = draft.failure.try_set(Some(error));
                }
            }
        });
    }

    fn review(self) {
        self.is_checked.set(true);
        if self.problems.with_untracked(Vec::is_empty) {
            self.write(false);
            return;
        }
        // the fields are marked as invalid first
        request_animation_frame(move || {
            let invalid = self
                .element
                .get_untracked()
                .and_then(|form| form.query_selector("[aria-invalid=true]").ok().flatten())
                .and_then(|field| field.dyn_into::<web_sys::HtmlElement>().ok());
            if let Some(invalid) = invalid {
                let _ = invalid.focus();
            }
        });
    }
}

/// `from` is the object on whose page the form was opened: the workload of a Service, the Service of
/// an Ingress.
#[component]
pub fn CreationForm(draft: Draft, kind: CreationKind, from: String) -> impl IntoView {
    let chosen = draft.namespace.get_untracked();
    let stored = draft
        .form_key
        .with_value(|key| storage::stored(key.as_deref()?, kind));
    let is_restored = stored.is_some() && from.is_empty();
    let new = RwSignal::new(match stored {
        Some(stored) if from.is_empty() => stored,
        _ => NewObject::of(kind, chosen),
    });
    let form = Form {
        draft,
        new,
        choices: RwSignal::new(CreationChoices::default()),
        problems: Memo::new(move |_| new.with(NewObject::problems)),
        is_checked: RwSignal::new(false),
        element: NodeRef::new(),
    };
    let cluster = draft.cluster;
    let namespace = Memo::new(move |_| new.with(|new| new.namespace().trim().to_owned()));
    let known = LocalResource::new(move || namespaces_for(cluster, kind.resource()));
    let namespaces = Signal::derive(move || {
        let known = known.get().and_then(Result::ok).flatten();
        known.unwrap_or_default()
    });
    let from = StoredValue::new(Some(from).filter(|from| !from.is_empty()));
    let failure = RwSignal::new(None);
    Effect::new(move |_| {
        let namespace = namespace.get();
        // of a name that is being typed
        let is_known = namespaces.with(|known| known.is_empty() || known.contains(&namespace));
        let asked = Some(namespace).filter(|name| !name.is_empty() && is_known);
        let asked = get_creation_choices(cluster, kind, asked);
        leptos::task::spawn_local(async move {
            match asked.await {
                Ok(found) => {
                    let _ = form.choices.try_set(found);
                    if let Some(Some(from)) = from.try_update_value(Option::take) {
                        form.change(|new| begin_with(new, &from, form.choices));
                    }
                }
                Err(error) => {
                    let _ = failure.try_set(Some(error));
                }
            }
        });
    });
    let discard = move |_| {
        draft.forget();
        let namespace = namespace.get_untracked();
        form.new.set(NewObject::of(kind, namespace));
        form.is_checked.set(false);
        draft.changed();
    };
    let refusal = move || form.choices.with(|choices| choices.refusal.clone());
    let fields = match kind {
        CreationKind::Claim => claim::fields(form),
        CreationKind::Service => service::fields(form),
        CreationKind::Ingress => ingress::fields(form),
    };
    view! {
        <Card title=format!("New {}", kind.kind())>
            {is_restored.then(|| view! {
                <Banner tone=Tone::Info>
                    <span class="flex flex-wrap items-center gap-3">
                        "The form has the values that were not applied before."
                        <Button label="Start again" small=true on_click=discard />
                    </span>
                </Banner>
            })}
            {move || refusal().map(refused)}
            {move || failure.get().map(|error| view! { <InlineError error /> })}
            <form
                node_ref=form.element
                class="grid gap-4"
                novalidate=true
                on:submit=move |event: leptos::ev::SubmitEvent| {
                    event.prevent_default();
                    form.review();
                }
            >
                <div class="creation-fields">
                    {input(form, "name", "Name", "", Options::none(), |new| new.name().to_owned(), |new, text| *new.name_mut() = text)}
                    {input(
                        form,
                        "namespace",
                        "Namespace",
                        "",
                        Options::of(namespaces),
                        |new| new.namespace().to_owned(),
                        |new, text| *new.namespace_mut() = text,
                    )}
                </div>
                {fields}
                {move || form.choices.with(|choices| gaps(&choices.gaps))}
                <div class="editor-foot">
                    <button
                        type="submit"
                        class="btn btn-primary"
                        disabled=move || refusal().is_some()
                        aria-busy=move || draft.busy.get().to_string()
                    >
                        "Review changes"
                    </button>
                    <Button
                        label="Edit as YAML"
                        kind=ButtonKind::Quiet
                        on_click=move |_| form.write(true)
                    />
                    <span class="text-muted">"Nothing is changed before you confirm."</span>
                </div>
            </form>
        </Card>
    }
    .into_any()
}

fn refused(refusal: Refusal) -> AnyView {
    let link = who_can_link(refusal.missing.as_deref());
    view! { <Banner tone=Tone::Warn>{refusal.reason}" "{link}</Banner> }.into_any()
}

fn gaps(gaps: &[Refusal]) -> AnyView {
    gaps.iter()
        .map(|gap| {
            let reason = gap.reason.clone();
            let link = who_can_link(gap.missing.as_deref());
            view! { <p class="text-muted">{reason}" "{link}</p> }
        })
        .collect_view()
        .into_any()
}

/// Fills in what follows from the object on whose page the form was opened.
fn begin_with(new: &mut NewObject, from: &str, choices: RwSignal<CreationChoices>) {
    choices.with_untracked(|choices| match new {
        NewObject::Claim(_) => {}
        NewObject::Service(service) => service::select_pods(service, from, choices),
        NewObject::Ingress(ingress) => ingress::route_to(ingress, from, choices),
    });
}
