//! The lines on the screen. They are written directly to the document, a hundred per element, so
//! that thousands a second cost little.
use super::{
    buffer::{Buffer, MAX_LINES},
    level::Level,
    lines::{append, save},
    not_started::NotStarted,
    stage::{LogSource, Stage, together},
    tools::PaneTools,
};
use crate::hooks::{
    Timer,
    browser_value::BrowserValue,
    stream::{Link, Stream},
};
use leptos::{html, prelude::*};
use portico_domain::{
    panel::Refusal,
    stream::{LogQuery, Message, Request},
};
use std::{collections::VecDeque, time::Duration};
use uuid::Uuid;
use web_sys::Element;

/// How long received lines wait for more.
const GATHER_DELAY: Duration = Duration::from_millis(120);

#[derive(Default)]
struct Shown {
    buffer: Buffer,
    /// Elements in the page with how many lines each holds.
    chunks: VecDeque<(Element, usize)>,
    /// Lines that wait to be shown.
    waiting: Vec<String>,
    gathering: bool,
    last_top: i32,
    /// Paused by scrolling up; scrolling back to the end resumes.
    scrolled_up: bool,
}

#[component]
pub fn Pane(
    cluster: Uuid,
    /// The logs, whose lines are shown as they arrive. Lines stay when a log is no longer among them.
    sources: Signal<Vec<LogSource>>,
    /// The name of a downloaded file.
    file: String,
    wrap: RwSignal<bool>,
    /// The search text; outlives the pane of one container.
    needle: RwSignal<String>,
    /// The chosen levels, as in [`super::level::choices`].
    levels: RwSignal<String>,
) -> impl IntoView {
    let view_node = NodeRef::<html::Div>::new();
    let lines_node = NodeRef::<html::Div>::new();
    let pane = PaneState {
        shown: BrowserValue::default(),
        view_node,
        lines_node,
        stages: RwSignal::new(Vec::new()),
        held: RwSignal::new(None),
        total: RwSignal::new(0),
        found: RwSignal::new(0),
        dropped: RwSignal::new(0),
        needle,
        levels,
        gather: Timer::new(),
    };
    let reason = Memo::new(move |_| match pane.stage() {
        Stage::NotStarted(reason) => Some(reason),
        _ => None,
    });
    let has_no_log = move || reason.with(Option::is_some);
    let first = sources.with_untracked(|sources| sources.first().cloned());
    let not_started =
        first.map(|LogSource { query, .. }| view! { <NotStarted cluster query reason /> });
    pane.follow(cluster, sources);
    Effect::new(move |known: Option<String>| {
        let needle = pane.needle.get();
        if known.unwrap_or_default() != needle {
            pane.search(&needle);
        }
        needle
    });
    Effect::new(move |known: Option<String>| {
        let levels = pane.levels.get();
        if known.unwrap_or_default() != levels {
            pane.select(&levels);
        }
        levels
    });
    view! {
        <div hidden=has_no_log>
            <PaneTools pane file />
        </div>
        {not_started}
        <div
            hidden=has_no_log
            node_ref=view_node
            class=move || if wrap.get() { "log-view log-wrap" } else { "log-view" }
            tabindex="0"
            role="log"
            aria-live="off"
            aria-label="Log lines"
            on:scroll=move |_| pane.scrolled()
        >
            <div class="log-lines" node_ref=lines_node></div>
        </div>
    }
    .into_any()
}

/// The state of a pane. `Copy`.
#[derive(Clone, Copy)]
pub struct PaneState {
    shown: BrowserValue<Shown>,
    view_node: NodeRef<html::Div>,
    lines_node: NodeRef<html::Div>,
    stages: RwSignal<Vec<(LogQuery, Stage)>>,
    /// While paused: the number of waiting lines.
    pub held: RwSignal<Option<usize>>,
    pub total: RwSignal<usize>,
    pub found: RwSignal<usize>,
    pub dropped: RwSignal<u64>,
    pub needle: RwSignal<String>,
    /// The chosen levels: empty for all lines, `warning` or `error`.
    pub levels: RwSignal<String>,
    /// Runs until received lines are shown.
    gather: Timer,
}

