//! A container's log: followed, searched and paused in the browser. The address holds the container
//! and the display options. The logs of several pods are in [`workload`].
mod buffer;
mod follow;
mod followed;
mod highlight;
mod json;
mod level;
mod lines;
mod matches;
mod not_started;
mod pane;
mod search;
mod since;
mod stage;
mod tools;
mod until;
mod workload;

use crate::{
    context::use_session,
    format,
    routes::{self, Tab},
    ui::{Banner, Choice, SelectField, Tone},
};
use leptos::prelude::*;
use leptos_router::{
    NavigateOptions,
    hooks::{use_navigate, use_query_map},
};
use pane::Pane;
use portico_domain::{
    panel::{Health, ListQuery, ObjectView},
    stream::LogQuery,
};
use stage::LogSource;
use until::UntilField;
use uuid::Uuid;
use workload::{PodSet, WorkloadLogs};

/// The lines to start with.
const TAIL_LINES: u32 = 1_000;

/// Returns what a browser without scripts shows instead of logs.
pub fn without_scripts(object: &ObjectView) -> AnyView {
    let namespace = object.reference.namespace.clone().unwrap_or_default();
    let command = match &object.pod_selector {
        Some(selector) => format!("kubectl logs -f -n {namespace} -l '{selector}' --prefix"),
        None => format!(
            "kubectl logs -f -n {namespace} {} -c {}",
            object.reference.name,
            first_container(object)
        ),
    };
    view! {
        <noscript>
            <Banner tone=Tone::Info>
                <p>"Logs are a live stream and need JavaScript. In a terminal:"</p>
                <p class="mono wrap-anywhere">{command}</p>
            </Banner>
        </noscript>
    }
    .into_any()
}

fn first_container(object: &ObjectView) -> String {
    let containers = object.containers.iter();
    let first = containers
        .clone()
        .find(|container| !container.init)
        .or_else(|| containers.clone().next());
    first.map_or_else(String::new, |container| container.name.clone())
}

/// The logs of an object: of a pod, or of all pods of a workload or Service.
pub fn console(cluster: Uuid, object: ObjectView) -> AnyView {
    if object.containers.is_empty() {
        view! { <WorkloadLogs cluster set=PodSet::Of(object.reference) /> }.into_any()
    } else {
        view! { <Logs cluster object /> }.into_any()
    }
}

/// The logs of the pods that a list shows.
pub fn of_list(cluster: Uuid, query: ListQuery) -> AnyView {
    view! { <WorkloadLogs cluster set=PodSet::Listed(query) /> }.into_any()
}

#[component]
fn Logs(cluster: Uuid, object: ObjectView) -> impl IntoView {
    let first = first_container(&object);
    let base = routes::object_tab(
        &use_session().project.get_untracked(),
        cluster,
        &object.reference,
        Tab::Logs,
    );
    let url = use_query_map();
    let namespace = object.reference.namespace.clone().unwrap_or_default();
    let pod = object.reference.name.clone();
    let query = Memo::new(move |_| {
        let since = url.with(|url| since::seconds(url.get_str("since")));
        let until = url.with(|url| url.get_str("until").and_then(until::seconds));
        url.with(|url| LogQuery {
            namespace: namespace.clone(),
            pod: pod.clone(),
            container: url.get("container").unwrap_or_else(|| first.clone()),
            previous: url.get_str("previous").is_some(),
            follow: url.get_str("previous").is_none(),
            timestamps: url.get_str("timestamps").is_some(),
            tail: since::tail(since, TAIL_LINES),
            since,
            until,
        })
    });
    let wrap = RwSignal::new(true);
    let needle = RwSignal::new(String::new());
    let levels = RwSignal::new(String::new());
    view! {
        <section class="card" aria-label="Log">
            <Options object query base wrap levels />
            // keyed, as another query is another pane: its lines are not part of the view
            <For
                each=move || [query.get()]
                key=Clone::clone
                children=move |query| {
                    let file = format!("{}-{}.log", query.pod, query.container);
                    let source = LogSource { query, prefix: String::new() };
                    let sources = Signal::stored(vec![source]);
                    // there is always one log
                    let nothing = Signal::stored("");
                    view! { <Pane cluster sources nothing file wrap needle levels /> }
                }
            />
        </section>
    }
    .into_any()
}

