//! The values of a form that were not applied yet, stored in the tab for one user: the end of a
//! session or a reload does not lose them.
use crate::context::use_session;
use leptos::prelude::*;
use portico_domain::panel::{CreationKind, NewObject};
use uuid::Uuid;

/// Returns the key of the signed-in user's values.
pub fn key(cluster: Uuid, kind: CreationKind) -> String {
    let user = use_session()
        .view
        .with_untracked(|view| view.user_id.clone());
    format!("portico-form:{user}:{cluster}:{}", kind.as_str())
}

fn storage() -> Option<web_sys::Storage> {
    window().session_storage().ok().flatten()
}

pub fn stored(key: &str, kind: CreationKind) -> Option<NewObject> {
    let text = storage()?.get_item(key).ok().flatten()?;
    let stored: NewObject = serde_json::from_str(&text).ok()?;
    (stored.kind() == kind).then_some(stored)
}

/// Stores the values. A browser that refuses storage loses them with the page.
pub fn store(key: &str, new: &NewObject) {
    if let (Some(storage), Ok(text)) = (storage(), serde_json::to_string(new)) {
        let _ = storage.set_item(key, &text);
    }
}

pub fn clear(key: &str) {
    if let Some(storage) = storage() {
        let _ = storage.remove_item(key);
    }
}
