//! The page of one object: its fields, the reason for its status, and its actions.
mod changes;
mod choose_pod;
mod creation;
mod edit;
mod events;
mod follow;
mod live;
mod logs;
mod overview;
mod terminal;
mod yaml;

use crate::{
    api::objects::get_object,
    components::{Crumb, ErrorState, FormOutcome, PageHead},
    context::use_session,
    hooks::{refresh_quietly, use_poll},
    kind_names,
    pages::{lazy, not_found::Nowhere, use_cluster_id, use_parameter},
    routes::{self, Tab},
    ui::{Badge, Banner, LinkTab, SkeletonLines, Status, Tone, Why, icons, kind_icon, suspended},
};
use changes::{ChangeDialog, Controls, Dialogs};
use leptos::prelude::*;
pub use live::Live;
pub use logs::of_list as listed_logs;
use portico_domain::panel::{
    Action, Health, ObjectRef, ObjectView, Refusal, ResourceKind, ResourceRef, RightQuestion,
};
use std::time::Duration;
use uuid::Uuid;

/// How often an object is read in addition to its changes, if its health changes without them.
const HEALTH_POLL_INTERVAL: Duration = Duration::from_secs(30);

#[component]
pub fn Object() -> impl IntoView {
    let cluster = use_cluster_id();
    let [namespace, group, version, plural, name, tab] =
        ["namespace", "group", "version", "plural", "name", "tab"].map(use_parameter);
    let target = Memo::new(move |_| {
        let object = ObjectRef {
            resource: ResourceRef::new(
                &routes::group_of(&group.get()),
                &version.get(),
                &plural.get(),
            ),
            namespace: Some(namespace.get()).filter(|name| !name.is_empty()),
            name: name.get(),
        };
        cluster.get().map(|cluster| (cluster, object))
    });
    let tab = Memo::new(move |_| tab.with(|tab| Tab::parse(tab)));
    let is_tab = Memo::new(move |_| tab.with(Option::is_some));
    // outside of the page: a change of tab must not create the page again
    let tab = Signal::derive(move || tab.get().unwrap_or(Tab::Overview));
    move || match (target.get(), is_tab.get()) {
        (Some((cluster, object)), true) => view! { <ObjectPage cluster object tab /> }.into_any(),
        _ => view! { <Nowhere /> }.into_any(),
    }
}

#[component]
fn ObjectPage(cluster: Uuid, object: ObjectRef, tab: Signal<Tab>) -> impl IntoView {
    let session = use_session();
    let asked = object.clone();
    let data = Resource::new(
        move || session.project.get(),
        move |_| get_object(cluster, asked.clone()),
    );
    let retry = Callback::new(move |()| data.refetch());
    let gone = RwSignal::new(false);
    let outdated = RwSignal::new(false);
    let changes = RwSignal::new(0_u32);
    let again = {
        let object = object.clone();
        Callback::new(move |()| {
            changes.update(|changes| *changes += 1);
            refresh_quietly(data, outdated, get_object(cluster, object.clone()));
        })
    };
    follow::follow(cluster, object.clone(), data, gone, again);
    let is_shown = Memo::new(move |_| tab.get() == Tab::Overview);
    let related = overview::Related::read(cluster, &object, changes, is_shown);
    let usage = overview::Usage::read(cluster, &object, is_shown);
    // progress becomes a warning when its deadline passes, and a Service depends on its endpoints:
    // neither changes the object
    let depends_on_others = depends_on_others(&object.resource);
    use_poll(HEALTH_POLL_INTERVAL, move || {
        let progressing = data.try_with_untracked(
            |data| matches!(data, Some(Ok(object)) if object.health == Health::Progressing),
        );
        if depends_on_others || progressing == Some(true) {
            again.run(());
        }
    });
    // beside the object on the page, which is replaced with each change
    let live = RwSignal::new(None::<Live>);
    Effect::new(move |_| {
        let next = data.with(|data| match data {
            Some(Ok(object)) => Live::of(tab.get(), object),
            _ => None,
        });
        live.maybe_update(|live| {
            let differs = live.as_ref().map(Live::key) != next.as_ref().map(Live::key);
            if differs {
                *live = next;
            }
            differs
        });
    });
    let dialogs = Dialogs::new();
    let project = session.project.get_untracked();
    let crumbs = move |kind: Option<&ResourceKind>| {
        let resource = &object.resource;
        let plural = kind.map_or_else(|| kind_names::plural(resource), ResourceKind::plural_name);
        vec![
            Crumb::new(
                untrack(|| session.cluster_name(cluster)),
                routes::cluster(&project, cluster),
            ),
            Crumb::new(plural, routes::list(&project, cluster, resource)),
        ]
    };
    let name = object.name.clone();
    view! {
        <FormOutcome />
        <Suspense fallback=loading>
            {move || {
                let (crumbs, name) = (crumbs.clone(), name.clone());
                suspended(async move {
                    match data.await {
                        Ok(object) => {
                            let crumbs = crumbs(Some(&object.kind));
                            let shown = Shown { cluster, tab, dialogs, related, usage, changes, gone };
                            shown.view(object, crumbs)
                        }
                        Err(error) => view! {
                            <PageHead title=name crumbs=crumbs(None) />
                            <div class="card"><ErrorState error retry /></div>
                        }
                        .into_any(),
                    }
                })
            }}
        </Suspense>
        {move || live.get().map(|live| view! {
            <Suspense fallback=loading_part>{suspended(lazy::live(cluster, live))}</Suspense>
        })}
        <ChangeDialog cluster dialogs again />
    }
    .into_any()
}

