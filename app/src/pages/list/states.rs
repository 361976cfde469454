//! What a list shows in place of rows.
use super::{
    chips::clear,
    page::{ListPage, StateLink},
    toolbar::Toolbar,
};
use crate::{
    components::ErrorState,
    error::UiError,
    format,
    routes::ListState,
    ui::{StateMessage, icons},
};
use leptos::prelude::*;

/// A list that could not be loaded. Another filter loads it again.
#[component]
pub fn Failed(
    page: ListPage,
    namespaces: Option<Vec<String>>,
    error: UiError,
    retry: Callback<()>,
) -> impl IntoView {
    Effect::new(move |known: Option<ListState>| {
        let state = page.state.get();
        if known.is_some_and(|known| known != state) {
            retry.run(());
        }
        state
    });
    view! {
        <Toolbar page namespaces list=None end=None />
        <div class="card">
            <ErrorState error retry />
        </div>
    }
    .into_any()
}

/// A list without rows, and what to do about it.
pub fn empty(page: ListPage, plural: &str) -> AnyView {
    let (filtered, namespaces) = page
        .state
        .with(|state| (state.is_filtered(), state.namespaces.clone()));
    if filtered {
        return view! {
            <div class="card">
                <StateMessage
                    icon=icons::SEARCH
                    title="Nothing matches the filter"
                    text="All rows were searched, not only the ones shown before."
                    state="no-match"
                >
                    <StateLink page class="btn" change=clear>
                        "Clear the filters"
                    </StateLink>
                </StateMessage>
            </div>
        }
        .into_any();
    }
    let somewhere = page.with_namespaces && !namespaces.is_empty();
    let (title, next) = if somewhere {
        (
            format!("No {plural} in {}", format::listed(&namespaces)),
            "They appear here as soon as there is one. Another namespace may have some.",
        )
    } else {
        (
            format!("No {plural} yet"),
            "They appear here as soon as there is one; create them with kubectl apply.",
        )
    };
    view! {
        <div class="card">
            <StateMessage icon=icons::BOX title text=next state="empty">
                {somewhere.then(|| view! {
                    <StateLink page class="btn" change=clear>
                        "Look in all namespaces"
                    </StateLink>
                })}
            </StateMessage>
        </div>
    }
    .into_any()
}
