//! The table of node groups, with what the viewer may do with each.
use super::{draft::Kind, state::Groups};
use crate::ui::{Button, ButtonKind, Card, StateMessage, Status, TableRegion, Tone, Why, icons};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::NodeGroupDetail;

pub fn card(groups: Groups) -> AnyView {
    let rows = Memo::new(move |_| {
        groups
            .shown
            .with(|shown| shown.as_ref().map(|shown| shown.groups.clone()))
    });
    let creation = Memo::new(move |_| {
        groups
            .shown
            .with(|shown| shown.as_ref().map(|shown| shown.creation_refusal.clone()))
    });
    view! {
        {move || rows.get().map(|rows| {
            if rows.is_empty() {
                return none();
            }
            let rows = rows.into_iter().map(|group| row(groups, group)).collect_view();
            view! {
                <Card title="Node groups" flush=true>
                    <TableRegion label="Node groups" stacked=true>
                        <thead>
                            <tr>
                                <th scope="col">"Name"</th>
                                <th scope="col">"Status"</th>
                                <th scope="col">"Nodes"</th>
                                <th scope="col">"Bounds"</th>
                                <th scope="col">"Flavor"</th>
                                <th scope="col">"Labels and taints"</th>
                                <th scope="col">"Actions"</th>
                            </tr>
                        </thead>
                        <tbody>{rows}</tbody>
                    </TableRegion>
                </Card>
            }
            .into_any()
        })}
        {move || creation.get().map(|refusal| view! {
            <p class="mt-4">{action(
                "creation-refusal".to_owned(),
                "Add a node group",
                "add a node group",
                refusal,
                move || groups.open(Kind::Create),
            )}</p>
        })}
    }
    .into_any()
}

fn none() -> AnyView {
    view! {
        <div class="card">
            <StateMessage
                icon=icons::SERVER
                title="No node groups are known"
                text="Magnum has not listed them yet, or this version of Magnum has none."
                state="empty"
            />
        </div>
    }
    .into_any()
}

/// Returns a button, or why it cannot be used.
fn action(
    id: String,
    label: &'static str,
    what: &'static str,
    refusal: Option<String>,
    run: impl Fn() + Send + Sync + 'static,
) -> AnyView {
    match refusal {
        Some(reason) => view! { <Why id label reason action=what /> }.into_any(),
        None => view! {
            <Button label kind=ButtonKind::Plain small=true on_click=move |_| run() />
        }
        .into_any(),
    }
}

fn row(groups: Groups, group: NodeGroupDetail) -> AnyView {
    let name = group.name.clone();
    let id = |what: &str| format!("{what}-refusal-{name}");
    let open = |kind: fn(String) -> Kind| {
        let name = name.clone();
        move || groups.open(kind(name.clone()))
    };
    let resize = action(
        id("resize"),
        "Resize",
        "resize the group",
        group.resize_refusal,
        open(Kind::Resize),
    );
    let settings = action(
        id("settings"),
        "Change",
        "change the group",
        group.settings_refusal,
        open(Kind::Settings),
    );
    let deletion = action(
        id("deletion"),
        "Delete",
        "delete the group",
        group.deletion_refusal,
        open(Kind::Delete),
    );
    let labels: Vec<String> = group
        .labels
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .chain(group.taints)
        .collect();
    let bounds = super::super::cluster::bounds(group.min, group.max);
    view! {
        <tr>
            <th scope="row" class="cell-name">
                {group.name}
                <p class="text-muted font-normal">{group.role}</p>
                {group.reason.map(|reason| view! {
                    <p class="text-muted font-normal wrap-anywhere">{reason}</p>
                })}
            </th>
            <td data-label="Status"><Status tone=Tone::from(group.health) text=group.status /></td>
            <td data-label="Nodes">{group.node_count}</td>
            <td data-label="Bounds">{bounds}</td>
            <td data-label="Flavor">{group.flavor.unwrap_or_else(|| "–".to_owned())}</td>
            <td class="cell-text" data-label="Labels and taints">
                {if labels.is_empty() {
                    "–".into_any()
                } else {
                    labels.into_iter().map(|label| view! { <p><code>{label}</code></p> }).collect_view().into_any()
                }}
            </td>
            <td>
                <span class="flex flex-wrap gap-2" role="group" aria-label=format!("Actions of {name}")>
                    {resize}
                    {settings}
                    {deletion}
                </span>
            </td>
        </tr>
    }
    .into_any()
}
