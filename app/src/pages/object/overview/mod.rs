//! The overview of an object: its status with the reason, then its parts.
mod pods;
mod port_forwarding;
mod related;
mod revisions;
mod rollout;
mod tables;
mod usage;
mod values;

pub use related::Related;
pub use usage::Usage;

use super::changes::Dialogs;
use crate::{
    components::{Age, missing_permission},
    context::use_session,
    format,
    routes::{self, ListState},
    ui::{Banner, Card, DescriptionList, Icon, Status, TableRegion, Tone, icons},
};
use leptos::prelude::*;
use portico_domain::panel::{Condition, ContainerView, Health, ObjectRef, ObjectView, ResourceRef};
use uuid::Uuid;

pub fn view(
    object: &ObjectView,
    cluster: Uuid,
    related: Related,
    usage: Usage,
    dialogs: Dialogs,
) -> AnyView {
    let project = use_session().project.get_untracked();
    let tone = match object.health {
        Health::Ok | Health::Unknown => Tone::Info,
        health => Tone::from(health),
    };
    let missing = object
        .missing
        .iter()
        .map(|missing| missing_permission(Some(missing)))
        .collect_view();
    let reason = object.reason.clone().map(|reason| {
        view! {
            <div class="mb-4" data-reason="">
                <Banner tone>{reason}{missing}</Banner>
            </div>
        }
    });
    let deleting = object.deleting_since.map(|since| {
        view! {
            <div class="mb-4">
                <Banner tone=Tone::Info>
                    "Being deleted since "<Age at=Some(since) />
                    ". It is removed when its finalizers have finished."
                </Banner>
            </div>
        }
    });
    let details = details(object, cluster);
    view! {
        {reason}
        {deleting}
        {related.pods(cluster, object)}
        {containers(&object.containers)}
        {usage.view()}
        <div class="grid-halves">
            <Card title="Details">{details}</Card>
            {conditions(&object.conditions)}
        </div>
        {values::view(object, cluster)}
        {inside(object, &project, cluster)}
        {port_forwarding::view(object)}
        {related.rest(cluster, object, dialogs)}
    }
    .into_any()
}

fn details(object: &ObjectView, cluster: Uuid) -> AnyView {
    let mut rows: Vec<(String, AnyView)> = Vec::new();
    if object.created_at.is_some() {
        let created = view! { <Age at=object.created_at />" ago" }.into_any();
        rows.push(("Created".to_owned(), created));
    }
    for (name, value) in &object.fields {
        rows.push((name.clone(), value.clone().into_any()));
    }
    if !object.labels.is_empty() {
        let labels = object
            .labels
            .iter()
            .map(|(key, value)| chip(key, value))
            .collect_view();
        rows.push((
            "Labels".to_owned(),
            view! { <span class="chips">{labels}</span> }.into_any(),
        ));
    }
    if !object.annotations.is_empty() {
        rows.push(("Annotations".to_owned(), annotations(&object.annotations)));
    }
    let activity = routes::activity(cluster, &object.reference);
    rows.push((
        "Activity".to_owned(),
        view! { <a href=activity rel="external">"Changes made with Portico"</a> }.into_any(),
    ));
    rows.push((
        "UID".to_owned(),
        view! { <code>{object.uid.clone()}</code> }.into_any(),
    ));
    view! { <DescriptionList rows /> }.into_any()
}

fn chip(key: &str, value: &str) -> AnyView {
    let text = if value.is_empty() {
        key.to_owned()
    } else {
        format!("{key}={value}")
    };
    view! { <span class="chip">{text}</span> }.into_any()
}

