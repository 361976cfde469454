use super::{
    StaleBanner,
    cell::{CellKind, cell_view},
    event_cell,
};
use crate::{
    format,
    hooks::{LiveList, LiveRow},
    routes::{self, ListState},
    ui::{Icon, TableRegion, icons},
};
use leptos::prelude::*;
use portico_domain::panel::{Column, Health, ObjectRef, ResourceKind, ResourceRef, usual_order};
use std::sync::Arc;
use uuid::Uuid;

/// The shared data of one table's parts.
struct Layout {
    project: String,
    cluster: Uuid,
    resource: ResourceRef,
    columns: Vec<(CellKind, Column)>,
    with_namespace: bool,
    /// Whether the health is shown beside the name, because no column shows it.
    health_at_name: bool,
    state: ListState,
    base: String,
}

/// A live list of any kind, as a table whose rows change in place.
#[component]
pub fn ResourceTable(
    list: LiveList,
    kind: ResourceKind,
    columns: Vec<Column>,
    project: String,
    cluster: Uuid,
    state: ListState,
    /// The list's address without its query.
    base: String,
) -> impl IntoView {
    let resource = ResourceRef::new(&kind.group, &kind.version, &kind.plural);
    let events = resource.is_events();
    let columns: Vec<_> = columns
        .into_iter()
        .enumerate()
        .map(|(index, column)| {
            let kind = if events {
                CellKind::of_event(&column)
            } else {
                CellKind::of(&column, index)
            };
            (kind, column)
        })
        .collect();
    let layout = Arc::new(Layout {
        project,
        cluster,
        with_namespace: kind.namespaced && state.namespace.is_empty(),
        health_at_name: !columns.iter().any(|(kind, _)| *kind == CellKind::Status),
        resource,
        columns,
        state,
        base,
    });
    let head = head(&layout);
    let rows = {
        let layout = layout.clone();
        move |row: LiveRow| row_view(&row, &layout)
    };
    view! {
        <StaleBanner list />
        <TableRegion label=kind.plural_name() events>
            <caption class="visually-hidden">{kind.plural_name()}</caption>
            <thead>
                <tr>{head}</tr>
            </thead>
            <tbody>
                <For each=move || list.window.get() key=|row| row.uid.clone() children=rows />
            </tbody>
        </TableRegion>
        <MoreRows list layout=layout.clone() />
    }
    .into_any()
}

fn head(layout: &Layout) -> Vec<AnyView> {
    let mut cells = Vec::with_capacity(layout.columns.len() + 1);
    for (kind, column) in &layout.columns {
        let hidden = column.priority > 0;
        cells.push(head_cell(layout, &column.name, &column.description, hidden));
        if *kind == CellKind::Name && layout.with_namespace {
            cells.push(head_cell(layout, "Namespace", "", false));
        }
    }
    cells
}

fn head_cell(layout: &Layout, name: &str, description: &str, hidden: bool) -> AnyView {
    let key = name.to_lowercase();
    let descending = format!("-{key}");
    let order = usual_order(&layout.resource, &layout.state.sort);
    let (sorted, next, icon) = if order == key {
        (Some("ascending"), descending, Some(icons::ARROW_UP))
    } else if order == descending {
        (Some("descending"), String::new(), Some(icons::ARROW_DOWN))
    } else {
        (None, key, None)
    };
    let state = ListState {
        sort: next,
        ..layout.state.clone()
    };
    let href = format!("{}{}", layout.base, state.query());
    view! {
        <th scope="col" class=if hidden { "cell-low" } else { "" } aria-sort=sorted>
            <a class="sort" href=href data-noscroll="" title=description.to_owned()>
                {name.to_owned()}
                {icon.map(|icon| view! { <Icon icon /> })}
            </a>
        </th>
    }
    .into_any()
}

