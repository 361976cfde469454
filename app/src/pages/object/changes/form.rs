//! The frame of every change: a form that names the object, which is sent by script and shows the
//! result, or is sent by the browser.
use crate::{
    components::{InlineError, KubectlCommand, use_toasts},
    context::use_session,
    error::UiError,
    operations::{Activity, use_operations},
    routes,
    ui::{Button, ButtonKind},
};
use futures::future::LocalBoxFuture;
use leptos::prelude::*;
use portico_domain::panel::{ChangeDone, ObjectView};
use uuid::Uuid;

/// What happens when a form is closed.
#[derive(Clone, Copy)]
pub struct Ends {
    /// Closes the form.
    pub cancel: Callback<()>,
    /// After the change was accepted; the form is closed then.
    pub done: Callback<()>,
}

/// A change that is being sent.
pub type Sent = LocalBoxFuture<'static, Result<ChangeDone, UiError>>;

#[component]
pub fn ChangeForm(
    cluster: Uuid,
    object: ObjectView,
    ends: Ends,
    /// The server function's endpoint, for a browser without scripts.
    endpoint: &'static str,
    #[prop(into)] label: String,
    #[prop(default = ButtonKind::Primary)] kind: ButtonKind,
    /// Sends it; `None` if a field is not valid.
    send: Callback<(), Option<Sent>>,
    /// The command that does the same.
    #[prop(into)]
    command: Signal<String>,
    children: Children,
) -> impl IntoView {
    let session = use_session();
    let toasts = use_toasts();
    let failure = RwSignal::new(None::<UiError>);
    let busy = RwSignal::new(false);
    let operations = use_operations();
    let project = session.project.get_untracked();
    let here = routes::object(&project, cluster, &object.reference);
    let page = here.clone();
    let name = &object.reference.name;
    let title = if label.contains(name.as_str()) {
        label.clone()
    } else {
        format!("{label} {name}")
    };
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        if busy.get_untracked() {
            return;
        }
        let Some(sent) = send.run(()) else { return };
        busy.set(true);
        failure.set(None);
        let activity = Activity {
            title: title.clone(),
            href: page.clone(),
            command: command.get_untracked(),
        };
        leptos::task::spawn_local(async move {
            let outcome = sent.await;
            let message = outcome.as_ref().map(|done| done.message.as_str());
            operations.record(activity, message);
            // the user may have left the page meanwhile; the result is still shown
            let _ = busy.try_set(false);
            match outcome {
                Ok(done) => {
                    toasts.done(cluster, done);
                    ends.done.try_run(());
                    ends.cancel.try_run(());
                }
                Err(error) => {
                    let _ = failure.try_set(Some(error));
                }
            }
        });
    };
    view! {
        <form method="post" action=routes::form_action(endpoint, &project) on:submit=submit>
            {hidden(cluster, object, session.view.with_untracked(|view| view.csrf_token.clone()))}
            <div class="dialog-body">
                {children()}
                <KubectlCommand command />
                {move || failure.get().map(|error| view! { <InlineError error /> })}
            </div>
            <div class="dialog-foot">
                <a
                    class="btn"
                    href=here
                    on:click=move |event| {
                        event.prevent_default();
                        event.stop_propagation();
                        ends.cancel.run(());
                    }
                >
                    "Cancel"
                </a>
                <Button label kind submit=true busy />
            </div>
        </form>
    }
    .into_any()
}

fn hidden(cluster: Uuid, object: ObjectView, csrf_token: String) -> AnyView {
    let reference = object.reference;
    [
        ("cluster", cluster.to_string()),
        ("object[group]", reference.resource.group),
        ("object[version]", reference.resource.version),
        ("object[plural]", reference.resource.plural),
        ("object[namespace]", reference.namespace.unwrap_or_default()),
        ("object[name]", reference.name),
        ("uid", object.uid),
        ("csrf_token", csrf_token),
    ]
    .map(|(name, value)| view! { <input type="hidden" name=name value=value /> })
    .collect_view()
    .into_any()
}