fn annotations(annotations: &[(String, String)]) -> AnyView {
    let rows = annotations
        .iter()
        .map(|(key, value)| {
            view! {
                <li class="mt-1.5">
                    <code class="text-muted">{key.clone()}</code>
                    <p class="mono wrap-anywhere">{value.clone()}</p>
                </li>
            }
        })
        .collect_view();
    view! {
        <details class="fold">
            <summary>
                <Icon icon=icons::CHEVRON_RIGHT />
                {format::counted(annotations.len(), "annotation")}
            </summary>
            <ul>{rows}</ul>
        </details>
    }
    .into_any()
}

fn containers(containers: &[ContainerView]) -> AnyView {
    if containers.is_empty() {
        return ().into_any();
    }
    let rows = containers
        .iter()
        .map(|container| {
            let name = if container.init {
                format!("{} (init)", container.name)
            } else {
                container.name.clone()
            };
            view! {
                <tr>
                    <th scope="row" class="cell-name">{name}</th>
                    <td class="cell-text">
                        <Status tone=Tone::from(container.health) text=container.state.clone() />
                        {container.message.clone().map(|message| view! {
                            <p class="text-muted">{message}</p>
                        })}
                    </td>
                    <td>{container.restarts}</td>
                    <td><Age at=container.started_at /></td>
                    <td class="cell-text mono wrap-anywhere">{container.image.clone()}</td>
                </tr>
            }
        })
        .collect_view();
    view! {
        <div class="mb-4">
            <Card title="Containers" flush=true>
                <TableRegion label="Containers">
                    <thead>
                        <tr>
                            <th scope="col">"Name"</th>
                            <th scope="col">"State"</th>
                            <th scope="col">"Restarts"</th>
                            <th scope="col">"Started"</th>
                            <th scope="col">"Image"</th>
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </TableRegion>
            </Card>
        </div>
    }
    .into_any()
}

fn conditions(conditions: &[Condition]) -> AnyView {
    if conditions.is_empty() {
        return ().into_any();
    }
    let rows = conditions
        .iter()
        .map(|condition| {
            let why = match (condition.reason.is_empty(), condition.message.is_empty()) {
                (true, true) => String::new(),
                (false, true) => condition.reason.clone(),
                (true, false) => condition.message.clone(),
                (false, false) => format!("{}: {}", condition.reason, condition.message),
            };
            let text = format!("{}: {}", condition.kind, condition.status);
            view! {
                <li class="grid gap-0.5">
                    <span class="flex flex-wrap justify-between gap-x-3">
                        <Status tone=Tone::from(condition.health) text />
                        <span class="text-faint"><Age at=condition.changed_at /></span>
                    </span>
                    <p class="text-muted wrap-anywhere">{why}</p>
                </li>
            }
        })
        .collect_view();
    view! {
        <Card title="Conditions">
            <ul class="grid gap-3">{rows}</ul>
        </Card>
    }
    .into_any()
}

/// Returns links to the lists of a namespace's objects.
fn inside(object: &ObjectView, project: &str, cluster: Uuid) -> AnyView {
    if !is_namespace(&object.reference) {
        return ().into_any();
    }
    let links = [
        ("Pods", ResourceRef::core("pods")),
        ("Deployments", ResourceRef::new("apps", "v1", "deployments")),
        ("Services", ResourceRef::core("services")),
        ("ConfigMaps", ResourceRef::core("configmaps")),
        (
            "PersistentVolumeClaims",
            ResourceRef::core("persistentvolumeclaims"),
        ),
        ("Events", ResourceRef::core("events")),
    ]
    .map(|(label, resource)| {
        let state = ListState {
            namespaces: vec![object.reference.name.clone()],
            ..Default::default()
        };
        let href = routes::list_with(project, cluster, &resource, &state);
        view! { <a class="btn" href=href>{label}</a> }
    })
    .collect_view();
    view! {
        <div class="mt-4">
            <Card title="In this namespace">
                <div class="flex flex-wrap gap-2">{links}</div>
            </Card>
        </div>
    }
    .into_any()
}

fn is_namespace(object: &ObjectRef) -> bool {
    object.resource.group.is_empty() && object.resource.plural == "namespaces"
}
