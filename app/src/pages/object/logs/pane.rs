//! The lines on the screen. They are written directly to the document, many per element, so that thousands a second cost
//! little.
use super::{
    buffer::{Buffer, drop_excess},
    lines::{PageLines, save},
    matches::Matches,
    not_started::NotStarted,
    stage::{LogSource, Stage, note, together},
    tools::PaneTools,
};
use crate::hooks::{Timer, browser_value::BrowserValue};
use leptos::{html, prelude::*};
use portico_domain::{
    panel::Refusal,
    stream::{LogQuery, Message},
};
use std::time::Duration;
use uuid::Uuid;

/// How long received lines wait for more.
const GATHER_DELAY: Duration = Duration::from_millis(120);
/// The line between those of before a reconnect and those that the server sends afterwards.
const RECONNECTED: &str = "--- Reconnected: the last lines follow again ---";

#[derive(Default)]
pub(super) struct Shown {
    pub(super) buffer: Buffer,
    /// The lines in the page.
    pub(super) page: PageLines,
    /// Lines that wait to be shown.
    waiting: Vec<String>,
    gathering: bool,
    last_top: i32,
    /// Paused by scrolling up; scrolling back to the end resumes.
    pub(super) scrolled_up: bool,
}

impl Shown {
    /// Prepares for the last lines, which the server sends again after a reconnect: they replace those of
    /// before, unless the log is paused: then a user reads these.
    fn reconnect(&mut self, is_paused: bool) {
        if is_paused {
            self.waiting.push(RECONNECTED.to_owned());
        } else {
            self.buffer.clear();
            self.waiting.clear();
        }
    }
}

#[component]
pub fn Pane(
    cluster: Uuid,
    /// The logs, whose lines are shown as they arrive. Lines stay when a log is no longer among them.
    sources: Signal<Vec<LogSource>>,
    /// The state while there are no logs.
    nothing: Signal<&'static str>,
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
        stages: RwSignal::new(waiting_for(sources)),
        nothing,
        held: RwSignal::new(None),
        total: RwSignal::new(0),
        found: RwSignal::new(0),
        dropped: RwSignal::new(0),
        matches: RwSignal::new(Matches::default()),
        needle,
        only_matching: RwSignal::new(false),
        unfolds_json: RwSignal::new(false),
        levels,
        gather: Timer::new(),
        restarts: StoredValue::new(0),
    };
    let reason = Memo::new(move |_| match pane.stage() {
        // logs that ended have lines or a reason
        Stage::NotStarted(reason) if pane.note().is_none() => Some(reason),
        _ => None,
    });
    let has_no_log = move || reason.with(Option::is_some);
    let first = sources.with_untracked(|sources| sources.first().cloned());
    let not_started =
        first.map(|LogSource { query, .. }| view! { <NotStarted cluster query reason /> });
    pane.follow(cluster, sources);
    pane.watch_options();
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

fn waiting_for(sources: Signal<Vec<LogSource>>) -> Vec<(LogQuery, Stage)> {
    let sources = sources.get_untracked().into_iter();
    sources
        .map(|source| (source.query, Stage::Waiting))
        .collect()
}

/// The state of a pane. `Copy`.
#[derive(Clone, Copy)]
pub struct PaneState {
    pub(super) shown: BrowserValue<Shown>,
    pub(super) view_node: NodeRef<html::Div>,
    lines_node: NodeRef<html::Div>,
    pub(super) stages: RwSignal<Vec<(LogQuery, Stage)>>,
    /// The state while there are no logs.
    pub nothing: Signal<&'static str>,
    /// While paused: the number of waiting lines.
    pub held: RwSignal<Option<usize>>,
    pub total: RwSignal<usize>,
    /// The number of shown lines.
    pub found: RwSignal<usize>,
    pub dropped: RwSignal<u64>,
    /// The matches of the search text in the shown lines.
    pub matches: RwSignal<Matches>,
    /// The search text.
    pub needle: RwSignal<String>,
    /// Only lines with the search text are shown.
    pub only_matching: RwSignal<bool>,
    /// JSON objects are shown with a line for each field.
    pub unfolds_json: RwSignal<bool>,
    /// The chosen levels: empty for all lines, `warning` or `error`.
    pub levels: RwSignal<String>,
    /// Runs until received lines are shown.
    gather: Timer,
    /// Number of reconnects, each of which requests all logs again.
    pub(super) restarts: StoredValue<u32>,
}

