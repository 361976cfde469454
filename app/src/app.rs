use crate::{
    carried::provide_carried,
    cluster_states::provide_cluster_states,
    components::provide_toasts,
    context::{initial_session, provide_session},
    hooks::stream::provide_stream,
    layouts::{ClusterFrame, Frame},
    operations::provide_operations,
    pages::{
        self,
        lazy::{
            AccessRoute, AppRoute, AuthenticationRoute, CreateRoute, KindsRoute, ListRoute,
            ManagedClusterRoute, ManagedClustersRoute, NamespacesRoute, ObjectRoute,
        },
    },
};
use leptos::prelude::*;
use leptos_meta::{Title, provide_meta_context};
use leptos_router::{
    Lazy, SsrMode,
    components::{Outlet, ParentRoute, Route, Router, Routes},
    path,
};
use portico_domain::panel::SessionView;

/// The whole panel.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    let session = SharedValue::new(initial_session).into_inner();
    view! {
        <Title text="Portico" formatter=title_source />
        <Router>
            <Signed session />
        </Router>
    }
}

/// Returns a title as the source of a page holds it: names of objects and of addresses are in it, and
/// the library writes it into the page unescaped. A browser sets it as text.
fn title_source(title: String) -> String {
    if cfg!(feature = "ssr") {
        title
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
    } else {
        title
    }
}

/// Everything that depends on the session. Pages are sent in order, so that they are complete
/// without scripts too.
#[component]
fn Signed(session: SessionView) -> impl IntoView {
    let session = provide_session(session);
    provide_carried(session);
    provide_cluster_states(session);
    provide_stream(session);
    provide_toasts();
    provide_operations();
    view! {
        <Frame>
            <Routes fallback=pages::NotFound>
                <Route path=path!("/") view=pages::Start ssr=SsrMode::InOrder />
                <Route path=path!("/projects/:project") view=pages::Launchpad ssr=SsrMode::InOrder />
                <Route
                    path=path!("/projects/:project/apps/:app")
                    view={Lazy::<AppRoute>::new()}
                    ssr=SsrMode::InOrder
                />
                <Route
                    path=path!("/projects/:project/managed-clusters")
                    view={Lazy::<ManagedClustersRoute>::new()}
                    ssr=SsrMode::InOrder
                />
                <Route
                    path=path!("/projects/:project/managed-clusters/:page")
                    view={Lazy::<ManagedClusterRoute>::new()}
                    ssr=SsrMode::InOrder
                />
                <ParentRoute
                    path=path!("/projects/:project/clusters/:cluster")
                    view=|| view! { <ClusterFrame><Outlet /></ClusterFrame> }
                    ssr=SsrMode::InOrder
                >
                    <Route path=path!("") view=pages::Cluster />
                    <Route path=path!("namespaces") view={Lazy::<NamespacesRoute>::new()} />
                    <Route path=path!("kinds") view={Lazy::<KindsRoute>::new()} />
                    <Route path=path!("create") view={Lazy::<CreateRoute>::new()} />
                    <Route path=path!("access") view={Lazy::<AccessRoute>::new()} />
                    <Route path=path!("authentication") view={Lazy::<AuthenticationRoute>::new()} />
                    <Route path=path!("resources/:group/:version/:plural") view={Lazy::<ListRoute>::new()} />
                    <Route
                        path=path!("namespaces/:namespace/:group/:version/:plural/:name/:tab?")
                        view={Lazy::<ObjectRoute>::new()}
                    />
                    <Route
                        path=path!("cluster-scoped/:group/:version/:plural/:name/:tab?")
                        view={Lazy::<ObjectRoute>::new()}
                    />
                </ParentRoute>
            </Routes>
        </Frame>
    }
}
