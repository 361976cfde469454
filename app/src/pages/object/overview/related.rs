//! What belongs to the object, read beside the object itself: pods, revisions, tables and related
//! objects.
use super::{pods, revisions, rollout, tables};
use crate::{
    api::objects::get_related,
    components::{ErrorState, who_can_link},
    context::use_session,
    error::UiError,
    format,
    hooks::{refresh_quietly, use_poll},
    pages::object::changes::Dialogs,
    routes,
    ui::{Card, Icon, SkeletonTable, Status, Tone, icons, kind_icon, suspended},
};
use leptos::prelude::*;
use portico_domain::panel::{
    Instances, ObjectRef, ObjectView, Refusal, RelatedGroup, RelatedObject, RelatedView,
    ResourceRef,
};
use std::time::Duration;
use uuid::Uuid;

/// How often related objects are read again, besides after each change of the object itself.
const REFRESH_INTERVAL: Duration = Duration::from_secs(10);

/// What belongs to an object, as the page's parts share it.
#[derive(Clone, Copy)]
pub struct Related(Resource<Result<RelatedView, UiError>>);

impl Related {
    /// Reads it while it is shown, and again after each of the object's `changes`.
    pub fn read(
        cluster: Uuid,
        object: &ObjectRef,
        changes: RwSignal<u32>,
        is_shown: Memo<bool>,
    ) -> Self {
        let session = use_session();
        let object = object.clone();
        let ask = move || get_related(cluster, object.clone());
        let data = Resource::new(move || (session.project.get(), is_shown.get()), {
            let ask = ask.clone();
            move |(_, is_shown): (String, bool)| {
                let ask = is_shown.then(&ask);
                async move {
                    match ask {
                        Some(ask) => ask.await,
                        None => Ok(RelatedView::default()),
                    }
                }
            }
        });
        let outdated = RwSignal::new(false);
        let again = move || {
            if is_shown.get_untracked() {
                refresh_quietly(data, outdated, ask());
            }
        };
        use_poll(REFRESH_INTERVAL, again.clone());
        Effect::new(move |known: Option<u32>| {
            let now = changes.get();
            if known.is_some_and(|known| known != now) {
                again();
            }
            now
        });
        Self(data)
    }

    /// Shows the rollout and the pods of an object that has them.
    pub fn pods(self, cluster: Uuid, object: &ObjectView) -> AnyView {
        if !has_pods(object) {
            return ().into_any();
        }
        let object = object.clone();
        view! {
            <Suspense fallback=|| view! { <div class="card mb-4"><SkeletonTable rows=3 /></div> }>
                {move || {
                    let object = object.clone();
                    suspended(async move {
                        let Ok(related) = self.0.await else { return ().into_any() };
                        view! {
                            {related.rollout.map(rollout::view)}
                            {related.pods.map(|list| pods::view(list, &object, cluster))}
                        }
                        .into_any()
                    })
                }}
            </Suspense>
        }
        .into_any()
    }

    /// Shows tables, revisions, related objects and what could not be read.
    pub fn rest(self, cluster: Uuid, object: &ObjectView, dialogs: Dialogs) -> AnyView {
        let object = object.clone();
        let retry = Callback::new(move |()| self.0.refetch());
        view! {
            <Suspense fallback=|| view! { <div class="card mt-4"><SkeletonTable rows=3 /></div> }>
                {move || {
                    let object = object.clone();
                    suspended(async move {
                        match self.0.await {
                            Ok(related) => rest(related, &object, cluster, dialogs),
                            Err(error) => view! {
                                <div class="card mt-4"><ErrorState error retry /></div>
                            }
                            .into_any(),
                        }
                    })
                }}
            </Suspense>
        }
        .into_any()
    }
}

/// Returns whether the page reserves the place of a pod table.
fn has_pods(object: &ObjectView) -> bool {
    let resource = &object.reference.resource;
    object.pod_selector.is_some() || *resource == ResourceRef::core("nodes")
}

