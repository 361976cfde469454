//! Keyboard shortcuts: Ctrl-K opens the palette, `/` filters, `?` shows the help, `g` and a letter
//! navigates, `j` and `k` move between rows.
use super::preferences;
use crate::{carried::Carried, routes};
use leptos::{ev, prelude::*};
use leptos_router::hooks::{use_location, use_navigate};
use portico_domain::panel::ResourceRef;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, HtmlElement, KeyboardEvent};

/// The key under which turning off the single-key shortcuts is stored (WCAG 2.1.4).
const PREFERENCE: &str = "portico-shortcuts";

/// Sent by a row from which the user moves on although it is the first or the last one in the page;
/// its detail is -1 or 1. A list with more rows than the page loads them.
const ROW_EDGE: &str = "portico:row-edge";

pub fn enabled() -> bool {
    preferences::stored(PREFERENCE).is_none_or(|value| value != "off")
}

pub fn set_enabled(on: bool) {
    preferences::store(PREFERENCE, if on { "" } else { "off" });
}

/// Listens for the whole page. `help` opens on `?`, `palette` on Ctrl-K.
pub fn use_shortcuts(
    project: Memo<String>,
    carried: Carried,
    help: RwSignal<bool>,
    palette: RwSignal<bool>,
) {
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
            if opens_palette(&event) {
                if palette.get_untracked() || !(in_terminal() || dialog_is_open()) {
                    event.prevent_default();
                    palette.update(|open| *open = !*open);
                }
                return;
            }
            if event.ctrl_key() || event.meta_key() || event.alt_key() || occupied() || !enabled() {
                return;
            }
            if going.get_value() {
                going.set_value(false);
                if key == "s" && click("#clusters-button") {
                    event.prevent_default();
                    return;
                }
                let path = path.get_untracked();
                if let Some(target) = destination(&key, &project.get_untracked(), &path, carried) {
                    event.prevent_default();
                    navigate(&target, leptos_router::NavigateOptions::default());
                }
                return;
            }
            let done = match key.as_str() {
                "/" => focus_first("[data-filter]"),
                "?" => {
                    help.set(true);
                    false
                }
                "g" => {
                    going.set_value(true);
                    set_timeout(
                        move || going.set_value(false),
                        std::time::Duration::from_millis(1_500),
                    );
                    false
                }
                "j" => walk_rows(1),
                "k" => walk_rows(-1),
                "ArrowDown" if on_row() => walk_rows(1),
                "ArrowUp" if on_row() => walk_rows(-1),
                "x" => select_row(),
                "p" => click("[data-pause]"),
                "[" => walk_tabs(-1),
                "]" => walk_tabs(1),
                _ => false,
            };
            if done {
                event.prevent_default();
            }
        });
        on_cleanup(move || handle.remove());
    });
}

fn opens_palette(event: &KeyboardEvent) -> bool {
    (event.ctrl_key() || event.meta_key())
        && !event.alt_key()
        && !event.shift_key()
        && event.key().eq_ignore_ascii_case("k")
}

fn destination(key: &str, project: &str, path: &str, carried: Carried) -> Option<String> {
    if key == "l" {
        return Some(routes::launchpad(project));
    }
    let cluster = routes::cluster_of(path)?;
    let list = |group: &str, plural: &str, namespaced: bool| {
        let resource = ResourceRef::new(group, "v1", plural);
        let href = routes::list(project, cluster, &resource);
        Some(untrack(|| carried.list(&href, namespaced)))
    };
    match key {
        "c" => Some(routes::cluster(project, cluster)),
        "n" => Some(routes::namespaces(project, cluster)),
        "o" => list("", "nodes", false),
        "e" => list("", "events", true),
        "p" => list("", "pods", true),
        "d" => list("apps", "deployments", true),
        "v" => list("", "services", true),
        "k" => Some(routes::kinds(project, cluster)),
        "a" => Some(routes::access(project, cluster)),
        "i" => Some(routes::authentication(project, cluster)),
        _ => None,
    }
}

fn first(selector: &str) -> Option<HtmlElement> {
    let found = document().query_selector(selector).ok().flatten();
    found.and_then(|element| element.dyn_into().ok())
}

fn dialog_is_open() -> bool {
    first("dialog[open]").is_some()
}

/// A shell in a terminal has a Ctrl-K of its own.
fn in_terminal() -> bool {
    document()
        .active_element()
        .is_some_and(|element| element.closest("portico-terminal").ok().flatten().is_some())
}

