//! Creation of objects from manifests: an editor or a form, what it would change, and what it changed.
mod draft;
mod form;
mod outcome;
mod progress;
mod samples;

use crate::{
    api::{clusters::list_kinds, resources::namespaces_for},
    components::{Crumb, InlineError, ManifestEditor, ManifestPlan, NeedsScripts, PageHead},
    context::use_session,
    hooks::{drafts, editor::Editor},
    pages::{not_found::Nowhere, use_cluster_id},
    routes,
    ui::{Banner, Button, ButtonKind, Card, Choice, SelectField, Tone, icons},
};
use draft::Draft;
use form::CreationForm;
use leptos::{children::ViewFn, prelude::*};
use leptos_router::hooks::use_query_map;
use outcome::Outcome;
use portico_domain::panel::{CreationKind, Effect, PlannedDocument, ResourceRef};
use samples::SAMPLES;
use std::collections::BTreeSet;
use uuid::Uuid;
use wasm_bindgen::JsCast;
use web_sys::HtmlInputElement;

#[component]
pub fn Create() -> impl IntoView {
    let cluster = use_cluster_id();
    move || match cluster.get() {
        Some(cluster) => view! { <CreatePage cluster /> }.into_any(),
        None => view! { <Nowhere /> }.into_any(),
    }
}

#[component]
fn CreatePage(cluster: Uuid) -> impl IntoView {
    let session = use_session();
    let project = session.project.get_untracked();
    let crumbs = vec![Crumb::new(
        untrack(|| session.cluster_name(cluster)),
        routes::cluster(&project, cluster),
    )];
    let query = use_query_map();
    let is_form = query.with_untracked(|query| query.get("form").is_some());
    let (title, lede) = if is_form {
        (
            "Create",
            "What you enter is checked against the cluster before anything is changed.",
        )
    } else {
        (
            "Create from YAML",
            "Paste, write or drop manifests. They are checked against the cluster before anything is changed.",
        )
    };
    let notice = view! {
        <Banner tone=Tone::Info>
            <p>"The editor needs JavaScript. In a terminal:"</p>
            <p class="mono wrap-anywhere">"kubectl apply --server-side -f manifest.yaml"</p>
        </Banner>
    }
    .into_any();
    view! {
        <PageHead
            title
            crumbs
            lede
        />
        <NeedsScripts notice console=ViewFn::from(move || view! { <Workspace cluster /> }.into_any()) />
    }
    .into_any()
}

#[component]
fn Workspace(cluster: Uuid) -> impl IntoView {
    let query = use_query_map();
    let chosen = query.with_untracked(|query| query.get("namespace").unwrap_or_default());
    let sample = query.with_untracked(|query| query.get("sample").unwrap_or_default());
    let kind = query.with_untracked(|query| CreationKind::parse(&query.get("form")?));
    let from = query.with_untracked(|query| query.get("from").unwrap_or_default());
    let text = RwSignal::new(String::new());
    let draft = Draft {
        cluster,
        text,
        form_key: StoredValue::new(kind.map(|kind| form::key(cluster, kind))),
        is_form: RwSignal::new(kind.is_some()),
        namespace: RwSignal::new(chosen),
        plan: RwSignal::new(None),
        take_over: RwSignal::new(BTreeSet::new()),
        applied: RwSignal::new(None),
        failure: RwSignal::new(None),
        busy: RwSignal::new(false),
    };
    let manifest = samples::text(&sample).unwrap_or_default();
    if samples::is_universal(manifest) {
        text.set(manifest.to_owned());
    } else {
        insert_sample(draft, text, sample);
    }
    let form = move || {
        let kind = kind.filter(|_| draft.is_form.get())?;
        Some(view! { <CreationForm draft kind from=from.clone() /> })
    };
    // a text that was not applied belongs to the form that it came from
    let key = match kind {
        Some(kind) => format!("create:{cluster}:{}", kind.as_str()),
        None => format!("create:{cluster}"),
    };
    let user = use_session()
        .view
        .with_untracked(|view| view.user_id.clone());
    view! {
        {form}
        <div hidden=move || draft.is_form.get()>
        <Card title="Manifests">
            <Toolbar draft text />
            <ManifestEditor
                cluster
                label="Manifests"
                draft=drafts::key(&user, &key)
                text
                on_input=Callback::new(move |()| draft.changed())
            />
            <div class="editor-foot">
                <Button
                    label="Review changes"
                    kind=ButtonKind::Primary
                    busy=draft.busy
                    on_click=move |_| draft.check()
                />
                <span class="text-muted">"Nothing is changed before you confirm."</span>
            </div>
            {move || draft.failure.get().map(|error| view! {
                <div class="editor-failure"><InlineError error /></div>
            })}
        </Card>
        </div>
        {move || draft.failure.get().filter(|_| draft.is_form.get()).map(|error| view! {
            <div class="mt-4"><InlineError error /></div>
        })}
        {move || draft.plan.get().map(|plan| review(plan, draft))}
        {move || draft.applied.get().map(|applied| view! { <Outcome cluster applied /> })}
    }
    .into_any()
}

