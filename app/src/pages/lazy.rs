//! Pages that a browser loads when they are first visited, in a few groups: the pages of a group share
//! most of their code, and each group is one request more.
//!
//! The pages on which users begin are in the main file: start, launchpad and the overview of a cluster.
use leptos::{lazy, prelude::*};
use leptos_router::LazyRoute;

use super::{
    access::Access, app::App, authentication::Authentication, kinds::Kinds, list::List,
    namespaces::Namespaces, object::Object,
};

#[derive(Clone, Copy)]
enum Browse {
    App,
    Kinds,
    List,
    Namespaces,
}

#[derive(Clone, Copy)]
enum Administer {
    Access,
    Authentication,
}

#[lazy]
fn browse(page: Browse) -> AnyView {
    match page {
        Browse::App => view! { <App /> }.into_any(),
        Browse::Kinds => view! { <Kinds /> }.into_any(),
        Browse::List => view! { <List /> }.into_any(),
        Browse::Namespaces => view! { <Namespaces /> }.into_any(),
    }
}

#[lazy]
fn administer(page: Administer) -> AnyView {
    match page {
        Administer::Access => view! { <Access /> }.into_any(),
        Administer::Authentication => view! { <Authentication /> }.into_any(),
    }
}

#[lazy]
fn object() -> AnyView {
    view! { <Object /> }.into_any()
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
lazy_page!(KindsRoute, __preload_browse, browse(Browse::Kinds));
lazy_page!(ListRoute, __preload_browse, browse(Browse::List));
lazy_page!(
    NamespacesRoute,
    __preload_browse,
    browse(Browse::Namespaces)
);
lazy_page!(ObjectRoute, __preload_object, object());
