use crate::{
    hooks::keyboard::{self, SHORTCUTS},
    ui::{Button, Dialog},
};
use leptos::prelude::*;

/// The keys and what they do, with a switch to turn them off.
#[component]
pub fn HelpDialog(open: RwSignal<bool>) -> impl IntoView {
    let enabled = RwSignal::new(true);
    Effect::new(move |_| {
        if open.get() {
            enabled.set(keyboard::enabled());
        }
    });
    view! {
        <Dialog open id="help-title" title="Keyboard shortcuts">
            <div class="dialog-body">
                <dl class="description-list">
                    {SHORTCUTS
                        .iter()
                        .map(|(keys, what)| {
                            let keys = keys
                                .iter()
                                .map(|key| view! { <kbd class="mr-1">{*key}</kbd> })
                                .collect_view();
                            view! { <dt>{keys}</dt><dd>{*what}</dd> }
                        })
                        .collect_view()}
                </dl>
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
            </div>
            <div class="dialog-foot">
                <Button label="Close" on_click=move |_| open.set(false) />
            </div>
        </Dialog>
    }
    .into_any()
}