impl PaneState {
    pub fn stage(self) -> Stage {
        self.stages.with(|stages| together(stages))
    }

    fn set_stage(self, query: &LogQuery, stage: Stage) {
        self.stages.maybe_update(|stages| {
            let known = stages.iter_mut().find(|(known, _)| known == query);
            known.is_some_and(|(_, known)| std::mem::replace(known, stage.clone()) != stage)
        });
    }

    /// Opens the logs that are new among the sources, and closes those that are not there any more.
    fn follow(self, cluster: Uuid, sources: Signal<Vec<LogSource>>) {
        let Some(stream) = use_context::<Stream>() else {
            return;
        };
        let open = StoredValue::new(Vec::<(LogQuery, u32)>::new());
        Effect::new(move |_| {
            let wanted = sources.get();
            open.update_value(|open| {
                open.retain(|(query, id)| {
                    let stays = wanted.iter().any(|source| source.query == *query);
                    if !stays {
                        stream.close(*id);
                    }
                    stays
                });
                self.stages.update(|stages| {
                    stages.retain(|(query, _)| wanted.iter().any(|source| source.query == *query));
                });
                for source in wanted {
                    if open.iter().all(|(query, _)| *query != source.query) {
                        let query = source.query.clone();
                        self.stages
                            .update(|stages| stages.push((query.clone(), Stage::Waiting)));
                        open.push((query, self.open(stream, cluster, source)));
                    }
                }
            });
        });
        on_cleanup(move || {
            open.with_value(|open| open.iter().for_each(|(_, id)| stream.close(*id)));
        });
        Effect::new(move |was: Option<Link>| {
            let link = stream.link.get();
            match (was, link) {
                (_, Link::Down) => self.stages.update(|stages| {
                    for (_, stage) in stages.iter_mut() {
                        if !matches!(stage, Stage::Ended(_)) {
                            *stage = Stage::Interrupted;
                        }
                    }
                }),
                // after a reconnect, the server starts from the tail
                (Some(Link::Connecting), Link::Live) => self.restart(),
                _ => {}
            }
            link
        });
    }

    fn open(self, stream: Stream, cluster: Uuid, source: LogSource) -> u32 {
        let id = StoredValue::new(0_u32);
        let query = source.query.clone();
        let opened = stream.open(
            move |id| Request::Logs { id, cluster, query },
            move |message| {
                if matches!(message, Message::Ended { retry: true, .. }) {
                    // without effect after it was closed
                    set_timeout(
                        move || stream.again(id.try_get_value().unwrap_or_default()),
                        Duration::from_secs(3),
                    );
                }
                self.receive(&source, message);
            },
        );
        id.set_value(opened);
        opened
    }

    fn receive(self, source: &LogSource, message: Message) {
        let query = &source.query;
        match message {
            Message::Lines { lines, skipped, .. } => {
                self.set_stage(query, Stage::Following);
                let lines = lines.into_iter().map(|line| {
                    if source.prefix.is_empty() {
                        line
                    } else {
                        format!("{} {line}", source.prefix)
                    }
                });
                let gather = self.shown.try_update_value(|shown| {
                    shown.buffer.dropped += skipped;
                    shown.waiting.extend(lines);
                    !std::mem::replace(&mut shown.gathering, true)
                });
                if gather == Some(true) {
                    self.gather.start(GATHER_DELAY, move || self.flush());
                }
            }
            Message::NotStarted { reason, .. } => self.set_stage(query, Stage::NotStarted(reason)),
            Message::Ended {
                reason, missing, ..
            } => self.set_stage(query, Stage::Ended(Refusal { reason, missing })),
            Message::Stale { .. } => self.set_stage(query, Stage::Interrupted),
            _ => {}
        }
    }

