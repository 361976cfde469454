use super::{Icon, icons};
use crate::format;
use leptos::prelude::*;
use std::time::Duration;

/// Copies a text to the clipboard and confirms it.
#[component]
pub fn CopyButton(#[prop(into)] text: Signal<String>, #[prop(into)] what: String) -> impl IntoView {
    let copied = RwSignal::new(false);
    let copy = move |_| {
        let promise = window()
            .navigator()
            .clipboard()
            .write_text(&text.get_untracked());
        leptos::task::spawn_local(async move {
            if wasm_bindgen_futures::JsFuture::from(promise).await.is_ok() {
                copied.set(true);
                set_timeout(move || copied.set(false), Duration::from_secs(2));
            }
        });
    };
    let label = format!("Copy {what}");
    view! {
        <span class="copy">
            <button
                type="button"
                class="btn btn-quiet btn-small btn-icon"
                title=label.clone()
                aria-label=label
                on:click=copy
            >
                {move || {
                    let icon = if copied.get() { icons::CHECK } else { icons::COPY };
                    view! { <Icon icon /> }
                }}
            </button>
            <span class="visually-hidden" role="status">
                {move || copied.get().then_some("Copied to the clipboard")}
            </span>
        </span>
    }
    .into_any()
}

/// Lines to copy, or a manifest.
#[component]
pub fn CodeBlock(
    #[prop(into)] text: String,
    /// The kind of content, for the region and the copy button: `sign-in command`, `YAML`. Unique
    /// on the page.
    #[prop(into)]
    what: String,
    /// Scrolls inside itself when long.
    #[prop(optional)]
    tall: bool,
) -> impl IntoView {
    let label = format::capitalised(&what);
    view! {
        <div class=if tall { "code code-tall" } else { "code" }>
            <pre tabindex="0" role="region" aria-label=label>
                <code>{text.clone()}</code>
            </pre>
            <CopyButton text what />
        </div>
    }
    .into_any()
}
