//! Links to the lists of custom resources, by group, for the cluster's navigation.
use crate::{
    api::clusters::list_kinds,
    carried::{Carried, use_carried},
    components::who_can_link,
    context::use_session,
    kind_names, routes,
    ui::{Icon, kind_icon},
};
use leptos::prelude::*;
use leptos_router::hooks::use_location;
use portico_domain::panel::{ResourceKind, ResourceRef};
use std::collections::BTreeMap;
use uuid::Uuid;

/// Returns the links; they are loaded.
pub fn links(cluster: Uuid) -> AnyView {
    let session = use_session();
    let kinds = LocalResource::new(move || {
        session.project.track();
        list_kinds(cluster)
    });
    view! {
        <Suspense fallback=|| view! { <p class="nav-note">"Loading…"</p> }>
            {move || Suspend::new(async move {
                match kinds.await {
                    Ok(kinds) => groups(kinds, cluster),
                    Err(error) => {
                        let link = who_can_link(error.missing.as_deref());
                        view! { <p class="nav-note">{error.message}" "{link}</p> }.into_any()
                    }
                }
            })}
        </Suspense>
    }
    .into_any()
}

fn groups(kinds: Vec<ResourceKind>, cluster: Uuid) -> AnyView {
    let mut groups: BTreeMap<String, Vec<ResourceKind>> = BTreeMap::new();
    for kind in kinds.into_iter().filter(is_custom) {
        groups.entry(kind.group.clone()).or_default().push(kind);
    }
    if groups.is_empty() {
        return view! { <p class="nav-note">"This cluster has none."</p> }.into_any();
    }
    let carried = use_carried();
    groups
        .into_iter()
        .map(|(group, kinds)| {
            let entries = kinds
                .into_iter()
                .map(|kind| view! { <li>{link(&kind, cluster, carried)}</li> })
                .collect_view();
            view! {
                <p class="nav-group-name">{group}</p>
                <ul>{entries}</ul>
            }
        })
        .collect_view()
        .into_any()
}

/// Returns whether a kind is not one of Kubernetes' own.
fn is_custom(kind: &ResourceKind) -> bool {
    kind.group.contains('.') && kind_names::built_in(&resource_of(kind)).is_none()
}

fn resource_of(kind: &ResourceKind) -> ResourceRef {
    ResourceRef::new(&kind.group, &kind.version, &kind.plural)
}

fn link(kind: &ResourceKind, cluster: Uuid, carried: Carried) -> AnyView {
    let session = use_session();
    let path = use_location().pathname;
    let list = routes::list(
        &session.project.get_untracked(),
        cluster,
        &resource_of(kind),
    );
    let namespaced = kind.namespaced;
    let shown = {
        let list = list.clone();
        Memo::new(move |_| path.with(|path| *path == list))
    };
    let href = move || {
        if shown.get() {
            carried.back(&list)
        } else {
            carried.list(&list, namespaced)
        }
    };
    view! {
        <a
            class="nav-item"
            href=href
            aria-current=move || shown.get().then_some("page")
        >
            <Icon icon=kind_icon(&kind.group, &kind.plural) />
            {kind.plural_name()}
        </a>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_of_kubernetes_is_not_a_custom_one() {
        let kind = |group: &str, plural: &str| ResourceKind {
            group: group.to_owned(),
            version: "v1".to_owned(),
            plural: plural.to_owned(),
            kind: plural.to_owned(),
            namespaced: true,
            verbs: Vec::new(),
            short_names: Vec::new(),
        };
        assert!(is_custom(&kind("data.example.org", "backups")));
        assert!(is_custom(&kind("gateway.networking.k8s.io", "gateways")));
        for own in [
            kind("", "pods"),
            kind("apps", "deployments"),
            kind("networking.k8s.io", "ingresses"),
            kind("metrics.k8s.io", "pods"),
        ] {
            assert!(!is_custom(&own), "{}", own.plural);
        }
    }
}
