//! The lines on the screen. They are written directly to the document, a hundred per element, so
//! that thousands a second cost little.
use super::{
    buffer::{Buffer, MAX_LINES},
    lines::{append, save},
    not_started::NotStarted,
};
use crate::{
    format,
    hooks::{
        Timer,
        browser_value::BrowserValue,
        stream::{Link, Stream},
    },
    ui::{Button, ButtonKind, Icon, icons},
};
use leptos::{html, prelude::*};
use portico_domain::stream::{LogQuery, Message, Request};
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

/// The status line below the log.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stage {
    Waiting,
    Following,
    /// The container has not started, with the reason.
    NotStarted(String),
    Interrupted,
    Ended(String),
}

#[component]
pub fn Pane(
    cluster: Uuid,
    query: LogQuery,
    wrap: RwSignal<bool>,
    /// The search text; outlives the pane of one container.
    needle: RwSignal<String>,
) -> impl IntoView {
    let view_node = NodeRef::<html::Div>::new();
    let lines_node = NodeRef::<html::Div>::new();
    let pane = PaneState {
        shown: BrowserValue::default(),
        view_node,
        lines_node,
        stage: RwSignal::new(Stage::Waiting),
        held: RwSignal::new(None),
        total: RwSignal::new(0),
        found: RwSignal::new(0),
        dropped: RwSignal::new(0),
        needle,
        gather: Timer::new(),
    };
    let file = format!("{}-{}.log", query.pod, query.container);
    let reason = Memo::new(move |_| match pane.stage.get() {
        Stage::NotStarted(reason) => Some(reason),
        _ => None,
    });
    let has_no_log = move || reason.with(Option::is_some);
    let not_started = view! { <NotStarted cluster query=query.clone() reason /> };
    pane.follow(cluster, query);
    Effect::new(move |known: Option<String>| {
        let needle = pane.needle.get();
        if known.unwrap_or_default() != needle {
            pane.search(&needle);
        }
        needle
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

#[component]
fn PaneTools(pane: PaneState, file: String) -> impl IntoView {
    let status = move || match pane.stage.get() {
        Stage::Waiting => ("live", "Waiting for lines".to_owned()),
        Stage::Following if pane.held.get().is_some() => ("live", "Paused".to_owned()),
        Stage::Following => ("live is-ok", "Following".to_owned()),
        Stage::NotStarted(reason) => ("live", reason),
        Stage::Interrupted => ("live is-warn", "Interrupted, trying again".to_owned()),
        Stage::Ended(reason) => ("live", reason),
    };
    let counts = move || {
        let (total, dropped) = (pane.total.get(), pane.dropped.get());
        let shown = if pane.needle.with(String::is_empty) {
            format::counted(total, "line")
        } else {
            format!(
                "{} of {}",
                format::count(pane.found.get()),
                format::counted(total, "line")
            )
        };
        if dropped == 0 {
            shown
        } else {
            format!("{shown}, older ones dropped")
        }
    };
    let resume = move || {
        pane.held.get().map(|held| {
            let label = if held == 0 {
                "Follow".to_owned()
            } else {
                format!("Follow ({} new)", format::count(held))
            };
            view! {
                <Button
                    label
                    icon=icons::ARROW_DOWN
                    small=true
                    kind=ButtonKind::Primary
                    on_click=move |_| pane.resume()
                />
            }
        })
    };
    let pause = move || {
        pane.held.get().is_none().then(|| {
            view! {
                <Button
                    label="Pause updates"
                    icon=icons::PAUSE
                    small=true
                    kind=ButtonKind::Quiet
                    on_click=move |_| pane.held.set(Some(0))
                />
            }
        })
    };
    view! {
        <div class="console-head">
            <div class="search w-full sm:w-60">
                <Icon icon=icons::SEARCH />
                <input
                    class="input"
                    type="search"
                    aria-label="Search in the lines"
                    placeholder="Search in the lines"
                    autocomplete="off"
                    spellcheck="false"
                    data-filter=""
                    prop:value=move || pane.needle.get()
                    on:input=move |event| pane.needle.set(event_target_value(&event))
                />
            </div>
            <span class=move || status().0 role="status">
                <span class="live-dot"></span>
                {move || status().1}
            </span>
            <span class="text-muted">{counts}</span>
            <span class="flex gap-1 ml-auto">
                {pause}
                {resume}
                <Button
                    label="Download"
                    icon=icons::DOWNLOAD
                    small=true
                    kind=ButtonKind::Quiet
                    on_click=move |_| pane.download(&file)
                />
            </span>
        </div>
    }
    .into_any()
}

#[derive(Clone, Copy)]
struct PaneState {
    shown: BrowserValue<Shown>,
    view_node: NodeRef<html::Div>,
    lines_node: NodeRef<html::Div>,
    stage: RwSignal<Stage>,
    /// While paused: the number of waiting lines.
    held: RwSignal<Option<usize>>,
    total: RwSignal<usize>,
    found: RwSignal<usize>,
    dropped: RwSignal<u64>,
    needle: RwSignal<String>,
    /// Runs until received lines are shown.
    gather: Timer,
}

impl PaneState {
    fn follow(self, cluster: Uuid, query: LogQuery) {
        let Some(stream) = use_context::<Stream>() else {
            return;
        };
        Effect::new(move |_| {
            let query = query.clone();
            let id = StoredValue::new(0_u32);
            let retry = Timer::new();
            let opened = stream.open(
                |id| Request::Logs { id, cluster, query },
                move |message| {
                    if matches!(message, Message::Ended { retry: true, .. }) {
                        retry.start(Duration::from_secs(3), move || {
                            stream.again(id.try_get_value().unwrap_or_default());
                        });
                    }
                    self.receive(message);
                },
            );
            id.set_value(opened);
            on_cleanup(move || stream.close(opened));
        });
        Effect::new(move |was: Option<Link>| {
            let link = stream.link.get();
            match (was, link) {
                (_, Link::Down) if !matches!(self.stage.get_untracked(), Stage::Ended(_)) => {
                    self.stage.set(Stage::Interrupted);
                }
                // after a reconnect, the server starts from the tail
                (Some(Link::Connecting), Link::Live) => self.restart(),
                _ => {}
            }
            link
        });
    }

    fn receive(self, message: Message) {
        match message {
            Message::Lines { lines, skipped, .. } => {
                self.stage.set(Stage::Following);
                let gather = self.shown.try_update_value(|shown| {
                    shown.buffer.dropped += skipped;
                    shown.waiting.extend(lines);
                    !std::mem::replace(&mut shown.gathering, true)
                });
                if gather == Some(true) {
                    self.gather.start(GATHER_DELAY, move || self.flush());
                }
            }
            Message::NotStarted { reason, .. } => self.stage.set(Stage::NotStarted(reason)),
            Message::Ended { reason, .. } => self.stage.set(Stage::Ended(reason)),
            Message::Stale { .. } => self.stage.set(Stage::Interrupted),
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

    fn resume(self) {
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
        if self.needle.with_untracked(|needle| !needle.is_empty()) {
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

    fn download(self, file: &str) {
        let text = self
            .shown
            .try_with_value(|shown| shown.buffer.text())
            .unwrap_or_default();
        // a browser that refuses leaves the page unchanged
        let _ = save(&text, file);
    }
}
