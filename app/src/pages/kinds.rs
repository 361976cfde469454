//! Every kind that the cluster serves, by discovery.
use crate::{
    api::clusters::list_kinds,
    components::{Crumb, ErrorState, PageHead},
    context::use_session,
    format,
    pages::{not_found::Nowhere, use_cluster_id},
    routes,
    ui::{Icon, SkeletonTable, StateMessage, TableRegion, icons, kind_icon, suspended},
};
use leptos::prelude::*;
use leptos_router::hooks::{use_navigate, use_query_map};
use portico_domain::panel::{ResourceKind, ResourceRef};
use uuid::Uuid;

#[component]
pub fn Kinds() -> impl IntoView {
    let cluster = use_cluster_id();
    move || match cluster.get() {
        Some(cluster) => view! { <KindsOf cluster /> }.into_any(),
        None => view! { <Nowhere /> }.into_any(),
    }
}

#[component]
fn KindsOf(cluster: Uuid) -> impl IntoView {
    let session = use_session();
    let data = Resource::new(move || session.project.get(), move |_| list_kinds(cluster));
    let retry = Callback::new(move |()| data.refetch());
    let query = use_query_map();
    let wanted = Memo::new(move |_| query.with(|query| query.get("q").unwrap_or_default()));
    let project = session.project.get_untracked();
    let crumbs = vec![Crumb::new(
        untrack(|| session.cluster_name(cluster)),
        routes::cluster(&project, cluster),
    )];
    let base = routes::kinds(&project, cluster);
    view! {
        <PageHead
            title="All kinds"
            icon=icons::KINDS
            crumbs
            lede="Everything that this cluster's API serves, custom resources too. Each kind has a live list."
        />
        <KindFilter base=base.clone() wanted />
        <Suspense fallback=|| view! { <SkeletonTable /> }>
            {move || {
                let base = base.clone();
                suspended(async move {
                    match data.await {
                        Ok(kinds) => view! { <KindTable kinds cluster wanted base /> }.into_any(),
                        Err(error) => view! {
                            <div class="card"><ErrorState error retry /></div>
                        }
                        .into_any(),
                    }
                })
            }}
        </Suspense>
    }
    .into_any()
}

#[component]
fn KindFilter(base: String, wanted: Memo<String>) -> impl IntoView {
    let navigate = use_navigate();
    let action = base.clone();
    let go = move |text: &str| {
        let state = routes::ListState {
            search: text.to_owned(),
            ..Default::default()
        };
        let options = leptos_router::NavigateOptions {
            replace: true,
            scroll: false,
            ..Default::default()
        };
        navigate(&format!("{base}{}", state.query()), options);
    };
    view! {
        <form
            class="toolbar"
            method="get"
            action=action
            role="search"
            aria-label="Filter kinds"
            on:submit=|event| event.prevent_default()
        >
            <div class="field">
                <label for="filter-kinds">"Kind or group"</label>
                <div class="search">
                    <Icon icon=icons::SEARCH />
                    <input
                        class="input"
                        id="filter-kinds"
                        name="q"
                        type="search"
                        autocomplete="off"
                        spellcheck="false"
                        data-filter=""
                        value=wanted.get_untracked()
                        prop:value=move || wanted.get()
                        on:input=move |event| go(&event_target_value(&event))
                    />
                </div>
            </div>
        </form>
    }
    .into_any()
}

#[component]
fn KindTable(
    kinds: Vec<ResourceKind>,
    cluster: Uuid,
    wanted: Memo<String>,
    base: String,
) -> impl IntoView {
    let project = use_session().project.get_untracked();
    move || {
        let wanted = wanted.get().to_lowercase();
        let found: Vec<&ResourceKind> =
            kinds.iter().filter(|kind| matches(kind, &wanted)).collect();
        if found.is_empty() {
            let clear = base.clone();
            return view! {
                <div class="card">
                    <StateMessage
                        icon=icons::SEARCH
                        title="No kind matches"
                        text="Kinds, plurals, short names and groups were searched."
                        state="no-match"
                    >
                        <a class="btn" href=clear>
                            "Clear the filter"
                        </a>
                    </StateMessage>
                </div>
            }
            .into_any();
        }
        let count = format::counted(found.len(), "kind");
        let rows = found
            .into_iter()
            .map(|kind| row(kind, &project, cluster))
            .collect_view();
        view! {
            <p class="text-muted mb-2" aria-live="polite">{count}</p>
            <TableRegion label="Kinds">
                <thead>
                    <tr>
                        <th scope="col">"Kind"</th>
                        <th scope="col">"Group"</th>
                        <th scope="col">"Version"</th>
                        <th scope="col">"Scope"</th>
                        <th scope="col">"Short names"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </TableRegion>
        }
        .into_any()
    }
}

fn matches(kind: &ResourceKind, wanted: &str) -> bool {
    kind.kind.to_lowercase().contains(wanted)
        || kind.plural.contains(wanted)
        || kind.group.contains(wanted)
        || kind.short_names.iter().any(|name| name == wanted)
}

fn row(kind: &ResourceKind, project: &str, cluster: Uuid) -> AnyView {
    let resource = ResourceRef::new(&kind.group, &kind.version, &kind.plural);
    let group = if kind.group.is_empty() {
        "core".to_owned()
    } else {
        kind.group.clone()
    };
    let scope = if kind.namespaced {
        "Namespace"
    } else {
        "Cluster"
    };
    view! {
        <tr>
            <th scope="row" class="cell-name">
                <span class="with-icon">
                    <Icon icon=kind_icon(&kind.group, &kind.plural) />
                    <a href=routes::list(project, cluster, &resource) data-row="">{kind.kind.clone()}</a>
                </span>
            </th>
            <td>{group}</td>
            <td>{kind.version.clone()}</td>
            <td>{scope}</td>
            <td>{kind.short_names.join(", ")}</td>
        </tr>
    }
    .into_any()
}