    fn restart(self) {
        self.shown.try_update_value(|shown| {
            shown.buffer.clear();
            shown.waiting.clear();
        });
        self.draw_again();
    }

    fn flush(self) {
        let Some(held) = self.held.try_get_untracked() else {
            // the pane was removed
            return;
        };
        let holding = held.is_some();
        self.shown.try_update_value(|shown| {
            shown.gathering = false;
            if holding {
                // more than the ring holds would be dropped later anyway
                let excess = shown.waiting.len().saturating_sub(MAX_LINES);
                shown.waiting.drain(..excess);
                self.held.set(Some(shown.waiting.len()));
                return;
            }
            let lines = std::mem::take(&mut shown.waiting);
            let count = lines.len();
            shown.buffer.push(lines);
            let Some(parent) = self.lines_node.get_untracked() else {
                return;
            };
            let Shown { buffer, chunks, .. } = shown;
            append(&parent, chunks, &buffer.newest(count));
            self.count(buffer);
        });
        if !holding {
            self.to_end();
        }
    }

    pub fn resume(self) {
        self.held.set(None);
        self.shown
            .try_update_value(|shown| shown.scrolled_up = false);
        self.flush();
    }

    fn search(self, needle: &str) {
        self.shown
            .try_update_value(|shown| shown.buffer.search(needle));
        self.draw_again();
    }

    fn select(self, levels: &str) {
        let minimum = Level::chosen(levels);
        self.shown
            .try_update_value(|shown| shown.buffer.select(minimum));
        self.draw_again();
    }

    /// Returns whether only some of the lines are shown.
    pub fn is_filtered(self) -> bool {
        self.needle.with(|needle| !needle.is_empty())
            || self.levels.with(|levels| !levels.is_empty())
    }

    fn draw_again(self) {
        self.shown.try_update_value(|shown| {
            let Some(parent) = self.lines_node.get_untracked() else {
                return;
            };
            for (chunk, _) in shown.chunks.drain(..) {
                chunk.remove();
            }
            let lines: Vec<&str> = shown.buffer.matching().collect();
            append(&parent, &mut shown.chunks, &lines);
            self.count(&shown.buffer);
        });
        if self.held.get_untracked().is_none() {
            self.to_end();
        }
    }

    fn count(self, buffer: &Buffer) {
        self.total.set(buffer.len());
        self.dropped.set(buffer.dropped);
        if untrack(|| self.is_filtered()) {
            self.found.set(buffer.matching().count());
        }
    }

    fn to_end(self) {
        if let Some(view) = self.view_node.get_untracked() {
            view.set_scroll_top(view.scroll_height());
            self.shown
                .try_update_value(|shown| shown.last_top = view.scroll_top());
        }
    }

    /// Pauses after scrolling up, and resumes after scrolling back to the end.
    fn scrolled(self) {
        let Some(view) = self.view_node.get_untracked() else {
            return;
        };
        let top = view.scroll_top();
        let at_end = top + view.client_height() >= view.scroll_height() - 4;
        let held = self.held.get_untracked().is_some();
        let moved = self.shown.try_update_value(|shown| {
            let up = top < shown.last_top - 4;
            shown.last_top = top;
            let hold = up && !at_end && !held;
            // what the button paused, only the button resumes
            let follow = at_end && !up && held && shown.scrolled_up;
            if hold || follow {
                shown.scrolled_up = hold;
            }
            (hold, follow)
        });
        match moved {
            Some((true, _)) => self.held.set(Some(0)),
            Some((_, true)) => self.resume(),
            _ => {}
        }
    }

    pub fn download(self, file: &str) {
        let text = self
            .shown
            .try_with_value(|shown| shown.buffer.text())
            .unwrap_or_default();
        // a browser that refuses leaves the page unchanged
        let _ = save(&text, file);
    }
}
