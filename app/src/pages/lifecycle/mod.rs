//! Clusters that Magnum makes. The list is a page of the group for administration; all other pages are
//! one lazy part with one route, which shows the page of the address.
mod certificates;
mod change;
mod checks;
mod cluster;
mod configuration;
mod create;
mod delete;
mod focus;
mod journal;
mod list;
mod names;
mod node_groups;
mod nodes;
mod ownership;
mod pods;
mod protection;
mod read_failure;
mod settle;
mod templates;
mod upgrade;
mod view_change;

use crate::{
    components::Crumb,
    context::use_session,
    pages::{not_found::Nowhere, use_parameter},
    routes::managed_clusters::ManagedClustersPage,
    ui::{Banner, Tone},
};
use certificates::Certificates;
use cluster::ClusterPage;
use configuration::Configuration;
use create::Create;
use delete::{Delete, LeftoversPage};
use journal::Journal;
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use list::ClusterList;
use node_groups::NodeGroupsPage;
use nodes::NodesPage;
use ownership::OwnershipPage;
use settle::Settle;
use templates::{TemplateList, TemplatePage};
use upgrade::Upgrade;
use uuid::Uuid;

/// The list of the clusters that Magnum makes. It must not refer to the other pages, whose code is
/// loaded without it.
#[component]
pub fn ManagedClusterList() -> impl IntoView {
    view! {
        <main id="main" tabindex="-1" class="page">
            <ClusterList />
        </main>
    }
    .into_any()
}

/// The other pages of clusters that Magnum makes.
#[component]
pub fn ManagedClusterPages() -> impl IntoView {
    view_change::provide_view_change();
    names::provide_names();
    let segment = use_parameter("page");
    let query = use_query_map();
    let page = Memo::new(move |_| {
        let view = query.with(|query| query.get("view").unwrap_or_default());
        segment.with(|segment| ManagedClustersPage::parse(segment, &view))
    });
    view! {
        <main id="main" tabindex="-1" class="page">
            {move || match page.get() {
                Some(ManagedClustersPage::Create) => view! { <Create /> }.into_any(),
                Some(ManagedClustersPage::Cluster(cluster)) => {
                    view! { <ClusterPage cluster /> }.into_any()
                }
                Some(ManagedClustersPage::Delete(cluster)) => {
                    view! { <Delete cluster /> }.into_any()
                }
                Some(ManagedClustersPage::Leftovers(cluster)) => {
                    view! { <LeftoversPage cluster /> }.into_any()
                }
                Some(ManagedClustersPage::Configuration(cluster)) => {
                    view! { <Configuration cluster /> }.into_any()
                }
                Some(ManagedClustersPage::Journal(cluster)) => {
                    view! { <Journal cluster /> }.into_any()
                }
                Some(ManagedClustersPage::NodeGroups(cluster)) => {
                    view! { <NodeGroupsPage cluster /> }.into_any()
                }
                Some(ManagedClustersPage::Nodes(cluster)) => {
                    view! { <NodesPage cluster /> }.into_any()
                }
                Some(ManagedClustersPage::Upgrade(cluster)) => {
                    view! { <Upgrade cluster /> }.into_any()
                }
                Some(ManagedClustersPage::Certificates(cluster)) => {
                    view! { <Certificates cluster /> }.into_any()
                }
                Some(ManagedClustersPage::Ownership(cluster)) => {
                    view! { <OwnershipPage cluster /> }.into_any()
                }
                Some(ManagedClustersPage::Settle(cluster)) => {
                    view! { <Settle cluster /> }.into_any()
                }
                Some(ManagedClustersPage::Templates) => view! { <TemplateList /> }.into_any(),
                Some(ManagedClustersPage::Template(template)) => {
                    view! { <TemplatePage template /> }.into_any()
                }
                // the list has a route of its own
                Some(ManagedClustersPage::List) | None => view! { <Nowhere /> }.into_any(),
            }}
        </main>
    }
    .into_any()
}

/// Returns the breadcrumb of the list, for the pages below it.
fn list_crumb(project: &str) -> Crumb {
    Crumb::new("Clusters", ManagedClustersPage::List.address(project))
}

/// Returns the breadcrumb of a cluster, for the pages below it: with its name, if it is one of those that
/// can be opened, or its page was shown before. Call it in a component.
fn cluster_crumb(project: &str, cluster: Uuid) -> Crumb {
    let session = use_session();
    let name = untrack(|| session.cluster_name(cluster));
    let label = if name == cluster.to_string() {
        names::shown_name(cluster).unwrap_or_else(|| "Cluster".to_owned())
    } else {
        name
    };
    Crumb::new(
        label,
        ManagedClustersPage::Cluster(cluster).address(project),
    )
}

/// Returns what a browser without scripts shows: the commands that do the same, one on each line.
fn without_scripts(commands: impl IntoIterator<Item = String>) -> AnyView {
    let commands = commands.into_iter();
    let commands = commands
        .map(|command| view! { <p class="mono wrap-anywhere">{command}</p> })
        .collect_view();
    view! {
        <Banner tone=Tone::Info>
            <p>"This part of the page needs JavaScript. In a terminal:"</p>
            {commands}
        </Banner>
    }
    .into_any()
}