/// Returns whether the keys currently belong to a field, a terminal, a dialog or a menu.
fn occupied() -> bool {
    if dialog_is_open() || in_terminal() {
        return true;
    }
    document().active_element().is_some_and(|element| {
        let name = element.tag_name();
        matches!(name.as_str(), "INPUT" | "TEXTAREA" | "SELECT")
            && !matches!(
                element.get_attribute("type").as_deref(),
                Some("checkbox" | "radio")
            )
            || element.closest("[role=menu]").ok().flatten().is_some()
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

/// Focuses an element; returns whether there is one.
pub fn focus_first(selector: &str) -> bool {
    first(selector).is_some_and(|element| element.focus().is_ok())
}

/// Clicks an element; returns whether there is one.
pub fn click(selector: &str) -> bool {
    first(selector).is_some_and(|element| {
        element.click();
        true
    })
}

fn focused_row() -> Option<Element> {
    let focused = document().active_element()?;
    focused.closest("tr, [role=row], li").ok().flatten()
}

/// Returns whether the focus is on the link of a row.
fn on_row() -> bool {
    document()
        .active_element()
        .is_some_and(|element| element.has_attribute("data-row"))
}

fn select_row() -> bool {
    let found = focused_row()
        .and_then(|row| row.query_selector("input[type=checkbox]").ok().flatten())
        .and_then(|element| element.dyn_into::<HtmlElement>().ok());
    found.is_some_and(|element| {
        element.click();
        true
    })
}

fn walk_tabs(by: i32) -> bool {
    let tabs = elements(&document(), ".tabs > a");
    let current = tabs
        .iter()
        .position(|tab| tab.get_attribute("aria-current").is_some());
    let next = current.and_then(|current| stepped(current, by, tabs.len()));
    next.and_then(|next| tabs.get(next)).is_some_and(|tab| {
        tab.click();
        tab.focus().is_ok()
    })
}

/// Moves the focus among the links of rows. At the first or last one the list is asked for more.
fn walk_rows(by: i32) -> bool {
    let rows = elements(&document(), "[data-row]");
    // from anywhere else in a row, the way continues from that row
    let focused = document().active_element();
    let current = rows.iter().position(|row| {
        let row: &web_sys::Node = row;
        row.is_same_node(focused.as_ref().map(AsRef::as_ref))
    });
    let current = current.or_else(|| {
        let link = focused_row()?.query_selector("[data-row]").ok().flatten()?;
        rows.iter()
            .position(|row| row.is_same_node(Some(link.as_ref())))
    });
    let Some(current) = current else {
        return rows.first().is_some_and(|row| row.focus().is_ok());
    };
    if let Some(next) = stepped(current, by, rows.len()) {
        return rows.get(next).is_some_and(|row| row.focus().is_ok());
    }
    if let Some(row) = rows.get(current)
        && let Ok(event) = web_sys::CustomEvent::new(ROW_EDGE)
    {
        let detail = JsValue::from(by);
        event.init_custom_event_with_can_bubble_and_cancelable_and_detail(
            ROW_EDGE, true, false, &detail,
        );
        let _ = row.dispatch_event(&event);
        return row.focus().is_ok();
    }
    false
}

fn stepped(current: usize, by: i32, length: usize) -> Option<usize> {
    let next = current.checked_add_signed(isize::try_from(by).ok()?)?;
    (next < length).then_some(next)
}

/// Returns the elements of a part of the page that match a selector.
pub fn elements(part: &web_sys::Node, selector: &str) -> Vec<HtmlElement> {
    let found = match part.dyn_ref::<Element>() {
        Some(element) => element.query_selector_all(selector),
        None => document().query_selector_all(selector),
    };
    let Ok(found) = found else {
        return Vec::new();
    };
    (0..found.length())
        .filter_map(|index| found.item(index)?.dyn_into().ok())
        .collect()
}

/// Moves the focus among the links of an open menu, by the arrow keys, Home and End. Returns whether
/// the key was one of them.
pub fn walk_menu(menu: &web_sys::Node, key: &str) -> bool {
    let items: Vec<HtmlElement> = elements(menu, "a.menu-item, button.menu-item")
        .into_iter()
        .filter(|item| item.offset_height() > 0)
        .collect();
    let focused = document().active_element();
    let current = items
        .iter()
        .position(|item| item.is_same_node(focused.as_ref().map(AsRef::as_ref)));
    let last = items.len().saturating_sub(1);
    let next = match (key, current) {
        ("ArrowDown", None) => 0,
        ("ArrowDown", Some(current)) => (current + 1).min(last),
        ("ArrowUp", None) => last,
        ("ArrowUp", Some(current)) => current.saturating_sub(1),
        // in a field, they move the cursor
        ("Home", Some(_)) => 0,
        ("End", Some(_)) => last,
        _ => return false,
    };
    items.get(next).is_some_and(|item| item.focus().is_ok())
}

#[cfg(test)]
mod tests {
    use super::stepped;

    #[test]
    fn a_step_ends_at_the_first_and_last_row() {
        assert_eq!(stepped(0, 1, 2), Some(1));
        assert_eq!(stepped(1, 1, 2), None);
        assert_eq!(stepped(0, -1, 2), None);
    }
}
