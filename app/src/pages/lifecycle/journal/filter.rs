//! The filter above the entries. The address holds it, so that it can be shared; the server applies it.
use crate::{
    context::use_session,
    hooks::Timer,
    moment,
    routes::managed_clusters::{self, ManagedClustersPage},
    ui::{Button, Icon, icons},
};
use leptos::prelude::*;
use leptos_router::{
    NavigateOptions,
    hooks::{use_navigate, use_query_map},
    params::ParamsMap,
};
use portico_domain::panel::lifecycle::{JournalFilter, JournalSource};
use std::time::Duration;
use uuid::Uuid;

/// How long a text has to be unchanged before it is applied.
const TYPING_DELAY: Duration = Duration::from_millis(400);
const FIRST: &str = "since";
const LAST: &str = "until";

/// The filter of the address. `Copy`.
#[derive(Clone, Copy)]
pub struct Filter {
    cluster: Uuid,
    pub value: Memo<JournalFilter>,
    change: Callback<JournalFilter>,
}

/// Returns the filter of the address of a cluster's journal.
pub fn use_filter(cluster: Uuid) -> Filter {
    let query = use_query_map();
    let navigate = use_navigate();
    let project = use_session().project.get_untracked();
    let change = move |filter: JournalFilter| {
        let options = NavigateOptions {
            replace: true,
            scroll: false,
            ..Default::default()
        };
        let address = managed_clusters::journal(&project, cluster, &filter.limited());
        navigate(&address, options);
    };
    Filter {
        cluster,
        value: Memo::new(move |_| query.with(of_address)),
        change: Callback::new(change),
    }
}

/// Reads the filter of an address. A form without scripts has times as its fields have them.
fn of_address(query: &ParamsMap) -> JournalFilter {
    JournalFilter::from_parameters(|name| {
        let value = query.get(name)?;
        let is_time = name == FIRST || name == LAST;
        let seconds = moment::seconds(&value).filter(|_| is_time);
        Some(seconds.map_or(value, |seconds| seconds.to_string()))
    })
}

impl Filter {
    /// Changes the filter from what it is now.
    fn update(self, change: impl FnOnce(&mut JournalFilter)) {
        let mut filter = self.value.get_untracked();
        change(&mut filter);
        if filter != self.value.get_untracked() {
            self.change.run(filter);
        }
    }

    /// Returns the fields, and the button that pauses the updates.
    pub fn bar(self, is_paused: RwSignal<bool>) -> AnyView {
        let now = self.value.get_untracked();
        let [text, user] = [&now.text, &now.user].map(|text| RwSignal::new(text.clone()));
        let [since, until] = [now.since, now.until].map(|time| RwSignal::new(written(time)));
        let clear = move |_| {
            for field in [text, user, since, until] {
                field.set(String::new());
            }
            self.change.run(JournalFilter::default());
        };
        let project = use_session().project.get_untracked();
        let action = ManagedClustersPage::Cluster(self.cluster).address(&project);
        let label = Signal::derive(move || {
            let words = if is_paused.get() {
                "Resume updates"
            } else {
                "Pause updates"
            };
            words.to_owned()
        });
        let is_filtered = move || self.value.with(|filter| !filter.is_empty());
        view! {
            <form
                class="grid gap-3"
                method="get"
                action=action
                role="search"
                aria-label="Filter entries"
                on:submit=|event| event.prevent_default()
            >
                <input type="hidden" name="view" value="journal" />
                {self.sources()}
                <div class="flex flex-wrap items-end gap-3">
                    {self.text_field("journal-text", "text", "Text", text, |filter, text| filter.text = text)}
                    {self.text_field("journal-user", "user", "User", user, |filter, user| filter.user = user)}
                    {self.time_field("journal-since", FIRST, "From (UTC)", since, |filter, time| {
                        filter.since = time;
                    })}
                    {self.time_field("journal-until", LAST, "To (UTC)", until, |filter, time| {
                        filter.until = time;
                    })}
                    <noscript><button class="btn" type="submit">"Filter"</button></noscript>
                    <Show when=is_filtered>
                        <Button label="Clear the filter" small=true on_click=Callback::new(clear) />
                    </Show>
                    <Button
                        label
                        small=true
                        on_click=Callback::new(move |_| is_paused.update(|paused| *paused = !*paused))
                    />
                </div>
            </form>
        }
        .into_any()
    }

