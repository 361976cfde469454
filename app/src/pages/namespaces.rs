use crate::{
    api::namespaces::{add_namespace, get_namespaces},
    components::{Crumb, ErrorState, InlineError, PageHead},
    context::use_session,
    error::UiError,
    pages::{list::ListOf, not_found::Nowhere, use_cluster_id},
    routes::{self, ListState},
    ui::{Icon, SkeletonTable, StateMessage, TableRegion, icons, kind_icon, suspended},
};
use leptos::{prelude::*, task::spawn_local};
use leptos_router::hooks::use_navigate;
use portico_domain::panel::{ResourceRef, VisibleNamespaces};
use uuid::Uuid;

/// The namespaces that the viewer may see, and for a viewer who may not list them a form that adds
/// one.
#[component]
pub fn Namespaces() -> impl IntoView {
    let cluster = use_cluster_id();
    move || match cluster.get() {
        Some(cluster) => view! { <OfCluster cluster /> }.into_any(),
        None => view! { <Nowhere /> }.into_any(),
    }
}

#[component]
fn OfCluster(cluster: Uuid) -> impl IntoView {
    let session = use_session();
    let data = Resource::new(
        move || session.project.get(),
        move |_| get_namespaces(cluster),
    );
    let retry = Callback::new(move |()| data.refetch());
    let project = StoredValue::new(session.project.get_untracked());
    let body = move || {
        suspended(async move {
            let project = project.get_value();
            match data.await {
                Ok(visible) if visible.all_known => {
                    let base = routes::namespaces(&project, cluster);
                    view! {
                        <ListOf
                            cluster
                            resource=ResourceRef::core("namespaces")
                            base
                            title="Namespaces"
                            lede="The namespaces of this cluster."
                            namespaces=false
                        />
                    }
                    .into_any()
                }
                Ok(visible) => view! { <Known project cluster visible /> }.into_any(),
                Err(error) => view! { <Page cluster><div class="card"><ErrorState error retry /></div></Page> }.into_any(),
            }
        })
    };
    view! { <Transition fallback=|| view! { <SkeletonTable /> }>{body}</Transition> }.into_any()
}

/// The page's head and its content.
#[component]
fn Page(cluster: Uuid, children: Children) -> impl IntoView {
    let session = use_session();
    let crumbs = vec![Crumb::new(
        untrack(|| session.cluster_name(cluster)),
        routes::cluster(&session.project.get_untracked(), cluster),
    )];
    view! {
        <div class="list-page">
            <PageHead
                title="Namespaces"
                icon=kind_icon("", "namespaces")
                crumbs
                lede="The namespaces in which you have rights, as far as Portico knows them. Your \
                      roles do not include the list of namespaces: others may exist."
            />
            {children()}
        </div>
    }
    .into_any()
}

/// The namespaces of a viewer who may not list them.
#[component]
fn Known(project: String, cluster: Uuid, visible: VisibleNamespaces) -> impl IntoView {
    let pods = ResourceRef::core("pods");
    let events = ResourceRef::core("events");
    let rows = visible
        .names
        .iter()
        .map(|name| {
            let link = |resource| in_namespace(&project, cluster, resource, name);
            view! {
                <tr>
                    <td><a href=link(&pods)>{name.clone()}</a></td>
                    <td><a href=link(&pods)>"Pods"</a></td>
                    <td><a href=link(&events)>"Events"</a></td>
                </tr>
            }
        })
        .collect_view();
    let table = if visible.names.is_empty() {
        view! {
            <StateMessage
                icon=icons::LAYERS
                title="No known namespaces"
                text="Namespaces appear here when an administrator grants you a role in one with \
                      Portico, or when you add one."
                state="empty"
            />
        }
        .into_any()
    } else {
        view! {
            <TableRegion label="Namespaces">
                <thead>
                    <tr>
                        <th scope="col">"Namespace"</th>
                        <th scope="col" colspan="2">"Open"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </TableRegion>
        }
        .into_any()
    };
    view! {
        <Page cluster>
            <AddByName project cluster />
            <div class="card">{table}</div>
        </Page>
    }
    .into_any()
}

fn in_namespace(project: &str, cluster: Uuid, resource: &ResourceRef, name: &str) -> String {
    let state = ListState {
        namespaces: vec![name.to_owned()],
        ..ListState::default()
    };
    routes::list_with(project, cluster, resource, &state)
}

/// Adds a namespace. Without scripts its pods are shown once.
#[component]
fn AddByName(project: String, cluster: Uuid) -> impl IntoView {
    let pods = ResourceRef::core("pods");
    let action = routes::list(&project, cluster, &pods);
    let name = RwSignal::new(String::new());
    let busy = RwSignal::new(false);
    let failure = RwSignal::new(None::<UiError>);
    let navigate = use_navigate();
    let add = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        if busy.get_untracked() {
            return;
        }
        let (name, navigate) = (name.get_untracked().trim().to_owned(), navigate.clone());
        let href = in_namespace(&project, cluster, &pods, &name);
        busy.set(true);
        failure.set(None);
        spawn_local(async move {
            match add_namespace(cluster, name).await {
                Ok(()) => navigate(&href, leptos_router::NavigateOptions::default()),
                Err(error) => failure.set(Some(error)),
            }
            busy.set(false);
        });
    };
    view! {
        <form class="toolbar mb-4" method="get" action=action on:submit=add>
            <div class="field">
                <label for="namespace-by-name">"Add a namespace by its name"</label>
                <input
                    class="input"
                    id="namespace-by-name"
                    name="namespace"
                    required
                    maxlength="63"
                    pattern="[a-z0-9]([-a-z0-9]*[a-z0-9])?"
                    title="Lower-case letters, digits and hyphens"
                    autocomplete="off"
                    spellcheck="false"
                    prop:value=move || name.get()
                    on:input=move |event| name.set(event_target_value(&event))
                />
            </div>
            <button type="submit" class="btn" aria-busy=move || busy.get().to_string()>
                <Icon icon=icons::LAYERS />
                "Add and open"
            </button>
        </form>
        {move || failure.get().map(|error| view! { <InlineError error /> })}
    }
    .into_any()
}
