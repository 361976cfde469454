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

/// Kinds with a link of their own, by heading: label, group, version, plural.
const KINDS: [(&str, &[Entry]); 4] = [
    (
        "Workloads",
        &[
            ("Pods", "", "v1", "pods"),
            ("Deployments", "apps", "v1", "deployments"),
            ("StatefulSets", "apps", "v1", "statefulsets"),
            ("DaemonSets", "apps", "v1", "daemonsets"),
            ("Jobs", "batch", "v1", "jobs"),
        ],
    ),
    (
        "Network",
        &[
            ("Services", "", "v1", "services"),
            ("Ingresses", "networking.k8s.io", "v1", "ingresses"),
            (
                "NetworkPolicies",
                "networking.k8s.io",
                "v1",
                "networkpolicies",
            ),
        ],
    ),
    (
        "Configuration",
        &[
            ("ConfigMaps", "", "v1", "configmaps"),
            ("Secrets", "", "v1", "secrets"),
        ],
    ),
    (
        "Storage",
        &[
            ("PersistentVolumeClaims", "", "v1", "persistentvolumeclaims"),
            ("PersistentVolumes", "", "v1", "persistentvolumes"),
            ("StorageClasses", "storage.k8s.io", "v1", "storageclasses"),
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
        (
            "Overview",
            icons::DASHBOARD,
            routes::cluster(&project, cluster),
        ),
        (
            "Namespaces",
            icons::LAYERS,
            routes::namespaces(&project, cluster),
        ),
        (
            "Nodes",
            icons::SERVER,
            routes::list(&project, cluster, &ResourceRef::core("nodes")),
        ),
        (
            "Events",
            icons::BELL,
            routes::list(&project, cluster, &ResourceRef::core("events")),
        ),
        ("All kinds", icons::KINDS, routes::kinds(&project, cluster)),
        ("Access", icons::SHIELD, routes::access(&project, cluster)),
        (
            "Authentication",
            icons::KEY,
            routes::authentication(&project, cluster),
        ),
    ]
    .map(|(label, icon, href)| {
        view! { <li><NavItem href label icon=Some(icon) /></li> }
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
                    view! { <li><NavItem href label=*label icon=None /></li> }
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
fn NavItem(href: String, label: &'static str, icon: Option<icondata_core::Icon>) -> impl IntoView {
    let path = use_location().pathname;
    let current = {
        let href = href.clone();
        move || path.with(|path| is_current(path, &href)).then_some("page")
    };
    view! {
        <a class="nav-item" href=href aria-current=current>
            {icon.map(|icon| view! { <Icon icon /> })}
            {label}
        </a>
    }
    .into_any()
}

/// Returns whether a page is the entry's own, or that of an object in the entry's list.
fn is_current(path: &str, href: &str) -> bool {
    if path == href {
        return true;
    }
    let Some((cluster, kind)) = href.split_once("/resources/") else {
        return href.ends_with("/namespaces") && is_object_of(path, "core/v1/namespaces");
    };
    path.starts_with(cluster) && is_object_of(path, kind)
}

fn is_object_of(path: &str, kind: &str) -> bool {
    let mut segments = path.split('/').skip(5);
    let inside = match segments.next() {
        Some("namespaces") => segments.next().is_some(),
        Some("cluster-scoped") => true,
        _ => false,
    };
    inside && segments.take(3).eq(kind.split('/'))
}

#[cfg(test)]
mod tests {
    use super::is_current;

    #[test]
    fn an_entry_is_current_on_its_list_and_its_objects() {
        let base = "/projects/p/clusters/c";
        let pods = format!("{base}/resources/core/v1/pods");
        for path in [
            "resources/core/v1/pods",
            "namespaces/shop/core/v1/pods/web-0/logs",
        ] {
            assert!(is_current(&format!("{base}/{path}"), &pods), "{path}");
        }
        let other = format!("{base}/namespaces/shop/apps/v1/deployments/web");
        assert!(!is_current(&other, &pods));
        let namespaces = format!("{base}/namespaces");
        assert!(!is_current(&other, &namespaces));
        let shop = format!("{base}/cluster-scoped/core/v1/namespaces/shop");
        assert!(is_current(&shop, &namespaces));
        assert!(!is_current(&other, base));
    }
}