/// Container, time range, previous run, timestamps, wrapping.
#[component]
fn Options(
    object: ObjectView,
    query: Memo<LogQuery>,
    base: String,
    wrap: RwSignal<bool>,
    levels: RwSignal<String>,
) -> impl IntoView {
    let navigate = use_navigate();
    let go = move |next: LogQuery| {
        let mut pairs = vec![format!("container={}", next.container)];
        if next.previous {
            pairs.push("previous=1".to_owned());
        }
        if next.timestamps {
            pairs.push("timestamps=1".to_owned());
        }
        if let Some(since) = next.since {
            pairs.push(format!("since={since}"));
        }
        if let Some(until) = next.until {
            let until = format::machine_moment(i64::from(until));
            pairs.push(format!("until={until}"));
        }
        let options = NavigateOptions {
            replace: true,
            scroll: false,
            ..Default::default()
        };
        navigate(&format!("{base}?{}", pairs.join("&")), options);
    };
    let container = RwSignal::new(query.with_untracked(|query| query.container.clone()));
    let choices: Vec<Choice> = object
        .containers
        .iter()
        .map(|container| {
            let label = match (container.init, container.health) {
                (true, _) => format!("{} (init)", container.name),
                (false, Health::Failed) => format!("{} (failed)", container.name),
                (false, _) => container.name.clone(),
            };
            Choice::new(container.name.clone(), label)
        })
        .collect();
    let has_previous = {
        let containers = object.containers.clone();
        Memo::new(move |_| {
            let name = query.with(|query| query.container.clone());
            containers
                .iter()
                .any(|container| container.name == name && container.has_previous)
        })
    };
    let choose = {
        let go = go.clone();
        move |name: String| {
            let query = query.get_untracked();
            go(LogQuery {
                container: name,
                previous: false,
                ..query
            });
        }
    };
    let previous = {
        let go = go.clone();
        move |event| {
            let query = query.get_untracked();
            go(LogQuery {
                previous: event_target_checked(&event),
                ..query
            });
        }
    };
    let since = RwSignal::new(query.with_untracked(|query| since::choice(query.since)));
    let choose_since = {
        let go = go.clone();
        move |chosen: String| {
            let query = query.get_untracked();
            go(LogQuery {
                since: since::seconds(Some(&chosen)),
                ..query
            });
        }
    };
    let choose_until = {
        let go = go.clone();
        move |until: Option<u32>| {
            let query = query.get_untracked();
            if query.until != until {
                go(LogQuery { until, ..query });
            }
        }
    };
    let timestamps = move |event| {
        let query = query.get_untracked();
        go(LogQuery {
            timestamps: event_target_checked(&event),
            ..query
        });
    };
    view! {
        <div class="console-head">
            <div class="w-44">
                <SelectField
                    id="log-container"
                    label="Container"
                    value=container
                    choices
                    on_change=Callback::new(choose)
                />
            </div>
            <div class="w-44">
                <SelectField
                    id="log-since"
                    label="Time range"
                    value=since
                    choices=since::choices("Last 1,000 lines")
                    on_change=Callback::new(choose_since)
                />
            </div>
            <div class="w-56">
                <UntilField
                    until=Signal::derive(move || query.with(|query| query.until))
                    since=Signal::derive(move || query.with(|query| query.since))
                    on_change=Callback::new(choose_until)
                />
            </div>
            <div class="w-44">
                <SelectField id="log-levels" label="Levels" value=levels choices=level::choices() />
            </div>
            <label class="check self-end">
                <input
                    type="checkbox"
                    prop:checked=move || query.with(|query| query.previous)
                    disabled=move || !has_previous.get() && !query.with(|query| query.previous)
                    aria-describedby="previous-hint"
                    on:change=previous
                />
                "Previous run"
                <span id="previous-hint" class="text-faint">
                    {move || (!has_previous.get()).then_some("(not restarted yet)")}
                </span>
            </label>
            <label class="check self-end">
                <input
                    type="checkbox"
                    prop:checked=move || query.with(|query| query.timestamps)
                    on:change=timestamps
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
