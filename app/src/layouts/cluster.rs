use crate::{
    context::use_session,
    pages::use_cluster_id,
    routes,
    ui::{Icon, icons},
};
use leptos::prelude::*;
use leptos_router::hooks::use_location;
use portico_domain::panel::ResourceRef;
use uuid::Uuid;

type Entry = (&'static str, &'static str, &'static str, &'static str);

/// Kinds that have a place of their own, by heading: label, group, version, plural.
const KINDS: [(&str, &[Entry]); 4] = [
    (
        "Workloads",
        &[
            ("Pods", "", "v1", "pods"),
            ("Deployments", "apps", "v1", "deployments"),
            ("Stateful sets", "apps", "v1", "statefulsets"),
            ("Daemon sets", "apps", "v1", "daemonsets"),
            ("Jobs", "batch", "v1", "jobs"),
        ],
    ),
    (
        "Network",
        &[
            ("Services", "", "v1", "services"),
            ("Ingresses", "networking.k8s.io", "v1", "ingresses"),
            ("Network policies", "networking.k8s.io", "v1", "networkpolicies"),
        ],
    ),
    (
        "Configuration",
        &[("Config maps", "", "v1", "configmaps"), ("Secrets", "", "v1", "secrets")],
    ),
    (
        "Storage",
        &[
            ("Volume claims", "", "v1", "persistentvolumeclaims"),
            ("Volumes", "", "v1", "persistentvolumes"),
            ("Storage classes", "storage.k8s.io", "v1", "storageclasses"),
        ],
    ),
];

/// A cluster's pages beside its navigation.
#[component]
pub fn ClusterFrame(children: Children) -> impl IntoView {
    let session = use_session();
    let cluster = use_cluster_id();
    let navigation = move || {
        cluster
            .get()
            .map(|cluster| view! { <Navigation project=session.project.get() cluster /> })
    };
    view! {
        <div class="frame frame-with-sidebar">
            <nav id="cluster-navigation" class="sidebar" popover="auto" aria-label="Cluster">
                {navigation}
            </nav>
            <main id="main" tabindex="-1" class="page">
                <button
                    type="button"
                    class="btn btn-small sidebar-toggle mb-3"
                    popovertarget="cluster-navigation"
                >
                    <Icon icon=icons::MENU />
                    "Cluster menu"
                </button>
                {children()}
            </main>
        </div>
    }
    .into_any()
}

#[component]
fn Navigation(project: String, cluster: Uuid) -> impl IntoView {
    let top = [
        ("Overview", icons::DASHBOARD, routes::cluster(&project, cluster), true),
        ("Namespaces", icons::LAYERS, routes::namespaces(&project, cluster), false),
        (
            "Nodes",
            icons::SERVER,
            routes::list(&project, cluster, &ResourceRef::core("nodes")),
            false,
        ),
        (
            "Events",
            icons::BELL,
            routes::list(&project, cluster, &ResourceRef::core("events")),
            false,
        ),
        ("All kinds", icons::KINDS, routes::kinds(&project, cluster), false),
        ("Access", icons::SHIELD, routes::access(&project, cluster), false),
    ]
    .map(|(label, icon, href, exact)| {
        view! { <li><NavItem href label icon=Some(icon) exact /></li> }
    })
    .collect_view();
    let groups = KINDS
        .iter()
        .map(|(heading, entries)| {
            let entries = entries
                .iter()
                .map(|(label, group, version, plural)| {
                    let resource = ResourceRef::new(group, version, plural);
                    let href = routes::list(&project, cluster, &resource);
                    view! { <li><NavItem href label=*label icon=None exact=false /></li> }
                })
                .collect_view();
            view! {
                <p class="nav-heading">{*heading}</p>
                <ul>{entries}</ul>
            }
        })
        .collect_view();
    view! {
        <ul>{top}</ul>
        {groups}
    }
    .into_any()
}

#[component]
fn NavItem(
    href: String,
    label: &'static str,
    icon: Option<icondata_core::Icon>,
    exact: bool,
) -> impl IntoView {
    let path = use_location().pathname;
    let current = {
        let href = href.clone();
        move || {
            path.with(|path| {
                path == &href
                    || (!exact && path.strip_prefix(&href).is_some_and(|rest| rest.starts_with('/')))
            })
            .then_some("page")
        }
    };
    view! {
        <a class="nav-item" href=href aria-current=current>
            {icon.map(|icon| view! { <Icon icon /> })}
            {label}
        </a>
    }
    .into_any()
}
