//! Preferences that are stored in this browser.
use leptos::prelude::window;

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
