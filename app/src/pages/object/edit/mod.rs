//! Editing of the object: a form for what changes daily, or its YAML. Both are checked against the cluster
//! and reviewed before they are saved.
mod draft;
mod fields;
mod form;
mod rebase;
mod yaml;

use crate::{
    components::ManifestPlan,
    context::use_session,
    hooks::drafts,
    ui::{Banner, Button, ButtonKind, Card, Tone, icons},
};
use form::FormEdit;
use leptos::prelude::*;
use leptos_router::{
    NavigateOptions,
    hooks::{use_navigate, use_query_map},
};
use portico_domain::panel::{Effect, Kubectl, ObjectRef, ObjectView, PlannedDocument};
use std::collections::BTreeSet;
use uuid::Uuid;
use yaml::YamlEdit;

/// Returns what a browser without scripts shows instead of the editor.
pub fn without_scripts(object: &ObjectView) -> AnyView {
    let command = Kubectl::Edit.line(&object.reference, &object.kind);
    view! {
        <noscript>
            <Banner tone=Tone::Info>
                <p>"Editing needs JavaScript. In a terminal:"</p>
                <p class="mono wrap-anywhere">{command}</p>
            </Banner>
        </noscript>
    }
    .into_any()
}

#[component]
pub fn Edit(cluster: Uuid, object: ObjectRef, uid: String) -> impl IntoView {
    let user = use_session()
        .view
        .with_untracked(|view| view.user_id.clone());
    let [text_draft, form_draft] =
        ["edit", "form"].map(|editor| drafts::key_of_edit(&user, editor, cluster, &object, &uid));
    let query = use_query_map();
    let is_yaml = Memo::new(move |_| query.with(|query| query.get_str("as") == Some("yaml")));
    let navigate = use_navigate();
    let choose = move |yaml: bool| {
        let path = window().location().pathname().unwrap_or_default();
        let options = NavigateOptions {
            replace: true,
            scroll: false,
            ..Default::default()
        };
        navigate(
            &if yaml {
                format!("{path}?as=yaml")
            } else {
                path
            },
            options,
        );
    };
    let choices = [("Form", false), ("YAML", true)]
        .map(|(label, yaml)| {
            let choose = choose.clone();
            view! {
                <button
                    type="button"
                    class="btn btn-small"
                    aria-pressed=move || (is_yaml.get() == yaml).to_string()
                    on:click=move |_| choose(yaml)
                >
                    {label}
                </button>
            }
        })
        .collect_view();
    view! {
        <div class="flex gap-2 mb-3" role="group" aria-label="Edit as">{choices}</div>
        {move || {
            let object = object.clone();
            if is_yaml.get() {
                view! { <YamlEdit cluster object draft=text_draft.clone() /> }.into_any()
            } else {
                view! { <FormEdit cluster object draft=form_draft.clone() /> }.into_any()
            }
        }}
    }
    .into_any()
}

/// Returns the review of an edit, with the button that saves it.
fn review(plan: PlannedDocument, busy: RwSignal<bool>, saved: Callback<()>) -> AnyView {
    let effect = plan.effect;
    let take_over = RwSignal::new(BTreeSet::new());
    let next = match effect {
        Effect::Change | Effect::Create => view! {
            <Button
                label="Save"
                icon=icons::CHECK
                kind=ButtonKind::Primary
                busy
                on_click=move |_| saved.run(())
            />
        }
        .into_any(),
        Effect::Nothing => {
            view! { <p class="text-muted">"Nothing differs from the cluster."</p> }.into_any()
        }
        Effect::Refused => view! {
            <p class="text-muted">"The cluster refuses this. Correct it and review again."</p>
        }
        .into_any(),
    };
    view! {
        <div class="mt-4" data-part="review">
            <Card title="Review">
                <ManifestPlan documents=vec![plan] take_over />
                <div class="editor-foot">{next}</div>
            </Card>
        </div>
    }
    .into_any()
}
