//! Modules of other languages that only some pages need.
use leptos::prelude::document;

/// Loads a module once.
pub fn load_module(id: &str, source: &str) {
    let document = document();
    if document.get_element_by_id(id).is_some() {
        return;
    }
    let (Ok(script), Some(head)) = (document.create_element("script"), document.head()) else {
        return;
    };
    script.set_id(id);
    for (name, value) in [("type", "module"), ("src", source)] {
        if script.set_attribute(name, value).is_err() {
            return;
        }
    }
    let _ = head.append_child(&script);
}
