//! The options above the lines of logs.
use super::{followed::Lines, level, since, until::UntilField};
use crate::ui::{Choice, SelectField};
use leptos::prelude::*;

/// Container, time range, levels, previous run, timestamps and wrapping. `Copy`.
#[derive(Clone, Copy)]
pub struct Options {
    pub container: RwSignal<String>,
    /// The containers to choose from; empty if there is no choice.
    pub containers: Signal<Vec<Choice>>,
    pub choose_container: Callback<String>,
    /// The lines that are read.
    pub lines: Signal<Lines>,
    pub change_lines: Callback<Lines>,
    /// Whether there is a log of a previous run.
    pub has_previous: Signal<bool>,
    /// The label of the choice without a time range.
    pub without_range: &'static str,
    /// The chosen levels, as in [`level::choices`].
    pub levels: RwSignal<String>,
    pub wrap: RwSignal<bool>,
}

impl Options {
    pub fn view(self) -> AnyView {
        let Self {
            container,
            containers,
            choose_container,
            lines,
            change_lines,
            has_previous,
            without_range,
            levels,
            wrap,
        } = self;
        let since = RwSignal::new(lines.with_untracked(|lines| since::choice(lines.since)));
        let choose_since = move |chosen: String| {
            change_lines.run(Lines {
                since: since::seconds(Some(&chosen)),
                ..lines.get_untracked()
            });
        };
        let choose_until = move |until: Option<u32>| {
            let now = lines.get_untracked();
            if now.until != until {
                change_lines.run(Lines { until, ..now });
            }
        };
        let is_previous = move || lines.with(|lines| lines.previous);
        view! {
            <div class="console-head">
                <Show when=move || containers.with(|containers| !containers.is_empty())>
                    <div class="w-44">
                        <SelectField
                            id="log-container"
                            label="Container"
                            value=container
                            choices=containers
                            on_change=choose_container
                        />
                    </div>
                </Show>
                <div class="w-52">
                    <SelectField
                        id="log-since"
                        label="Time range"
                        value=since
                        choices=since::choices(without_range)
                        on_change=Callback::new(choose_since)
                    />
                </div>
                <div class="w-56">
                    <UntilField
                        until=Signal::derive(move || lines.with(|lines| lines.until))
                        since=Signal::derive(move || lines.with(|lines| lines.since))
                        on_change=Callback::new(choose_until)
                    />
                </div>
                <div class="w-44">
                    <SelectField
                        id="log-levels"
                        label="Levels"
                        value=levels
                        choices=level::choices()
                    />
                </div>
                <label class="check self-end">
                    <input
                        type="checkbox"
                        prop:checked=is_previous
                        disabled=move || !has_previous.get() && !is_previous()
                        aria-describedby="previous-hint"
                        on:change=move |event| {
                            change_lines.run(Lines {
                                previous: event_target_checked(&event),
                                ..lines.get_untracked()
                            });
                        }
                    />
                    "Previous run"
                    <span id="previous-hint" class="text-faint">
                        {move || (!has_previous.get()).then_some("(not restarted yet)")}
                    </span>
                </label>
                <label class="check self-end">
                    <input
                        type="checkbox"
                        prop:checked=move || lines.with(|lines| lines.timestamps)
                        on:change=move |event| {
                            change_lines.run(Lines {
                                timestamps: event_target_checked(&event),
                                ..lines.get_untracked()
                            });
                        }
                    />
                    "Timestamps"
                </label>
                <label class="check self-end">
                    <input
                        type="checkbox"
                        prop:checked=move || wrap.get()
                        on:change=move |event| wrap.set(event_target_checked(&event))
                    />
                    "Wrap lines"
                </label>
            </div>
        }
        .into_any()
    }
}
