//! The clusters of the project.
mod row;
mod usage;
mod words;

use crate::{
    api::lifecycle::{dismiss_creation, list_managed_clusters},
    components::{ErrorState, InlineError, PageHead},
    context::use_session,
    error::UiError,
    hooks::use_poll,
    routes::managed_clusters::{self, ManagedClustersPage},
    ui::{
        Banner, Button, ButtonKind, Icon, SkeletonTable, StateMessage, TableRegion, Tone, Why,
        icons, suspended,
    },
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{
    ActionOffer, EnrolmentState, ManagedClusters, MissingFeature, UnfinishedCreation,
};
use std::time::Duration;
use uuid::Uuid;

/// How often the list is read while something in it is in progress and the page is visible.
const BUSY_INTERVAL: Duration = Duration::from_secs(5);
/// While nothing is in progress, one of so many reads is made.
const IDLE_ROUNDS: u32 = 12;

#[component]
pub fn ClusterList() -> impl IntoView {
    let session = use_session();
    let data = Resource::new(move || session.project.get(), |_| read());
    let retry = Callback::new(move |()| data.refetch());
    let actions = view! {
        <a
            class="btn"
            href=move || ManagedClustersPage::Templates.address(&session.project.get())
            data-action="templates"
        >
            <Icon icon=icons::LAYERS />
            "Templates"
        </a>
        <Suspense>
            {move || suspended(async move {
                let list = data.await.ok();
                list.map(|list| create_link(&list.creation, &session.project.get_untracked()))
            })}
        </Suspense>
    }
    .into_any();
    view! {
        <PageHead
            title="Clusters"
            crumbs=Vec::new()
            lede="The clusters of this project that Magnum makes."
            actions
        />
        <Suspense fallback=|| view! { <SkeletonTable /> }>
            {move || suspended(async move {
                match data.await {
                    Ok(list) => view! { <Shown list /> }.into_any(),
                    Err(error) => view! {
                        <div class="card"><ErrorState error retry /></div>
                    }
                    .into_any(),
                }
            })}
        </Suspense>
    }
    .into_any()
}

/// Reads the list, without what differs in each answer.
async fn read() -> Result<ManagedClusters, UiError> {
    let mut list = list_managed_clusters().await?;
    list.now = 0;
    Ok(list)
}

#[component]
fn Shown(list: ManagedClusters) -> impl IntoView {
    let project = use_session().project.get_untracked();
    let shown = RwSignal::new(list);
    let failure = RwSignal::new(None::<String>);
    follow(shown, failure);
    // each part changes for itself, so that the focus stays where it is
    let ids = Memo::new(move |_| {
        shown.with(|list| list.clusters.iter().map(|one| one.id).collect::<Vec<_>>())
    });
    let unfinished = Memo::new(move |_| shown.with(|list| list.unfinished.clone()));
    let gaps = Memo::new(move |_| shown.with(|list| list.gaps.clone()));
    let quota = Memo::new(move |_| shown.with(|list| words::quota(list.quota.as_ref())));
    let is_empty = Memo::new(move |_| ids.with(Vec::is_empty));
    let (missing, creation, version, contact) = shown.with_untracked(|list| {
        (
            list.missing.clone(),
            list.creation.clone(),
            list.api_version.clone(),
            list.support_contact.clone(),
        )
    });
    let body = {
        let project = project.clone();
        move || {
            if is_empty.get() {
                return empty(&creation, &project);
            }
            let project = project.clone();
            view! { <div class="card">{table(shown, ids, project)}</div> }.into_any()
        }
    };
    let foot = format!("Version {version} of Magnum's API. Questions: {contact}.");
    view! {
        <div class="form-groups">
            {move || failure.get().map(|reason| view! {
                <Banner tone=Tone::Warn>"The list could not refresh; retrying. "{reason}</Banner>
            })}
            {move || unfinished
                .get()
                .into_iter()
                .map(|creation| continuation(creation, &project, shown))
                .collect_view()}
            {move || gaps_view(gaps.get())}
            {body}
            <p class="text-muted">{move || quota.get()}</p>
            {usage::card()}
            {missing_view(missing)}
            <p class="text-faint">{foot}</p>
        </div>
    }
    .into_any()
}

/// Reads the list again: often while something is in progress.
fn follow(shown: RwSignal<ManagedClusters>, failure: RwSignal<Option<String>>) {
    let rounds = StoredValue::new(0_u32);
    let is_asking = StoredValue::new(false);
    use_poll(BUSY_INTERVAL, move || {
        let waited = rounds.try_update_value(|rounds| {
            *rounds += 1;
            *rounds
        });
        let is_due = waited.is_some_and(|waited| waited >= IDLE_ROUNDS)
            || shown.try_with_untracked(is_in_progress) == Some(true);
        if !is_due || is_asking.get_value() {
            return;
        }
        rounds.set_value(0);
        is_asking.set_value(true);
        leptos::task::spawn_local(async move {
            let answer = read().await;
            is_asking.try_set_value(false);
            match answer {
                Ok(list) => {
                    let _ = failure.try_set(None);
                    if shown.try_with_untracked(|shown| *shown != list) == Some(true) {
                        let _ = shown.try_set(list);
                    }
                }
                Err(error) => {
                    let _ = failure.try_set(Some(error.message));
                }
            }
        });
    });
}

/// Returns whether something in the list changes by itself.
fn is_in_progress(list: &ManagedClusters) -> bool {
    list.unfinished.iter().any(|creation| creation.is_recent)
        || list.clusters.iter().any(|cluster| {
            cluster.is_busy
                || matches!(
                    cluster.enrolment,
                    EnrolmentState::WaitingForApi
                        | EnrolmentState::Running
                        | EnrolmentState::NotChecked
                )
        })
}

/// Returns the link to the form, or why there is none.
fn create_link(creation: &ActionOffer, project: &str) -> AnyView {
    match creation.refusal.clone() {
        Some(reason) => view! {
            <Why id="create-refusal" label="Create cluster" reason action="create-cluster" />
        }
        .into_any(),
        None => view! {
            <a
                class="btn btn-primary"
                href=ManagedClustersPage::Create.address(project)
                data-action="create-cluster"
            >
                <Icon icon=icons::PLUS />
                "Create cluster"
            </a>
        }
        .into_any(),
    }
}

fn empty(creation: &ActionOffer, project: &str) -> AnyView {
    let text = match &creation.refusal {
        None => {
            "Create the first one: choose a template and a size, and Portico checks the quotas before \
             anything is made."
                .to_owned()
        }
        Some(reason) => format!("You cannot create one here: {reason}"),
    };
    let link = creation
        .is_offered()
        .then(|| create_link(creation, project));
    view! {
        <div class="card">
            <StateMessage icon=icons::BOXES title="No clusters yet" text state="empty">
                {link}
            </StateMessage>
        </div>
    }
    .into_any()
}

fn table(shown: RwSignal<ManagedClusters>, ids: Memo<Vec<Uuid>>, project: String) -> AnyView {
    view! {
        <TableRegion label="Clusters" stacked=true>
            <thead>
                <tr>
                    <th scope="col">"Name"</th>
                    <th scope="col">"Status"</th>
                    <th scope="col">"Kubernetes"</th>
                    <th scope="col">"Nodes"</th>
                    <th scope="col">"Template"</th>
                    <th scope="col">"Through Portico"</th>
                    <th scope="col">"Age"</th>
                </tr>
            </thead>
            <tbody>
                <For
                    each=move || ids.get()
                    key=|id| *id
                    children=move |id| row::row(id, shown, &project)
                />
            </tbody>
        </TableRegion>
    }
    .into_any()
}

/// Returns a creation whose response was lost.
fn continuation(
    creation: UnfinishedCreation,
    project: &str,
    shown: RwSignal<ManagedClusters>,
) -> AnyView {
    let href = managed_clusters::continuation(project, creation.attempt, &creation.name);
    let attempt = creation.attempt;
    let busy = RwSignal::new(false);
    let failure = RwSignal::new(None);
    let dismiss = move |_| {
        busy.set(true);
        let asked = dismiss_creation(attempt);
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            let _ = busy.try_set(false);
            match answer {
                Ok(()) => {
                    shown.try_update(|list| list.unfinished.retain(|one| one.attempt != attempt));
                }
                Err(error) => {
                    let _ = failure.try_set(Some(error));
                }
            }
        });
    };
    view! {
        <Banner tone=Tone::Warn>
            <p class="font-semibold">
                {format!("It is not known whether the cluster {} was created.", creation.name)}
            </p>
            <p>{creation.text}</p>
            <p class="mt-2 flex flex-wrap gap-2">
                <a class="btn" href=href>{format!("Continue {}", creation.name)}</a>
                {(!creation.is_recent).then(|| view! {
                    <Button
                        label=format!("Dismiss {}", creation.name)
                        kind=ButtonKind::Quiet
                        busy
                        on_click=dismiss
                    />
                })}
            </p>
            {move || failure.get().map(|error| view! { <InlineError error /> })}
        </Banner>
    }
    .into_any()
}

fn gaps_view(gaps: Vec<String>) -> Option<AnyView> {
    if gaps.is_empty() {
        return None;
    }
    let gaps = gaps
        .into_iter()
        .map(|gap| view! { <li>{gap}</li> })
        .collect_view();
    Some(
        view! {
            <Banner tone=Tone::Warn>
                <p class="font-semibold">"The list is not complete:"</p>
                <ul class="notes">{gaps}</ul>
            </Banner>
        }
        .into_any(),
    )
}

fn missing_view(missing: Vec<MissingFeature>) -> Option<AnyView> {
    if missing.is_empty() {
        return None;
    }
    let rows = missing
        .into_iter()
        .map(|one| view! { <dt>{one.feature}</dt><dd>{one.explanation}</dd> })
        .collect_view();
    Some(
        view! {
            <details class="fold">
                <summary>
                    <Icon icon=icons::CHEVRON_RIGHT />
                    "Not available in this cloud"
                </summary>
                <dl class="description-list">{rows}</dl>
            </details>
        }
        .into_any(),
    )
}
