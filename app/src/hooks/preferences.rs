//! Preferences that are stored in this browser.
use leptos::prelude::{document, window};
use wasm_bindgen::JsValue;

const SECONDS_OF_A_YEAR: u32 = 31_536_000;

/// Reads a stored preference.
pub fn stored(key: &str) -> Option<String> {
    window()
        .local_storage()
        .ok()
        .flatten()?
        .get_item(key)
        .ok()
        .flatten()
}

/// Stores a preference; an empty one is deleted. A browser that refuses storage loses it on reload.
pub fn store(key: &str, value: &str) {
    if let Ok(Some(storage)) = window().local_storage() {
        let _ = if value.is_empty() {
            storage.remove_item(key)
        } else {
            storage.set_item(key, value)
        };
    }
}

/// Stores a preference that the gateway needs as well in a cookie of this host; an empty one is
/// deleted.
pub fn store_in_cookie(name: &str, value: &str) {
    let seconds = if value.is_empty() {
        0
    } else {
        SECONDS_OF_A_YEAR
    };
    let secure = window()
        .location()
        .protocol()
        .is_ok_and(|protocol| protocol == "https:");
    let secure = if secure { "; Secure" } else { "" };
    let line = format!("{name}={value}; Path=/; Max-Age={seconds}; SameSite=Lax{secure}");
    // a browser that refuses cookies loses it on the next page
    let _ = js_sys::Reflect::set(
        document().as_ref(),
        &JsValue::from_str("cookie"),
        &JsValue::from_str(&line),
    );
}
