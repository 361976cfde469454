use super::{Icon, icons};
use leptos::{html, prelude::*};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, HtmlElement};

/// The distance between a button, its popover and the edge of the window, in pixels.
const GAP: f64 = 6.0;

/// A panel that opens below its button; works without scripts, in the middle of the page.
#[component]
pub fn Popover(
    id: &'static str,
    #[prop(into)] label: Signal<String>,
    /// What the label is a value of, for screen readers; also the name of the panel.
    #[prop(into)]
    caption: String,
    #[prop(optional)] icon: Option<icondata_core::Icon>,
    /// Shown without its label.
    #[prop(optional)]
    icon_only: bool,
    /// Whether a choice is in force.
    #[prop(into, optional)]
    active: Signal<bool>,
    children: Children,
) -> impl IntoView {
    let button = NodeRef::<html::Button>::new();
    let panel = NodeRef::<html::Div>::new();
    let place = move |_| {
        if let (Some(button), Some(panel)) = (button.get_untracked(), panel.get_untracked()) {
            place_below(&button, &panel);
        }
    };
    let class = move || match (icon_only, active.get()) {
        (true, _) => "btn btn-icon",
        (false, true) => "btn is-active",
        (false, false) => "btn",
    };
    let caption_text = if icon_only {
        caption.clone()
    } else {
        format!("{caption}: ")
    };
    view! {
        <button
            node_ref=button
            type="button"
            class=class
            popovertarget=id
            title=icon_only.then(|| caption.clone())
            on:click=place
        >
            {icon.map(|icon| view! { <Icon icon /> })}
            <span class="visually-hidden">{caption_text}</span>
            {(!icon_only).then(|| view! {
                <span class="btn-label">{move || label.get()}</span>
                <Icon icon=icons::CHEVRON_DOWN />
            })}
        </button>
        <div node_ref=panel id=id popover="auto" class="popover" role="group" aria-label=caption>
            {children()}
        </div>
    }
    .into_any()
}

/// Returns one side of an element's place in the window.
fn side(element: &Element, name: &str) -> f64 {
    let get = |target: &JsValue, name: &str| js_sys::Reflect::get(target, &JsValue::from_str(name));
    let bounds = get(element, "getBoundingClientRect")
        .ok()
        .and_then(|bounds| bounds.dyn_into::<js_sys::Function>().ok())
        .and_then(|bounds| bounds.call0(element).ok());
    bounds
        .and_then(|bounds| get(&bounds, name).ok()?.as_f64())
        .unwrap_or_default()
}

/// Returns the top and the bottom of an element in the window, in pixels.
pub fn vertical_bounds(element: &Element) -> (f64, f64) {
    (side(element, "top"), side(element, "bottom"))
}

/// Returns the height of the window, in pixels.
pub fn window_height() -> f64 {
    let height = window().inner_height().ok();
    height.and_then(|height| height.as_f64()).unwrap_or(800.0)
}

/// Places a popover that is about to open below its opener, or above if there is more space.
pub fn place_below(opener: &Element, panel: &HtmlElement) {
    let (top, bottom) = vertical_bounds(opener);
    let width = window().inner_width().ok().and_then(|width| width.as_f64());
    let (width, height) = (width.unwrap_or(1_000.0), window_height());
    let left = side(opener, "left");
    let style = panel.style();
    let set = |name: &str, value: String| {
        let _ = style.set_property(name, &value);
    };
    if left > width / 2.0 {
        let right = (width - side(opener, "right")).max(GAP);
        set("inset-inline", format!("auto {right}px"));
    } else {
        set("inset-inline", format!("{}px auto", left.max(GAP)));
    }
    if height - bottom < 240.0 && top > height - bottom {
        set("inset-block", format!("auto {}px", height - top + GAP));
        set("max-height", format!("{}px", top - 2.0 * GAP));
    } else {
        set("inset-block", format!("{}px auto", bottom + GAP));
        set("max-height", format!("{}px", height - bottom - 2.0 * GAP));
    }
}

/// Moves the focus among the controls of a panel by the arrow keys. Returns whether it moved.
pub fn walk(panel: &Element, selector: &str, by: i32) -> bool {
    let Ok(found) = panel.query_selector_all(selector) else {
        return false;
    };
    let items: Vec<HtmlElement> = (0..found.length())
        .filter_map(|index| found.item(index)?.dyn_into::<HtmlElement>().ok())
        .filter(|item| item.offset_height() > 0)
        .collect();
    let focused = document().active_element();
    let current = items
        .iter()
        .position(|item| item.is_same_node(focused.as_ref().map(AsRef::as_ref)));
    let last = items.len().saturating_sub(1);
    let next = match current {
        None => 0,
        Some(current) if by > 0 => (current + 1).min(last),
        Some(current) => current.saturating_sub(1),
    };
    items.get(next).is_some_and(|item| item.focus().is_ok())
}