/// Returns whether the health of a kind depends on objects whose changes are not followed.
fn depends_on_others(resource: &ResourceRef) -> bool {
    matches!(
        resource.plural.as_str(),
        "services" | "ingresses" | "cronjobs"
    )
}

fn loading_part() -> AnyView {
    view! {
        <div class="card card-body">
            <SkeletonLines lines=6 />
        </div>
    }
    .into_any()
}

fn loading() -> AnyView {
    view! {
        <div class="page-head">
            <span class="skeleton w-64"></span>
        </div>
        <div class="card card-body">
            <SkeletonLines lines=6 />
        </div>
    }
    .into_any()
}

/// The data of an object's page besides the object.
#[derive(Clone, Copy)]
struct Shown {
    cluster: Uuid,
    tab: Signal<Tab>,
    dialogs: Dialogs,
    related: overview::Related,
    usage: overview::Usage,
    changes: RwSignal<u32>,
    /// Whether the object has been deleted since it was shown.
    gone: RwSignal<bool>,
}

impl Shown {
    fn view(self, object: ObjectView, crumbs: Vec<Crumb>) -> AnyView {
        let aside = view! {
            <Badge text=object.kind.kind.clone() />
            {object.reference.namespace.clone().map(|namespace| view! {
                <span class="visually-hidden">"Namespace"</span>
                <Badge text=namespace icon=icons::LAYERS />
            })}
            <Status tone=Tone::from(object.health) text=object.status.clone() />
        }
        .into_any();
        let kind = &object.reference.resource;
        let icon = kind_icon(&kind.group, &kind.plural);
        let actions = view! {
            {creation::create_link(self.cluster, &object)}
            <Controls cluster=self.cluster object=object.clone() dialogs=self.dialogs />
        }
        .into_any();
        let tabs = self.tabs(&object);
        // here, as an object that never existed has no last state to show
        let deleted = move || {
            self.gone.get().then(|| {
                view! {
                    <div class="mb-4">
                        <Banner tone=Tone::Warn alert=true>
                            "This object was deleted. Its last known state is shown."
                        </Banner>
                    </div>
                }
            })
        };
        view! {
            {deleted}
            <PageHead title=object.reference.name.clone() icon crumbs aside actions />
            <changes::WithoutScripts cluster=self.cluster object=object.clone() />
            {tabs}
            {move || self.content(&object)}
        }
        .into_any()
    }

