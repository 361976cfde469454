//! The dialog with the keyboard shortcuts. What it shows is loaded when it is opened first.
use crate::{
    pages::lazy,
    ui::{Button, Dialog},
};
use leptos::{prelude::*, task::spawn_local};

#[component]
pub fn HelpDialog(open: RwSignal<bool>) -> impl IntoView {
    let is_loaded = RwSignal::new(false);
    Effect::new(move |_| {
        if open.get() && !is_loaded.get_untracked() {
            spawn_local(async move {
                lazy::load_browse().await;
                let _ = is_loaded.try_set(true);
            });
        }
    });
    let content = move || is_loaded.get().then(|| untrack(lazy::help)).flatten();
    view! {
        <Dialog open id="help-title" title="Keyboard shortcuts">
            <div class="dialog-body">{content}</div>
            <div class="dialog-foot">
                <Button label="Close" on_click=move |_| open.set(false) />
            </div>
        </Dialog>
    }
    .into_any()
}
