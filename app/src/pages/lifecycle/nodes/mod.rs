//! The nodes of a cluster: their servers, what Kubernetes reports about them, their removal, and the
//! replacement of one.
mod chosen;
mod drain;
mod form;
mod loss;
mod others;
mod replacement;
mod state;
mod table;

use super::{change, cluster_crumb, list_crumb, view_change::use_view_shown, without_scripts};
use crate::{
    components::{ErrorState, NeedsScripts, PageHead},
    context::use_session,
    hooks::use_poll,
    routes::managed_clusters::ManagedClustersPage,
    ui::{Banner, SkeletonTable, Tone, icons},
};
use leptos::{children::ViewFn, prelude::*};
use state::NodesState;
use std::time::Duration;
use uuid::Uuid;

const TITLE: &str = "Nodes";
/// How often the nodes are read while the page is visible.
const INTERVAL: Duration = Duration::from_secs(15);

#[component]
pub fn NodesPage(cluster: Uuid) -> impl IntoView {
    let project = use_session().project.get_untracked();
    let crumbs = vec![list_crumb(&project), cluster_crumb(&project, cluster)];
    use_view_shown(ManagedClustersPage::Nodes(cluster), TITLE.to_owned());
    let groups = ManagedClustersPage::NodeGroups(cluster).address(&project);
    let actions = view! { <a class="btn" href=groups>"Node groups"</a> }.into_any();
    let notice = without_scripts([format!("portico cluster nodes list {cluster}")]);
    view! {
        <PageHead
            title=TITLE
            icon=icons::SERVER
            crumbs
            actions
            lede="Magnum has node groups, Nova has servers, and Kubernetes has nodes. A server is listed \
                  where its metadata, its address or its name shows the node group."
        />
        <NeedsScripts notice console=ViewFn::from(move || view! { <Workspace cluster /> }.into_any()) />
    }
    .into_any()
}

#[component]
fn Workspace(cluster: Uuid) -> impl IntoView {
    let project = use_session().project.get_untracked();
    let state = NodesState::new(cluster);
    state.read();
    use_poll(INTERVAL, move || state.read());
    let retry = Callback::new(move |()| {
        state.failure.set(None);
        state.read();
    });
    let is_first_read = Memo::new(move |_| {
        state.shown.with(Option::is_none) && state.failure.with(Option::is_none)
    });
    let has_nodes = Memo::new(move |_| state.shown.with(Option::is_some));
    let notes = Memo::new(move |_| {
        state.shown.with(|shown| {
            let Some(shown) = shown else {
                return Vec::new();
            };
            let kubernetes = shown.kubernetes.clone().map(|text| (Tone::Info, text));
            let gaps = shown.gaps.iter().cloned().map(|text| (Tone::Warn, text));
            kubernetes.into_iter().chain(gaps).collect()
        })
    });
    view! {
        {move || is_first_read.get().then(|| view! { <SkeletonTable /> })}
        {move || state.failure.get().map(|error| {
            if has_nodes.get() {
                outdated(error.message)
            } else {
                view! { <div class="card mt-4"><ErrorState error retry /></div> }.into_any()
            }
        })}
        <div data-part="notes">
            {move || notes.get().into_iter().map(|(tone, text)| view! {
                <div class="mb-4"><Banner tone>{text}</Banner></div>
            }).collect_view()}
        </div>
        {replacement::card(state)}
        {drain::card(state)}
        {table::card(state)}
        {move || state.chosen.get().map(|chosen| form::card(state, chosen))}
        <div class="mt-4" role="status" data-part="outcome">
            {move || state.outcome.get().map(|answer| change::outcome(answer, cluster, &project))}
        </div>
    }
    .into_any()
}

/// Returns the note above nodes that could not be read again.
fn outdated(reason: String) -> AnyView {
    view! {
        <div class="mb-4" data-part="outdated">
            <Banner tone=Tone::Warn>"The nodes could not refresh; retrying. "{reason}</Banner>
        </div>
    }
    .into_any()
}
