use super::form::{ChangeForm, Ends, Sent};
use crate::{
    api::objects::{delete_object, plan_deletion},
    components::{InlineError, who_can_link},
    context::use_session,
    format, routes,
    ui::{ButtonKind, SkeletonLines, suspended},
};
use leptos::prelude::*;
use leptos_router::{NavigateOptions, hooks::use_navigate};
use portico_domain::panel::{DeletedKind, DeletionGrade, DeletionPlan, Kubectl, ObjectView};
use uuid::Uuid;

/// Deletes exactly this object: the server compares the UID, so that a newer object with the same
/// name is a conflict.
#[component]
pub fn Delete(cluster: Uuid, object: ObjectView, ends: Ends) -> impl IntoView {
    let typed = RwSignal::new(String::new());
    let (reference, uid) = (object.reference.clone(), object.uid.clone());
    let name = reference.name.clone();
    let asked = reference.clone();
    let plan = Resource::new(|| (), move |()| plan_deletion(cluster, asked.clone()));
    let list = routes::list(
        &use_session().project.get_untracked(),
        cluster,
        &reference.resource,
    );
    let navigate = use_navigate();
    let ends = Ends {
        done: Callback::new(move |()| navigate(&list, NavigateOptions::default())),
        ..ends
    };
    let send = Callback::new(move |()| {
        let sent: Sent = Box::pin(delete_object(
            cluster,
            reference.clone().into(),
            uid.clone(),
            typed.get_untracked(),
        ));
        Some(sent)
    });
    let label = format!("Delete {name}");
    let words = consequence(&object);
    let known = object.deletion_note.clone();
    // of an object that cannot be read, the worst is assumed
    let fallback = DeletionPlan {
        grade: DeletionGrade::highest(&object.reference.resource),
        deleted: Vec::new(),
        affected: Vec::new(),
        notes: Vec::new(),
        gaps: Vec::new(),
    };
    let command = Kubectl::Delete.line(&object.reference, &object.kind);
    view! {
        <ChangeForm
            cluster
            object
            ends
            endpoint="objects/delete"
            label=label
            kind=ButtonKind::Danger
            send
            command
        >
            <p>{words} " This cannot be undone."</p>
            <Suspense fallback=|| view! { <SkeletonLines lines=3 /> }>
                {move || {
                    let (name, known, fallback) = (name.clone(), known.clone(), fallback.clone());
                    suspended(async move {
                        match plan.await {
                            Ok(mut plan) => {
                                plan.notes.retain(|note| known.as_ref() != Some(note));
                                details(plan, &name, typed)
                            }
                            Err(error) => view! {
                                <InlineError error />
                                {details(fallback, &name, typed)}
                            }
                            .into_any(),
                        }
                    })
                }}
            </Suspense>
        </ChangeForm>
    }
    .into_any()
}

/// Returns what the deletion would do, and what confirms it.
fn details(plan: DeletionPlan, name: &str, typed: RwSignal<String>) -> AnyView {
    let grade = match plan.grade {
        DeletionGrade::Simple => "simple",
        DeletionGrade::Consequences => "consequences",
        DeletionGrade::TypedName => "typed-name",
    };
    let notes = plan
        .notes
        .into_iter()
        .map(|note| view! { <p>{note}</p> })
        .collect_view();
    let gaps = plan
        .gaps
        .into_iter()
        .map(|gap| {
            let link = who_can_link(gap.missing.as_deref());
            view! { <p class="text-muted">{gap.reason} " " {link}</p> }
        })
        .collect_view();
    view! {
        <div class="grid gap-2" data-grade=grade>
            {kinds("Deleted with it", plan.deleted)}
            {kinds("In use by", plan.affected)}
            {notes}
            {gaps}
            {(plan.grade == DeletionGrade::TypedName).then(|| typed_name(name, typed))}
        </div>
    }
    .into_any()
}

/// Returns a list such as `3 × Pod: web-1, web-2, web-3`.
fn kinds(title: &'static str, kinds: Vec<DeletedKind>) -> Option<AnyView> {
    let rows: Vec<_> = kinds.into_iter().map(kind).collect();
    (!rows.is_empty()).then(|| {
        view! {
            <section aria-label=title>
                <p class="font-semibold">{title}</p>
                <ul class="bulk-names">{rows}</ul>
            </section>
        }
        .into_any()
    })
}

fn kind(kind: DeletedKind) -> AnyView {
    let more = match kind.total.saturating_sub(kind.names.len()) {
        0 => String::new(),
        count => format!(" and {} more", format::count(count)),
    };
    let text = format!(
        "{} × {}: {}{more}",
        format::count(kind.total),
        kind.kind,
        kind.names.join(", ")
    );
    view! { <li class="wrap-anywhere">{text}</li> }.into_any()
}

fn typed_name(name: &str, typed: RwSignal<String>) -> AnyView {
    view! {
        <div class="field">
            <label for="typed-name">
                "Type " <strong class="mono">{name.to_owned()}</strong> " to confirm"
            </label>
            <input
                class="input"
                id="typed-name"
                name="typed"
                required
                autocomplete="off"
                spellcheck="false"
                prop:value=move || typed.get()
                on:input=move |event| typed.set(event_target_value(&event))
            />
        </div>
    }
    .into_any()
}

/// Returns what is deleted with the object.
fn consequence(object: &ObjectView) -> AnyView {
    let name = object.reference.name.clone();
    let place = object
        .reference
        .namespace
        .as_ref()
        .map_or_else(String::new, |namespace| {
            format!(" in namespace {namespace}")
        });
    let what = match object.reference.resource.plural.as_str() {
        "namespaces" => "and everything in it are deleted.",
        "pods" if object.owners.is_empty() => "is deleted. No controller recreates it.",
        "pods" => "is deleted. Its owner creates a new one in its place.",
        "deployments" | "statefulsets" | "daemonsets" | "replicasets" | "jobs" => {
            "and its pods are deleted."
        }
        "persistentvolumeclaims" if object.deletion_note.is_none() => {
            "is deleted. Its data may be deleted with it."
        }
        _ => "is deleted.",
    };
    let note = object.deletion_note.clone().map(|note| format!(" {note}"));
    view! { <strong class="wrap-anywhere">{name}</strong> {place} " " {what} {note} }.into_any()
}
