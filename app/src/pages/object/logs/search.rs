//! The search in the lines, and what else decides how lines are shown.
use super::{
    highlight,
    level::Level,
    matches::{Needle, Step},
    pane::PaneState,
};
use crate::hooks::preferences;
use leptos::prelude::*;

/// The keys under which the switches are stored in the browser.
const ONLY_MATCHING: &str = "portico-log-matching";
const UNFOLDS_JSON: &str = "portico-log-json";

impl PaneState {
    /// Shows the lines as the search text, the levels and the switches ask for.
    pub(super) fn watch_options(self) {
        Effect::new(move |_| {
            let is_on = |key: &str| preferences::stored(key).is_some();
            self.only_matching.set(is_on(ONLY_MATCHING));
            self.unfolds_json.set(is_on(UNFOLDS_JSON));
            // marks are the page's, not the pane's
            on_cleanup(highlight::clear);
        });
        Effect::new(move |known: Option<(String, bool)>| {
            let wanted = (self.needle.get(), self.only_matching.get());
            if known.unwrap_or_default() != wanted {
                self.search(&wanted.0, wanted.1);
            }
            wanted
        });
        Effect::new(move |known: Option<String>| {
            let levels = self.levels.get();
            if known.unwrap_or_default() != levels {
                let minimum = Level::chosen(&levels);
                self.shown
                    .try_update_value(|shown| shown.buffer.select(minimum));
                self.draw_again();
            }
            levels
        });
        Effect::new(move |known: Option<bool>| {
            let unfolds = self.unfolds_json.get();
            if known.unwrap_or_default() != unfolds {
                self.shown
                    .try_update_value(|shown| shown.buffer.unfold_json(unfolds));
                self.draw_again();
            }
            unfolds
        });
    }

    pub fn show_only_matching(self, is_on: bool) {
        self.only_matching.set(is_on);
        preferences::store(ONLY_MATCHING, if is_on { "1" } else { "" });
    }

    pub fn unfold_json(self, is_on: bool) {
        self.unfolds_json.set(is_on);
        preferences::store(UNFOLDS_JSON, if is_on { "1" } else { "" });
    }

    fn search(self, text: &str, only_matching: bool) {
        let needle = Needle::new(text);
        let filter = if only_matching {
            needle.clone()
        } else {
            Needle::default()
        };
        let is_filtered_anew = self.shown.try_update_value(|shown| {
            let differs = shown.buffer.search(filter);
            if differs {
                // they are drawn again, so there is nothing to count in those that are there
                shown.page.clear();
            }
            shown.page.search(needle);
            self.count(shown);
            differs
        });
        highlight::clear();
        if is_filtered_anew == Some(true) {
            self.draw_again();
        } else {
            self.mark();
        }
    }

    /// Moves to the next or previous match, scrolls to it and pauses, so that it stays where it is.
    pub fn step(self, step: Step) {
        let is_moved = self.shown.try_update_value(|shown| {
            let is_moved = shown.page.step(step);
            if is_moved {
                // scrolling to a match at the end does not resume
                shown.scrolled_up = false;
                self.count(shown);
            }
            is_moved
        });
        if is_moved != Some(true) {
            return;
        }
        if self.held.get_untracked().is_none() {
            self.held.set(Some(0));
        }
        if let Some(view) = self.view_node.get_untracked() {
            self.shown
                .try_with_value(|shown| shown.page.show_current(&view));
        }
        self.mark();
    }

    /// Marks the matches that are visible.
    pub(super) fn mark(self) {
        if let Some(view) = self.view_node.get_untracked() {
            self.shown.try_with_value(|shown| shown.page.mark(&view));
        }
    }
}
