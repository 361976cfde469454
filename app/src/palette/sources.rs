//! Everything with a name that the palette finds without a request of its own, except actions.
use super::{
    Known,
    entries::{Entry, Target},
};
use crate::{
    carried::{Carried, ObjectPath},
    cluster_states::{ClusterStates, word},
    context::Session,
    kind_names, routes,
    ui::{Tone, icons, kind_icon},
};
use leptos::prelude::*;
use portico_domain::panel::{ObjectRef, ResourceKind, ResourceRef};
use uuid::Uuid;

fn page(label: &str, icon: icondata_core::Icon, href: String) -> Entry {
    Entry::new(label, icon, Target::Page(href))
}

/// Returns the pages of the project, and of the cluster.
pub fn pages(project: &str, cluster: Option<Uuid>, carried: Carried) -> Vec<Entry> {
    let mut found = Vec::new();
    if let Some(id) = cluster {
        let list = |plural: &str, namespaced| {
            carried.list(
                &routes::list(project, id, &ResourceRef::core(plural)),
                namespaced,
            )
        };
        found.extend([
            page(
                "Cluster overview",
                icons::DASHBOARD,
                routes::cluster(project, id),
            )
            .detail("g c"),
            page("Namespaces", icons::LAYERS, routes::namespaces(project, id)).detail("g n"),
            page("Nodes", icons::SERVER, list("nodes", false)).detail("g o"),
            page("Events", icons::BELL, list("events", true)).detail("g e"),
            page("All kinds", icons::KINDS, routes::kinds(project, id)).detail("g k"),
            page(
                "Create from YAML",
                icons::PLUS,
                routes::create(project, id, None, ""),
            ),
            page("Access", icons::SHIELD, routes::access(project, id)).detail("g a"),
            page(
                "Authentication",
                icons::KEY,
                routes::authentication(project, id),
            )
            .detail("g i"),
        ]);
    }
    if !project.is_empty() {
        found.extend([
            page("Launchpad", icons::GRID, routes::launchpad(project)).detail("g l"),
            page(
                "Manage clusters",
                icons::BOXES,
                routes::managed_clusters::list(project),
            )
            .names(["Create cluster".to_owned(), "Magnum".to_owned()]),
        ]);
    }
    let external = |href: &str| Target::External(href.to_owned());
    found.push(Entry::new(
        "Your sessions",
        icons::SESSIONS,
        external("/oauth2/sessions"),
    ));
    found.push(Entry::new(
        "Your activity",
        icons::ACTIVITY,
        external("/oauth2/audit"),
    ));
    found
}

pub fn clusters(session: Session, states: ClusterStates, carried: Carried) -> Vec<Entry> {
    let project = session.project.get();
    let known = session.view.with(|view| view.clusters.clone());
    let entry = |named: portico_domain::identity::Named| {
        let id = Uuid::parse_str(&named.id).ok()?;
        let target = Target::Page(carried.in_cluster(&project, id));
        Some(Entry {
            state: states
                .of(id)
                .map(|state| (Tone::from(state.health), word(state.health).to_owned())),
            ..Entry::new(named.name, icons::SERVER, target).detail("Cluster")
        })
    };
    known.into_iter().filter_map(entry).collect()
}

pub fn projects(session: Session) -> Vec<Entry> {
    let known = session.view.with(|view| view.projects.clone());
    known
        .into_iter()
        .map(|project| {
            page(&project.name, icons::FOLDER, routes::launchpad(&project.id))
                .detail(format!("Project in domain {}", project.domain.name))
        })
        .collect()
}

/// Returns the kinds of the cluster.
pub fn kinds(known: &Known, project: &str, carried: Carried) -> Vec<Entry> {
    let entry = |kind: &ResourceKind| {
        let resource = resource_of(kind);
        let href = carried.list(
            &routes::list(project, known.cluster, &resource),
            kind.namespaced,
        );
        let group = if kind.group.is_empty() {
            "core"
        } else {
            &kind.group
        };
        let names = kind.short_names.iter().chain([&kind.kind]).cloned();
        page(
            &kind.plural_name(),
            kind_icon(&kind.group, &kind.plural),
            href,
        )
        .detail(format!("{group}/{}", kind.version))
        .names(names)
    };
    known.kinds.iter().map(entry).collect()
}

pub fn resource_of(kind: &ResourceKind) -> ResourceRef {
    ResourceRef::new(&kind.group, &kind.version, &kind.plural)
}

/// Returns the kind that a word names.
pub fn kind_named<'a>(known: &'a Known, word: &str) -> Option<&'a ResourceKind> {
    let word = word.to_lowercase();
    known.kinds.iter().find(|kind| {
        kind.plural == word || kind.kind.to_lowercase() == word || kind.short_names.contains(&word)
    })
}

/// Returns the namespaces, each of which becomes the chosen one.
pub fn namespaces(known: &Known, project: &str, carried: Carried) -> Vec<Entry> {
    let pods = routes::list(project, known.cluster, &ResourceRef::core("pods"));
    let all = carried
        .narrowed(&pods, None)
        .map(|href| page("All namespaces", icons::LAYERS, href).detail("Show every namespace"));
    let each = known.namespaces.iter().filter_map(|name| {
        let href = carried.narrowed(&pods, Some(name))?;
        Some(page(name, icons::LAYERS, href).detail("Show only this namespace"))
    });
    all.into_iter().chain(each).collect()
}

/// Returns the objects that were visited last.
pub fn recent(carried: Carried) -> Vec<Entry> {
    let entry = |object: ObjectPath| {
        let place = object
            .namespace
            .map_or_else(String::new, |name| format!(" · {name}"));
        let kind = kind_names::plural(&object.resource);
        page(&object.name, icons::CLOCK, object.path).detail(format!("{kind}{place}"))
    };
    carried.recent().into_iter().map(entry).collect()
}

/// Returns an object that the server has found.
pub fn object(
    project: &str,
    cluster: Uuid,
    object: &ObjectRef,
    kind: &str,
    state: Option<(Tone, String)>,
) -> Entry {
    let place = object
        .namespace
        .as_ref()
        .map_or_else(String::new, |name| format!(" · {name}"));
    Entry {
        state,
        ..page(
            &object.name,
            kind_icon(&object.resource.group, &object.resource.plural),
            routes::object(project, cluster, object),
        )
        .detail(format!("{kind}{place}"))
    }
}
