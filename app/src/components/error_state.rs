use super::refusal::missing_permission;
use crate::{
    error::{UiError, UiErrorKind},
    routes,
    ui::{CopyButton, StateMessage, icons},
};
use leptos::prelude::*;
use leptos_router::hooks::use_location;

/// An error in place of content: a sentence, the next step, the request ID, and a retry.
#[component]
pub fn ErrorState(
    error: UiError,
    #[prop(into, optional)] retry: Option<Callback<()>>,
) -> impl IntoView {
    let location = use_location();
    let (icon, title, state) = match error.kind {
        UiErrorKind::SignedOut => (icons::KEY, "Your session has ended", "signed-out"),
        UiErrorKind::NotPermitted => (icons::LOCK, "You may not see this", "not-permitted"),
        UiErrorKind::NotFound => (icons::SEARCH, "Not found", "not-found"),
        UiErrorKind::Conflict => (icons::WARNING, "It was changed in the meantime", "error"),
        UiErrorKind::Invalid => (icons::WARNING, "That cannot be shown", "error"),
        UiErrorKind::Unavailable => (icons::WARNING, "No answer right now", "error"),
        UiErrorKind::Internal => (icons::FAILED, "Portico could not do this", "error"),
    };
    let text = match &error.next_step {
        Some(step) => format!("{} {step}", error.message),
        None => error.message.clone(),
    };
    let here = move || routes::with_search(&location.pathname.get(), &location.search.get());
    let ways_on = match error.kind {
        UiErrorKind::SignedOut => sign_in_again(),
        // without scripts the link loads the page again; with them only the data
        _ => view! {
            <a
                class="btn"
                href=here
                rel="external"
                on:click=move |event| {
                    if let Some(retry) = retry {
                        event.prevent_default();
                        retry.run(());
                    }
                }
            >
                "Try again"
            </a>
        }
        .into_any(),
    };
    view! {
        <StateMessage icon title text state alert=true>
            {ways_on}
            {missing_permission(error.missing.as_deref())}
            {error.request_id.map(|id| view! { <RequestId id /> })}
        </StateMessage>
    }
    .into_any()
}

#[component]
fn RequestId(id: String) -> impl IntoView {
    view! {
        <span class="inline-flex items-center gap-1 text-faint">
            "Request ID " <code>{id.clone()}</code> <CopyButton text=id what="request ID" />
        </span>
    }
    .into_any()
}

/// Returns the link to the sign-in that leads back to this page.
fn sign_in_again() -> AnyView {
    let location = use_location();
    let here = move || routes::with_search(&location.pathname.get(), &location.search.get());
    view! {
        <a class="btn btn-primary" rel="external" href=move || routes::sign_in(&here())>
            "Sign in again"
        </a>
    }
    .into_any()
}

/// An error inside a form or dialog.
#[component]
pub fn InlineError(error: UiError) -> impl IntoView {
    let is_signed_out = error.kind == UiErrorKind::SignedOut;
    view! {
        <crate::ui::Banner tone=crate::ui::Tone::Bad alert=true>
            <p class="font-semibold">{error.message}</p>
            {error.next_step.map(|step| view! { <p>{step}</p> })}
            {missing_permission(error.missing.as_deref())}
            {is_signed_out.then(sign_in_again)}
            {error.request_id.map(|id| view! { <RequestId id /> })}
        </crate::ui::Banner>
    }
    .into_any()
}
