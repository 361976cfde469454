use crate::hooks::{keyboard, shortcuts::SHORTCUTS};
use leptos::prelude::*;

/// Returns the keys and what they do, with a switch to turn them off.
pub fn help() -> AnyView {
    let enabled = RwSignal::new(keyboard::enabled());
    let keys = SHORTCUTS
        .iter()
        .map(|(keys, what)| {
            let keys = keys
                .iter()
                .map(|key| view! { <kbd class="mr-1">{*key}</kbd> })
                .collect_view();
            view! { <dt>{keys}</dt><dd>{*what}</dd> }
        })
        .collect_view();
    view! {
        <dl class="description-list">{keys}</dl>
        <label class="check">
            <input
                type="checkbox"
                prop:checked=move || enabled.get()
                on:change=move |event| {
                    let on = event_target_checked(&event);
                    enabled.set(on);
                    keyboard::set_enabled(on);
                }
            />
            "Single-key shortcuts on"
        </label>
    }
    .into_any()
}