    /// Returns the choice of sources.
    fn sources(self) -> AnyView {
        let choices = JournalSource::ALL.map(|source| {
            view! {
                <label class="check">
                    <input
                        type="checkbox"
                        prop:checked=move || {
                            self.value.with(|filter| !filter.hidden.contains(&source))
                        }
                        on:change=move |event| {
                            let is_shown = event_target_checked(&event);
                            self.update(|filter| {
                                filter.hidden.retain(|hidden| *hidden != source);
                                if !is_shown {
                                    filter.hidden.push(source);
                                }
                            });
                        }
                    />
                    {source.words()}
                </label>
            }
        });
        view! {
            <fieldset class="flex flex-wrap items-center gap-3">
                <legend class="visually-hidden">"Shown entries"</legend>
                {choices.into_iter().collect_view()}
            </fieldset>
        }
        .into_any()
    }

    fn text_field(
        self,
        id: &'static str,
        name: &'static str,
        label: &'static str,
        value: RwSignal<String>,
        set: fn(&mut JournalFilter, String),
    ) -> AnyView {
        let pending = Timer::new();
        let filter_key = (name == "text").then_some("");
        view! {
            <div class="field">
                <label for=id>{label}</label>
                <div class="search">
                    <Icon icon=icons::SEARCH />
                    <input
                        class="input"
                        id=id
                        name=name
                        type="search"
                        autocomplete="off"
                        spellcheck="false"
                        // the key that goes to the filter of a page
                        data-filter=filter_key
                        value=value.get_untracked()
                        prop:value=move || value.get()
                        on:input=move |event| {
                            let entered = event_target_value(&event);
                            value.set(entered.clone());
                            pending.start(TYPING_DELAY, move || {
                                self.update(|filter| set(filter, entered.trim().to_owned()));
                            });
                        }
                    />
                </div>
            </div>
        }
        .into_any()
    }

    fn time_field(
        self,
        id: &'static str,
        name: &'static str,
        label: &'static str,
        value: RwSignal<String>,
        set: fn(&mut JournalFilter, Option<i64>),
    ) -> AnyView {
        let pending = Timer::new();
        view! {
            <div class="field">
                <label for=id>{label}</label>
                <input
                    class="input"
                    id=id
                    name=name
                    type="datetime-local"
                    step="1"
                    value=value.get_untracked()
                    prop:value=move || value.get()
                    on:input=move |event| {
                        let entered = event_target_value(&event);
                        let time = moment::seconds(&entered).map(i64::from);
                        value.set(entered);
                        pending.start(TYPING_DELAY, move || self.update(|filter| set(filter, time)));
                    }
                />
            </div>
        }
        .into_any()
    }
}

/// Returns a time as a field has it; empty for none.
fn written(time: Option<i64>) -> String {
    moment::written(time.and_then(|time| u32::try_from(time).ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_times_in_seconds_or_as_a_field_has_them() {
        let mut query = ParamsMap::new();
        query.insert("since", "2026-03-09T14:05:07".to_owned());
        query.insert("until", "1773065107".to_owned());
        query.insert("text", "2026-03-09T14:05:07".to_owned());
        let filter = of_address(&query);
        assert_eq!(
            (filter.since, filter.until),
            (Some(1_773_065_107), Some(1_773_065_107))
        );
        assert_eq!(filter.text, "2026-03-09T14:05:07");
        assert_eq!(written(filter.since), "2026-03-09T14:05:07");
        assert!(of_address(&ParamsMap::new()).is_empty());
    }
}
