//! Lines of a log as elements of the page, and as a file.
use super::buffer::MAX_LINES;
use leptos::prelude::*;
use std::{collections::VecDeque, time::Duration};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, HtmlAnchorElement};

/// The lines of one element.
const CHUNK_LINES: usize = 100;

/// Appends lines, and removes elements at the start beyond the ring's size.
pub fn append(parent: &Element, chunks: &mut VecDeque<(Element, usize)>, lines: &[&str]) {
    let document = document();
    let mut rest = lines;
    while !rest.is_empty() {
        let full = chunks.back().is_none_or(|(_, count)| *count >= CHUNK_LINES);
        if full {
            let Ok(chunk) = document.create_element("div") else {
                return;
            };
            chunk.set_class_name("log-chunk");
            let _ = parent.append_child(&chunk);
            chunks.push_back((chunk, 0));
        }
        let Some((chunk, count)) = chunks.back_mut() else {
            return;
        };
        let (now, later) = rest.split_at(rest.len().min(CHUNK_LINES - *count));
        let mut text = String::new();
        for line in now {
            text.push_str(line);
            text.push('\n');
        }
        let _ = chunk.append_child(&document.create_text_node(&text));
        *count += now.len();
        rest = later;
    }
    while chunks.len() > MAX_LINES / CHUNK_LINES + 1 {
        if let Some((chunk, _)) = chunks.pop_front() {
            chunk.remove();
        }
    }
}

/// Offers a text as a file.
pub fn save(text: &str, file: &str) -> Result<(), JsValue> {
    let options = web_sys::BlobPropertyBag::new();
    options.set_type("text/plain;charset=utf-8");
    let parts = js_sys::Array::of1(&JsValue::from_str(text));
    let blob = web_sys::Blob::new_with_str_sequence_and_options(&parts, &options)?;
    let url = web_sys::Url::create_object_url_with_blob(&blob)?;
    let link: HtmlAnchorElement = document().create_element("a")?.dyn_into()?;
    link.set_href(&url);
    link.set_download(file);
    link.click();
    set_timeout(
        move || {
            let _ = web_sys::Url::revoke_object_url(&url);
        },
        Duration::from_secs(10),
    );
    Ok(())
}