/// Inserts a sample with the API version that the cluster prefers, after what the editor holds.
fn insert_sample(draft: Draft, text: RwSignal<String>, key: String) {
    let Some(manifest) = samples::text(&key) else {
        return;
    };
    leptos::task::spawn_local(async move {
        let kinds = if samples::is_universal(manifest) {
            Vec::new()
        } else {
            list_kinds(draft.cluster).await.unwrap_or_default()
        };
        if text.is_disposed() {
            return;
        }
        let added = samples::for_cluster(manifest, &kinds);
        if Editor.text().trim().is_empty() {
            text.set(added);
        } else {
            Editor.add_text(&format!("{key}.yaml"), &added);
        }
        draft.changed();
    });
}

/// The namespace for manifests that name none, files, and samples to begin with.
#[component]
fn Toolbar(draft: Draft, text: RwSignal<String>) -> impl IntoView {
    let cluster = draft.cluster;
    let names = LocalResource::new(move || namespaces_for(cluster, ResourceRef::core("pods")));
    let namespaces = Signal::derive(move || {
        let known = names
            .get()
            .and_then(Result::ok)
            .flatten()
            .unwrap_or_default();
        let chosen = draft.namespace.get_untracked();
        let mut choices = vec![Choice::new("", "From the manifests")];
        if !chosen.is_empty() && !known.contains(&chosen) {
            choices.push(Choice::new(chosen.clone(), chosen));
        }
        choices.extend(
            known
                .into_iter()
                .map(|name| Choice::new(name.clone(), name)),
        );
        choices
    });
    let sample = RwSignal::new(String::new());
    let samples: Vec<Choice> = std::iter::once(Choice::new("", "Choose a sample"))
        .chain(
            SAMPLES
                .iter()
                .map(|(key, label, _)| Choice::new(*key, *label)),
        )
        .collect();
    let choose = move |key: String| {
        insert_sample(draft, text, key);
        sample.set(String::new());
    };
    let upload = move |event: leptos::ev::Event| {
        let input = event
            .target()
            .and_then(|target| target.dyn_into::<HtmlInputElement>().ok());
        if let Some(input) = input {
            if let Some(files) = input.files() {
                Editor.add_files(&files);
            }
            input.set_value("");
        }
    };
    view! {
        <div class="editor-head">
            <div class="w-56">
                <SelectField
                    id="create-namespace"
                    label="Namespace"
                    value=draft.namespace
                    choices=namespaces
                    on_change=Callback::new(move |_| draft.changed())
                />
            </div>
            <div class="w-56">
                <SelectField
                    id="create-sample"
                    label="Start from"
                    value=sample
                    choices=samples
                    on_change=Callback::new(choose)
                />
            </div>
            <div class="field">
                <label for="create-files">"Files"</label>
                <input
                    class="file-input"
                    id="create-files"
                    type="file"
                    multiple=true
                    accept=".yaml,.yml,.json,application/yaml,application/json"
                    on:change=upload
                />
            </div>
        </div>
    }
    .into_any()
}

fn review(plan: Vec<PlannedDocument>, draft: Draft) -> AnyView {
    let refused = plan
        .iter()
        .filter(|document| !document.is_possible())
        .count();
    let changes = plan
        .iter()
        .filter(|document| matches!(document.effect, Effect::Create | Effect::Change))
        .count();
    let in_conflict: Vec<usize> = plan
        .iter()
        .filter(|document| !document.conflicts.is_empty())
        .map(|document| document.index)
        .collect();
    let blocked = move || {
        if refused > 0 {
            return Some(
                "The cluster refuses some of these manifests. Correct them and review again.",
            );
        }
        if changes == 0 {
            return Some("The cluster is already as described: there is nothing to apply.");
        }
        let is_taken = draft
            .take_over
            .with(|chosen| in_conflict.iter().all(|index| chosen.contains(index)));
        (!is_taken).then_some(
            "Some fields are managed by others. Take them over, or remove them from the manifest.",
        )
    };
    let label = crate::format::counted(changes, "object");
    view! {
        <div class="mt-4" data-part="review">
            <Card title="Review">
                <ManifestPlan documents=plan take_over=draft.take_over />
                <div class="editor-foot">
                    {move || match blocked() {
                        Some(reason) => view! { <p class="text-muted">{reason}</p> }.into_any(),
                        None => view! {
                            <Button
                                label=format!("Apply {label}")
                                icon=icons::CHECK
                                kind=ButtonKind::Primary
                                busy=draft.busy
                                on_click=move |_| draft.apply()
                            />
                        }
                        .into_any(),
                    }}
                </div>
            </Card>
        </div>
    }
    .into_any()
}
