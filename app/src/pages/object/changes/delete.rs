use super::form::{ChangeForm, Ends, Sent};
use crate::{api::objects::delete_object, context::use_session, routes, ui::ButtonKind};
use leptos::prelude::*;
use leptos_router::{NavigateOptions, hooks::use_navigate};
use portico_domain::panel::{Kubectl, ObjectView};
use uuid::Uuid;

/// Deletes exactly this object: the server compares the UID, so that a newer object with the same
/// name is a conflict.
#[component]
pub fn Delete(cluster: Uuid, object: ObjectView, ends: Ends) -> impl IntoView {
    let typed = RwSignal::new(String::new());
    let (reference, uid) = (object.reference.clone(), object.uid.clone());
    let name = reference.name.clone();
    let typing = reference.resource.contains_others();
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
    let words = consequence(&object);
    let command = Kubectl::Delete.line(&object.reference, &object.kind);
    view! {
        <ChangeForm
            cluster
            object
            ends
            endpoint="objects/delete"
            label=format!("Delete {name}")
            kind=ButtonKind::Danger
            send
            command
        >
            <p>{words} " This cannot be undone."</p>
            {typing.then(|| typed_name(&name, typed))}
        </ChangeForm>
    }
    .into_any()
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
