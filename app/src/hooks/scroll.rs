//! Scrolling inside a part of the page.
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

/// Scrolls `list`, and nothing else, as little as is needed to show `item` inside it. The list has a
/// CSS position, from which that of the item is measured.
pub fn scroll_into_view(list: &Element, item: &Element) {
    let Some(item) = item.dyn_ref::<HtmlElement>() else {
        return;
    };
    let (top, bottom) = (item.offset_top(), item.offset_top() + item.offset_height());
    let (first, height) = (list.scroll_top(), list.client_height());
    if top < first {
        list.set_scroll_top(top);
    } else if bottom > first + height {
        list.set_scroll_top(bottom - height);
    }
}
