//! The dialog of the command palette. Its field is here, so that it takes what is typed while the
//! rest is still loading.
use crate::{
    hooks::{keyboard, scroll_into_view},
    pages::lazy,
    palette::{Palette, option_id},
    ui::{Icon, icons, is_hydrated},
};
use leptos::{ev::KeyboardEvent, html, prelude::*, task::spawn_local};

#[component]
pub fn PaletteDialog(palette: Palette) -> impl IntoView {
    let node = NodeRef::<html::Dialog>::new();
    let field = NodeRef::<html::Input>::new();
    Effect::new(move |_| {
        let (open, dialog) = (palette.open.get(), node.get());
        let Some(dialog) = dialog else { return };
        if open && !dialog.open() {
            palette.text.set(String::new());
            palette.active.set(0);
            palette.count.set(0);
            palette.is_enter_pending.set(false);
            let _ = dialog.show_modal();
            if let Some(field) = field.get_untracked() {
                let _ = field.focus();
            }
        } else if !open && dialog.open() {
            dialog.close();
        }
    });
    let is_hydrated = is_hydrated(node);
    // its code is loaded once; then the options are there without waiting
    let is_loaded = RwSignal::new(false);
    Effect::new(move |_| {
        if palette.open.get() && !is_loaded.get_untracked() {
            spawn_local(async move {
                lazy::load_browse().await;
                let _ = is_loaded.try_set(true);
            });
        }
    });
    let keydown = move |event: KeyboardEvent| {
        if event.is_composing() {
            return;
        }
        let done = match event.key().as_str() {
            "ArrowDown" => step(palette, 1),
            "ArrowUp" => step(palette, -1),
            "PageDown" => step(palette, 8),
            "PageUp" => step(palette, -8),
            "Enter" => {
                enter(palette, event.ctrl_key() || event.meta_key());
                true
            }
            _ => false,
        };
        if done {
            event.prevent_default();
        }
    };
    let active = move || (palette.count.get() > 0).then(|| option_id(palette.active.get()));
    view! {
        <dialog
            node_ref=node
            class="dialog palette"
            aria-label="Search"
            on:close=move |_| palette.open.set(false)
            on:click=move |event| {
                // on the backdrop, which belongs to the dialog itself
                let on_dialog = event.target().as_ref() == event.current_target().as_ref();
                if on_dialog {
                    palette.open.set(false);
                }
            }
        >
            <div class="palette-field">
                <Icon icon=icons::SEARCH />
                <input
                    node_ref=field
                    type="text"
                    role="combobox"
                    aria-label="Search objects, kinds, clusters, namespaces, pages and actions"
                    aria-expanded="true"
                    aria-controls="palette-results"
                    aria-autocomplete="list"
                    aria-activedescendant=active
                    placeholder="Search objects, kinds, clusters, actions…"
                    autocomplete="off"
                    autocapitalize="off"
                    spellcheck="false"
                    enterkeyhint="go"
                    prop:value=move || palette.text.get()
                    on:input=move |event| {
                        palette.is_enter_pending.set(false);
                        palette.text.set(event_target_value(&event));
                    }
                    on:keydown=keydown
                />
                <button
                    type="button"
                    class="btn btn-quiet btn-small"
                    on:click=move |_| palette.open.set(false)
                >
                    "Close"
                </button>
            </div>
            {move || (is_hydrated.get() && palette.open.get()).then(|| {
                let is_loaded = is_loaded.get();
                let results = is_loaded.then(|| untrack(|| lazy::palette(palette))).flatten();
                results.unwrap_or_else(loading)
            })}
            <p class="palette-foot">
                <span><kbd>"↑"</kbd>" "<kbd>"↓"</kbd>" choose"</span>
                <span><kbd>"Enter"</kbd>" open"</span>
                <span><kbd>"Ctrl"</kbd>" "<kbd>"Enter"</kbd>" in a new tab"</span>
                <span><kbd>">"</kbd>" actions only"</span>
                <span><code>"pods web"</code>" one kind"</span>
            </p>
        </dialog>
    }
    .into_any()
}

fn loading() -> AnyView {
    view! {
        <div id="palette-results" class="palette-results" role="listbox" aria-label="Results"></div>
        <p class="palette-status" role="status">"Loading…"</p>
    }
    .into_any()
}

/// Makes another option the active one; after the last one comes the first.
fn step(palette: Palette, by: isize) -> bool {
    let Ok(count) = isize::try_from(palette.count.get_untracked()) else {
        return true;
    };
    if count == 0 {
        return true;
    }
    let current = isize::try_from(palette.active.get_untracked()).unwrap_or(0);
    let next = if by.abs() > 1 {
        (current + by).clamp(0, count - 1)
    } else {
        (current + by).rem_euclid(count)
    };
    let next = next.unsigned_abs();
    palette.active.set(next);
    show_option(next);
    true
}

fn show_option(index: usize) {
    let document = document();
    let (Some(list), Some(option)) = (
        document.get_element_by_id("palette-results"),
        document.get_element_by_id(&option_id(index)),
    ) else {
        return;
    };
    if index == 0 {
        // its heading too
        list.set_scroll_top(0);
    } else {
        scroll_into_view(&list, &option);
    }
}

fn enter(palette: Palette, in_new_tab: bool) {
    if palette.count.get_untracked() == 0 {
        palette.is_enter_pending.set(true);
        return;
    }
    let selector = format!("#{}", option_id(palette.active.get_untracked()));
    let href = in_new_tab
        .then(|| document().query_selector(&selector).ok().flatten())
        .flatten()
        .and_then(|option| option.get_attribute("href"));
    match href {
        Some(href) => {
            let _ = window().open_with_url_and_target_and_features(&href, "_blank", "noopener");
        }
        None => {
            keyboard::click(&selector);
        }
    }
}
