//! The logs of all pods of a workload or Service, merged as they arrive. Pods that a rollout creates
//! join, and lines of pods that it removes stay.
use super::{level, pane::Pane, since, stage::LogSource};
use crate::{
    api::objects::get_related,
    components::ErrorState,
    context::use_session,
    error::UiError,
    hooks::use_poll,
    ui::{Choice, SelectField, SkeletonLines, StateMessage, icons},
};
use leptos::prelude::*;
use portico_domain::{
    panel::{ObjectView, PodSummary},
    stream::LogQuery,
};
use std::{collections::BTreeSet, time::Duration};
use uuid::Uuid;

/// The lines of each pod to start with.
const TAIL_LINES: u32 = 200;
/// Maximum number of pods that are followed at once.
const MAX_PODS: usize = 20;
/// How often new pods are looked for.
const REFRESH_INTERVAL: Duration = Duration::from_secs(3);

#[component]
pub fn WorkloadLogs(cluster: Uuid, object: ObjectView) -> impl IntoView {
    let session = use_session();
    let pods = RwSignal::new(None::<Result<Vec<PodSummary>, UiError>>);
    let name = object.reference.name.clone();
    let reference = object.reference;
    let read = move || {
        let asked = get_related(cluster, reference.clone());
        leptos::task::spawn_local(async move {
            let answer = asked.await.map(|view| view.pods.unwrap_or_default().pods);
            let _ = pods.try_maybe_update(|known| {
                // a failure leaves what is followed
                if answer.is_err() && matches!(known, Some(Ok(_))) {
                    return (false, ());
                }
                let differs = known.as_ref() != Some(&answer);
                *known = Some(answer);
                (differs, ())
            });
        });
    };
    session.project.track();
    read();
    let retry = {
        let read = read.clone();
        Callback::new(move |()| read())
    };
    use_poll(REFRESH_INTERVAL, read);
    let state = Memo::new(move |_| {
        pods.with(|pods| match pods {
            None => State::Loading,
            Some(Ok(pods)) if pods.is_empty() => State::Empty,
            Some(Ok(_)) => State::Pods,
            Some(Err(error)) => State::Failed(error.clone()),
        })
    });
    let known = Memo::new(move |_| {
        let found = pods.with(|pods| pods.as_ref().and_then(|pods| pods.as_ref().ok()).cloned());
        found.unwrap_or_default()
    });
    move || {
        match state.get() {
        State::Loading => view! { <div class="card card-body"><SkeletonLines lines=6 /></div> }.into_any(),
        State::Empty => view! {
            <div class="card">
                <StateMessage
                    icon=icons::LOGS
                    title="No pods"
                    text="There are no pods whose logs could be shown. They appear here when there are some."
                    state="empty"
                />
            </div>
        }
        .into_any(),
        State::Failed(error) => {
            view! { <div class="card"><ErrorState error retry /></div> }.into_any()
        }
        State::Pods => view! { <Console cluster name=name.clone() pods=known /> }.into_any(),
    }
    }
}

#[derive(Clone, Debug, PartialEq)]
enum State {
    Loading,
    Empty,
    Pods,
    Failed(UiError),
}

