//! What the cluster is: identity, template, API address, node groups.
use crate::{
    components::Age,
    ui::{Card, CopyButton, DescriptionList, StateMessage, Status, TableRegion, Tone, icons},
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{ManagedCluster, NodeGroupRow};

/// Returns the cards of a cluster's details and of its node groups.
pub fn cards(cluster: ManagedCluster, groups: Vec<NodeGroupRow>) -> AnyView {
    view! {
        <div class="mt-4">
            <Card title="Node groups" flush=true>{table(groups)}</Card>
        </div>
        <div class="mt-4">
            <Card title="Details"><DescriptionList rows=details(cluster) /></Card>
        </div>
    }
    .into_any()
}

fn details(cluster: ManagedCluster) -> Vec<(String, AnyView)> {
    let unknown = || view! { <span class="text-muted">"Not known yet"</span> }.into_any();
    let text = |value: Option<String>| value.map_or_else(unknown, IntoAny::into_any);
    let mut rows = vec![
        ("Name", cluster.name.into_any()),
        ("UUID", to_copy(cluster.id.to_string(), "UUID")),
        ("State in Magnum", code(cluster.raw_status)),
    ];
    if let Some(reason) = cluster.reason {
        rows.push(("Reason", reason.into_any()));
    }
    rows.extend([
        ("Health", cluster.measured_health.into_any()),
        ("Kubernetes version", text(cluster.version)),
        ("Template", cluster.template.name.into_any()),
        ("Driver", cluster.driver.into_any()),
        (
            "API address",
            cluster
                .api_address
                .map_or_else(unknown, |address| to_copy(address, "API address")),
        ),
        (
            "Created",
            cluster.created_at.map_or_else(unknown, |at| {
                view! { <Age at=Some(at) /> " ago" }.into_any()
            }),
        ),
        (
            "Created by",
            if cluster.is_own {
                "You"
            } else {
                "Another user of the project"
            }
            .into_any(),
        ),
    ]);
    if cluster.is_made_outside {
        rows.push(("Origin", "Made outside of Portico".into_any()));
    }
    rows.into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

fn code(text: String) -> AnyView {
    view! { <code>{text}</code> }.into_any()
}

fn to_copy(text: String, what: &'static str) -> AnyView {
    view! {
        <span class="flex flex-wrap items-center gap-2">
            <code>{text.clone()}</code>
            <CopyButton text what />
        </span>
    }
    .into_any()
}

fn table(groups: Vec<NodeGroupRow>) -> AnyView {
    if groups.is_empty() {
        return view! {
            <StateMessage
                icon=icons::SERVER
                title="No node groups are known"
                text="Magnum has not listed them yet, or this version of Magnum has none."
                state="empty"
            />
        }
        .into_any();
    }
    let rows = groups.into_iter().map(row).collect_view();
    view! {
        <TableRegion label="Node groups" stacked=true>
            <thead>
                <tr>
                    <th scope="col">"Name"</th>
                    <th scope="col">"Status"</th>
                    <th scope="col">"Role"</th>
                    <th scope="col">"Nodes"</th>
                    <th scope="col">"Bounds"</th>
                    <th scope="col">"Flavor"</th>
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </TableRegion>
    }
    .into_any()
}

fn row(group: NodeGroupRow) -> AnyView {
    view! {
        <tr>
            <th scope="row" class="cell-name">
                {group.name}
                {group.reason.map(|reason| view! {
                    <p class="text-muted font-normal wrap-anywhere">{reason}</p>
                })}
            </th>
            <td data-label="Status"><Status tone=Tone::from(group.health) text=group.status /></td>
            <td data-label="Role">{group.role}</td>
            <td data-label="Nodes">{group.node_count}</td>
            <td data-label="Bounds">{bounds(group.min, group.max)}</td>
            <td data-label="Flavor">{group.flavor.unwrap_or_else(|| "–".to_owned())}</td>
        </tr>
    }
    .into_any()
}

/// Returns `1 to 5`, `at least 1`, `at most 5`, or a dash.
pub fn bounds(min: Option<u32>, max: Option<u32>) -> String {
    match (min, max) {
        (Some(min), Some(max)) => format!("{min} to {max}"),
        (Some(min), None) => format!("at least {min}"),
        (None, Some(max)) => format!("at most {max}"),
        (None, None) => "–".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::bounds;

    #[test]
    fn bounds_are_words() {
        assert_eq!(bounds(Some(1), Some(5)), "1 to 5");
        assert_eq!(bounds(Some(1), None), "at least 1");
        assert_eq!(bounds(None, Some(5)), "at most 5");
        assert_eq!(bounds(None, None), "–");
    }
}
