use leptos::{html, prelude::*};

/// Returns whether an element is part of the page. What depends on a state that can change before
/// the page is hydrated (a key, a timer) must wait for it: hydration expects what the server has
/// rendered, and ends the page if it finds anything else.
pub fn is_hydrated(node: NodeRef<html::Dialog>) -> Signal<bool> {
    let is_hydrated = RwSignal::new(false);
    Effect::new(move |_| {
        if node.get().is_some() {
            is_hydrated.set(true);
        }
    });
    is_hydrated.into()
}

/// A modal dialog. Its content exists only while it is open; the browser keeps the focus inside
/// and gives it back to the opener.
#[component]
pub fn Dialog(
    open: RwSignal<bool>,
    /// The ID of the dialog's heading; unique on the page.
    id: &'static str,
    #[prop(into)] title: Signal<String>,
    #[prop(optional)] wide: bool,
    children: ChildrenFn,
) -> impl IntoView {
    let node = NodeRef::<html::Dialog>::new();
    Effect::new(move |_| {
        let (open, dialog) = (open.get(), node.get());
        if let Some(dialog) = dialog {
            if open && !dialog.open() {
                let _ = dialog.show_modal();
            } else if !open && dialog.open() {
                dialog.close();
            }
        }
    });
    let is_hydrated = is_hydrated(node);
    view! {
        <dialog
            node_ref=node
            class=if wide { "dialog dialog-wide" } else { "dialog" }
            aria-labelledby=id
            on:close=move |_| open.set(false)
        >
            <Show when=move || is_hydrated.get() && open.get()>
                <div class="dialog-head">
                    <h2 id=id>{move || title.get()}</h2>
                </div>
                {children()}
            </Show>
        </dialog>
    }
    .into_any()
}
