//! Pages that a browser loads when they are first visited, in a few groups: the pages of a group share
//! most of their code, and each group is one request more.
//!
//! The pages on which users begin are in the main file: start, launchpad and the overview of a cluster.
//! What the command palette and the cluster's menu load when they are opened is in the group for
//! browsing; the form that continues a session is in the group for administration. So is the list of
//! the clusters that Magnum makes: the other pages of those clusters are a group that is larger than
//! all others, and a group for the list alone would add a file for each combination of groups.
use futures::FutureExt as _;
use leptos::{lazy, prelude::*};
use leptos_router::LazyRoute;
use portico_domain::panel::ListQuery;
use uuid::Uuid;

use crate::{
    components,
    operations::{self, Operations},
    palette::{self, Palette},
};

use super::{
    access::Access,
    app::App,
    authentication::Authentication,
    create::Create,
    custom_resources,
    kinds::Kinds,
    lifecycle::{ManagedClusterList, ManagedClusterPages},
    list::List,
    namespaces::Namespaces,
    object::{Live, Object, listed_logs as listed_logs_view},
    reauthenticate::{self, Reauthenticate},
};

#[derive(Clone, Copy)]
enum Browse {
    App,
    CustomResources(Uuid),
    Help,
    Kinds,
    List,
    Namespaces,
    Palette(Palette),
}

#[derive(Clone, Copy)]
enum ObjectPart {
    Page,
    Operations(Operations),
}

enum LivePart {
    Object(Box<Live>),
    ListedLogs(Box<ListQuery>),
}

#[derive(Clone, Copy)]
enum Administer {
    Access,
    Authentication,
    ManagedClusters,
    Reauthenticate(Reauthenticate),
}

#[lazy]
fn browse(page: Browse) -> AnyView {
    match page {
        Browse::App => view! { <App /> }.into_any(),
        Browse::CustomResources(cluster) => custom_resources::links(cluster),
        Browse::Help => components::help(),
        Browse::Kinds => view! { <Kinds /> }.into_any(),
        Browse::List => view! { <List /> }.into_any(),
        Browse::Namespaces => view! { <Namespaces /> }.into_any(),
        Browse::Palette(palette) => palette::results(palette),
    }
}

#[lazy]
fn administer(page: Administer) -> AnyView {
    match page {
        Administer::Access => view! { <Access /> }.into_any(),
        Administer::Authentication => view! { <Authentication /> }.into_any(),
        Administer::ManagedClusters => view! { <ManagedClusterList /> }.into_any(),
        Administer::Reauthenticate(dialog) => reauthenticate::form(dialog),
    }
}

#[lazy]
fn create() -> AnyView {
    view! { <Create /> }.into_any()
}

#[lazy]
fn managed_cluster() -> AnyView {
    view! { <ManagedClusterPages /> }.into_any()
}

#[lazy]
fn object(page: ObjectPart) -> AnyView {
    match page {
        ObjectPart::Page => view! { <Object /> }.into_any(),
        ObjectPart::Operations(operations) => operations::strip(operations),
    }
}

/// Loads the code of the command palette's options and of the help.
pub async fn load_browse() {
    #[cfg(target_arch = "wasm32")]
    __preload_browse().await;
}

/// Returns the options of the command palette; `None` before their code is loaded.
pub fn palette(palette: Palette) -> Option<AnyView> {
    browse(Browse::Palette(palette)).now_or_never()
}

/// Returns the keyboard shortcuts; `None` before their code is loaded.
pub fn help() -> Option<AnyView> {
    browse(Browse::Help).now_or_never()
}

/// Loads the form that continues a session.
pub async fn reauthenticate(dialog: Reauthenticate) -> AnyView {
    administer(Administer::Reauthenticate(dialog)).await
}

#[lazy]
fn live_part(cluster: Uuid, part: LivePart) -> AnyView {
    match part {
        LivePart::Object(live) => live.view(cluster),
        LivePart::ListedLogs(query) => listed_logs_view(cluster, *query),
    }
}

/// Loads the editor, the logs and the terminal of an object's page.
pub async fn live(cluster: Uuid, live: Live) -> AnyView {
    live_part(cluster, LivePart::Object(Box::new(live))).await
}

/// Loads the logs of the pods that a list shows.
pub async fn listed_logs(cluster: Uuid, query: ListQuery) -> AnyView {
    live_part(cluster, LivePart::ListedLogs(Box::new(query))).await
}

/// Loads what runs and shows the operations of this tab.
pub async fn operations(operations: Operations) -> AnyView {
    object(ObjectPart::Operations(operations)).await
}

/// Loads the links to the lists of custom resources.
pub async fn custom_resources(cluster: Uuid) -> AnyView {
    browse(Browse::CustomResources(cluster)).await
}

/// Defines the route of a page: its group is loaded before the page is shown.
macro_rules! lazy_page {
    ($route:ident, $preload:ident, $view:expr) => {
        pub struct $route;

        impl LazyRoute for $route {
            fn data() -> Self {
                Self
            }

            async fn view(_: Self) -> AnyView {
                $view.await
            }

            async fn preload() {
                #[cfg(target_arch = "wasm32")]
                $preload().await;
            }
        }
    };
}

lazy_page!(
    AccessRoute,
    __preload_administer,
    administer(Administer::Access)
);
lazy_page!(AppRoute, __preload_browse, browse(Browse::App));
lazy_page!(
    AuthenticationRoute,
    __preload_administer,
    administer(Administer::Authentication)
);
lazy_page!(CreateRoute, __preload_create, create());
lazy_page!(KindsRoute, __preload_browse, browse(Browse::Kinds));
lazy_page!(ListRoute, __preload_browse, browse(Browse::List));
lazy_page!(
    ManagedClusterRoute,
    __preload_managed_cluster,
    managed_cluster()
);
lazy_page!(
    ManagedClustersRoute,
    __preload_administer,
    administer(Administer::ManagedClusters)
);
lazy_page!(
    NamespacesRoute,
    __preload_browse,
    browse(Browse::Namespaces)
);
lazy_page!(ObjectRoute, __preload_object, object(ObjectPart::Page));
