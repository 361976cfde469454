use crate::{
    context::use_session,
    format,
    hooks::{LiveList, Liveness},
    ui::{Banner, Button, ButtonKind, Tone, icons},
};
use leptos::prelude::*;

/// The status of a list's updates, with a button to pause them.
#[component]
pub fn LiveStatus(list: LiveList) -> impl IntoView {
    let label = move || match (list.paused.get(), list.state.get()) {
        (true, _) => ("live", "Paused"),
        (false, Liveness::Live) => ("live is-ok", "Live"),
        (false, Liveness::Loaded) => ("live", "Connecting"),
        (false, Liveness::Stale { .. } | Liveness::Ended(_)) => ("live is-warn", "Not live"),
    };
    let toggle = move || {
        let (text, icon) = match (list.paused.get(), list.pending.get()) {
            (false, _) => ("Pause updates".to_owned(), icons::PAUSE),
            (true, 0) => ("Resume updates".to_owned(), icons::PLAY),
            (true, pending) => (
                format!("Resume updates ({})", format::counted(pending, "change")),
                icons::PLAY,
            ),
        };
        view! {
            <Button
                label=text
                icon
                small=true
                kind=ButtonKind::Quiet
                on_click=move |_| list.paused.update(|paused| *paused = !*paused)
            />
        }
    };
    view! {
        <span class=move || label().0 role="status" data-live=move || label().1>
            <span class="live-dot"></span>
            {move || label().1}
        </span>
        {toggle}
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
