use crate::{
    carried::{Carried, list_kind, use_carried},
    context::use_session,
    hooks::{preferences, scroll_into_view},
    kind_names::is_namespaced,
    pages::{lazy, use_cluster_id},
    routes,
    ui::{Icon, icons, kind_icon, suspended},
};
use leptos::prelude::*;
use leptos_router::hooks::use_location;
use portico_domain::panel::ResourceRef;
use uuid::Uuid;

type Entry = (&'static str, &'static str, &'static str);

/// Kinds with a link of their own: heading, whether it is open at first, and label, group and plural
/// of each. The name under which the choice of a user is stored is the heading.
const KINDS: [(&str, bool, &[Entry]); 5] = [
    (
        "Workloads",
        true,
        &[
            ("Pods", "", "pods"),
            ("Deployments", "apps", "deployments"),
            ("StatefulSets", "apps", "statefulsets"),
            ("DaemonSets", "apps", "daemonsets"),
            ("ReplicaSets", "apps", "replicasets"),
            ("Jobs", "batch", "jobs"),
            ("CronJobs", "batch", "cronjobs"),
            (
                "HorizontalPodAutoscalers",
                "autoscaling",
                "horizontalpodautoscalers",
            ),
        ],
    ),
    (
        "Network",
        true,
        &[
            ("Services", "", "services"),
            ("Ingresses", "networking.k8s.io", "ingresses"),
            ("EndpointSlices", "discovery.k8s.io", "endpointslices"),
            ("NetworkPolicies", "networking.k8s.io", "networkpolicies"),
        ],
    ),
    (
        "Configuration",
        true,
        &[
            ("ConfigMaps", "", "configmaps"),
            ("Secrets", "", "secrets"),
            ("ResourceQuotas", "", "resourcequotas"),
            ("LimitRanges", "", "limitranges"),
            ("PodDisruptionBudgets", "policy", "poddisruptionbudgets"),
        ],
    ),
    (
        "Storage",
        true,
        &[
            ("PersistentVolumeClaims", "", "persistentvolumeclaims"),
            ("PersistentVolumes", "", "persistentvolumes"),
            ("StorageClasses", "storage.k8s.io", "storageclasses"),
        ],
    ),
    (
        "Accounts and roles",
        false,
        &[
            ("ServiceAccounts", "", "serviceaccounts"),
            ("Roles", "rbac.authorization.k8s.io", "roles"),
            ("RoleBindings", "rbac.authorization.k8s.io", "rolebindings"),
            ("ClusterRoles", "rbac.authorization.k8s.io", "clusterroles"),
            (
                "ClusterRoleBindings",
                "rbac.authorization.k8s.io",
                "clusterrolebindings",
            ),
        ],
    ),
];

/// Returns the kind of an entry: the oldest version that all supported clusters serve.
fn resource_of(group: &str, plural: &str) -> ResourceRef {
    let version = if group == "autoscaling" { "v2" } else { "v1" };
    ResourceRef::new(group, version, plural)
}

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
    show_current_entry();
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

/// Scrolls the menu to the entry of the page, after a change of the page.
fn show_current_entry() {
    let path = use_location().pathname;
    Effect::new(move |_| {
        path.track();
        request_animation_frame(|| {
            let document = document();
            if let Some(menu) = document.get_element_by_id("cluster-navigation")
                && let Ok(Some(entry)) = menu.query_selector(".nav-item[aria-current=page]")
            {
                scroll_into_view(&menu, &entry);
            }
        });
    });
}

#[component]
fn Navigation(project: String, cluster: Uuid) -> impl IntoView {
    let carried = use_carried();
    let list = |plural| routes::list(&project, cluster, &ResourceRef::core(plural));
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
        ("Nodes", icons::SERVER, list("nodes")),
        ("Events", icons::BELL, list("events")),
        ("All kinds", icons::KINDS, routes::kinds(&project, cluster)),
        (
            "Create from YAML",
            icons::PLUS,
            routes::create(&project, cluster, None, ""),
        ),
        ("Access", icons::SHIELD, routes::access(&project, cluster)),
        (
            "Authentication",
            icons::KEY,
            routes::authentication(&project, cluster),
        ),
    ]
    .map(|(label, icon, href)| {
        view! { <li><NavItem href label icon carried /></li> }
    })
    .collect_view();
    let groups = KINDS
        .iter()
        .map(|(heading, is_open, entries)| {
            let links: Vec<(&'static str, String, icondata_core::Icon)> = entries
                .iter()
                .map(|(label, group, plural)| {
                    let resource = resource_of(group, plural);
                    let href = routes::list(&project, cluster, &resource);
                    (*label, href, kind_icon(group, plural))
                })
                .collect();
            let hrefs = links.iter().map(|(_, href, _)| href.clone()).collect();
            let entries = links
                .into_iter()
                .map(|(label, href, icon)| {
                    view! { <li><NavItem href label icon carried /></li> }
                })
                .collect_view();
            view! {
                <NavGroup heading=*heading is_open=*is_open hrefs>
                    <ul>{entries}</ul>
                </NavGroup>
            }
        })
        .collect_view();
    view! {
        <ul>{top}</ul>
        {groups}
        <CustomResources cluster />
    }
    .into_any()
}

/// A part of the menu that can be folded, which this browser remembers.
#[component]
fn NavGroup(
    heading: &'static str,
    is_open: bool,
    /// The lists of the part, which opens when the page belongs to one of them.
    hrefs: Vec<String>,
    children: Children,
) -> impl IntoView {
    let open = folding(heading, is_open);
    let path = use_location().pathname;
    Effect::new(move |_| {
        if path.with(|path| hrefs.iter().any(|href| is_current(path, href))) {
            open.set(true);
        }
    });
    view! {
        <details class="nav-group" open=is_open prop:open=move || open.get()>
            {summary(heading, is_open, open)}
            {children()}
        </details>
    }
    .into_any()
}

/// The lists of custom resources; discovery is read when they are shown.
#[component]
fn CustomResources(cluster: Uuid) -> impl IntoView {
    let heading = "Custom resources";
    let open = folding(heading, false);
    view! {
        <details class="nav-group" prop:open=move || open.get()>
            {summary(heading, false, open)}
            <noscript>
                <p class="nav-note">"All kinds lists them."</p>
            </noscript>
            <Show when=move || open.get()>
                <Suspense fallback=|| view! { <p class="nav-note">"Loading…"</p> }>
                    {move || suspended(lazy::custom_resources(cluster))}
                </Suspense>
            </Show>
        </details>
    }
    .into_any()
}

fn preference(heading: &str) -> String {
    format!("portico-menu-{}", heading.to_lowercase().replace(' ', "-"))
}

/// Returns whether a part is open: at first as rendered, then as it was left in this browser.
fn folding(heading: &'static str, is_open: bool) -> RwSignal<bool> {
    let open = RwSignal::new(is_open);
    Effect::new(
        move |_| match preferences::stored(&preference(heading)).as_deref() {
            Some("open") => open.set(true),
            Some("closed") => open.set(false),
            _ => {}
        },
    );
    open
}

fn summary(heading: &'static str, is_open: bool, open: RwSignal<bool>) -> AnyView {
    let toggle = move |event: leptos::ev::MouseEvent| {
        // the signal decides, so that it and the element agree
        event.prevent_default();
        let next = !open.get_untracked();
        open.set(next);
        let choice = match (next == is_open, next) {
            (true, _) => "",
            (false, true) => "open",
            (false, false) => "closed",
        };
        preferences::store(&preference(heading), choice);
    };
    view! {
        <summary class="nav-heading" on:click=toggle>
            <Icon icon=icons::CHEVRON_RIGHT />
            {heading}
        </summary>
    }
    .into_any()
}

#[component]
fn NavItem(
    href: String,
    label: &'static str,
    icon: icondata_core::Icon,
    carried: Carried,
) -> impl IntoView {
    let path = use_location().pathname;
    let own = href.clone();
    let current = Memo::new(move |_| path.with(|path| is_current(path, &own)));
    let namespaced = list_kind(&href).is_some_and(|kind| is_namespaced(&kind) == Some(true));
    // the list of this page as it was left, any other with the chosen namespaces
    let href = move || {
        if current.get() {
            carried.back(&href)
        } else {
            carried.list(&href, namespaced)
        }
    };
    view! {
        <a
            class="nav-item"
            href=href
            aria-current=move || current.get().then_some("page")
        >
            <Icon icon />
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
    use super::{KINDS, is_current, resource_of};
    use serde_json::Value;

    /// Discovery of Kubernetes 1.37, as recorded.
    const RECORDED: [&str; 2] = [
        include_str!("../../../server/tests/data/kubernetes-1.37/api.json"),
        include_str!("../../../server/tests/data/kubernetes-1.37/apis.json"),
    ];

    /// Returns whether a recorded kind can be listed.
    fn is_listed(documents: &[Value], group: &str, version: &str, plural: &str) -> bool {
        let list = |value: &Value, name: &str| value[name].as_array().cloned().unwrap_or_default();
        documents
            .iter()
            .flat_map(|document| list(document, "items"))
            .filter(|item| item["metadata"]["name"].as_str().unwrap_or_default() == group)
            .flat_map(|item| list(&item, "versions"))
            .filter(|found| found["version"] == version)
            .flat_map(|found| list(&found, "resources"))
            .filter(|resource| resource["resource"] == plural)
            .any(|resource| list(&resource, "verbs").contains(&Value::from("list")))
    }

    #[test]
    fn recorded_discovery_of_the_current_release_has_every_entry_of_the_menu() {
        let documents: [Value; 2] = RECORDED.map(|text| serde_json::from_str(text).unwrap());
        for (_, _, entries) in KINDS {
            for (label, group, plural) in entries {
                let resource = resource_of(group, plural);
                let version = &resource.version;
                let found = is_listed(&documents, group, version, plural);
                assert!(found, "{label}: {group}/{version} {plural}");
            }
        }
    }

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
