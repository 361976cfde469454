use crate::{
    context::use_session,
    format,
    hooks::{LiveList, Liveness},
    ui::{Banner, Icon, Tone, icons},
};
use leptos::prelude::*;

/// The status of a list's updates.
#[component]
pub fn LiveDot(list: LiveList) -> impl IntoView {
    let label = move || match (list.paused.get(), list.state.get()) {
        (true, _) => ("live", "Paused"),
        (false, Liveness::Live) => ("live is-ok", "Live"),
        (false, Liveness::Loaded) => ("live", "Connecting"),
        (false, Liveness::Stale { .. } | Liveness::Ended(_)) => ("live is-warn", "Not live"),
    };
    view! {
        <span class=move || label().0 role="status" data-live=move || label().1>
            <span class="live-dot"></span>
            {move || label().1}
        </span>
    }
    .into_any()
}

/// Keeps a list as it is, and says how much has changed meanwhile.
#[component]
pub fn PauseButton(list: LiveList) -> impl IntoView {
    let text = move || match (list.paused.get(), list.pending.get()) {
        (false, _) => "Pause".to_owned(),
        (true, 0) => "Resume".to_owned(),
        (true, pending) => format!("Resume · {}", format::counted(pending, "change")),
    };
    view! {
        <button
            type="button"
            class=move || if list.paused.get() { "btn is-active" } else { "btn" }
            data-pause=""
            title="Keep the rows as they are"
            on:click=move |_| list.pause(!list.paused.get_untracked())
        >
            {move || {
                let icon = if list.paused.get() { icons::PLAY } else { icons::PAUSE };
                view! { <Icon icon /> }
            }}
            <span class="btn-label">{text}</span>
        </button>
    }
    .into_any()
}

/// A banner above a list that is not live: since when, and why.
#[component]
pub fn StaleBanner(list: LiveList) -> impl IntoView {
    let now = use_session().now;
    move || {
        let text = match list.state.get() {
            Liveness::Loaded | Liveness::Live => return ().into_any(),
            Liveness::Stale { reason, since } => {
                let age = format::age(now.get(), since);
                format!("{reason} The data shown is {age} old; updates resume automatically.")
            }
            Liveness::Ended(reason) => format!("Live updates of this list have ended: {reason}"),
        };
        view! {
            <div class="mb-3">
                <Banner tone=Tone::Warn>{text}</Banner>
            </div>
        }
        .into_any()
    }
}
