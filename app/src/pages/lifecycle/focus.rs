//! The focus of a form that opens below a table, for users of the keyboard and of screen readers.
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

/// Moves the focus to the heading of a part that was just opened, once it is in the page.
pub fn focus_part(part: &'static str) {
    request_animation_frame(move || {
        if let Some(heading) = find(&format!("#main [data-part={part}] h2")) {
            // a heading can have the focus by a script only
            let _ = heading.set_attribute("tabindex", "-1");
            let _ = heading.focus();
        }
    });
}

/// Moves the focus to the table when the form that had it is closed.
pub fn focus_table() {
    request_animation_frame(|| {
        let is_lost = document()
            .active_element()
            .is_none_or(|element| element.tag_name() == "BODY");
        if is_lost && let Some(table) = find("#main .table-region") {
            let _ = table.focus();
        }
    });
}

fn find(selector: &str) -> Option<HtmlElement> {
    let found = document().query_selector(selector).ok().flatten()?;
    found.dyn_into::<HtmlElement>().ok()
}
