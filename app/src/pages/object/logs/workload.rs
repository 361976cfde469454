//! The logs of several pods, merged as they arrive: those of a workload or Service, or those that a list of
//! pods shows. Pods that appear join, and lines of pods that are gone stay.
use super::{
    followed::{self, Lines, MAX_LOGS, Picked, PodKey},
    options::Options,
    pane::Pane,
    stage::LogSource,
};
use crate::{
    api::{objects::get_related, resources::pods_of_list},
    components::ErrorState,
    context::use_session,
    error::UiError,
    format,
    hooks::use_poll,
    ui::{Choice, SkeletonLines, StateMessage, icons},
};
use leptos::prelude::*;
use portico_domain::panel::{ListQuery, ObjectRef, PodList};
use std::{collections::BTreeSet, time::Duration};
use uuid::Uuid;

/// The pods whose logs are shown.
#[derive(Clone)]
pub enum PodSet {
    /// Those of a workload or Service.
    Of(ObjectRef),
    /// Those that a list shows.
    Listed(ListQuery),
}

impl PodSet {
    async fn read(self, cluster: Uuid) -> Result<PodList, UiError> {
        match self {
            Self::Of(object) => {
                let related = get_related(cluster, object).await?;
                Ok(related.pods.unwrap_or_default())
            }
            Self::Listed(query) => pods_of_list(cluster, query).await,
        }
    }

    /// Returns how often new pods are looked for. Those of a list are filtered anew each time.
    fn refresh_interval(&self) -> Duration {
        match self {
            Self::Of(_) => Duration::from_secs(3),
            Self::Listed(_) => Duration::from_secs(10),
        }
    }

    /// Returns the name of a downloaded file.
    fn file(&self) -> String {
        match self {
            Self::Of(object) => format!("{}.log", object.name),
            Self::Listed(_) => "pods.log".to_owned(),
        }
    }

    /// Returns whether the pods may be in several namespaces.
    fn has_namespaces(&self) -> bool {
        matches!(self, Self::Listed(query) if query.namespaces.len() != 1)
    }

    /// Returns which pods are shown if there are too many.
    fn order(&self) -> &'static str {
        match self {
            Self::Of(_) => "those that need attention first",
            Self::Listed(_) => "the first by name; narrow the list to see others",
        }
    }
}

