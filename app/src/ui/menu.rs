use super::{Icon, icons};
use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};

/// A menu that opens below a button of the top bar; works without scripts.
#[component]
pub fn Menu(
    id: &'static str,
    #[prop(into)] label: Signal<String>,
    #[prop(into)] caption: String,
    icon: icondata_core::Icon,
    /// At the left edge instead of the right one.
    #[prop(optional)]
    left: bool,
    children: Children,
) -> impl IntoView {
    view! {
        <button type="button" class="btn btn-quiet min-w-0" popovertarget=id>
            <Icon icon />
            <span class="visually-hidden">{caption}": "</span>
            <span class="btn-label max-sm:max-w-24">{move || label.get()}</span>
            <Icon icon=icons::CHEVRON_DOWN />
        </button>
        <div id=id popover="auto" class=if left { "menu menu-left" } else { "menu" }>
            {children()}
        </div>
    }
    .into_any()
}

/// Closes any open menu, after a link in it was followed.
pub fn close_popovers() {
    let Ok(open) = document().query_selector_all("[popover]:popover-open") else {
        return;
    };
    for index in 0..open.length() {
        let Some(node) = open.item(index) else {
            continue;
        };
        let hide = js_sys::Reflect::get(&node, &JsValue::from_str("hidePopover"));
        if let Ok(hide) = hide
            && let Ok(hide) = hide.dyn_into::<js_sys::Function>()
        {
            let _ = hide.call0(&node);
        }
    }
}
