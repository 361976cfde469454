//! The table of nodes with its filter.
use super::{
    chosen::{Chosen, Verb},
    state::NodesState,
};
use crate::{
    components::Age,
    context::use_session,
    routes,
    ui::{Button, ButtonKind, Card, Icon, StateMessage, Status, TableRegion, Tone, Why, icons},
};
use leptos::prelude::*;
use portico_domain::panel::{
    ObjectRef, ResourceRef,
    lifecycle::{ClusterNode, KubernetesNode},
};
use uuid::Uuid;

/// Returns the table, or why there is none.
pub fn card(state: NodesState) -> AnyView {
    let project = use_session().project.get_untracked();
    let nodes = Memo::new(move |_| {
        state
            .shown
            .with(|shown| shown.as_ref().map(|shown| shown.nodes.clone()))
    });
    let has_nodes = Memo::new(move |_| {
        nodes.with(|nodes| nodes.as_ref().is_some_and(|nodes| !nodes.is_empty()))
    });
    view! {
        {move || has_nodes.get().then(|| filter(state))}
        {move || nodes.get().map(|nodes| {
            if nodes.is_empty() {
                return none();
            }
            let wanted = state.filter.get();
            let rows: Vec<_> = nodes
                .into_iter()
                .filter(|node| node.matches(&wanted))
                .map(|node| row(state, &project, node))
                .collect();
            if rows.is_empty() {
                return no_match(state);
            }
            view! {
                <Card title="Nodes" flush=true>
                    <TableRegion label="Nodes" stacked=true>
                        <thead>
                            <tr>
                                <th scope="col">"Node"</th>
                                <th scope="col">"Node group"</th>
                                <th scope="col">"State in Nova"</th>
                                <th scope="col">"In Kubernetes"</th>
                                <th scope="col">"Version"</th>
                                <th scope="col">"Age"</th>
                                <th scope="col">"Address"</th>
                                <th scope="col">"Flavor"</th>
                                <th scope="col">"Actions"</th>
                            </tr>
                        </thead>
                        <tbody>{rows}</tbody>
                    </TableRegion>
                </Card>
            }
            .into_any()
        })}
    }
    .into_any()
}

fn filter(state: NodesState) -> AnyView {
    view! {
        <div class="toolbar">
            <div class="field">
                <label for="filter-nodes">"Name, group, state or address"</label>
                <div class="search">
                    <Icon icon=icons::SEARCH />
                    <input
                        class="input"
                        id="filter-nodes"
                        type="search"
                        autocomplete="off"
                        spellcheck="false"
                        data-filter=""
                        prop:value=move || state.filter.get()
                        on:input=move |event| state.filter.set(event_target_value(&event))
                    />
                </div>
            </div>
        </div>
    }
    .into_any()
}

fn none() -> AnyView {
    view! {
        <div class="card">
            <StateMessage
                icon=icons::SERVER
                title="No nodes"
                text="Magnum reports no node of this cluster, and none of the project's servers was recognised \
                      as one."
                state="empty"
            />
        </div>
    }
    .into_any()
}

fn no_match(state: NodesState) -> AnyView {
    view! {
        <div class="card">
            <StateMessage
                icon=icons::SEARCH
                title="No node matches"
                text="The filter looks at names, groups, states, versions, addresses, flavors and servers."
                state="no-match"
            >
                <Button
                    label="Clear the filter"
                    on_click=move |_| state.filter.set(String::new())
                />
            </StateMessage>
        </div>
    }
    .into_any()
}

/// Returns the address of a node of Kubernetes, on whose page it is drained.
pub fn in_kubernetes(project: &str, cluster: Uuid, name: &str) -> String {
    let node = ObjectRef {
        resource: ResourceRef::core("nodes"),
        namespace: None,
        name: name.to_owned(),
    };
    routes::object(project, cluster, &node)
}

fn row(state: NodesState, project: &str, node: ClusterNode) -> AnyView {
    let shown_name = node.shown_name().to_owned();
    let name = match &node.kubernetes {
        Some(_) => {
            let href = in_kubernetes(project, state.cluster, &shown_name);
            view! { <a href=href>{shown_name.clone()}</a> }.into_any()
        }
        None => shown_name.clone().into_any(),
    };
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
    let (condition, version, age) = of_kubernetes(node.kubernetes.as_ref());
    let chosen = |verb| {
        node.server.clone().map(|server| Chosen {
            verb,
            server,
            name: shown_name.clone(),
            can_be_drained: node.kubernetes.is_some(),
        })
    };
    let replace = action(
        state,
        "Replace",
        chosen(Verb::Replace),
        node.replacement_refusal.clone(),
    );
    let remove = action(
        state,
        "Remove",
        chosen(Verb::Remove),
        node.removal_refusal.clone(),
    );
    let healed = node.server.clone().filter(|_| node.can_be_healed);
    let drain = healed.map(|server| {
        view! {
            <Button
                label="Drain"
                kind=ButtonKind::Plain
                small=true
                busy=state.is_sending
                on_click=move |_| state.begin_drain(server.clone())
            />
        }
    });
    let addresses = node.addresses.into_iter();
    let addresses = addresses.map(|address| view! { <p><code>{address}</code></p> });
    view! {
        <tr>
            <th scope="row" class="cell-name">
                {name}
                {node.server.map(|server| view! {
                    <p class="text-muted font-normal wrap-anywhere"><code>{server}</code></p>
                })}
            </th>
            <td data-label="Node group">
                {or_dash(node.group)}
                {node.role.map(|role| view! { <p class="text-muted">{role}</p> })}
            </td>
            <td data-label="State in Nova"><Status tone=Tone::from(node.health) text=node.status /></td>
            <td data-label="In Kubernetes">{condition}</td>
            <td data-label="Version">{version}</td>
            <td data-label="Age">{age}</td>
            <td data-label="Address">{addresses.collect_view()}</td>
            <td data-label="Flavor">{or_dash(node.flavor)}</td>
            <td>
                <span class="flex flex-wrap gap-2" role="group" aria-label=format!("Actions of {shown_name}")>
                    {drain}
                    {replace}
                    {remove}
                </span>
            </td>
        </tr>
    }
    .into_any()
}

/// Returns condition, version and age.
fn of_kubernetes(node: Option<&KubernetesNode>) -> (AnyView, String, AnyView) {
    let dash = || "–".to_owned();
    let Some(node) = node else {
        return (dash().into_any(), dash(), dash().into_any());
    };
    let (tone, text) = (Tone::from(node.health), node.status.clone());
    let condition = view! { <Status tone text /> }.into_any();
    let version = Some(node.version.clone()).filter(|version| !version.is_empty());
    let age = match node.created_at {
        Some(at) => view! { <Age at=Some(at) /> }.into_any(),
        None => dash().into_any(),
    };
    (condition, version.unwrap_or_else(dash), age)
}

/// Returns a button, or why it cannot be used; nothing for a node that cannot be chosen.
fn action(
    state: NodesState,
    label: &'static str,
    chosen: Option<Chosen>,
    refusal: Option<String>,
) -> AnyView {
    match (refusal, chosen) {
        (Some(reason), Some(chosen)) => {
            let id = format!("{}-refusal-{}", label.to_lowercase(), chosen.server);
            view! { <Why id label reason action="change the node" /> }.into_any()
        }
        (None, Some(chosen)) => view! {
            <Button
                label
                kind=ButtonKind::Plain
                small=true
                on_click=move |_| state.choose(chosen.clone())
            />
        }
        .into_any(),
        (_, None) => ().into_any(),
    }
}
