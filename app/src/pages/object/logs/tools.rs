//! The line above a log: search, state, pause and download.
use super::{pane::PaneState, stage::Stage};
use crate::{
    components::missing_permission,
    format,
    ui::{Button, ButtonKind, Icon, icons},
};
use leptos::prelude::*;

#[component]
pub fn PaneTools(pane: PaneState, file: String) -> impl IntoView {
    let status = move || match pane.stage() {
        Stage::Waiting => ("live", "Waiting for lines".to_owned()),
        Stage::Following if pane.held.get().is_some() => ("live", "Paused".to_owned()),
        Stage::Following => ("live is-ok", "Following".to_owned()),
        Stage::NotStarted(reason) => ("live", reason),
        Stage::Interrupted => ("live is-warn", "Interrupted, trying again".to_owned()),
        Stage::Ended(refusal) => ("live", refusal.reason),
    };
    let missing = move || match pane.stage() {
        Stage::Ended(refusal) => missing_permission(refusal.missing.as_deref()),
        _ => None,
    };
    let counts = move || {
        let (total, dropped) = (pane.total.get(), pane.dropped.get());
        let shown = if !pane.is_filtered() {
            format::counted(total, "line")
        } else {
            format!(
                "{} of {}",
                format::count(pane.found.get()),
                format::counted(total, "line")
            )
        };
        if dropped == 0 {
            shown
        } else {
            format!("{shown}, older ones dropped")
        }
    };
    let resume = move || {
        pane.held.get().map(|held| {
            let label = if held == 0 {
                "Follow".to_owned()
            } else {
                format!("Follow ({} new)", format::count(held))
            };
            view! {
                <Button
                    label
                    icon=icons::ARROW_DOWN
                    small=true
                    kind=ButtonKind::Primary
                    on_click=move |_| pane.resume()
                />
            }
        })
    };
    let pause = move || {
        pane.held.get().is_none().then(|| {
            view! {
                <Button
                    label="Pause updates"
                    icon=icons::PAUSE
                    small=true
                    kind=ButtonKind::Quiet
                    on_click=move |_| pane.held.set(Some(0))
                />
            }
        })
    };
    view! {
        <div class="console-head">
            <div class="search w-full sm:w-60">
                <Icon icon=icons::SEARCH />
                <input
                    class="input"
                    type="search"
                    aria-label="Search in the lines"
                    placeholder="Search in the lines"
                    autocomplete="off"
                    spellcheck="false"
                    data-filter=""
                    prop:value=move || pane.needle.get()
                    on:input=move |event| pane.needle.set(event_target_value(&event))
                />
            </div>
            <span class=move || status().0 role="status">
                <span class="live-dot"></span>
                {move || status().1}
            </span>
            {missing}
            <span class="text-muted">{counts}</span>
            <span class="flex gap-1 ml-auto">
                {pause}
                {resume}
                <Button
                    label="Download"
                    icon=icons::DOWNLOAD
                    small=true
                    kind=ButtonKind::Quiet
                    on_click=move |_| pane.download(&file)
                />
            </span>
        </div>
    }
    .into_any()
}
