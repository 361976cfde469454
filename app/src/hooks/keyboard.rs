//! Keyboard shortcuts: `/` filters, `?` shows the help, `g` and a letter navigates, `j` and `k`
//! move between rows.
use super::preferences;
use crate::routes;
use leptos::{ev, prelude::*};
use leptos_router::hooks::{use_location, use_navigate};
use portico_domain::panel::ResourceRef;
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, KeyboardEvent};

/// The key under which turning off the single-key shortcuts is stored (WCAG 2.1.4).
const PREFERENCE: &str = "portico-shortcuts";

/// The keys and their actions, for the help.
pub const SHORTCUTS: [(&[&str], &str); 11] = [
    (&["/"], "Filter the list"),
    (&["?"], "Show this help"),
    (&["j"], "Next row"),
    (&["k"], "Previous row"),
    (&["Enter"], "Open the row"),
    (&["Esc"], "Leave the filter, close a dialog"),
    (&["g", "l"], "Go to the launchpad"),
    (&["g", "c"], "Go to the cluster's overview"),
    (&["g", "n"], "Go to namespaces"),
    (&["g", "p"], "Go to pods; d: deployments, k: all kinds"),
    (&["g", "a"], "Go to access; i: authentication"),
];

pub fn enabled() -> bool {
    preferences::stored(PREFERENCE).is_none_or(|value| value != "off")
}

pub fn set_enabled(on: bool) {
    preferences::store(PREFERENCE, if on { "" } else { "off" });
}

/// Listens for the whole page. `help` opens on `?`.
pub fn use_shortcuts(project: Memo<String>, help: RwSignal<bool>) {
    let navigate = use_navigate();
    let path = use_location().pathname;
    Effect::new(move |_| {
        let navigate = navigate.clone();
        let going = StoredValue::new(false);
        let handle = window_event_listener(ev::keydown, move |event: KeyboardEvent| {
            let key = event.key();
            if key == "Escape" {
                leave_field();
                return;
            }
            if event.ctrl_key() || event.meta_key() || event.alt_key() || occupied() || !enabled() {
                return;
            }
            if going.get_value() {
                going.set_value(false);
                if let Some(target) =
                    destination(&key, &project.get_untracked(), &path.get_untracked())
                {
                    event.prevent_default();
                    navigate(&target, leptos_router::NavigateOptions::default());
                }
                return;
            }
            match key.as_str() {
                "/" if focus_first("[data-filter]") => event.prevent_default(),
                "?" => help.set(true),
                "g" => {
                    going.set_value(true);
                    set_timeout(
                        move || going.set_value(false),
                        std::time::Duration::from_millis(1_500),
                    );
                }
                "j" => walk_rows(1),
                "k" => walk_rows(-1),
                _ => {}
            }
        });
        on_cleanup(move || handle.remove());
    });
}

fn destination(key: &str, project: &str, path: &str) -> Option<String> {
    if key == "l" {
        return Some(routes::launchpad(project));
    }
    let cluster = routes::cluster_of(path)?;
    match key {
        "c" => Some(routes::cluster(project, cluster)),
        "n" => Some(routes::namespaces(project, cluster)),
        "p" => Some(routes::list(project, cluster, &ResourceRef::core("pods"))),
        "d" => Some(routes::list(
            project,
            cluster,
            &ResourceRef::new("apps", "v1", "deployments"),
        )),
        "k" => Some(routes::kinds(project, cluster)),
        "a" => Some(routes::access(project, cluster)),
        "i" => Some(routes::authentication(project, cluster)),
        _ => None,
    }
}

/// Returns whether the keys currently belong to a field, a terminal or a dialog.
fn occupied() -> bool {
    let document = document();
    if document
        .query_selector("dialog[open]")
        .ok()
        .flatten()
        .is_some()
    {
        return true;
    }
    document.active_element().is_some_and(|element| {
        let name = element.tag_name();
        matches!(name.as_str(), "INPUT" | "TEXTAREA" | "SELECT")
            || element.closest("portico-terminal").ok().flatten().is_some()
    })
}

fn leave_field() {
    if let Some(element) = document().active_element()
        && element.has_attribute("data-filter")
        && let Ok(element) = element.dyn_into::<HtmlElement>()
    {
        let _ = element.blur();
    }
}

fn focus_first(selector: &str) -> bool {
    let found = document().query_selector(selector).ok().flatten();
    found
        .and_then(|element| element.dyn_into::<HtmlElement>().ok())
        .is_some_and(|element| element.focus().is_ok())
}

/// Moves the focus among the links of rows.
fn walk_rows(by: i32) {
    let document = document();
    let Ok(rows) = document.query_selector_all("[data-row]") else {
        return;
    };
    let length = i32::try_from(rows.length()).unwrap_or(0);
    if length == 0 {
        return;
    }
    let focused = document.active_element();
    let current = (0..length).find(|index| {
        let node = rows.item(u32::try_from(*index).unwrap_or(0));
        matches!((&node, &focused), (Some(node), Some(focused)) if node.is_same_node(Some(focused)))
    });
    let next = current.map_or(0, |current| (current + by).clamp(0, length - 1));
    if let Some(row) = rows.item(u32::try_from(next).unwrap_or(0))
        && let Ok(row) = row.dyn_into::<HtmlElement>()
    {
        let _ = row.focus();
    }
}