#[component]
fn Console(cluster: Uuid, name: String, pods: Memo<Vec<PodSummary>>) -> impl IntoView {
    let hidden = RwSignal::new(BTreeSet::<String>::new());
    let container = RwSignal::new(String::new());
    let timestamps = RwSignal::new(false);
    let since = RwSignal::new(String::new());
    let levels = RwSignal::new(String::new());
    let wrap = RwSignal::new(true);
    let needle = RwSignal::new(String::new());
    let containers = Memo::new(move |_| {
        let names: BTreeSet<String> =
            pods.with(|pods| pods.iter().flat_map(|pod| pod.containers.clone()).collect());
        names
    });
    let choices = Signal::derive(move || {
        let names = containers.get();
        let mut choices = vec![Choice::new("", "All containers")];
        choices.extend(
            names
                .into_iter()
                .map(|name| Choice::new(name.clone(), name)),
        );
        choices
    });
    let sources = Signal::derive(move || {
        let (hidden, container) = (hidden.get(), container.get());
        let (timestamps, since) = (timestamps.get(), since.get());
        pods.with(|pods| {
            sources(
                pods,
                &hidden,
                &container,
                timestamps,
                since::seconds(Some(&since)),
            )
        })
    });
    // equal sources must not open their logs again
    let sources = Memo::new(move |_| sources.get());
    let left_out = move || pods.with(Vec::len).saturating_sub(MAX_PODS);
    let picker = move || {
        pods.get()
            .into_iter()
            .take(MAX_PODS)
            .map(|pod| {
                let name = pod.object.name;
                let (shown, toggled) = (name.clone(), name.clone());
                view! {
                    <label class="check">
                        <input
                            type="checkbox"
                            prop:checked=move || hidden.with(|hidden| !hidden.contains(&shown))
                            on:change=move |event| {
                                let checked = event_target_checked(&event);
                                hidden.update(|hidden| {
                                    if checked {
                                        hidden.remove(&toggled);
                                    } else {
                                        hidden.insert(toggled.clone());
                                    }
                                });
                            }
                        />
                        <span class="wrap-anywhere">{name}</span>
                    </label>
                }
            })
            .collect_view()
    };
    let file = format!("{name}.log");
    view! {
        <section class="card" aria-label="Log">
            <div class="console-head">
                <Show when=move || containers.with(|names| names.len() > 1)>
                    <div class="w-44">
                        <SelectField id="log-container" label="Container" value=container choices />
                    </div>
                </Show>
                <div class="w-44">
                    <SelectField id="log-since" label="Time range" value=since choices=since::choices("Last 200 lines of each") />
                </div>
                <div class="w-44">
                    <SelectField id="log-levels" label="Levels" value=levels choices=level::choices() />
                </div>
                <label class="check self-end">
                    <input
                        type="checkbox"
                        prop:checked=move || timestamps.get()
                        on:change=move |event| timestamps.set(event_target_checked(&event))
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
            <fieldset class="log-pods">
                <legend class="visually-hidden">"Pods"</legend>
                {picker}
                {move || (left_out() > 0).then(|| view! {
                    <span class="text-muted">{left_out}" more pods are not followed"</span>
                })}
            </fieldset>
            <Pane cluster sources=sources.into() file wrap needle levels />
        </section>
    }
    .into_any()
}

fn sources(
    pods: &[PodSummary],
    hidden: &BTreeSet<String>,
    container: &str,
    timestamps: bool,
    since: Option<u32>,
) -> Vec<LogSource> {
    let shown: Vec<_> = pods
        .iter()
        .take(MAX_PODS)
        .filter(|pod| !hidden.contains(&pod.object.name))
        .collect();
    let of_pod = |pod: &&PodSummary| {
        let names = pod.containers.iter();
        let pod_name = pod.object.name.clone();
        let namespace = pod.object.namespace.clone().unwrap_or_default();
        let several = container.is_empty() && pod.containers.len() > 1;
        names
            .filter(|name| container.is_empty() || *name == container)
            .map(|name| LogSource {
                prefix: if several {
                    format!("[{pod_name}/{name}]")
                } else {
                    format!("[{pod_name}]")
                },
                query: LogQuery {
                    namespace: namespace.clone(),
                    pod: pod_name.clone(),
                    container: name.clone(),
                    previous: false,
                    follow: true,
                    timestamps,
                    tail: since::tail(since, TAIL_LINES),
                    since,
                    until: None,
                },
            })
            .collect::<Vec<_>>()
    };
    let mut found: Vec<_> = shown.iter().flat_map(of_pod).take(MAX_PODS).collect();
    // the pods are in order of their need of attention, which changes
    found.sort_by(|one, other| {
        let key = |source: &LogSource| (source.query.pod.clone(), source.query.container.clone());
        key(one).cmp(&key(other))
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::panel::{Health, ObjectRef, ResourceRef};

    fn pod(name: &str, containers: &[&str]) -> PodSummary {
        PodSummary {
            object: ObjectRef {
                resource: ResourceRef::core("pods"),
                namespace: Some("shop".to_owned()),
                name: name.to_owned(),
            },
            health: Health::Ok,
            status: String::new(),
            ready: (1, 1),
            restarts: 0,
            node: None,
            created_at: None,
            containers: containers.iter().map(|&name| name.to_owned()).collect(),
            previous: Vec::new(),
        }
    }

    #[test]
    fn need_03_every_container_of_every_shown_pod_is_followed() {
        let pods = [pod("web-2", &["main", "proxy"]), pod("web-1", &["main"])];
        let prefixes = |hidden: &[&str], container: &str| -> Vec<String> {
            let hidden = hidden.iter().map(|&name| name.to_owned()).collect();
            let found = sources(&pods, &hidden, container, false, None);
            found.into_iter().map(|source| source.prefix).collect()
        };
        assert_eq!(
            prefixes(&[], ""),
            ["[web-1]", "[web-2/main]", "[web-2/proxy]"]
        );
        assert_eq!(prefixes(&[], "main"), ["[web-1]", "[web-2]"]);
        assert_eq!(prefixes(&["web-2"], ""), ["[web-1]"]);
    }
}
