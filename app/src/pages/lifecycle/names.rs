//! The names of clusters whose pages were shown, for the breadcrumbs of their other pages: the session knows only
//! those of clusters that can be opened.
use leptos::prelude::*;
use std::collections::HashMap;
use uuid::Uuid;

/// `Copy`, found in the context.
#[derive(Clone, Copy)]
struct ShownNames(StoredValue<HashMap<Uuid, String>>);

pub fn provide_names() {
    provide_context(ShownNames(StoredValue::new(HashMap::new())));
}

/// Remembers the name of a cluster while the user stays on these pages. Call it in a component.
pub fn remember_name(cluster: Uuid, name: String) {
    if let Some(ShownNames(names)) = use_context() {
        names.try_update_value(|names| names.insert(cluster, name));
    }
}

/// Returns the name of a cluster whose page was shown. Call it in a component.
pub fn shown_name(cluster: Uuid) -> Option<String> {
    let ShownNames(names) = use_context()?;
    names
        .try_with_value(|names| names.get(&cluster).cloned())
        .flatten()
}
