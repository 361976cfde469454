//! The nodes of a cluster while it is created or changed: versions, readiness, and what a drain waits for.
use super::watch::Watch;
use crate::ui::{Card, Status, TableRegion, Tone};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{NodeProgress, NodeTable, NodeVersion};

/// Returns the card of the nodes; nothing while no operation concerns them.
pub fn card(watch: Watch) -> AnyView {
    let nodes = Memo::new(move |_| watch.progress.with(|progress| progress.nodes.clone()));
    view! {
        {move || nodes.get().map(|nodes| view! {
            <div class="mt-4" data-part="node-progress">
                <Card title="Nodes in this operation">{content(nodes)}</Card>
            </div>
        })}
    }
    .into_any()
}

fn content(nodes: NodeProgress) -> AnyView {
    match nodes {
        NodeProgress::NotChecked(reason) => {
            view! { <p class="text-muted wrap-anywhere">{format!("Not checked: {reason}")}</p> }
                .into_any()
        }
        NodeProgress::Known(table) => of_table(table),
    }
}

fn of_table(table: NodeTable) -> AnyView {
    let notes = table.notes.into_iter();
    let notes = notes
        .map(|note| view! { <p class="text-muted wrap-anywhere">{note}</p> })
        .collect_view();
    let rows = (!table.nodes.is_empty()).then(|| {
        let rows = table.nodes.into_iter().map(row).collect_view();
        view! {
            <TableRegion label="Nodes in this operation" stacked=true>
                <thead>
                    <tr>
                        <th scope="col">"Node"</th>
                        <th scope="col">"Version"</th>
                        <th scope="col">"Status"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </TableRegion>
        }
    });
    view! {
        <div class="grid grid-cols-1 gap-3">
            <p class="font-semibold">{table.summary}</p>
            {notes}
            {rows}
        </div>
    }
    .into_any()
}

fn row(node: NodeVersion) -> AnyView {
    let version = if node.version.is_empty() {
        "Not reported".to_owned()
    } else {
        node.version
    };
    let upgraded = node.is_upgraded.map(|is_upgraded| {
        let (tone, text) = match is_upgraded {
            true => (Tone::Ok, "New version"),
            false => (Tone::Idle, "Old version"),
        };
        view! { <Status tone text /> }
    });
    view! {
        <tr>
            <th scope="row" class="cell-name">{node.name}</th>
            <td class="cell-text" data-label="Version">
                <span class="flex flex-wrap items-center gap-2">{version} " " {upgraded}</span>
            </td>
            <td class="cell-text" data-label="Status">
                <Status tone=Tone::from(node.health) text=node.status />
                {node.waiting.map(|text| view! { <p class="wrap-anywhere">{text}</p> })}
            </td>
        </tr>
    }
    .into_any()
}
