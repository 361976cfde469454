//! The end of a log's time range: a moment in UTC, as all times of the panel.
use crate::{
    context::use_session,
    hooks::Timer,
    moment::{seconds, written},
    ui::{Icon, icons},
};
use leptos::prelude::*;
use portico_domain::stream::check_log_range;
use std::time::Duration;

/// How long a moment has to be unchanged before it is applied: browsers report each digit.
const TYPING_DELAY: Duration = Duration::from_millis(600);

/// The field for the end of a range; empty to follow the log.
#[component]
pub fn UntilField(
    /// Unix seconds.
    until: Signal<Option<u32>>,
    /// The chosen range, in seconds before now.
    since: Signal<Option<u32>>,
    on_change: Callback<Option<u32>>,
) -> impl IntoView {
    let session = use_session();
    let text = RwSignal::new(until.with_untracked(|until| written(*until)));
    let pending = Timer::new();
    let error = Memo::new(move |_| {
        let until = text.with(|text| seconds(text));
        if until.is_none() && text.with(|text| !text.is_empty()) {
            return Some("Enter a date from 1970 to 2105.".to_owned());
        }
        // as the log is read at this moment: a range that was valid does not become invalid by itself
        let checked = check_log_range(session.now.get_untracked(), since.get(), until);
        checked.err().map(|error| error.to_string())
    });
    view! {
        <div class="field">
            <label for="log-until">"Until (UTC)"</label>
            <input
                class="input"
                id="log-until"
                type="datetime-local"
                step="1"
                title="Lines up to this time are shown. Empty: the log is followed."
                aria-invalid=move || error.with(Option::is_some).then_some("true")
                aria-describedby=move || error.with(Option::is_some).then_some("log-until-error")
                value=text.get_untracked()
                on:input=move |event| {
                    let entered = event_target_value(&event);
                    let chosen = seconds(&entered);
                    text.set(entered);
                    pending.start(TYPING_DELAY, move || on_change.run(chosen));
                }
            />
            {move || error.get().map(|error| view! {
                <span class="field-error" id="log-until-error" role="alert">
                    <Icon icon=icons::WARNING />
                    {error}
                </span>
            })}
        </div>
    }
    .into_any()
}