fn rest(related: RelatedView, object: &ObjectView, cluster: Uuid, dialogs: Dialogs) -> AnyView {
    let project = use_session().project.get_untracked();
    let notes = related
        .notes
        .into_iter()
        .map(|note| {
            view! {
                <p class="note mt-4">
                    <Icon icon=icons::INFO />
                    <span>{note}</span>
                </p>
            }
        })
        .collect_view();
    let tables = related
        .tables
        .into_iter()
        .map(|table| tables::view(table, &project, cluster))
        .collect_view();
    let revisions = (!related.revisions.is_empty())
        .then(|| revisions::view(related.revisions, object, cluster, dialogs));
    let instances = related
        .instances
        .map(|instances| self::instances(&instances, &project, cluster));
    let groups = (!related.groups.is_empty()).then(|| groups(related.groups, &project, cluster));
    view! {
        {notes}
        {instances}
        {tables}
        {revisions}
        {groups}
        {gaps(&related.gaps)}
    }
    .into_any()
}

/// Returns the number of objects of a definition, with a link to their list.
fn instances(instances: &Instances, project: &str, cluster: Uuid) -> AnyView {
    let href = routes::list(project, cluster, &instances.resource);
    let text = match instances.count {
        Some(0) => "There are none in this cluster.".to_owned(),
        Some(count) => format!("{} in this cluster.", format::counted(count, "object")),
        None => "Your roles do not show how many there are in the whole cluster.".to_owned(),
    };
    let title = instances.title.clone();
    view! {
        <div class="mt-4">
            <Card title="Instances">
                <p class="flex flex-wrap items-center gap-3">
                    <a class="btn" href=href>{title}</a>
                    <span class="text-muted">{text}</span>
                </p>
            </Card>
        </div>
    }
    .into_any()
}

fn groups(groups: Vec<RelatedGroup>, project: &str, cluster: Uuid) -> AnyView {
    let groups = groups
        .into_iter()
        .map(|group| {
            let title = group.relation.title();
            let left_out = group.total - group.objects.len();
            let objects = group
                .objects
                .into_iter()
                .map(|related| entry(related, project, cluster))
                .collect_view();
            view! {
                <section class="related-group" aria-label=title>
                    <h3>{title}</h3>
                    <ul>{objects}</ul>
                    {(left_out > 0).then(|| view! {
                        <p class="text-muted">"and "{left_out}" more"</p>
                    })}
                </section>
            }
        })
        .collect_view();
    view! {
        <div class="mt-4">
            <Card title="Related objects">
                <div class="related">{groups}</div>
            </Card>
        </div>
    }
    .into_any()
}

fn entry(related: RelatedObject, project: &str, cluster: Uuid) -> AnyView {
    let resource = &related.object.resource;
    let icon = kind_icon(&resource.group, &resource.plural);
    let href = routes::object(project, cluster, &related.object);
    let status = related.health.map(|health| {
        view! { <Status tone=Tone::from(health) text=related.status.clone() /> }
    });
    view! {
        <li class="related-entry">
            <Icon icon />
            <span class="text-muted">{related.kind}</span>
            <a class="wrap-anywhere" href=href>{related.object.name}</a>
            {status}
        </li>
    }
    .into_any()
}

fn gaps(gaps: &[Refusal]) -> AnyView {
    if gaps.is_empty() {
        return ().into_any();
    }
    let rows = gaps
        .iter()
        .map(|gap| {
            let link = who_can_link(gap.missing.as_deref());
            view! { <li>{gap.reason.clone()} " " {link}</li> }
        })
        .collect_view();
    view! {
        <details class="fold mt-4">
            <summary>
                <Icon icon=icons::CHEVRON_RIGHT />
                "Some related objects may be missing"
            </summary>
            // the links among muted words are underlined
            <ul class="notes text-muted">{rows}</ul>
        </details>
    }
    .into_any()
}
