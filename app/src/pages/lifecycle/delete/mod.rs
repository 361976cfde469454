//! The deletion of a cluster: inventory, confirmation, leftovers.
mod confirmation;
mod deletion;
mod inventory;
mod leftovers;
mod record;

pub use leftovers::LeftoversPage;

use super::{cluster_crumb, list_crumb, protection, view_change::use_view_shown, without_scripts};
use crate::{
    components::{ErrorState, NeedsScripts, PageHead},
    context::use_session,
    routes::managed_clusters::ManagedClustersPage,
    ui::{Button, SkeletonLines, icons},
};
use deletion::Deletion;
use leptos::{children::ViewFn, prelude::*};
use leptos_router::{NavigateOptions, hooks::use_navigate};
use uuid::Uuid;

const TITLE: &str = "Delete cluster";

#[component]
pub fn Delete(cluster: Uuid) -> impl IntoView {
    let project = use_session().project.get_untracked();
    let crumbs = vec![list_crumb(&project), cluster_crumb(&project, cluster)];
    use_view_shown(ManagedClustersPage::Delete(cluster), TITLE.to_owned());
    let notice = without_scripts([format!("portico cluster delete {cluster} --dry-run")]);
    view! {
        <PageHead
            title=TITLE
            icon=icons::TRASH
            crumbs
            lede="Portico reads from the cloud what will be deleted and what remains before it sends anything."
        />
        <NeedsScripts notice console=ViewFn::from(move || view! { <Workspace cluster /> }.into_any()) />
    }
    .into_any()
}

#[component]
fn Workspace(cluster: Uuid) -> impl IntoView {
    let project = use_session().project.get_untracked();
    let deletion = Deletion::new(cluster);
    deletion.read();
    let navigate = use_navigate();
    let progress = ManagedClustersPage::Cluster(cluster).address(&project);
    let accepted = Callback::new(move |()| navigate(&progress, NavigateOptions::default()));
    let retry = Callback::new(move |()| deletion.read());
    // the form stays while the inventory is read again, with what was typed
    let name = Memo::new(move |_| {
        deletion.inventory.with(|inventory| {
            inventory
                .as_ref()
                .map(|inventory| inventory.cluster.name.clone())
        })
    });
    let is_first_read =
        Memo::new(move |_| name.with(Option::is_none) && deletion.failure.with(Option::is_none));
    view! {
        <p class="visually-hidden" role="status">
            {move || deletion.is_reading.get().then_some("Reading what the cluster has.")}
        </p>
        {move || is_first_read.get().then(|| view! { <SkeletonLines lines=6 /> })}
        {move || deletion.failure.get().map(|error| view! {
            <div class="card mt-4"><ErrorState error retry /></div>
        })}
        {move || deletion.inventory.get().map(inventory::view)}
        {move || name.get().map(|name| view! {
            {protection::card(cluster, retry)}
            <div class="mt-4">
                <Button
                    label="Refresh"
                    icon=icons::REFRESH
                    busy=deletion.is_reading
                    on_click=move |_| deletion.read()
                />
            </div>
            {confirmation::options(deletion)}
            {confirmation::form(deletion, name, accepted)}
        })}
        <div class="mt-4">
            {move || deletion.outcome.get().map(|answer| {
                confirmation::outcome(answer, deletion, &project)
            })}
        </div>
    }
    .into_any()
}
