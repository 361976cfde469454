use super::{Icon, icons};
use leptos::prelude::*;

/// How serious a message is, in its source's own word. Its icons are not those of states.
#[component]
pub fn Severity(#[prop(into)] text: String) -> impl IntoView {
    let (class, icon) = match text.to_ascii_lowercase().as_str() {
        "critical" | "error" | "page" => ("severity is-bad", icons::SEVERITY_CRITICAL),
        "warning" => ("severity is-warn", icons::SEVERITY_WARNING),
        _ => ("severity", icons::SEVERITY_OTHER),
    };
    view! {
        <span class=class>
            <Icon icon />
            <span>{text}</span>
        </span>
    }
    .into_any()
}
