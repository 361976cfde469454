//! The custom element `<portico-editor>` (`app/browser/editor`): CodeMirror with completion, help and
//! validation from the cluster's schemas. Its module is loaded on the pages that have an editor.
use super::scripts::load_module;
use leptos::prelude::*;
use portico_domain::panel::ManifestProblem;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, FileList};

/// The ID of the element; a page has one editor.
pub const EDITOR_ID: &str = "manifest-editor";

/// Returns the address of the module. Its name holds a hash, which the build of the browser half sets.
fn module() -> String {
    let file = option_env!("PORTICO_EDITOR_MODULE").unwrap_or("editor.js");
    format!("/pkg/{file}")
}

/// Loads the module when the page is shown.
pub fn use_editor() -> Editor {
    Effect::new(|_| load_module("portico-editor-module", &module()));
    Editor
}

/// The editor of the page. Everything is without effect while there is none.
#[derive(Clone, Copy, Debug)]
pub struct Editor;

impl Editor {
    /// Returns the text.
    pub fn text(self) -> String {
        get("value").as_string().unwrap_or_default()
    }

    /// Returns the text on which the changes are made: the one that the page has set, or the one that the
    /// restored text of an earlier visit was written on.
    pub fn base(self) -> String {
        get("base").as_string().unwrap_or_default()
    }

    /// Sets the text on which the changes are made.
    pub fn set_base(self, text: &str) {
        set("base", &JsValue::from_str(text));
    }

    /// Replaces the text as a change of the user, which can be undone.
    pub fn replace_text(self, text: &str) {
        call("replaceText", &[JsValue::from_str(text)]);
    }

    /// Replaces the text by the unsaved one of an earlier visit of this tab, which can be undone.
    pub fn restore_draft(self) {
        call("restoreDraft", &[]);
    }

    /// Forgets the unsaved text.
    pub fn clear_draft(self) {
        call("clearDraft", &[]);
    }

    /// Shows problems that the server has found, at their places.
    pub fn show_problems(self, problems: &[ManifestProblem]) {
        let json = serde_json::to_string(problems).unwrap_or_default();
        if let Ok(problems) = js_sys::JSON::parse(&json) {
            set("problems", &problems);
        }
    }

    /// Adds files as further documents.
    pub fn add_files(self, files: &FileList) {
        call("addFiles", &[files.into()]);
    }

    /// Adds a text as further documents.
    pub fn add_text(self, name: &str, text: &str) {
        call(
            "addText",
            &[JsValue::from_str(name), JsValue::from_str(text)],
        );
    }
}

fn element() -> Option<Element> {
    document().get_element_by_id(EDITOR_ID)
}

fn get(name: &str) -> JsValue {
    element()
        .and_then(|element| js_sys::Reflect::get(&element, &JsValue::from_str(name)).ok())
        .unwrap_or(JsValue::NULL)
}

fn set(name: &str, value: &JsValue) {
    if let Some(element) = element() {
        let _ = js_sys::Reflect::set(&element, &JsValue::from_str(name), value);
    }
}

fn call(name: &str, arguments: &[JsValue]) {
    if let Ok(method) = get(name).dyn_into::<js_sys::Function>()
        && let Some(element) = element()
    {
        let arguments: js_sys::Array = arguments.iter().collect();
        let _ = method.apply(&element, &arguments);
    }
}
