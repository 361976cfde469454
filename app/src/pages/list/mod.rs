//! A live list of any kind. Its address holds the whole view.
mod bulk;
mod chips;
mod columns;
mod facets;
mod labels;
mod logs;
mod namespaces;
mod page;
mod pager;
mod rights;
mod scope;
mod selection;
mod states;
mod table;
mod toolbar;
mod usage;
mod views;

use crate::{
    api::resources::{list_resources, namespaces_for},
    components::{Crumb, FormOutcome, LiveDot, PageHead, PauseButton, who_can_link},
    context::use_session,
    error::UiErrorKind,
    format,
    hooks::LiveList,
    kind_names,
    pages::{not_found::Nowhere, use_cluster_id, use_parameter},
    routes::{self, ListState},
    ui::{Badge, Icon, SkeletonTable, icons, kind_icon, suspended},
};
use bulk::{Bulk, BulkBar, BulkDialog, BulkProgress};
use chips::FilterChips;
use facets::Troubles;
use leptos::{children::ViewFn, prelude::*};
use logs::{ListedLogs, LogsLink};
use page::ListPage;
use portico_domain::panel::{
    CreationKind, ListQuery, MAX_WINDOW_ROWS, ResourceRef, ResourceTable, RowRange,
};
use rights::Rights;
use scope::ScopeNote;
use selection::Picked;
use states::{Failed, empty};
use table::Table;
use toolbar::Toolbar;
use usage::ListUsage;
use uuid::Uuid;

#[component]
pub fn List() -> impl IntoView {
    let cluster = use_cluster_id();
    let (group, version, plural) = (
        use_parameter("group"),
        use_parameter("version"),
        use_parameter("plural"),
    );
    let target = Memo::new(move |_| {
        let resource = ResourceRef::new(
            &routes::group_of(&group.get()),
            &version.get(),
            &plural.get(),
        );
        cluster.get().map(|cluster| (cluster, resource))
    });
    let session = use_session();
    move || match target.get() {
        Some((cluster, resource)) => {
            let base = routes::list(&session.project.get_untracked(), cluster, &resource);
            view! { <ListOf cluster resource base /> }.into_any()
        }
        None => view! { <Nowhere /> }.into_any(),
    }
}

/// The list of one kind, at any address.
#[component]
pub fn ListOf(
    cluster: Uuid,
    resource: ResourceRef,
    /// The address without its query.
    base: String,
    #[prop(into, optional)] title: String,
    #[prop(into, optional)] lede: String,
    /// Whether the namespace can be chosen.
    #[prop(default = true)]
    namespaces: bool,
) -> impl IntoView {
    let session = use_session();
    let page = ListPage::new(cluster, resource.clone(), base, namespaces);
    columns::remember(page);
    columns::remember_density(page);
    // filters do not load it again: they go over the stream
    let data = Resource::new(
        move || session.project.get(),
        move |_| load(page.cluster, page.first_query(), page.first_range()),
    );
    let asked = resource.clone();
    let known = Resource::new(
        move || session.project.get(),
        move |_| {
            let resource = asked.clone();
            // without a response the namespaces in the address are offered
            async move {
                if namespaces {
                    let known = namespaces_for(cluster, resource).await;
                    known.unwrap_or_else(|_| Some(Vec::new()))
                } else {
                    None
                }
            }
        },
    );
    let retry = Callback::new(move |()| data.refetch());
    let named = !title.is_empty();
    let title = if named {
        title
    } else {
        kind_names::plural(&resource)
    };
    // the capitals of a custom resource's name are loaded with the list
    let heading = (!named && kind_names::built_in(&resource).is_none()).then(|| {
        let fallback = title.clone();
        let name = move || {
            let fallback = fallback.clone();
            let while_loading = fallback.clone();
            let known = move || {
                let fallback = fallback.clone();
                suspended(async move {
                    let answer = data.await;
                    answer.map_or(fallback, |table| table.kind.plural_name())
                })
            };
            view! { <Transition fallback=move || while_loading.clone()>{known}</Transition> }
        };
        ViewFn::from(move || name().into_any())
    });
    let crumbs = vec![Crumb::new(
        untrack(|| session.cluster_name(cluster)),
        routes::cluster(&session.project.get_untracked(), cluster),
    )];
    let badge = (!resource.group.is_empty())
        .then(|| view! { <Badge text=resource.group.clone() /> }.into_any());
    let icon = kind_icon(&resource.group, &resource.plural);
    view! {
        <div class="list-page">
            <PageHead
                title
                icon
                heading
                crumbs
                lede
                aside=badge.unwrap_or_else(|| ().into_any())
                actions=create_link(page)
            />
            <FormOutcome />
            <Transition fallback=|| view! { <SkeletonTable /> }>
                {move || suspended(async move {
                    let names = known.await;
                    match data.await {
                        Ok(table) => loaded(page, table, names),
                        Err(error) => {
                            view! { <Failed page namespaces=names error retry /> }.into_any()
                        }
                    }
                })}
            </Transition>
        </div>
    }
    .into_any()
}

