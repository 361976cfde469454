//! Marked places of the page, by the CSS Custom Highlight API (<https://www.w3.org/TR/css-highlight-api-1/>): the elements
//! stay as they are. A browser without it shows the places without marks.
use super::matches::Place;
use js_sys::{Array, Function, Object, Reflect};
use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, Node};

/// All matches but the current one. The style sheet has the same name.
const MATCHES: &str = "log-match";
const CURRENT_MATCH: &str = "log-match-current";

/// Where something is in the window, in pixels.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub top: f64,
    pub bottom: f64,
    pub left: f64,
    pub right: f64,
}

/// A place in a text of the page.
#[derive(Clone, Debug)]
pub struct TextPlace {
    pub node: Node,
    pub place: Place,
}

impl TextPlace {
    /// Returns where the place is in the window.
    pub fn bounds(&self) -> Option<Bounds> {
        let range = call(&document(), "createRange", &[])?;
        let node = JsValue::from(&self.node);
        call(&range, "setStart", &[node.clone(), self.place.start.into()])?;
        call(&range, "setEnd", &[node, self.place.end.into()])?;
        bounds(&range)
    }

    /// Returns a range that does not follow changes of the page: ranges that do would be updated with each new line.
    fn static_range(&self) -> Option<JsValue> {
        let node = JsValue::from(&self.node);
        let parts = [
            ("startContainer", node.clone()),
            ("startOffset", self.place.start.into()),
            ("endContainer", node),
            ("endOffset", self.place.end.into()),
        ];
        let options = Object::new();
        for (name, value) in parts {
            Reflect::set(&options, &JsValue::from_str(name), &value).ok()?;
        }
        construct("StaticRange", &[options.into()])
    }
}

/// Returns where an element is in the window.
pub fn bounds_of(element: &Element) -> Option<Bounds> {
    bounds(element)
}

/// Scrolls an element, and nothing else.
pub fn scroll_by(element: &Element, right: f64, down: f64) {
    call(element, "scrollBy", &[right.into(), down.into()]);
}

/// Returns whether the browser can mark places.
pub fn is_supported() -> bool {
    registry().is_some()
}

/// Marks places instead of those before.
pub fn mark(matches: &[TextPlace], current: Option<&TextPlace>) {
    let Some(registry) = registry() else {
        return;
    };
    let others = matches.iter().filter_map(TextPlace::static_range);
    let current = current.and_then(TextPlace::static_range);
    set(&registry, MATCHES, others.collect());
    set(&registry, CURRENT_MATCH, current.into_iter().collect());
}

/// Removes all marks.
pub fn clear() {
    if let Some(registry) = registry() {
        set(&registry, MATCHES, Vec::new());
        set(&registry, CURRENT_MATCH, Vec::new());
    }
}

fn set(registry: &JsValue, name: &str, ranges: Vec<JsValue>) {
    let name = JsValue::from_str(name);
    if ranges.is_empty() {
        call(registry, "delete", &[name]);
    } else if let Some(highlight) = construct("Highlight", &ranges) {
        call(registry, "set", &[name, highlight]);
    }
}

fn registry() -> Option<JsValue> {
    get(&get(&window(), "CSS")?, "highlights")
}

fn bounds(target: &JsValue) -> Option<Bounds> {
    let rectangle = call(target, "getBoundingClientRect", &[])?;
    let side = |name: &str| get(&rectangle, name)?.as_f64();
    Some(Bounds {
        top: side("top")?,
        bottom: side("bottom")?,
        left: side("left")?,
        right: side("right")?,
    })
}

fn get(target: &JsValue, name: &str) -> Option<JsValue> {
    let value = Reflect::get(target, &JsValue::from_str(name)).ok()?;
    (!value.is_undefined()).then_some(value)
}

fn call(target: &JsValue, name: &str, arguments: &[JsValue]) -> Option<JsValue> {
    let method: Function = get(target, name)?.dyn_into().ok()?;
    let arguments: Array = arguments.iter().collect();
    method.apply(target, &arguments).ok()
}

fn construct(class: &str, arguments: &[JsValue]) -> Option<JsValue> {
    let class: Function = get(&window(), class)?.dyn_into().ok()?;
    let arguments: Array = arguments.iter().collect();
    Reflect::construct(&class, &arguments).ok()
}
