//! Saved views: filters, order and columns of a list under a name, stored per kind in this browser.
use super::page::ListPage;
use crate::{
    hooks::preferences,
    ui::{Button, ButtonKind, Icon, Popover, icons},
};
use leptos::prelude::*;
use portico_domain::panel::ResourceRef;
use serde::{Deserialize, Serialize};

/// Maximum number of views of one kind.
const MAX_VIEWS: usize = 30;
/// Maximum length of a name, in characters.
const MAX_NAME_CHARS: usize = 60;

/// A view of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SavedView {
    name: String,
    /// The query of the list's address, with its question mark; empty for the list without filters.
    query: String,
}

/// Returns the place where the views of a kind are stored.
fn preference(resource: &ResourceRef) -> String {
    format!("portico-views:{}/{}", resource.group, resource.plural)
}

/// Reads stored views; a text that cannot be read counts as none.
fn read(text: &str) -> Vec<SavedView> {
    serde_json::from_str(text).unwrap_or_default()
}

/// Adds a view, or replaces the one of the same name.
fn put(views: &mut Vec<SavedView>, name: &str, query: String) -> Result<(), &'static str> {
    let name: String = name.trim().chars().take(MAX_NAME_CHARS).collect();
    if name.is_empty() {
        return Err("Enter a name for the view.");
    }
    if let Some(known) = views.iter_mut().find(|view| view.name == name) {
        known.query = query;
        return Ok(());
    }
    if views.len() >= MAX_VIEWS {
        return Err("There are 30 views of this list. Delete one first.");
    }
    views.push(SavedView { name, query });
    views.sort_by_key(|view| view.name.to_lowercase());
    Ok(())
}

#[component]
pub fn ViewsMenu(page: ListPage) -> impl IntoView {
    let key = StoredValue::new(page.resource.with_value(preference));
    let views = RwSignal::new(Vec::<SavedView>::new());
    Effect::new(move |_| {
        if let Some(text) = key.with_value(|key| preferences::stored(key)) {
            views.set(read(&text));
        }
    });
    let store = move || {
        let text = views.with_untracked(|views| match views.as_slice() {
            [] => String::new(),
            views => serde_json::to_string(views).unwrap_or_default(),
        });
        key.with_value(|key| preferences::store(key, &text));
    };
    let name = RwSignal::new(String::new());
    let failure = RwSignal::new(None::<&'static str>);
    let save = move || {
        let query = page.view_query();
        let saved = views.try_update(|views| put(views, &name.get_untracked(), query));
        match saved {
            Some(Ok(())) => {
                store();
                name.set(String::new());
                failure.set(None);
            }
            Some(Err(reason)) => failure.set(Some(reason)),
            None => {}
        }
    };
    let row = move |view: SavedView| {
        let href = format!("{}{}", page.base(), view.query);
        let is_current = {
            let query = view.query.clone();
            move || (page.view_query() == query).then_some("true")
        };
        let label = format!("Delete the view {}", view.name);
        let removed = view.name.clone();
        let delete = move |_| {
            views.update(|views| views.retain(|view| view.name != removed));
            store();
        };
        view! {
            <li class="popover-row">
                <a class="menu-item" href=href aria-current=is_current>{view.name}</a>
                <button type="button" class="btn btn-quiet btn-small" aria-label=label on:click=delete>
                    <Icon icon=icons::TRASH />
                </button>
            </li>
        }
    };
    let rows = move || {
        let all = views.get();
        if all.is_empty() {
            return view! {
                <p class="popover-note">
                    "No saved views yet. A view has the namespaces, filters, order and columns of this list."
                </p>
            }
            .into_any();
        }
        view! { <ul aria-label="Saved views">{all.into_iter().map(row).collect_view()}</ul> }
            .into_any()
    };
    view! {
        <Popover
            id="list-views"
            label="Views"
            caption="Saved views"
            icon=icons::BOOKMARK
            icon_only=true
        >
            {rows}
            <div class="popover-row">
                <input
                    class="input"
                    placeholder="Name of this view"
                    aria-label="Name of the view"
                    maxlength="60"
                    autocomplete="off"
                    prop:value=move || name.get()
                    on:input=move |event| name.set(event_target_value(&event))
                    on:keydown=move |event| {
                        if event.key() == "Enter" {
                            event.prevent_default();
                            save();
                        }
                    }
                />
                <Button label="Save" small=true kind=ButtonKind::Primary on_click=move |_| save() />
            </div>
            <p class="field-error" role="status">{move || failure.get()}</p>
        </Popover>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn need_25_a_view_is_stored_under_its_name_and_replaced_by_the_next_one() {
        let mut views = Vec::new();
        put(&mut views, " mine ", "?q=web".to_owned()).unwrap();
        put(&mut views, "Failing", "?status=Failed".to_owned()).unwrap();
        put(&mut views, "mine", "?q=api".to_owned()).unwrap();
        let text = serde_json::to_string(&views).unwrap();
        let names: Vec<_> = read(&text)
            .into_iter()
            .map(|view| (view.name, view.query))
            .collect();
        let pair = |name: &str, query: &str| (name.to_owned(), query.to_owned());
        assert_eq!(
            names,
            [pair("Failing", "?status=Failed"), pair("mine", "?q=api")]
        );
        assert!(put(&mut views, "  ", String::new()).is_err());
        for number in 0..40 {
            let _ = put(&mut views, &format!("view {number}"), String::new());
        }
        assert_eq!(views.len(), MAX_VIEWS);
        assert_eq!(read("not JSON"), []);
    }
}