/// Loads the first window. A selector that does not fit the kind's columns is marked in its field
/// and left out.
async fn load(
    cluster: Uuid,
    mut query: ListQuery,
    range: RowRange,
) -> Result<ResourceTable, crate::error::UiError> {
    let answer = list_resources(cluster, query.clone(), range).await;
    match answer {
        Err(error) if error.kind == UiErrorKind::Invalid && !query.fields.is_empty() => {
            query.fields.clear();
            list_resources(cluster, query, range).await
        }
        answer => answer,
    }
}

/// A list that was loaded.
fn loaded(page: ListPage, table: ResourceTable, namespaces: Option<Vec<String>>) -> AnyView {
    let session = use_session();
    let (kind, failures) = (table.kind.clone(), table.failures.clone());
    let query = untrack(|| page.query(Some(&table.columns)));
    let namespaced = namespaces.is_some();
    let usage = ListUsage::new(page, table.has_usage);
    let list = LiveList::new(page.cluster, query, table, session.now);
    let picked = Picked::new();
    let rights = Rights::new(page);
    let bulk = Bulk::new(page, picked, kind.clone());
    Effect::new(move |_| {
        let query = list.columns.with(|columns| page.query(Some(columns)));
        if list.query().is_some_and(|known| known != query) {
            let range = RowRange {
                offset: 0,
                limit: MAX_WINDOW_ROWS,
            };
            list.show(query, range);
        }
    });
    let is_empty = Memo::new(move |_| list.total.get() == 0);
    let failure = Memo::new(move |_| list.failure.get());
    let plural = kind.plural_name();
    let shows_logs = Memo::new(move |_| logs::are_shown(page));
    let body = move || {
        if shows_logs.get() {
            view! { <ListedLogs page list rights /> }.into_any()
        } else if let Some(error) = failure.get() {
            let retry = Callback::new(move |()| list.retry());
            view! { <div class="card"><crate::components::ErrorState error retry /></div> }
                .into_any()
        } else if is_empty.get() {
            empty(page, &plural)
        } else {
            view! { <Table page list kind=kind.clone() picked bulk rights usage /> }.into_any()
        }
    };
    let end = view! {
        <LogsLink page />
        {move || (!shows_logs.get()).then(|| view! { <PauseButton list /> })}
    }
    .into_any();
    view! {
        <Toolbar page namespaces list=Some(list) usage=Some(usage) end=Some(end) />
        <FilterChips page namespaced />
        <div class="list-summary">
            <p aria-live="polite" class="text-muted" data-count="">
                {move || count(page, list)}
            </p>
            <LiveDot list />
            <Troubles page list />
            <ScopeNote list failures />
            {move || usage.note().map(|note| {
                let link = who_can_link(note.missing.as_deref());
                view! {
                    <p class="text-muted" data-part="usage-note">{note.reason} " " {link}</p>
                }
            })}
        </div>
        {move || (!shows_logs.get()).then(|| view! { <BulkBar list picked bulk rights /> })}
        {body}
        <BulkDialog bulk />
        <BulkProgress bulk />
    }
    .into_any()
}

/// Returns the number of rows in words: `12 objects`, or with filters `3 of 12 objects`.
fn count(page: ListPage, list: LiveList) -> String {
    let (total, unfiltered) = (list.total.get(), list.unfiltered.get());
    if page.state.with(ListState::is_filtered) && unfiltered > total {
        format!(
            "{} of {}",
            format::count(total),
            format::counted(unfiltered, "object")
        )
    } else {
        format::counted(total, "object")
    }
}

/// Returns the link to the form for new objects, or to the editor with a sample of the list's kind.
fn create_link(page: ListPage) -> AnyView {
    let project = use_session().project.get_untracked();
    let sample = page
        .resource
        .with_value(|resource| match resource.plural.as_str() {
            "deployments" => "deployment",
            "configmaps" => "configmap",
            "cronjobs" => "cronjob",
            _ => "",
        });
    let form = page.resource.with_value(CreationKind::of);
    if page.resource.with_value(ResourceRef::is_events) {
        return ().into_any();
    }
    let href = move || {
        page.state.with(|state| {
            let namespace = match state.namespaces.as_slice() {
                [one] => Some(one.as_str()),
                _ => None,
            };
            match form {
                Some(kind) => routes::create_form(&project, page.cluster, namespace, kind, ""),
                None => routes::create(&project, page.cluster, namespace, sample),
            }
        })
    };
    view! {
        <a class="btn" href=href>
            <Icon icon=icons::PLUS />
            "Create"
        </a>
    }
    .into_any()
}
