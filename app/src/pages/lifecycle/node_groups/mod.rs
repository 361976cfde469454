//! The node groups of a cluster: sizes, bounds, labels and taints, new groups, deletion.
mod draft;
mod form;
mod review;
mod state;
mod table;
mod waiting;

pub use review::reviewed;

use super::{cluster_crumb, list_crumb, settle, view_change::use_view_shown, without_scripts};
use crate::{
    components::{ErrorState, NeedsScripts, PageHead},
    context::use_session,
    hooks::use_poll,
    routes::managed_clusters::ManagedClustersPage,
    ui::{Banner, SkeletonTable, Tone, icons},
};
use leptos::{children::ViewFn, prelude::*};
use state::Groups;
use std::time::Duration;
use uuid::Uuid;
use waiting::Waiting;

const TITLE: &str = "Node groups";
/// How often the groups are read while the page is visible.
const INTERVAL: Duration = Duration::from_secs(15);

#[component]
pub fn NodeGroupsPage(cluster: Uuid) -> impl IntoView {
    let project = use_session().project.get_untracked();
    let crumbs = vec![list_crumb(&project), cluster_crumb(&project, cluster)];
    use_view_shown(ManagedClustersPage::NodeGroups(cluster), TITLE.to_owned());
    let nodes = ManagedClustersPage::Nodes(cluster).address(&project);
    let actions = view! { <a class="btn" href=nodes>"Nodes"</a> }.into_any();
    let notice = without_scripts([format!("portico cluster nodegroup list {cluster}")]);
    view! {
        <PageHead
            title=TITLE
            icon=icons::SERVER
            crumbs
            actions
            lede="A node group is a set of nodes with the same flavor. Portico checks quotas, bounds and what \
                  the driver supports before it sends a change."
        />
        <NeedsScripts notice console=ViewFn::from(move || view! { <Workspace cluster /> }.into_any()) />
    }
    .into_any()
}

#[component]
fn Workspace(cluster: Uuid) -> impl IntoView {
    let project = use_session().project.get_untracked();
    let groups = Groups::new(cluster);
    groups.read();
    let queue = Waiting::new(cluster, groups);
    queue.start();
    use_poll(INTERVAL, move || groups.read_again());
    let retry = Callback::new(move |()| {
        groups.failure.set(None);
        groups.read();
    });
    let has_groups = Memo::new(move |_| groups.shown.with(Option::is_some));
    let is_first_read = Memo::new(move |_| {
        groups.shown.with(Option::is_none) && groups.failure.with(Option::is_none)
    });
    let notes = Memo::new(move |_| {
        groups.shown.with(|shown| {
            let Some(shown) = shown else {
                return Vec::new();
            };
            let autoscaled = shown.is_autoscaled.then(|| {
                "The autoscaler is on: it may change the sizes, and Magnum's numbers may be old."
                    .to_owned()
            });
            autoscaled.into_iter().chain(shown.gaps.clone()).collect()
        })
    });
    let of_hint = project.clone();
    let needs_settling = Memo::new(move |_| {
        groups
            .shown
            .with(|shown| shown.as_ref().is_some_and(|shown| shown.needs_settling))
    });
    view! {
        {move || is_first_read.get().then(|| view! { <SkeletonTable /> })}
        {move || groups.failure.get().map(|error| {
            if has_groups.get() {
                outdated(error.message)
            } else {
                view! { <div class="card mt-4"><ErrorState error retry /></div> }.into_any()
            }
        })}
        {move || notes.get().into_iter().map(|text| view! {
            <div class="mb-4"><Banner tone=Tone::Warn>{text}</Banner></div>
        }).collect_view()}
        {move || needs_settling.get().then(|| settle::hint(cluster, &of_hint))}
        {waiting::card(queue, &project)}
        {table::card(groups)}
        {move || groups.draft.get().map(|draft| form::card(groups, draft))}
        {waiting::offer(queue)}
        {review::progress(groups, cluster, &project)}
    }
    .into_any()
}

/// Returns the note above groups that could not be read again.
fn outdated(reason: String) -> AnyView {
    view! {
        <div class="mb-4" data-part="outdated">
            <Banner tone=Tone::Warn>"The node groups could not refresh; retrying. "{reason}</Banner>
        </div>
    }
    .into_any()
}
