//! The lines above a log: search, state, pause and download, and how lines are shown.
use super::{
    matches::Step,
    pane::PaneState,
    stage::{Stage, with_note},
};
use crate::{
    components::missing_permission,
    format,
    ui::{Button, ButtonKind, Icon, icons},
};
use leptos::{ev::KeyboardEvent, prelude::*};

#[component]
pub fn PaneTools(pane: PaneState, file: String) -> impl IntoView {
    let status = move || match pane.stage() {
        Stage::Nothing => ("live", pane.nothing.get().to_owned()),
        Stage::Waiting => ("live", "Waiting for lines".to_owned()),
        Stage::Following if pane.held.get().is_some() => ("live", "Paused".to_owned()),
        Stage::Following => ("live is-ok", "Following".to_owned()),
        Stage::NotStarted(reason) => ("live", reason),
        Stage::Interrupted => ("live is-warn", "Interrupted, trying again".to_owned()),
        Stage::Ended(refusal) => ("live", refusal.reason),
    };
    let state = Memo::new(move |_| {
        let (class, text) = status();
        (class, with_note(text, pane.note()))
    });
    let missing = move || match (pane.note(), pane.stage()) {
        (Some(refusal), _) | (None, Stage::Ended(refusal)) => {
            missing_permission(refusal.missing.as_deref())
        }
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
    let step = move |event: KeyboardEvent| {
        if event.key() == "Enter" && !event.is_composing() {
            event.prevent_default();
            pane.step(if event.shift_key() {
                Step::Previous
            } else {
                Step::Next
            });
        }
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
                    on:keydown=step
                />
            </div>
            <MatchTools pane />
            <span class=move || state.with(|state| state.0) role="status">
                <span class="live-dot"></span>
                {move || state.get().1}
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
            <span class="log-options">
                <label class="check">
                    <input
                        type="checkbox"
                        prop:checked=move || pane.only_matching.get()
                        on:change=move |event| pane.show_only_matching(event_target_checked(&event))
                    />
                    "Only matching lines"
                </label>
                <label class="check">
                    <input
                        type="checkbox"
                        prop:checked=move || pane.unfolds_json.get()
                        on:change=move |event| pane.unfold_json(event_target_checked(&event))
                    />
                    "Unfold JSON"
                </label>
            </span>
        </div>
    }
    .into_any()
}

/// The number of matches, and the way from one to the next.
#[component]
fn MatchTools(pane: PaneState) -> impl IntoView {
    let has_none = Signal::derive(move || pane.matches.with(|matches| matches.total() == 0));
    let count = move || {
        let matches = pane.matches.get();
        let total = format::count(matches.total());
        match (matches.current(), matches.total()) {
            (_, 0) => "No matches".to_owned(),
            (Some(current), _) => format!("{} of {total}", format::count(current + 1)),
            (None, 1) => "1 match".to_owned(),
            (None, _) => format!("{total} matches"),
        }
    };
    // while lines are followed, the number would be read out several times a second
    let announced = move || {
        if pane.held.with(Option::is_some) {
            "polite"
        } else {
            "off"
        }
    };
    view! {
        <span class="log-matches" hidden=move || pane.needle.with(String::is_empty)>
            <span class="text-muted" aria-live=announced data-part="matches">{count}</span>
            <Button
                label="Previous match"
                icon=icons::ARROW_UP
                icon_only=true
                small=true
                kind=ButtonKind::Quiet
                busy=has_none
                on_click=move |_| pane.step(Step::Previous)
            />
            <Button
                label="Next match"
                icon=icons::ARROW_DOWN
                icon_only=true
                small=true
                kind=ButtonKind::Quiet
                busy=has_none
                on_click=move |_| pane.step(Step::Next)
            />
        </span>
    }
    .into_any()
}
