//! The place of this tab's operations on every page. It is added to the end of the document when there is
//! one: an element between those of the page would be in the way while the page is hydrated.
use crate::{operations::Operations, pages::lazy};
use leptos::{mount::mount_to, prelude::*};
use wasm_bindgen::JsCast;

/// Shows the operations as soon as there are some.
pub fn show_operations(operations: Operations) {
    Effect::new(move |is_shown: Option<bool>| {
        let is_used = operations.is_used();
        if is_used && is_shown != Some(true) {
            leptos::task::spawn_local(async move {
                let strip = lazy::operations(operations).await;
                let document = document();
                let place = document.create_element("div").ok();
                let place = place.and_then(|place| place.dyn_into::<web_sys::HtmlElement>().ok());
                if let (Some(place), Some(body)) = (place, document.body())
                    && body.append_child(&place).is_ok()
                {
                    mount_to(place, move || strip).forget();
                }
            });
        }
        is_used
    });
}