fn row_view(live: &LiveRow, layout: &Arc<Layout>) -> AnyView {
    let (name, namespace) = live
        .row
        .with_untracked(|row| (row.name.clone(), row.namespace.clone()));
    let object = ObjectRef {
        resource: layout.resource.clone(),
        namespace,
        name,
    };
    let href = routes::object(&layout.project, layout.cluster, &object);
    let mut cells = Vec::with_capacity(layout.columns.len() + 1);
    for (index, (kind, column)) in layout.columns.iter().enumerate() {
        if *kind == CellKind::Name {
            cells.push(name_cell(live, layout, &object.name, &href));
            if layout.with_namespace {
                let namespace = object.namespace.clone().unwrap_or_default();
                cells.push(view! { <td>{namespace}</td> }.into_any());
            }
            continue;
        }
        if *kind == CellKind::EventReason {
            cells.push(reason_cell(live, index, &href));
            continue;
        }
        let low = if column.priority > 0 { " cell-low" } else { "" };
        let content = event_view(live, layout, *kind, index)
            .unwrap_or_else(|| cell_view(live.row.clone(), *kind, index));
        cells.push(view! { <td class=format!("{}{low}", kind.class())>{content}</td> }.into_any());
    }
    view! { <tr>{cells}</tr> }.into_any()
}

/// Returns the content of a cell that only events have.
fn event_view(
    live: &LiveRow,
    layout: &Arc<Layout>,
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
        CellKind::Involved => live.row.with_untracked(|row| {
            let namespace = row.namespace.clone().filter(|_| layout.with_namespace);
            let object = row.event.as_ref().and_then(|event| event.object.clone());
            let namespace = match &object {
                // of a cluster-scoped object, the event's own namespace has no meaning
                Some(object) if object.namespace.is_none() => None,
                _ => namespace,
            };
            text.with_untracked(|text| {
                event_cell::involved(text, object, namespace, &layout.project, layout.cluster)
            })
        }),
        _ => return None,
    })
}

/// Links an event's reason to the page of the event.
fn reason_cell(live: &LiveRow, index: usize, href: &str) -> AnyView {
    let row = live.row.clone();
    let reason = move || row.with(|row| row.cells.get(index).cloned().unwrap_or_default());
    view! {
        <th scope="row" class="event-reason">
            <a href=href.to_owned() data-row="">{reason}</a>
        </th>
    }
    .into_any()
}

fn name_cell(live: &LiveRow, layout: &Layout, name: &str, href: &str) -> AnyView {
    let row = live.row.clone();
    let troubled = layout.health_at_name.then_some({
        move || {
            let health = row.with(|row| row.health);
            let word = match health? {
                Health::Ok | Health::Unknown => return None,
                Health::Progressing => "Progressing",
                Health::Warning => "Needs attention",
                Health::Failed => "Failed",
            };
            let tone = crate::ui::Tone::from(health?);
            Some(view! {
                <span class=format!("status {}", tone.class()) title=word>
                    <Icon icon=tone.icon() />
                    <span class="visually-hidden">{word}</span>
                </span>
            })
        }
    });
    view! {
        <th scope="row" class="cell-name">
            <span class="inline-flex items-center gap-2">
                <a href=href.to_owned() data-row="">{name.to_owned()}</a>
                {troubled}
            </span>
        </th>
    }
    .into_any()
}

/// Below the table: the number of rows, and a button for more.
#[component]
fn MoreRows(list: LiveList, layout: Arc<Layout>) -> impl IntoView {
    move || {
        let (shown, count, total) = (
            list.window.with(Vec::len),
            list.count.get(),
            list.total.get(),
        );
        if shown >= total {
            return ().into_any();
        }
        let more = (shown < count).then(|| {
            let state = ListState {
                rows: shown + 200,
                ..layout.state.clone()
            };
            let href = format!("{}{}", layout.base, state.query());
            view! {
                <a class="btn" href=href data-noscroll="">
                    "Show 200 more"
                </a>
            }
        });
        let cut = (count < total).then(|| {
            format!(
                " The server sends the first {}; filter to find the others.",
                format::count(count)
            )
        });
        view! {
            <div class="flex flex-wrap items-center gap-3 mt-3">
                <p class="text-muted">
                    {format!("{} of {} shown.", format::count(shown), format::count(total))}
                    {cut}
                </p>
                {more}
            </div>
        }
        .into_any()
    }
}
