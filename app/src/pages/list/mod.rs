//! A live list of any kind. Its address holds the whole view.
mod filters;

use crate::{
    api::resources::list_resources,
    components::{Crumb, ErrorState, FormOutcome, LiveStatus, NameList, PageHead, ResourceTable},
    context::use_session,
    format,
    hooks::LiveList,
    kind_names,
    pages::{not_found::Nowhere, use_cluster_id, use_parameter},
    routes::{self, ListState},
    ui::{Badge, Banner, SkeletonTable, StateMessage, Tone, icons},
};
use filters::Filters;
use leptos::{children::ViewFn, prelude::*};
use leptos_router::hooks::use_query_map;
use portico_domain::panel::{
    ListQuery, ListScope, ResourceRef, ResourceTable as Table, label_selector,
};
use uuid::Uuid;

/// The number of rows on a page unless the address sets another one.
const DEFAULT_ROWS: usize = 100;

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
    let query = use_query_map();
    let state = Memo::new(move |_| {
        query.with(|query| {
            let text = |key| query.get(key).unwrap_or_default();
            ListState {
                namespace: text("namespace"),
                name: text("q"),
                labels: text("labels"),
                sort: text("sort"),
                rows: text("rows").parse().unwrap_or(0),
            }
        })
    });
    let limit = Signal::derive(move || {
        let rows = state.with(|state| state.rows);
        if rows == 0 {
            DEFAULT_ROWS
        } else {
            rows.clamp(10, 5_000)
        }
    });
    let asked = {
        let resource = resource.clone();
        Memo::new(move |_| {
            state.with(|state| ListQuery {
                resource: resource.clone(),
                namespace: Some(state.namespace.clone()).filter(|name| !name.is_empty()),
                name: state.name.clone(),
                // an invalid one is marked in its field and filters nothing
                labels: Some(state.labels.clone())
                    .filter(|labels| label_selector::check(labels).is_ok())
                    .unwrap_or_default(),
                sort: state.sort.clone(),
            })
        })
    };
    let data = Resource::new(
        move || (session.project.get(), asked.get()),
        move |(_, query)| async move { (query.clone(), list_resources(cluster, query).await) },
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
                Suspend::new(async move {
                    let (_, answer) = data.await;
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
    let shown_base = base.clone();
    view! {
        <PageHead
            title
            heading
            crumbs
            lede
            aside=badge.unwrap_or_else(|| ().into_any())
        />
        <FormOutcome />
        <Filters cluster resource base state namespaces />
        <Transition fallback=|| view! { <SkeletonTable /> }>
            {move || {
                let base = shown_base.clone();
                Suspend::new(async move {
                    let (query, answer) = data.await;
                    match answer {
                        Ok(table) => {
                            let shown = Shown { cluster, query, base, state, limit };
                            shown.view(table)
                        }
                        Err(error) => view! {
                            <div class="card"><ErrorState error retry /></div>
                        }
                        .into_any(),
                    }
                })
            }}
        </Transition>
    }
    .into_any()
}

/// A loaded list, before it is shown.
struct Shown {
    cluster: Uuid,
    query: ListQuery,
    base: String,
    state: Memo<ListState>,
    limit: Signal<usize>,
}

impl Shown {
    fn view(self, table: Table) -> AnyView {
        let session = use_session();
        let (kind, columns) = (table.kind.clone(), table.columns.clone());
        let notes = notes(&table);
        let filtered = !self.query.name.is_empty() || !self.query.labels.is_empty();
        let namespace = self.query.namespace.clone().filter(|_| kind.namespaced);
        let list = LiveList::new(self.cluster, self.query, table, self.limit, session.now);
        let is_empty = Memo::new(move |_| list.total.get() == 0);
        let plural = kind.plural_name();
        let body = {
            let base = self.base.clone();
            move || {
                if is_empty.get() {
                    empty(&plural, namespace.as_deref(), filtered, base.clone())
                } else {
                    view! {
                        <ResourceTable
                            list
                            kind=kind.clone()
                            columns=columns.clone()
                            project=session.project.get_untracked()
                            cluster=self.cluster
                            state=self.state.get_untracked()
                            base=self.base.clone()
                        />
                    }
                    .into_any()
                }
            }
        };
        view! {
            <div class="flex flex-wrap items-center gap-x-4 gap-y-1 mb-2 min-h-8">
                <p aria-live="polite" class="text-muted" data-count="">
                    {move || format::counted(list.total.get(), "object")}
                </p>
                <LiveStatus list />
            </div>
            {notes}
            {body}
        }
        .into_any()
    }
}

/// Returns notes about the list's scope, if it is limited.
fn notes(table: &Table) -> AnyView {
    let scope = match &table.scope {
        ListScope::Namespaces { listed, refused } => Some(scope_note(listed, refused)),
        ListScope::Cluster | ListScope::Namespace(_) => None,
    };
    let failures = (!table.failures.is_empty()).then(|| {
        let failures = table.failures.join("; ");
        view! {
            <div class="mb-3">
                <Banner tone=Tone::Warn>
                    "Not everything could be read: "{failures}
                </Banner>
            </div>
        }
    });
    view! { {scope} {failures} }.into_any()
}

fn scope_note(listed: &[String], refused: &[String]) -> AnyView {
    let places = if listed.is_empty() {
        view! { "You cannot list any namespace here." }.into_any()
    } else {
        view! { "Showing the namespaces you can list: "<NameList names=listed.to_vec() />"." }
            .into_any()
    };
    let others = (!refused.is_empty())
        .then(|| view! { " Your roles do not cover "<NameList names=refused.to_vec() />"." });
    view! {
        <div class="mb-3">
            <Banner tone=Tone::Info>{places} {others}</Banner>
        </div>
    }
    .into_any()
}

fn empty(plural: &str, namespace: Option<&str>, filtered: bool, base: String) -> AnyView {
    if filtered {
        return view! {
            <div class="card">
                <StateMessage
                    icon=icons::SEARCH
                    title="Nothing matches the filter"
                    text="All rows were searched, not only the ones shown before."
                    state="no-match"
                >
                    <a class="btn" href=base>
                        "Clear the filters"
                    </a>
                </StateMessage>
            </div>
        }
        .into_any();
    }
    let somewhere = namespace.is_some();
    let (title, next) = match namespace {
        Some(namespace) => (
            format!("No {plural} in {namespace}"),
            "They appear here as soon as there is one. Another namespace may have some.",
        ),
        None => (
            format!("No {plural} yet"),
            "They appear here as soon as there is one; create them with kubectl apply.",
        ),
    };
    view! {
        <div class="card">
            <StateMessage icon=icons::BOX title text=next state="empty">
                {somewhere.then(|| view! {
                    <a class="btn" href=base>
                        "Look in all namespaces"
                    </a>
                })}
            </StateMessage>
        </div>
    }
    .into_any()
}
