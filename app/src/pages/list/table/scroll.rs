//! Which rows are in the page: those that are visible, and some before and after. All others are
//! space, so that the scrollbar has the height of the whole list.
use crate::{
    hooks::{LiveList, LiveRow, Timer},
    pages::list::page::{ListPage, PAGE_ROWS},
    ui::{vertical_bounds, window_height},
};
use leptos::{ev, html, prelude::*};
use portico_domain::panel::{MAX_WINDOW_ROWS, RowRange};
use std::time::Duration;

/// Number of rows in the page before and after the visible ones.
const OVERSCAN: usize = 5;
/// The next window is requested when so few loaded rows are left before or after the visible ones.
const MARGIN: usize = 50;
/// How long scrolling lasts before the next window is requested.
const REQUEST_DELAY: Duration = Duration::from_millis(50);

/// The visible part of a list. `Copy`.
#[derive(Clone, Copy)]
pub struct Viewport {
    page: ListPage,
    list: LiveList,
    region: NodeRef<html::Div>,
    top: NodeRef<html::Tbody>,
    body: NodeRef<html::Tbody>,
    /// Whether the browser has measured; before that every loaded row is in the page.
    pub is_active: RwSignal<bool>,
    /// Pixels of one row.
    height: RwSignal<f64>,
    /// The first visible row, and their number.
    visible: RwSignal<(usize, usize)>,
    /// What is in the page: the place of its first row, and the rows.
    last: StoredValue<(usize, Vec<LiveRow>)>,
    /// The place of the first row in the page.
    start: RwSignal<usize>,
    /// Number of rows in the page.
    count: RwSignal<usize>,
    request: Timer,
    is_requesting: StoredValue<bool>,
}

impl Viewport {
    pub fn new(
        page: ListPage,
        list: LiveList,
        region: NodeRef<html::Div>,
        top: NodeRef<html::Tbody>,
        body: NodeRef<html::Tbody>,
    ) -> Self {
        let first = list.offset.get_untracked();
        let viewport = Self {
            page,
            list,
            region,
            top,
            body,
            is_active: RwSignal::new(false),
            height: RwSignal::new(0.0),
            visible: RwSignal::new((first, PAGE_ROWS)),
            last: StoredValue::new((first, Vec::new())),
            start: RwSignal::new(first),
            count: RwSignal::new(0),
            request: Timer::new(),
            is_requesting: StoredValue::new(false),
        };
        Effect::new(move |_| {
            let resized = window_event_listener(ev::resize, move |_| viewport.measure_again());
            let scrolled = window_event_listener(ev::scroll, move |_| viewport.scrolled());
            // the keyboard moves beyond the rows in the page
            let edge = ev::Custom::<web_sys::CustomEvent>::new("portico:row-edge");
            let edge = window_event_listener(edge, move |event| {
                if let Some(by) = event.detail().as_f64() {
                    viewport.step(by > 0.0);
                }
            });
            on_cleanup(move || {
                resized.remove();
                scrolled.remove();
                edge.remove();
            });
        });
        // a list that has become longer or shorter shows another part
        Effect::new(move |_| {
            list.total.track();
            list.rows.track();
            if viewport.is_active.get_untracked() {
                viewport.look();
            }
        });
        viewport
    }

    /// Measures the height of a row after the page was drawn, then shows the part that is visible.
    pub fn measure_again(self) {
        request_animation_frame(move || {
            let Some(Some(body)) = self.body.try_get_untracked() else {
                return;
            };
            let (top, bottom) = vertical_bounds(&body);
            let count = body
                .query_selector_all("tr")
                .map_or(0, |rows| rows.length());
            if count == 0 || bottom <= top {
                return;
            }
            let height = (bottom - top) / f64::from(count);
            let was_active = self.is_active.get_untracked();
            let before = self.height.get_untracked();
            if (height - before).abs() > 0.5 {
                self.height.set(height);
            }
            if was_active {
                self.look();
                return;
            }
            self.is_active.set(true);
            let first = self.list.offset.get_untracked();
            if first > 0 {
                // the place of the address, once the space before it is there
                request_animation_frame(move || self.scroll_to(first));
            } else {
                self.look();
            }
        });
    }

    pub fn scrolled(self) {
        if self.is_active.try_get_untracked() == Some(true) {
            self.look();
            let (first, _) = self.visible.get_untracked();
            if self.list.total.get_untracked() > PAGE_ROWS {
                self.page.note_offset(first);
            }
        }
    }

    /// Returns to the first row, for another selection of rows.
    pub fn to_start(self) {
        let Some(region) = self.region.get_untracked() else {
            return;
        };
        region.set_scroll_top(0);
        let (top, _) = vertical_bounds(&region);
        if top < 0.0 {
            region.scroll_into_view();
        }
    }

