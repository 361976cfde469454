//! Lines of a log as elements of the page, with the matches of a search in them, and as a file.
use super::{
    buffer::ShownLine,
    highlight::{self, TextPlace},
    matches::{Matches, Needle, Step, locate},
};
use leptos::prelude::*;
use std::{collections::VecDeque, time::Duration};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, HtmlAnchorElement};

/// The lines of one element: the unit that is removed, and of which matches are marked.
const CHUNK_LINES: usize = 20;
/// Maximum number of marked matches: one screen has less, unless the search text is a single letter.
const MAX_MARKS: usize = 1_000;

/// The lines in the page, a few per element. Matches are counted once for each line, and only those near the visible part
/// are marked, so that thousands of lines a second cost little.
#[derive(Default)]
pub struct PageLines {
    chunks: VecDeque<Chunk>,
    needle: Needle,
    matches: Matches,
}

struct Chunk {
    element: Element,
    lines: usize,
    /// The number of its newest line.
    newest: u64,
    matches: usize,
}

impl Chunk {
    /// Returns the places of a search text, in their order.
    fn places(&self, needle: &Needle) -> Vec<TextPlace> {
        let mut found = Vec::new();
        let mut next = self.element.first_child();
        while let Some(node) = next {
            let text = node.node_value().unwrap_or_default();
            let places = needle.places(&text).into_iter();
            found.extend(places.map(|place| TextPlace {
                node: node.clone(),
                place,
            }));
            next = node.next_sibling();
        }
        found
    }
}

impl PageLines {
    /// Appends lines.
    pub fn append(&mut self, parent: &Element, lines: &[ShownLine<'_>]) {
        let mut rest = lines;
        while !rest.is_empty() {
            let Some(chunk) = self.open_chunk(parent) else {
                return;
            };
            let (now, later) = rest.split_at(rest.len().min(CHUNK_LINES - chunk.lines));
            let mut text = String::new();
            for line in now {
                text.push_str(line.text);
                text.push('\n');
                chunk.newest = line.number;
            }
            let node = document().create_text_node(&text);
            let _ = chunk.element.append_child(&node);
            chunk.lines += now.len();
            let count = self.needle.count(&text);
            if let Some(chunk) = self.chunks.back_mut() {
                chunk.matches += count;
            }
            self.matches.add(count);
            rest = later;
        }
    }

    /// Returns the last element, or a new one if it is full.
    fn open_chunk(&mut self, parent: &Element) -> Option<&mut Chunk> {
        let is_full = |chunk: &Chunk| chunk.lines >= CHUNK_LINES;
        if self.chunks.back().is_none_or(is_full) {
            let element = document().create_element("div").ok()?;
            element.set_class_name("log-chunk");
            let _ = parent.append_child(&element);
            self.chunks.push_back(Chunk {
                element,
                lines: 0,
                newest: 0,
                matches: 0,
            });
        }
        self.chunks.back_mut()
    }

    /// Removes elements all of whose lines are older than a line.
    pub fn remove_before(&mut self, oldest: u64) {
        while self
            .chunks
            .front()
            .is_some_and(|chunk| chunk.newest < oldest)
        {
            if let Some(chunk) = self.chunks.pop_front() {
                chunk.element.remove();
                self.matches.remove_oldest(chunk.matches);
            }
        }
    }

    /// Removes all lines; the search text stays.
    pub fn clear(&mut self) {
        for chunk in self.chunks.drain(..) {
            chunk.element.remove();
        }
        self.matches = Matches::default();
    }

    /// Searches for a text in the lines that are there and in those that are appended later.
    pub fn search(&mut self, needle: Needle) {
        self.needle = needle;
        self.matches = Matches::default();
        for chunk in &mut self.chunks {
            chunk.matches = if self.needle.is_empty() {
                0
            } else {
                let text = chunk.element.text_content().unwrap_or_default();
                self.needle.count(&text)
            };
            self.matches.add(chunk.matches);
        }
    }

    pub fn matches(&self) -> Matches {
        self.matches
    }

    /// Makes the next or previous match the current one; returns whether there is one.
    pub fn step(&mut self, step: Step) -> bool {
        self.matches.step(step)
    }

    /// Returns the element of the current match, and its index among the matches of the element.
    fn current(&self) -> Option<(usize, usize)> {
        let counts = self.chunks.iter().map(|chunk| chunk.matches);
        locate(counts, self.matches.current()?)
    }

    /// Scrolls to the middle of the view what is current and not visible.
    pub fn show_current(&self, view: &Element) -> Option<()> {
        let (chunk, index) = self.current()?;
        let places = self.chunks.get(chunk)?.places(&self.needle);
        let place = places.get(index)?.bounds()?;
        let frame = highlight::bounds_of(view)?;
        let is_above_or_below = place.top < frame.top || place.bottom > frame.bottom;
        let is_beside = place.left < frame.left || place.right > frame.right;
        let middle = f64::midpoint(frame.top, frame.bottom);
        let centre = f64::midpoint(frame.left, frame.right);
        highlight::scroll_by(
            view,
            if is_beside { place.left - centre } else { 0.0 },
            if is_above_or_below {
                place.top - middle
            } else {
                0.0
            },
        );
        Some(())
    }

    /// Marks the matches in the visible part, and as far as one screen around it.
    pub fn mark(&self, view: &Element) {
        if self.needle.is_empty() || !highlight::is_supported() {
            return;
        }
        let Some(frame) = highlight::bounds_of(view) else {
            return;
        };
        let height = frame.bottom - frame.top;
        let bounds = |chunk: &Chunk| highlight::bounds_of(&chunk.element);
        let is_above =
            |chunk: &Chunk| bounds(chunk).is_some_and(|bounds| bounds.bottom < frame.top - height);
        let is_below =
            |chunk: &Chunk| bounds(chunk).is_some_and(|bounds| bounds.top > frame.bottom + height);
        let current = self.current();
        let mut matches = Vec::new();
        let mut current_match = None;
        let first = self.chunks.partition_point(is_above);
        for (part, chunk) in self.chunks.iter().enumerate().skip(first) {
            if matches.len() >= MAX_MARKS || is_below(chunk) {
                break;
            }
            if chunk.matches == 0 {
                continue;
            }
            for (index, place) in chunk.places(&self.needle).into_iter().enumerate() {
                if current == Some((part, index)) {
                    current_match = Some(place);
                } else if matches.len() < MAX_MARKS {
                    matches.push(place);
                }
            }
        }
        highlight::mark(&matches, current_match.as_ref());
    }
}

/// Offers a text as a file.
pub fn save(text: &str, file: &str) -> Result<(), JsValue> {
    let options = web_sys::BlobPropertyBag::new();
    options.set_type("text/plain;charset=utf-8");
    let parts = js_sys::Array::of1(&JsValue::from_str(text));
    let blob = web_sys::Blob::new_with_str_sequence_and_options(&parts, &options)?;
    let url = web_sys::Url::create_object_url_with_blob(&blob)?;
    let link: HtmlAnchorElement = document().create_element("a")?.dyn_into()?;
    link.set_href(&url);
    link.set_download(file);
    link.click();
    set_timeout(
        move || {
            let _ = web_sys::Url::revoke_object_url(&url);
        },
        Duration::from_secs(10),
    );
    Ok(())
}
