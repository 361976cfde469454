use crate::{
    context::use_session,
    hooks::page_change::use_page_shown,
    routes,
    ui::{StateMessage, icons},
};
use leptos::prelude::*;

/// Sets the status of the document to 404, while it still can be set.
pub fn answer_not_found() {
    #[cfg(feature = "ssr")]
    if let Some(response) = use_context::<leptos_axum::ResponseOptions>() {
        response.set_status(axum::http::StatusCode::NOT_FOUND);
    }
}

/// The page for an unknown address.
#[component]
pub fn NotFound() -> impl IntoView {
    answer_not_found();
    view! {
        <main id="main" tabindex="-1" class="page">
            <Nowhere />
        </main>
    }
    .into_any()
}

/// The same inside a frame that has a `main` already.
#[component]
pub fn Nowhere() -> impl IntoView {
    let session = use_session();
    use_page_shown("Not found".to_owned());
    let home = move || {
        let project = session.project.get();
        if project.is_empty() {
            "/".to_owned()
        } else {
            routes::launchpad(&project)
        }
    };
    view! {
        <leptos_meta::Title text="Not found · Portico" />
        <h1 class="visually-hidden" tabindex="-1">"Not found"</h1>
        <StateMessage
            icon=icons::SEARCH
            title="There is nothing at this address"
            text="The link may be old, or a part of it was cut off."
            state="not-found"
        >
            <a class="btn btn-primary" href=home>
                "Go to the launchpad"
            </a>
        </StateMessage>
    }
    .into_any()
}