    fn scroll_to(self, row: usize) {
        let (Some(Some(region)), Some(Some(top))) = (
            self.region.try_get_untracked(),
            self.top.try_get_untracked(),
        ) else {
            return;
        };
        let pixels = whole(self.height.get_untracked() * real(row));
        if region.scroll_height() > region.client_height() + 1 {
            region.set_scroll_top(pixels);
        } else {
            // narrow screens scroll the page
            let (body_top, _) = vertical_bounds(&top);
            window().scroll_to_with_x_and_y(0.0, body_top + f64::from(pixels));
        }
        self.look();
    }

    /// Determines what is visible, and requests what is not loaded.
    fn look(self) {
        let (Some(Some(region)), Some(Some(top))) = (
            self.region.try_get_untracked(),
            self.top.try_get_untracked(),
        ) else {
            return;
        };
        let height = self.height.get_untracked().max(1.0);
        let (region_top, _) = vertical_bounds(&region);
        let (from, _) = vertical_bounds(&top);
        let above = (region_top.max(0.0) - from).max(0.0);
        // not the region's end: it grows with its rows
        let below = (window_height() - from).max(0.0);
        let first = floor(above / height);
        let count = floor((below - above).max(0.0) / height) + 2;
        let total = self.list.total.get_untracked();
        let visible = (first.min(total.saturating_sub(1)), count);
        self.visible
            .maybe_update(|old| std::mem::replace(old, visible) != visible);
        self.load();
    }

    fn load(self) {
        let wanted = move || {
            let (first, count) = self.visible.try_get_untracked()?;
            let total = self.list.total.try_get_untracked()?;
            let loaded = self.list.offset.try_get_untracked()?;
            let end = loaded + self.list.rows.try_with_untracked(Vec::len)?;
            let is_enough = (loaded == 0 || loaded + MARGIN <= first)
                && (end >= total || first + count + MARGIN <= end);
            let middle = first + count / 2;
            (!is_enough).then(|| RowRange {
                offset: middle.saturating_sub(MAX_WINDOW_ROWS / 2),
                limit: MAX_WINDOW_ROWS,
            })
        };
        if wanted().is_none() || self.is_requesting.get_value() {
            return;
        }
        self.is_requesting.set_value(true);
        self.request.start(REQUEST_DELAY, move || {
            self.is_requesting.try_update_value(|is| *is = false);
            if let Some(range) = wanted() {
                self.list.show_range(range);
            }
        });
    }

    /// Returns the rows that are in the page. Until a window is loaded, they are those of before.
    pub fn rows(self) -> Vec<LiveRow> {
        let offset = self.list.offset.get();
        let total = self.list.total.get();
        self.list.rows.with(|rows| {
            if !self.is_active.get() {
                self.start.set(offset);
                self.count.set(rows.len());
                return rows.clone();
            }
            let (first, count) = self.visible.get();
            let end = (first + count + OVERSCAN)
                .min(total)
                .min(offset + rows.len());
            let start = first.saturating_sub(OVERSCAN).max(offset);
            let is_loaded = start < end && start <= first && first < offset + rows.len();
            let shown = if is_loaded {
                let shown = rows
                    .get(start - offset..end - offset)
                    .map(<[LiveRow]>::to_vec)
                    .unwrap_or_default();
                self.last.set_value((start, shown.clone()));
                self.start.set(start);
                shown
            } else if self.list.waiting.get_untracked() || !rows.is_empty() {
                // in view, although they belong elsewhere
                self.start.set(first.min(total.saturating_sub(1)));
                self.last.with_value(|(_, rows)| rows.clone())
            } else {
                Vec::new()
            };
            self.count.set(shown.len());
            shown
        })
    }

    /// Returns the rows that [`Self::rows`] has put into the page.
    pub fn in_page(self) -> Vec<LiveRow> {
        let (start, count) = (self.start.get(), self.count.get());
        let before = start.saturating_sub(self.list.offset.get());
        self.list
            .rows
            .with(|rows| rows.iter().skip(before).take(count).cloned().collect())
    }

    /// Returns the pixels of the rows before those in the page.
    pub fn space_before(self) -> i32 {
        self.pixels(self.start.get())
    }

    /// Returns the pixels of the rows after those in the page.
    pub fn space_after(self) -> i32 {
        let end = self.start.get() + self.count.get();
        self.pixels(self.list.total.get().saturating_sub(end))
    }

    fn pixels(self, rows: usize) -> i32 {
        if self.is_active.get() {
            whole(real(rows) * self.height.get())
        } else {
            0
        }
    }

    /// Scrolls by one row, so that the next one is in the page.
    fn step(self, down: bool) {
        let Some(region) = self.region.get_untracked() else {
            return;
        };
        let by = whole(self.height.get_untracked()) * if down { 2 } else { -2 };
        if region.scroll_height() > region.client_height() + 1 {
            region.set_scroll_top(region.scroll_top() + by);
        } else {
            window().scroll_by_with_x_and_y(0.0, f64::from(by));
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "numbers of rows")]
fn real(number: usize) -> f64 {
    number as f64
}

#[expect(clippy::cast_possible_truncation, reason = "pixels of a page")]
fn whole(pixels: f64) -> i32 {
    pixels.round() as i32
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of rows, never negative"
)]
fn floor(rows: f64) -> usize {
    rows as usize
}
