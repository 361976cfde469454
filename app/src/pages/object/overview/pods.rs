//! The pods of a workload, Service or node.
use crate::{
    components::Age,
    context::use_session,
    format,
    routes::{self, ListState, Tab},
    ui::{Card, Status, TableRegion, Tone},
};
use leptos::prelude::*;
use portico_domain::panel::{ObjectRef, ObjectView, PodList, PodSummary, ResourceRef};
use uuid::Uuid;

pub fn view(list: PodList, object: &ObjectView, cluster: Uuid) -> AnyView {
    let project = use_session().project.get_untracked();
    let state = ListState {
        namespaces: object.reference.namespace.iter().cloned().collect(),
        labels: object.pod_selector.clone().unwrap_or_default(),
        ..Default::default()
    };
    let all = routes::list_with(&project, cluster, &ResourceRef::core("pods"), &state);
    let aside = object
        .pod_selector
        .is_some()
        .then(|| view! { <a href=all>"Open as list"</a> }.into_any());
    let title = format!("Pods ({})", format::count(list.total));
    let left_out = list.total - list.pods.len();
    let content = if list.pods.is_empty() {
        view! { <p class="card-body text-muted">{none(object)}</p> }.into_any()
    } else {
        table(list.pods, object, &project, cluster)
    };
    view! {
        <div class="mb-4" data-part="pods">
            <Card title aside=aside.into_any() flush=true>
                {content}
                {(left_out > 0).then(|| view! {
                    <p class="card-body text-muted">{left_out}" more pods are not shown here."</p>
                })}
            </Card>
        </div>
    }
    .into_any()
}

fn none(object: &ObjectView) -> &'static str {
    if object.replicas == Some(0) {
        "Scaled to zero: it has no pods. Scale it up to start some."
    } else if object.reference.resource == ResourceRef::core("services") {
        "No pod has the labels of its selector, so requests to this Service fail."
    } else {
        "No pods at the moment."
    }
}

fn table(pods: Vec<PodSummary>, object: &ObjectView, project: &str, cluster: Uuid) -> AnyView {
    let spans_namespaces = object.reference.namespace.is_none();
    let rows = pods
        .into_iter()
        .map(|pod| {
            let href = routes::object(project, cluster, &pod.object);
            let logs = routes::object_tab(project, cluster, &pod.object, Tab::Logs);
            let node = pod.node.map(|node| {
                let object = ObjectRef {
                    resource: ResourceRef::core("nodes"),
                    namespace: None,
                    name: node.clone(),
                };
                view! { <a href=routes::object(project, cluster, &object)>{node}</a> }
            });
            let (ready, all) = pod.ready;
            view! {
                <tr>
                    <th scope="row" class="cell-name">
                        <a href=href>{pod.object.name.clone()}</a>
                        {spans_namespaces.then(|| view! {
                            <span class="text-faint">" "{pod.object.namespace.clone()}</span>
                        })}
                    </th>
                    <td><Status tone=Tone::from(pod.health) text=pod.status /></td>
                    <td class="cell-short">{ready}" of "{all}</td>
                    <td>{pod.restarts}</td>
                    <td>{node}</td>
                    <td><Age at=pod.created_at /></td>
                    <td class="cell-end">
                        <a href=logs aria-label=format!("Logs of {}", pod.object.name)>"Logs"</a>
                    </td>
                </tr>
            }
        })
        .collect_view();
    view! {
        <TableRegion label="Pods">
            <thead>
                <tr>
                    <th scope="col">"Name"</th>
                    <th scope="col">"Status"</th>
                    <th scope="col">"Ready"</th>
                    <th scope="col">"Restarts"</th>
                    <th scope="col">"Node"</th>
                    <th scope="col">"Age"</th>
                    <th scope="col"><span class="visually-hidden">"Logs"</span></th>
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </TableRegion>
    }
    .into_any()
}
