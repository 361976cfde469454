//! One cluster: progress, health, details, failure, enrolment.
mod enrolment;
mod failure;
mod health;
mod nodes;
mod remaining;
mod steps;
mod summary;
mod watch;

pub use summary::bounds;
pub use watch::Watch;

use super::{
    list_crumb, names::remember_name, ownership::OrphanedWarning, protection,
    view_change::use_view_shown,
};
use crate::{
    api::lifecycle::get_cluster_progress,
    components::{ErrorState, PageHead},
    context::use_session,
    error::{UiError, UiErrorKind},
    format,
    hooks::Timer,
    routes::managed_clusters::ManagedClustersPage,
    ui::{Badge, Banner, SkeletonPage, StateMessage, Status, Tone, Why, icons, suspended},
};
use enrolment::EnrolmentCard;
use leptos::prelude::*;
use leptos_router::{NavigateOptions, hooks::use_navigate};
use portico_domain::panel::lifecycle::{
    ActionOffer, ClusterAction, ClusterProgress, ProgressOutcome, ProgressUpdate,
};
use std::time::Duration;
use uuid::Uuid;

/// How often a cluster that was not found is looked for again.
const MAX_TRIES: u32 = 3;
const RETRY_INTERVAL: Duration = Duration::from_secs(2);

#[component]
pub fn ClusterPage(cluster: Uuid) -> impl IntoView {
    let session = use_session();
    let data = Resource::new(
        move || session.project.get(),
        move |_| get_cluster_progress(cluster, None),
    );
    let retry = Callback::new(move |()| data.refetch());
    // the record of a cluster that was just accepted may be missing for a moment
    let tries = StoredValue::new(0_u32);
    let timer = Timer::new();
    Effect::new(move |_| {
        let is_missing = data
            .with(|data| matches!(data, Some(Err(error)) if error.kind == UiErrorKind::NotFound));
        if !is_missing {
            return;
        }
        let number = tries.try_update_value(|tries| {
            *tries += 1;
            *tries
        });
        if number.is_some_and(|number| number <= MAX_TRIES) {
            timer.start(RETRY_INTERVAL, move || data.refetch());
        }
    });
    view! {
        <Suspense fallback=|| view! { <SkeletonPage /> }>
            {move || suspended(async move {
                match data.await {
                    Ok(mut update) => match update.changed.take() {
                        Some(progress) => {
                            let progress = *progress;
                            view! { <Watched cluster update progress /> }.into_any()
                        }
                        None => unread(cluster, retry),
                    },
                    Err(error) => failed(cluster, error, retry),
                }
            })}
        </Suspense>
    }
    .into_any()
}

/// The page of a cluster that cannot be shown.
fn failed(cluster: Uuid, error: UiError, retry: Callback<()>) -> AnyView {
    let project = use_session().project.get_untracked();
    let crumbs = vec![list_crumb(&project)];
    use_view_shown(ManagedClustersPage::Cluster(cluster), "Cluster".to_owned());
    let is_gone = error.kind == UiErrorKind::NotFound;
    let leftovers = ManagedClustersPage::Leftovers(cluster).address(&project);
    let journal = ManagedClustersPage::Journal(cluster).address(&project);
    view! {
        <PageHead title="Cluster" crumbs />
        <div class="card"><ErrorState error retry /></div>
        {is_gone.then(|| view! {
            <p class="mt-4">
                "If it was deleted: " <a href=leftovers>"Show leftovers"</a>
                " or its " <a href=journal>"journal"</a>
            </p>
        })}
    }
    .into_any()
}

fn unread(cluster: Uuid, retry: Callback<()>) -> AnyView {
    let error = UiError::new(
        UiErrorKind::Unavailable,
        "The state of the cluster is not known yet.",
    );
    failed(cluster, error.next_step("Try again in a moment."), retry)
}

#[component]
fn Watched(cluster: Uuid, update: ProgressUpdate, progress: ClusterProgress) -> impl IntoView {
    let session = use_session();
    let project = session.project.get_untracked();
    let name = progress.cluster.name.clone();
    let watch = Watch::new(cluster, &update, progress);
    watch.start();
    use_view_shown(ManagedClustersPage::Cluster(cluster), name.clone());
    remember_name(cluster, name.clone());
    follow_deletion(watch, &project);
    let crumbs = vec![list_crumb(&project)];
    let status = Memo::new(move |_| {
        watch.progress.with(|progress| {
            let cluster = &progress.cluster;
            (
                Tone::from(cluster.health),
                cluster.status.clone(),
                cluster.version.clone(),
            )
        })
    });
    let badges = view! {
        {move || {
            let (tone, text, version) = status.get();
            view! {
                <Status tone text />
                {version.map(|version| view! { <Badge text=version /> })}
            }
        }}
    }
    .into_any();
    let offers = Memo::new(move |_| {
        let offer = |action| {
            let progress = &watch.progress;
            progress.with(|progress| progress.cluster.offer(action).cloned())
        };
        (offer(ClusterAction::Upgrade), offer(ClusterAction::Delete))
    });
    let actions = {
        let project = project.clone();
        let journal = ManagedClustersPage::Journal(cluster).address(&project);
        view! {
            <a class="btn" href=journal>"Journal"</a>
            {move || {
                let (upgrade, deletion) = offers.get();
                view! {
                    {upgrade.map(|offer| day_two_links(offer, cluster, &project))}
                    {deletion.map(|offer| delete_link(offer, cluster, &project))}
                }
            }}
        }
        .into_any()
    };
    let failure = Memo::new(move |_| {
        watch.progress.with(|progress| {
            let card = progress.failure.clone()?;
            Some((card, progress.operation.clone()))
        })
    });
    let details = Memo::new(move |_| {
        watch
            .progress
            .with(|progress| (progress.cluster.clone(), progress.groups.clone()))
    });
    let of_failure = project.clone();
    let is_deleted = is_gone(watch);
    view! {
        <PageHead title=name icon=icons::BOXES crumbs aside=badges actions />
        <p class="visually-hidden" role="status" aria-live="polite">
            {move || watch.spoken.get()}
        </p>
        {outdated(watch)}
        {gone(watch, project)}
        {move || failure.get().map(|(card, operation)| {
            failure::card(card, &operation, cluster, &of_failure)
        })}
        {move || (!is_deleted.get()).then(|| view! { <OrphanedWarning cluster /> })}
        {steps::card(watch)}
        {nodes::card(watch)}
        {remaining::card(watch)}
        <EnrolmentCard watch />
        {move || (!is_deleted.get()).then(|| {
            // nothing else of the page depends on it
            let changed = Callback::new(|()| {});
            view! {
                {health::card(watch)}
                {protection::card(cluster, changed)}
            }
        })}
        {move || {
            let (cluster, groups) = details.get();
            summary::cards(cluster, groups)
        }}
    }
    .into_any()
}

