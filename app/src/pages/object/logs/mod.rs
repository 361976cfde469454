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
mod options;
mod pane;
mod search;
mod since;
mod stage;
mod tools;
mod until;
mod workload;

use crate::{
    context::use_session,
    format, moment,
    routes::{self, Tab},
    ui::{Banner, Choice, Tone},
};
use followed::Lines;
use leptos::prelude::*;
use leptos_router::{
    NavigateOptions,
    hooks::{use_navigate, use_query_map},
};
use options::Options;
use pane::Pane;
use portico_domain::{
    panel::{Health, ListQuery, ObjectView},
    stream::LogQuery,
};
use stage::LogSource;
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
        let until = url.with(|url| url.get_str("until").and_then(moment::seconds));
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
    let options = options(&object, query, base, wrap, levels);
    view! {
        <section class="card" aria-label="Log">
            {options.view()}
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

/// Returns the options of the log of a pod, which the address holds.
fn options(
    object: &ObjectView,
    query: Memo<LogQuery>,
    base: String,
    wrap: RwSignal<bool>,
    levels: RwSignal<String>,
) -> Options {
    let navigate = use_navigate();
    let go = move |container: &str, lines: Lines| {
        let mut pairs = vec![format!("container={container}")];
        if lines.previous {
            pairs.push("previous=1".to_owned());
        }
        if lines.timestamps {
            pairs.push("timestamps=1".to_owned());
        }
        if let Some(since) = lines.since {
            pairs.push(format!("since={since}"));
        }
        if let Some(until) = lines.until {
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
    let lines = Memo::new(move |_| {
        query.with(|query| Lines {
            previous: query.previous,
            timestamps: query.timestamps,
            since: query.since,
            until: query.until,
        })
    });
    let containers: Vec<Choice> = object
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
    let choose_container = {
        let go = go.clone();
        move |name: String| {
            let lines = Lines {
                previous: false,
                ..lines.get_untracked()
            };
            go(&name, lines);
        }
    };
    let change_lines = move |lines: Lines| {
        let container = query.with_untracked(|query| query.container.clone());
        go(&container, lines);
    };
    Options {
        container: RwSignal::new(query.with_untracked(|query| query.container.clone())),
        containers: Signal::stored(containers),
        choose_container: Callback::new(choose_container),
        lines: lines.into(),
        change_lines: Callback::new(change_lines),
        has_previous: has_previous.into(),
        without_range: "Last 1,000 lines",
        levels,
        wrap,
    }
}