    fn tabs(self, object: &ObjectView) -> AnyView {
        let project = use_session().project.get_untracked();
        let mut tabs: Vec<(Tab, &'static str, Option<Action>)> = vec![
            (Tab::Overview, "Overview", None),
            (Tab::Yaml, "YAML", Some(Action::ViewYaml)),
            (Tab::Edit, "Edit", Some(Action::Edit)),
            (Tab::Events, "Events", Some(Action::ViewEvents)),
        ];
        if has_logs(object) {
            tabs.push((Tab::Logs, "Logs", Some(Action::ViewLogs)));
            tabs.push((Tab::Terminal, "Terminal", Some(Action::OpenTerminal)));
        }
        let links = tabs
            .into_iter()
            .map(|(which, label, action)| {
                let refused = action.and_then(|action| refusal(object, action));
                if let Some(reason) = refused {
                    let (id, name) = why_id(which);
                    let who_can = action.and_then(|action| who_can(object, action, self.cluster));
                    return view! { <Why id label reason action=name class="tab" who_can /> }
                        .into_any();
                }
                let href = routes::object_tab(&project, self.cluster, &object.reference, which);
                let current = Signal::derive(move || self.tab.get() == which);
                view! { <LinkTab href label current action=why_id(which).1 /> }.into_any()
            })
            .collect_view();
        view! {
            <nav class="tabs" aria-label="Parts of this object">
                {links}
            </nav>
        }
        .into_any()
    }

    fn content(self, object: &ObjectView) -> AnyView {
        let refused = |action, what: &str| {
            refusal(object, action).map(|reason| {
                let refusal = Refusal {
                    reason,
                    missing: missing(object, action).map(Box::new),
                };
                let state = crate::components::not_permitted(what, &refusal);
                view! { <div class="card">{state}</div> }.into_any()
            })
        };
        let (cluster, reference) = (self.cluster, object.reference.clone());
        match self.tab.get() {
            Tab::Overview => {
                overview::view(object, cluster, self.related, self.usage, self.dialogs)
            }
            Tab::Yaml => refused(Action::ViewYaml, "see the YAML").unwrap_or_else(|| {
                view! { <yaml::Yaml cluster object=reference changes=self.changes /> }.into_any()
            }),
            Tab::Edit => refused(Action::Edit, "edit this object")
                .unwrap_or_else(|| edit::without_scripts(object)),
            Tab::Events => refused(Action::ViewEvents, "see the events").unwrap_or_else(|| {
                view! { <events::Events cluster object=reference changes=self.changes /> }
                    .into_any()
            }),
            Tab::Logs | Tab::Terminal if !has_logs(object) => view! { <Nowhere /> }.into_any(),
            Tab::Logs => refused(Action::ViewLogs, "see the logs")
                .unwrap_or_else(|| logs::without_scripts(object)),
            Tab::Terminal if object.containers.is_empty() => {
                refused(Action::OpenTerminal, "open a terminal").unwrap_or_else(|| {
                    view! { <choose_pod::ChoosePod cluster object=reference /> }.into_any()
                })
            }
            Tab::Terminal => refused(Action::OpenTerminal, "open a terminal")
                .unwrap_or_else(|| terminal::without_scripts(object)),
        }
    }
}

/// Returns whether an object is a pod or has pods of its own.
fn has_logs(object: &ObjectView) -> bool {
    let offers = object
        .actions
        .iter()
        .any(|state| state.action == Action::ViewLogs);
    offers && (!object.containers.is_empty() || object.pod_selector.is_some())
}

/// Returns the reason why the viewer may not, or `None` if they may.
fn refusal(object: &ObjectView, action: Action) -> Option<String> {
    object
        .actions
        .iter()
        .find(|state| state.action == action && !state.allowed)
        .map(|state| {
            state
                .reason
                .clone()
                .unwrap_or_else(|| "Your roles do not include it.".to_owned())
        })
}

/// Returns the address of the page that shows who has the permission that is missing for an action.
fn who_can(object: &ObjectView, action: Action, cluster: Uuid) -> Option<String> {
    let project = use_session().project.get_untracked();
    Some(routes::who_can(
        &project,
        cluster,
        &missing(object, action)?,
    ))
}

/// Returns the permission that is missing for an action.
fn missing(object: &ObjectView, action: Action) -> Option<RightQuestion> {
    let state = object.actions.iter().find(|state| state.action == action)?;
    state.missing.clone()
}

fn why_id(tab: Tab) -> (&'static str, &'static str) {
    match tab {
        Tab::Overview => ("why-overview", "view_overview"),
        Tab::Yaml => ("why-yaml", "view_yaml"),
        Tab::Edit => ("why-edit", "edit"),
        Tab::Events => ("why-events", "view_events"),
        Tab::Logs => ("why-logs", "view_logs"),
        Tab::Terminal => ("why-terminal", "open_terminal"),
    }
}
