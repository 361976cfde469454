//! The editor for manifests with its messages: an unsaved draft, and files that were refused.
use crate::{
    context::use_session,
    hooks::editor::{EDITOR_ID, use_editor},
    routes,
    ui::{Banner, Button, Tone, icons},
};
use leptos::prelude::*;
use uuid::Uuid;
use wasm_bindgen::{JsCast, JsValue};

#[component]
pub fn ManifestEditor(
    cluster: Uuid,
    /// The name of the editor for screen readers.
    #[prop(into)]
    label: String,
    /// The key under which this tab stores an unsaved text ([`crate::hooks::drafts`]); `None` for a
    /// text that must not be stored.
    draft: Option<String>,
    /// The text that counts as unchanged. The editor shows it whenever it changes.
    #[prop(into)]
    text: Signal<String>,
    /// After each change by the user.
    on_input: Callback<()>,
    /// After the text of an earlier visit was restored.
    #[prop(optional)]
    on_restore: Option<Callback<()>>,
) -> impl IntoView {
    let editor = use_editor();
    let project = use_session().project.get_untracked();
    let found = RwSignal::new(false);
    let refused = RwSignal::new(None::<String>);
    let is_withheld = RwSignal::new(draft.is_none());
    let draft_banner = move || {
        found.get().then(|| {
            view! {
                <Banner tone=Tone::Info>
                    <span class="flex flex-wrap items-center gap-3">
                        "This tab has a text that was not saved."
                        <Button
                            label="Restore it"
                            icon=icons::UNDO
                            small=true
                            on_click=move |_| {
                                editor.restore_draft();
                                found.set(false);
                                if let Some(restored) = on_restore {
                                    restored.run(());
                                }
                            }
                        />
                        <Button
                            label="Discard it"
                            small=true
                            on_click=move |_| {
                                editor.clear_draft();
                                found.set(false);
                            }
                        />
                    </span>
                </Banner>
            }
        })
    };
    let refuse = move |event: web_sys::CustomEvent| {
        let message = js_sys::Reflect::get(&event.detail(), &JsValue::from_str("message"));
        refused.set(message.ok().and_then(|message| message.as_string()));
    };
    view! {
        {draft_banner}
        {move || refused.get().map(|message| view! {
            <Banner tone=Tone::Warn alert=true>{message}</Banner>
        })}
        <div
            class="editor-host"
            on:input=move |event| {
                // not of the search field inside the editor
                if event.target().is_some_and(|target| target.dyn_ref::<web_sys::Element>().is_some_and(|target| target.id() == EDITOR_ID)) {
                    refused.set(None);
                    on_input.run(());
                }
            }
            on:refused=refuse
            on:draft=move |_: web_sys::CustomEvent| found.set(true)
            on:withheld=move |event: web_sys::CustomEvent| {
                let is_now = event.detail().is_truthy();
                // sent again and again while the user writes: a note that is there must not be read out each time
                is_withheld.maybe_update(|is| std::mem::replace(is, is_now) != is_now);
            }
        >
            <portico-editor
                id=EDITOR_ID
                prop:value=move || text.get()
                data-label=label
                data-draft=draft
                data-schemas=routes::schema(&project, cluster)
                data-kinds=routes::schema_kinds(&project, cluster)
            ></portico-editor>
        </div>
        {move || is_withheld.get().then(|| view! {
            <p class="text-muted mt-2" role="status">
                "Unsaved text with a Secret is not stored in this tab: it is lost when the page is left or reloaded."
            </p>
        })}
    }
    .into_any()
}