impl PaneState {
    pub fn stage(self) -> Stage {
        self.stages.with(|stages| together(stages))
    }

    /// Returns the logs that ended otherwise than the state shows.
    pub fn note(self) -> Option<Refusal> {
        self.stages.with(|stages| note(stages))
    }

    fn set_stage(self, query: &LogQuery, stage: Stage) {
        self.stages.maybe_update(|stages| {
            let known = stages.iter_mut().find(|(known, _)| known == query);
            known.is_some_and(|(_, known)| std::mem::replace(known, stage.clone()) != stage)
        });
    }

    pub(super) fn receive(self, source: &LogSource, message: Message) {
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

    pub(super) fn restart(self) {
        self.restarts.update_value(|restarts| *restarts += 1);
        let is_paused = self.held.get_untracked().is_some();
        self.shown
            .try_update_value(|shown| shown.reconnect(is_paused));
        if !is_paused {
            self.draw_again();
        }
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
                shown.buffer.dropped += drop_excess(&mut shown.waiting);
                self.dropped.set(shown.buffer.dropped);
                self.held.set(Some(shown.waiting.len()));
                return;
            }
            let lines = std::mem::take(&mut shown.waiting);
            let count = lines.len();
            shown.buffer.push(lines);
            let Some(parent) = self.lines_node.get_untracked() else {
                return;
            };
            let Shown { buffer, page, .. } = shown;
            page.append(&parent, &buffer.newest(count));
            page.remove_before(buffer.oldest());
            self.count(shown);
        });
        if !holding {
            self.to_end();
            self.mark();
        }
    }

    pub fn resume(self) {
        self.held.set(None);
        self.shown
            .try_update_value(|shown| shown.scrolled_up = false);
        self.flush();
    }

    /// Returns whether only some of the lines are shown.
    pub fn is_filtered(self) -> bool {
        self.only_matching.get() && self.needle.with(|needle| !needle.is_empty())
            || self.levels.with(|levels| !levels.is_empty())
    }

    pub(super) fn draw_again(self) {
        self.shown.try_update_value(|shown| {
            let Some(parent) = self.lines_node.get_untracked() else {
                return;
            };
            let Shown { buffer, page, .. } = shown;
            page.clear();
            page.append(&parent, &buffer.all_shown());
            self.count(shown);
        });
        if self.held.get_untracked().is_none() {
            self.to_end();
        }
        self.mark();
    }

    pub(super) fn count(self, shown: &Shown) {
        let Shown { buffer, page, .. } = shown;
        self.total.set(buffer.len());
        self.dropped.set(buffer.dropped);
        self.found.set(buffer.shown());
        self.matches.set(page.matches());
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
        // while lines are followed, they are marked as they are shown
        if self.held.get_untracked().is_some() {
            self.mark();
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

#[cfg(test)]
mod tests {
    use super::*;

    fn shown() -> Shown {
        let mut shown = Shown::default();
        shown.buffer.push(["read".to_owned()]);
        shown.waiting.push("later".to_owned());
        shown
    }

    #[test]
    fn a_reconnect_keeps_the_lines_of_a_paused_log() {
        let mut paused = shown();
        paused.reconnect(true);
        assert_eq!(paused.buffer.text(), "read\n");
        assert_eq!(paused.waiting, ["later", RECONNECTED]);
        // the control case: the last lines follow again
        let mut followed = shown();
        followed.reconnect(false);
        assert_eq!((followed.buffer.len(), followed.waiting.len()), (0, 0));
    }
}
