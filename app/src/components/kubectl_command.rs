use crate::ui::{CopyButton, Icon, icons};
use leptos::prelude::*;

/// The command of kubectl that does the same as a change, to copy.
#[component]
pub fn KubectlCommand(#[prop(into)] command: Signal<String>) -> impl IntoView {
    view! {
        <details class="fold">
            <summary>
                <Icon icon=icons::CHEVRON_RIGHT />
                "Command line"
            </summary>
            <div class="code">
                <pre tabindex="0" role="region" aria-label="Equivalent command">
                    <code>{move || command.get()}</code>
                </pre>
                <CopyButton text=command what="command" />
            </div>
        </details>
    }
    .into_any()
}
