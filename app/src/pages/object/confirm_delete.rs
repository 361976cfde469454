//! Deleting an object: a dialog that names it, or without scripts a form in the page.
use super::refusal;
use crate::{
    api::objects::{delete_object, needs_typed_name},
    components::{InlineError, use_toasts},
    context::use_session,
    error::UiError,
    routes,
    ui::{Button, ButtonKind, Dialog},
};
use leptos::prelude::*;
use leptos_router::hooks::{use_navigate, use_query_map};
use portico_domain::panel::{Action, ObjectView};
use uuid::Uuid;

#[component]
pub fn ConfirmDelete(
    cluster: Uuid,
    object: ObjectView,
    open: RwSignal<bool>,
    typed: RwSignal<String>,
) -> impl IntoView {
    let title = format!("Delete {} {}?", object.kind.kind, object.reference.name);
    view! {
        <Dialog open id="delete-title" title>
            <DeleteForm cluster object=object.clone() typed cancel=move || open.set(false) />
        </Dialog>
    }
    .into_any()
}

/// The same as a part of the page, for `?confirm=delete`.
#[component]
pub fn WithoutScripts(cluster: Uuid, object: ObjectView) -> impl IntoView {
    let query = use_query_map();
    let asked = Memo::new(move |_| query.with(|query| query.get_str("confirm") == Some("delete")));
    let navigate = use_navigate();
    let allowed = refusal(&object, Action::Delete).is_none();
    let typed = RwSignal::new(String::new());
    let here = routes::object(
        &use_session().project.get_untracked(),
        cluster,
        &object.reference,
    );
    move || {
        let (navigate, here) = (navigate.clone(), here.clone());
        (allowed && asked.get()).then(|| {
            view! {
                <section class="card mb-4" aria-labelledby="delete-in-page">
                    <div class="card-head">
                        <h2 id="delete-in-page">
                            {format!("Delete {} {}?", object.kind.kind, object.reference.name)}
                        </h2>
                    </div>
                    <DeleteForm
                        cluster
                        object=object.clone()
                        typed
                        cancel=move || navigate(&here, leptos_router::NavigateOptions::default())
                    />
                </section>
            }
        })
    }
}

#[component]
fn DeleteForm(
    cluster: Uuid,
    object: ObjectView,
    typed: RwSignal<String>,
    #[prop(into)] cancel: Callback<()>,
) -> impl IntoView {
    let session = use_session();
    let toasts = use_toasts();
    let navigate = use_navigate();
    let failure = RwSignal::new(None::<UiError>);
    let busy = RwSignal::new(false);
    let project = session.project.get_untracked();
    let list = routes::list(&project, cluster, &object.reference.resource);
    let here = routes::object(&project, cluster, &object.reference);
    let name = object.reference.name.clone();
    let typing = needs_typed_name(&object.reference);
    let (reference, uid) = (object.reference.clone(), object.uid.clone());
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        if busy.get_untracked() {
            return;
        }
        busy.set(true);
        failure.set(None);
        let (reference, uid, list, navigate) = (
            reference.clone(),
            uid.clone(),
            list.clone(),
            navigate.clone(),
        );
        leptos::task::spawn_local(async move {
            let typed = typed.get_untracked();
            let outcome = delete_object(cluster, reference.into(), uid, typed).await;
            busy.set(false);
            match outcome {
                Ok(done) => {
                    cancel.run(());
                    toasts.done(cluster, done);
                    navigate(&list, leptos_router::NavigateOptions::default());
                }
                Err(error) => failure.set(Some(error)),
            }
        });
    };
    let hidden = [
        ("cluster", cluster.to_string()),
        ("object[group]", object.reference.resource.group.clone()),
        ("object[version]", object.reference.resource.version.clone()),
        ("object[plural]", object.reference.resource.plural.clone()),
        (
            "object[namespace]",
            object.reference.namespace.clone().unwrap_or_default(),
        ),
        ("object[name]", name.clone()),
        ("uid", object.uid.clone()),
        (
            "csrf_token",
            session.view.with_untracked(|view| view.csrf_token.clone()),
        ),
    ]
    .map(|(name, value)| view! { <input type="hidden" name=name value=value /> })
    .collect_view();
    view! {
        <form
            method="post"
            action=routes::form_action("objects/delete", &project)
            on:submit=submit
        >
            {hidden}
            <div class="dialog-body">
                <p>
                    {consequence(&object)} " This cannot be taken back."
                </p>
                {typing.then(|| typed_name(&name, typed))}
                {move || failure.get().map(|error| view! { <InlineError error /> })}
            </div>
            <div class="dialog-foot">
                <a
                    class="btn"
                    href=here
                    on:click=move |event| {
                        event.prevent_default();
                        event.stop_propagation();
                        cancel.run(());
                    }
                >
                    "Cancel"
                </a>
                <Button label=format!("Delete {name}") kind=ButtonKind::Danger submit=true busy />
            </div>
        </form>
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

/// What goes with the object.
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
        "pods" if object.owners.is_empty() => "is deleted. Nothing starts it again.",
        "pods" => "is deleted. Its owner starts a new one in its place.",
        "deployments" | "statefulsets" | "daemonsets" | "replicasets" | "jobs" => {
            "and its pods are deleted."
        }
        "persistentvolumeclaims" => "is deleted. Its data may go with it.",
        _ => "is deleted.",
    };
    view! { <strong class="wrap-anywhere">{name}</strong> {place} " " {what} }.into_any()
}