#[component]
pub fn WorkloadLogs(cluster: Uuid, set: PodSet) -> impl IntoView {
    let session = use_session();
    let pods = RwSignal::new(None::<Result<PodList, UiError>>);
    let asked = set.clone();
    let read = move || {
        let asked = asked.clone().read(cluster);
        leptos::task::spawn_local(async move {
            let answer = asked.await;
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
    use_poll(set.refresh_interval(), read);
    let state = Memo::new(move |before: Option<&State>| {
        pods.with(|pods| match pods {
            None => State::Loading,
            // the lines of pods that are gone stay
            Some(Ok(list)) if list.pods.is_empty() && before != Some(&State::Pods) => State::Empty,
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
        State::Pods => view! { <Console cluster set=set.clone() pods=known /> }.into_any(),
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
fn Console(cluster: Uuid, set: PodSet, pods: Memo<PodList>) -> impl IntoView {
    let picked = RwSignal::new(Picked {
        with_namespaces: set.has_namespaces(),
        ..Picked::default()
    });
    let read = RwSignal::new(Lines::default());
    let levels = RwSignal::new(String::new());
    let wrap = RwSignal::new(true);
    let needle = RwSignal::new(String::new());
    let file = set.file();
    let offered = Memo::new(move |before: Option<&Vec<PodKey>>| {
        let before = before.map(Vec::as_slice).unwrap_or_default();
        pods.with(|list| followed::offered(&list.pods, before))
    });
    view! {
        <section class="card" aria-label="Log">
            {options(picked, read, pods, levels, wrap).view()}
            <PodPicker picked read pods offered order=set.order() />
            // keyed, as other lines are another pane: those of before are not part of the view
            <For
                each=move || [read.get()]
                key=|lines| *lines
                children=move |lines| {
                    // a memo: equal sources must not open their logs again
                    let sources = Memo::new(move |before: Option<&Vec<LogSource>>| {
                        let before = before.map(Vec::as_slice).unwrap_or_default();
                        let offered = offered.get();
                        picked.with(|picked| {
                            pods.with(|list| picked.sources(&list.pods, &offered, lines, before).0)
                        })
                    });
                    let file = file.clone();
                    let nothing = Signal::derive(move || {
                        let has_pods = pods.with(|list| !list.pods.is_empty());
                        picked.with(|picked| picked.why_no_logs(has_pods, lines))
                    });
                    view! {
                        <Pane cluster sources=sources.into() nothing file wrap needle levels />
                    }
                }
            />
        </section>
    }
    .into_any()
}

/// Returns the options of the logs of several pods.
fn options(
    picked: RwSignal<Picked>,
    read: RwSignal<Lines>,
    pods: Memo<PodList>,
    levels: RwSignal<String>,
    wrap: RwSignal<bool>,
) -> Options {
    let names = Memo::new(move |_| {
        pods.with(|list| {
            let names = list.pods.iter().flat_map(|pod| pod.containers.clone());
            names.collect::<BTreeSet<String>>()
        })
    });
    let containers = Signal::derive(move || {
        let names = names.get();
        if names.len() < 2 {
            return Vec::new();
        }
        let mut choices = vec![Choice::new("", "All containers")];
        choices.extend(
            names
                .into_iter()
                .map(|name| Choice::new(name.clone(), name)),
        );
        choices
    });
    let has_previous =
        Memo::new(move |_| pods.with(|list| list.pods.iter().any(|pod| !pod.previous.is_empty())));
    let choose_container = move |name: String| picked.update(|picked| picked.container = name);
    Options {
        container: RwSignal::new(String::new()),
        containers,
        choose_container: Callback::new(choose_container),
        lines: read.into(),
        change_lines: Callback::new(move |lines: Lines| read.set(lines)),
        has_previous: has_previous.into(),
        without_range: "Last 200 lines of each",
        levels,
        wrap,
    }
}

/// The pods to choose from, and how many of all are followed.
#[component]
fn PodPicker(
    picked: RwSignal<Picked>,
    read: RwSignal<Lines>,
    pods: Memo<PodList>,
    offered: Memo<Vec<PodKey>>,
    order: &'static str,
) -> impl IntoView {
    let pod = move |pod: PodKey| {
        let name = picked.with_untracked(|picked| picked.name(&pod));
        let shown = pod.clone();
        view! {
            <label class="check">
                <input
                    type="checkbox"
                    prop:checked=move || picked.with(|picked| !picked.hidden.contains(&shown))
                    on:change=move |event| {
                        let is_checked = event_target_checked(&event);
                        picked.update(|picked| {
                            if is_checked {
                                picked.hidden.remove(&pod);
                            } else {
                                picked.hidden.insert(pod.clone());
                            }
                        });
                    }
                />
                <span class="wrap-anywhere">{name}</span>
            </label>
        }
    };
    let notes = Memo::new(move |_| {
        let (total, lines) = (pods.with(|list| list.total), read.get());
        let offered = offered.get();
        let (_, logs) = picked
            .with(|picked| pods.with(|list| picked.sources(&list.pods, &offered, lines, &[])));
        not_followed(offered.len(), total, logs, lines.previous, order)
    });
    view! {
        <fieldset class="log-pods">
            <legend class="visually-hidden">"Pods"</legend>
            <For each=move || offered.get() key=Clone::clone children=pod />
            {move || notes.get().into_iter().map(|note| view! {
                <span class="text-muted">{note}</span>
            }).collect_view()}
        </fieldset>
    }
    .into_any()
}

/// Returns what is not followed, in words. `logs` is the number of logs of the selected pods.
fn not_followed(
    offered: usize,
    total: usize,
    logs: usize,
    is_previous: bool,
    order: &'static str,
) -> Vec<String> {
    let mut notes = Vec::new();
    if total > offered {
        let pods = format::counted(total, "pod");
        notes.push(format!("{offered} of {pods} are shown: {order}."));
    }
    if logs > MAX_LOGS {
        notes.push(format!(
            "{MAX_LOGS} of {logs} logs are followed. Choose a container or fewer pods to see the others."
        ));
    }
    if total == 0 {
        notes.push("There are no pods at present.".to_owned());
    } else if logs == 0 && is_previous {
        notes.push("No chosen container has run before.".to_owned());
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::not_followed;

    #[test]
    fn what_is_not_followed_is_named() {
        let of = |offered, total, logs, is_previous| {
            not_followed(offered, total, logs, is_previous, "the first by name")
        };
        assert!(of(3, 3, 6, false).is_empty());
        assert_eq!(
            of(20, 1_234, 20, false),
            ["20 of 1,234 pods are shown: the first by name."]
        );
        assert_eq!(
            of(20, 20, 40, false),
            ["20 of 40 logs are followed. Choose a container or fewer pods to see the others."]
        );
        assert_eq!(of(2, 2, 0, true), ["No chosen container has run before."]);
        assert_eq!(of(0, 0, 0, false), ["There are no pods at present."]);
    }
}