/// Returns what the pages of changes show of the running operation: how old it is, its steps and its nodes.
pub fn operation(watch: Watch) -> AnyView {
    view! {
        <p class="visually-hidden" role="status" aria-live="polite">
            {move || watch.spoken.get()}
        </p>
        {outdated(watch)}
        {steps::card(watch)}
        {nodes::card(watch)}
    }
    .into_any()
}

/// Returns the links to the pages of a cluster that exists.
fn day_two_links(upgrade: ActionOffer, cluster: Uuid, project: &str) -> AnyView {
    let certificates = ManagedClustersPage::Certificates(cluster).address(project);
    let ownership = ManagedClustersPage::Ownership(cluster).address(project);
    let groups = ManagedClustersPage::NodeGroups(cluster).address(project);
    let nodes = ManagedClustersPage::Nodes(cluster).address(project);
    let upgrade = match upgrade.refusal {
        Some(reason) => view! {
            <Why id="upgrade-refusal" label="Upgrade" reason action="upgrade" />
        }
        .into_any(),
        None => {
            let href = ManagedClustersPage::Upgrade(cluster).address(project);
            view! { <a class="btn" href=href>"Upgrade"</a> }.into_any()
        }
    };
    view! {
        <a class="btn" href=groups>"Node groups"</a>
        <a class="btn" href=nodes>"Nodes"</a>
        <a class="btn" href=certificates>"Certificates"</a>
        <a class="btn" href=ownership>"Ownership"</a>
        {upgrade}
    }
    .into_any()
}

fn delete_link(offer: ActionOffer, cluster: Uuid, project: &str) -> AnyView {
    match offer.refusal {
        Some(reason) => view! {
            <Why id="delete-refusal" label="Delete cluster" reason action="delete" class="btn btn-danger" />
        }
        .into_any(),
        None => {
            let href = ManagedClustersPage::Delete(cluster).address(project);
            view! { <a class="btn btn-danger" href=href>"Delete cluster"</a> }.into_any()
        }
    }
}

/// Returns the banner above old data: since when, and why.
fn outdated(watch: Watch) -> AnyView {
    let now = use_session().now;
    view! {
        {move || watch.outdated.get().map(|reason| {
            let id = watch.request_id.get().map(failure::request_id);
            view! {
                <div class="mb-4" data-part="outdated">
                    <Banner tone=Tone::Warn>
                        <p class="font-semibold">
                            {move || {
                                let at = watch.observed_at.get();
                                format!(
                                    "Not updated since {} ({} ago).",
                                    format::moment(at),
                                    format::age(now.get(), at),
                                )
                            }}
                        </p>
                        <p>{reason}</p>
                        {id}
                    </Banner>
                </div>
            }
        })}
    }
    .into_any()
}

/// Returns the message in place of a cluster that no longer exists.
fn gone(watch: Watch, project: String) -> AnyView {
    let is_gone = is_gone(watch);
    view! {
        {move || is_gone.get().then(|| {
            let href = ManagedClustersPage::Leftovers(watch.cluster).address(&project);
            view! {
                <div class="card">
                    <StateMessage
                        icon=icons::OK
                        title="The cluster is deleted"
                        text="Magnum no longer has it. What is below is how it was last seen."
                        state="gone"
                    >
                        <a class="btn btn-primary" href=href>"Show leftovers"</a>
                    </StateMessage>
                </div>
            }
        })}
    }
    .into_any()
}

fn is_gone(watch: Watch) -> Memo<bool> {
    Memo::new(move |_| {
        watch
            .progress
            .with(|progress| progress.outcome == ProgressOutcome::Disappeared)
    })
}

/// Opens the leftovers when a deletion that this page has followed is complete.
fn follow_deletion(watch: Watch, project: &str) {
    let is_gone = is_gone(watch);
    let leftovers = ManagedClustersPage::Leftovers(watch.cluster).address(project);
    let navigate = use_navigate();
    Effect::new(move |before: Option<bool>| {
        let is_gone = is_gone.get();
        if before == Some(false) && is_gone {
            let options = NavigateOptions {
                replace: true,
                ..Default::default()
            };
            navigate(&leftovers, options);
        }
        is_gone
    });
}
