use super::subject::Words;
use crate::{
    api::access::revoke_grant,
    components::{InlineError, use_toasts},
    context::use_session,
    error::{UiError, UiErrorKind},
    operations::{Activity, use_operations},
    routes,
    ui::{Banner, Button, ButtonKind, Dialog, Field, Tone},
};
use leptos::{prelude::*, task::spawn_local};
use portico_domain::panel::{BindingRow, RevokeRequest};
use uuid::Uuid;

/// Asks for confirmation before a subject is removed from a binding. Ten seconds later it is final.
#[component]
pub fn RevokeDialog(cluster: Uuid, revoking: RwSignal<Option<BindingRow>>) -> impl IntoView {
    let open = RwSignal::new(false);
    let typed = RwSignal::new(String::new());
    let failure = RwSignal::new(None::<UiError>);
    Effect::new(move |_| {
        if revoking.with(Option::is_some) {
            typed.set(String::new());
            failure.set(None);
            open.set(true);
        }
    });
    Effect::new(move |_| {
        if !open.get() {
            revoking.set(None);
        }
    });
    view! {
        <Dialog open id="revoke-title" title="Revoke access?">
            {move || revoking.get().map(|row| view! {
                <RevokeForm cluster row open typed failure />
            })}
        </Dialog>
    }
    .into_any()
}

#[component]
fn RevokeForm(
    cluster: Uuid,
    row: BindingRow,
    open: RwSignal<bool>,
    typed: RwSignal<String>,
    failure: RwSignal<Option<UiError>>,
) -> impl IntoView {
    let (toasts, operations) = (use_toasts(), use_operations());
    let page = routes::access(&use_session().project.get_untracked(), cluster);
    let busy = RwSignal::new(false);
    let words = Words::of(&row.subject);
    let place = row.binding.namespace.as_ref().map_or_else(
        || "the whole cluster".to_owned(),
        |name| format!("namespace {name}"),
    );
    let role = row.role.name.clone();
    let loss = row.typed_because.clone();
    let protected = loss.is_some();
    let confirmation = format!("Type {} to confirm", row.binding.name);
    // the server decides: another grant may have been revoked meanwhile
    let must_type = move || {
        protected
            || failure.with(|failure| {
                failure
                    .as_ref()
                    .is_some_and(|e| e.kind == UiErrorKind::Invalid)
            })
            || typed.with(|typed| !typed.is_empty())
    };
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        if busy.get_untracked() {
            return;
        }
        busy.set(true);
        failure.set(None);
        let request = RevokeRequest {
            binding: row.binding.clone(),
            uid: row.uid.clone(),
            resource_version: row.resource_version.clone(),
            subject: row.subject.clone(),
            typed: typed.get_untracked(),
        };
        let href = page.clone();
        spawn_local(async move {
            let activity = Activity {
                title: format!("Revoke {}", request.binding.name),
                href,
                command: String::new(),
            };
            let outcome = revoke_grant(cluster, request).await;
            let message = outcome.as_ref().map(|done| done.message.as_str());
            operations.record(activity, message);
            busy.set(false);
            match outcome {
                Ok(done) => {
                    open.set(false);
                    toasts.done(cluster, done);
                }
                Err(error) => failure.set(Some(error)),
            }
        });
    };
    view! {
        <form on:submit=submit>
            <div class="dialog-body">
                <p>
                    <strong class="wrap-anywhere">{words.name}</strong>
                    " loses " <strong>{role}</strong> " in " {place}
                    ". Rights from other bindings remain. You can undo this for ten seconds."
                </p>
                {loss.map(|loss| view! { <Banner tone=Tone::Bad alert=true>{loss}</Banner> })}
                {move || failure.get().map(|error| view! { <InlineError error /> })}
                {move || must_type().then(|| view! {
                    <Field id="revoke-typed" label=confirmation.clone() value=typed required=true />
                })}
            </div>
            <div class="dialog-foot">
                <Button label="Cancel" on_click=move |_| open.set(false) />
                <Button label="Revoke" kind=ButtonKind::Danger submit=true busy />
            </div>
        </form>
    }
    .into_any()
}
