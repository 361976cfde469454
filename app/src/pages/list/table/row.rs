use super::Layout;
use crate::{
    components::{
        cell::{CellKind, cell_view},
        event_cell,
    },
    hooks::LiveRow,
    pages::list::{
        columns::{Content, ShownColumn},
        page::ListPage,
        selection::Picked,
        usage::{ListUsage, usage_cell},
    },
    routes::Tab,
    ui::{Icon, Tone},
};
use leptos::prelude::*;
use portico_domain::panel::{Health, Row};
use std::sync::Arc;

/// Number of columns besides the name, the namespace and the status that a narrow screen shows.
const NARROW_COLUMNS: usize = 2;

/// What all rows of a table share.
pub struct RowParts {
    pub project: String,
    pub page: ListPage,
    pub picked: Picked,
    pub usage: ListUsage,
    pub layout: Layout,
}

pub fn row_view(live: &LiveRow, parts: &Arc<RowParts>) -> AnyView {
    let (name, namespace) = live
        .row
        .with_untracked(|row| (row.name.clone(), row.namespace.clone()));
    let href = parts
        .page
        .object_href(&parts.project, namespace.clone(), &name, Tab::Overview);
    let mut others = 0;
    let cells: Vec<AnyView> = parts
        .layout
        .columns
        .iter()
        .map(|column| match &column.content {
            Content::Name => name_cell(live, parts, &name, &href),
            Content::Namespace => {
                let namespace = namespace.clone().unwrap_or_default();
                view! { <td role="cell" class="cell-short">{namespace}</td> }.into_any()
            }
            Content::Label(key) => label_cell(live, key, &column.title),
            Content::Usage(measure) => usage_cell(parts.usage, &live.uid, *measure),
            Content::Cell(index, CellKind::EventReason) => reason_cell(live, *index, &href),
            Content::Cell(index, kind) => {
                others += usize::from(!matches!(kind, CellKind::Status | CellKind::Age));
                other_cell(live, parts, column, *kind, *index, others > NARROW_COLUMNS)
            }
        })
        .collect();
    let picked = parts.picked;
    let (uid, chosen) = (live.uid.clone(), live.uid.clone());
    let is_picked = Memo::new(move |_| picked.contains(&chosen));
    let index = live.index.clone();
    let label = match &namespace {
        Some(namespace) => format!("{name} in {namespace}"),
        None => name,
    };
    view! {
        <tr
            role="row"
            data-uid=uid
            class:is-picked=move || is_picked.get()
            aria-rowindex=move || (index.get() + 2).to_string()
        >
            <td role="cell" class="cell-check">
                <input
                    type="checkbox"
                    data-check=""
                    aria-label=format!("Select {label}")
                    prop:checked=move || is_picked.get()
                />
            </td>
            {cells}
            <td role="cell" class="cell-menu">
                <button
                    type="button"
                    class="row-menu"
                    data-menu=""
                    aria-haspopup="menu"
                    aria-label=format!("Actions for {label}")
                >
                    "⋯"
                </button>
            </td>
        </tr>
    }
    .into_any()
}

fn other_cell(
    live: &LiveRow,
    parts: &Arc<RowParts>,
    column: &ShownColumn,
    kind: CellKind,
    index: usize,
    is_extra: bool,
) -> AnyView {
    let content = event_view(live, parts, kind, index)
        .unwrap_or_else(|| cell_view(live.row.clone(), kind, index));
    let mut class = kind.class().to_owned();
    if is_extra {
        class.push_str(" cell-extra");
    }
    // beside other values on a narrow screen, a value alone says nothing
    let label = matches!(kind, CellKind::Text | CellKind::Number | CellKind::Long)
        .then(|| column.title.clone());
    view! { <td role="cell" class=class data-label=label>{content}</td> }.into_any()
}

fn label_cell(live: &LiveRow, key: &str, title: &str) -> AnyView {
    let row = live.row.clone();
    let key = key.to_owned();
    let value = move || {
        row.with(|row| {
            let found = row.labels.iter().find(|(known, _)| *known == key);
            found.map_or_else(|| "–".to_owned(), |(_, value)| value.clone())
        })
    };
    view! { <td role="cell" class="cell-short" data-label=title.to_owned()>{value}</td> }.into_any()
}

/// Returns the content of a cell that only events have.
fn event_view(
    live: &LiveRow,
    parts: &Arc<RowParts>,
    kind: CellKind,
    index: usize,
) -> Option<AnyView> {
    if !kind.is_of_event() {
        return None;
    }
    let row = live.row.clone();
    let text =
        Memo::new(move |_| row.with(|row| row.cells.get(index).cloned().unwrap_or_default()));
    Some(match kind {
        CellKind::LastSeen => event_cell::last_seen(live.row.clone()),
        CellKind::EventType => (move || text.with(|text| event_cell::event_type(text))).into_any(),
        CellKind::EventMessage => (move || event_cell::message(text.get())).into_any(),
        // the object of an event never changes
        CellKind::Involved => live.row.with_untracked(|row| involved(row, parts, text)),
        _ => return None,
    })
}

fn involved(row: &Row, parts: &RowParts, text: Memo<String>) -> AnyView {
    let page = parts.page;
    let is_one_namespace = page
        .state
        .with_untracked(|state| state.namespaces.len() == 1);
    let object = row.event.as_ref().and_then(|event| event.object.clone());
    let namespace = match &object {
        // of a cluster-scoped object, the event's own namespace has no meaning
        Some(object) if object.namespace.is_none() => None,
        _ => row.namespace.clone().filter(|_| !is_one_namespace),
    };
    text.with_untracked(|text| {
        event_cell::involved(text, object, namespace, &parts.project, page.cluster)
    })
}

/// Links an event's reason to the page of the event.
fn reason_cell(live: &LiveRow, index: usize, href: &str) -> AnyView {
    let row = live.row.clone();
    let reason = move || row.with(|row| row.cells.get(index).cloned().unwrap_or_default());
    view! {
        <th scope="row" role="rowheader" class="event-reason">
            <a href=href.to_owned() data-row="">{reason}</a>
        </th>
    }
    .into_any()
}

fn name_cell(live: &LiveRow, parts: &RowParts, name: &str, href: &str) -> AnyView {
    let row = live.row.clone();
    let troubled = parts.layout.health_at_name.then_some({
        move || {
            let health = row.with(|row| row.health)?;
            if matches!(health, Health::Ok | Health::Unknown) {
                return None;
            }
            let tone = Tone::from(health);
            Some(view! {
                <span class=format!("status {}", tone.class()) title=health.words()>
                    <Icon icon=tone.icon() />
                    <span class="visually-hidden">{health.words()}</span>
                </span>
            })
        }
    });
    view! {
        <th scope="row" role="rowheader" class="cell-name">
            <a href=href.to_owned() data-row="" title=name.to_owned()>{name.to_owned()}</a>
            {troubled}
        </th>
    }
    .into_any()
}
