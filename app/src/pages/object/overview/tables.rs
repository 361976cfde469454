//! Tables of an object's parts.
use crate::{
    routes,
    ui::{Card, Status, TableRegion, Tone},
};
use leptos::prelude::*;
use portico_domain::panel::{DetailCell, DetailTable};
use uuid::Uuid;

pub fn view(table: DetailTable, project: &str, cluster: Uuid) -> AnyView {
    let head = table
        .columns
        .iter()
        .map(|name| view! { <th scope="col">{name.clone()}</th> })
        .collect_view();
    let rows = table
        .rows
        .into_iter()
        .map(|cells| {
            let cells = cells
                .into_iter()
                .map(|content| view! { <td class="cell-detail">{cell(content, project, cluster)}</td> })
                .collect_view();
            view! { <tr>{cells}</tr> }
        })
        .collect_view();
    view! {
        <div class="mt-4">
            <Card title=table.title.clone() flush=true>
                <TableRegion label=table.title>
                    <thead>
                        <tr>{head}</tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </TableRegion>
            </Card>
        </div>
    }
    .into_any()
}

fn cell(cell: DetailCell, project: &str, cluster: Uuid) -> AnyView {
    match (cell.object, cell.health) {
        (Some(object), _) => {
            view! { <a href=routes::object(project, cluster, &object)>{cell.text}</a> }.into_any()
        }
        (None, Some(health)) => {
            view! { <Status tone=Tone::from(health) text=cell.text /> }.into_any()
        }
        (None, None) => cell.text.into_any(),
    }
}
