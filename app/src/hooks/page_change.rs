//! A change of the page, for users who do not see it: its title is announced, and the focus moves to
//! its heading.
use crate::carried::object_of;
use leptos::prelude::*;
use leptos_router::hooks::use_location;
use std::time::Duration;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

/// How long a page with the title of the page before is taken for that page, which is rendered anew
/// while the next one is loading.
const SAME_TITLE_GRACE: Duration = Duration::from_secs(1);

/// Sent to the window when a page is shown, for `early_input.js`: its first page is hydrated then, the parts whose
/// code is loaded later too.
const HYDRATED: &str = "portico:hydrated";

/// The page that was announced last. `Copy`, found in the context.
#[derive(Clone, Copy)]
pub struct PageChange {
    path: Memo<String>,
    page: StoredValue<String>,
    title: StoredValue<String>,
    /// What a live region says.
    pub announcement: RwSignal<String>,
}

/// Returns what an address shows: tabs are parts of one page, a query is a view of it.
fn page_of(path: &str) -> String {
    object_of(path).map_or_else(|| path.to_owned(), |object| object.path)
}

pub fn provide_page_change() -> PageChange {
    let path = use_location().pathname;
    let change = PageChange {
        path,
        page: StoredValue::new(page_of(&path.get_untracked())),
        title: StoredValue::new(String::new()),
        announcement: RwSignal::new(String::new()),
    };
    provide_context(change);
    change
}

/// Reports that the head of a page is shown. Call it in the component of the head.
pub fn use_page_shown(title: String) {
    let Some(change) = use_context::<PageChange>() else {
        return;
    };
    Effect::new(move |_| {
        change.shown(title.clone());
        if let Ok(event) = web_sys::Event::new(HYDRATED) {
            let _ = window().dispatch_event(&event);
        }
    });
}

impl PageChange {
    fn shown(self, title: String) {
        let page = page_of(&self.path.get_untracked());
        if self.page.with_value(|known| *known == page) {
            self.title.set_value(title);
        } else if self.title.with_value(|known| *known == title) {
            set_timeout(
                move || {
                    let current = self.path.try_with_untracked(|path| page_of(path) == page);
                    if current == Some(true) && self.page.with_value(|known| *known != page) {
                        self.announce(page, title);
                    }
                },
                SAME_TITLE_GRACE,
            );
        } else {
            self.announce(page, title);
        }
    }

    fn announce(self, page: String, title: String) {
        self.page.set_value(page);
        self.announcement.set(title.clone());
        self.title.set_value(title);
        // once the head is in the page
        request_animation_frame(focus_heading);
    }
}

/// Focuses the heading, unless the user is writing somewhere already, or has opened a dialog or a
/// menu.
pub fn focus_heading() {
    let document = document();
    let is_elsewhere = document.active_element().is_some_and(|element| {
        matches!(element.tag_name().as_str(), "INPUT" | "TEXTAREA" | "SELECT")
            || element.closest(":popover-open").ok().flatten().is_some()
    });
    let dialog = document.query_selector("dialog[open]");
    if is_elsewhere || dialog.ok().flatten().is_some() {
        return;
    }
    let heading = document.query_selector("#main h1").ok().flatten();
    if let Some(heading) = heading.and_then(|element| element.dyn_into::<HtmlElement>().ok()) {
        let options = web_sys::FocusOptions::new();
        options.set_prevent_scroll(true);
        let _ = heading.focus_with_options(&options);
    }
}

#[cfg(test)]
mod tests {
    use super::page_of;

    #[test]
    fn the_tabs_of_an_object_are_one_page() {
        let pod = "/projects/p/clusters/c/namespaces/shop/core/v1/pods/web-0";
        assert_eq!(page_of(&format!("{pod}/logs")), pod);
        assert_eq!(page_of(pod), pod);
        assert_eq!(page_of("/projects/p"), "/projects/p");
    }
}
