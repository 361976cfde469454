//! The table of a list: of all rows that match, only those near the visible ones are in the page.
mod head;
mod menu;
mod row;
mod scroll;

use super::{
    bulk::Bulk,
    columns::{self, Content, ShownColumn},
    page::ListPage,
    pager::Pager,
    rights::Rights,
    selection::Picked,
    usage::{self, ListUsage},
};
use crate::{
    components::StaleBanner,
    components::cell::CellKind,
    context::use_session,
    hooks::{LiveList, LiveRow, use_poll},
};
use head::Head;
use leptos::{html, prelude::*};
use menu::RowMenu;
use portico_domain::panel::ResourceKind;
use row::{RowParts, row_view};
use scroll::Viewport;
use std::sync::Arc;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

/// The shared data of one table's rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    pub columns: Vec<ShownColumn>,
    /// Whether the health is shown beside the name, because no column shows it.
    pub health_at_name: bool,
    pub events: bool,
}

impl Layout {
    fn new(columns: Vec<ShownColumn>, events: bool) -> Self {
        let shows_status =
            |column: &ShownColumn| matches!(column.content, Content::Cell(_, CellKind::Status));
        Self {
            health_at_name: !events && !columns.iter().any(shows_status),
            columns,
            events,
        }
    }
}

#[component]
pub fn Table(
    page: ListPage,
    list: LiveList,
    kind: ResourceKind,
    picked: Picked,
    bulk: Bulk,
    rights: Rights,
    usage: ListUsage,
) -> impl IntoView {
    let session = use_session();
    let resource = page.resource.get_value();
    let events = resource.is_events();
    let namespaced = kind.namespaced && page.with_namespaces;
    let chosen = Memo::new(move |_| {
        let all = list
            .columns
            .with(|columns| columns::available(&resource, columns, namespaced, usage.is_offered()));
        page.state.with(|state| columns::shown(&all, state))
    });
    let layout = Memo::new(move |_| {
        let mut columns = chosen.get();
        if usage.is_hidden() {
            columns.retain(|column| !column.is_usage());
        }
        Layout::new(columns, events)
    });
    let region = NodeRef::<html::Div>::new();
    let top = NodeRef::<html::Tbody>::new();
    let body = NodeRef::<html::Tbody>::new();
    let viewport = Viewport::new(page, list, region, top, body);
    let (before, after) = (NodeRef::<html::Td>::new(), NodeRef::<html::Td>::new());
    Effect::new(move |_| {
        let spaces = [
            (before, viewport.space_before()),
            (after, viewport.space_after()),
        ];
        for (cell, pixels) in spaces {
            if let Some(cell) = cell.get() {
                let _ = cell.set_attribute("height", &pixels.to_string());
            }
        }
    });
    let wants_usage =
        Memo::new(move |_| chosen.with(|columns| columns.iter().any(ShownColumn::is_usage)));
    Effect::new(move |_| {
        usage.show(if wants_usage.get() {
            viewport.in_page()
        } else {
            Vec::new()
        });
    });
    use_poll(usage::REFRESH_INTERVAL, move || {
        if !list.paused.get_untracked() {
            usage.read();
        }
    });
    let menu = RwSignal::new(None::<LiveRow>);
    let compact = Memo::new(move |_| page.state.with(|state| state.compact));
    // a row of another height moves all others
    Effect::new(move |_| {
        compact.track();
        layout.track();
        viewport.measure_again();
    });
    Effect::new(move |known: Option<()>| {
        list.turns.track();
        if known.is_some() {
            viewport.to_start();
        }
    });
    let project = session.project.get_untracked();
    let rows = move || {
        let layout = layout.get();
        let parts = Arc::new(RowParts {
            project: project.clone(),
            page,
            picked,
            usage,
            layout,
        });
        let each = move || viewport.rows();
        view! { <For each key=|row| row.uid.clone() children=move |row| row_view(&row, &parts) /> }
    };
    let spaced = move || layout.with(|layout| layout.columns.len() + 2);
    let clicked = move |event: leptos::ev::MouseEvent| {
        let Some(target) = element_of(event.target()) else {
            return;
        };
        let Some(row) = row_of(&target, list) else {
            return;
        };
        if target.closest("[data-check]").ok().flatten().is_some() {
            picked.toggle(&row, event.shift_key(), list);
        } else if let Some(button) = target.closest("[data-menu]").ok().flatten() {
            menu.set(Some(row));
            menu::open(&button);
        }
    };
    let name = kind.plural_name();
    view! {
        <StaleBanner list />
        <div
            node_ref=region
            class="table-region list-region"
            class:is-compact=move || compact.get()
            class:is-waiting=move || list.waiting.get()
            role="region"
            tabindex="0"
            aria-label=name.clone()
            aria-busy=move || if list.waiting.get() { "true" } else { "false" }
            on:scroll=move |_| viewport.scrolled()
        >
            <table
                class=if events { "table table-events" } else { "table table-rows" }
                role="table"
                aria-rowcount=move || (list.total.get() + 1).to_string()
            >
                <caption class="visually-hidden">{name.clone()}</caption>
                <Head page list layout picked />
                <tbody node_ref=top class="list-space" aria-hidden="true">
                    <tr>
                        <td node_ref=before colspan=spaced></td>
                    </tr>
                </tbody>
                <tbody node_ref=body role="rowgroup" on:click=clicked>
                    {rows}
                </tbody>
                <tbody class="list-space" aria-hidden="true">
                    <tr>
                        <td node_ref=after colspan=spaced></td>
                    </tr>
                </tbody>
            </table>
        </div>
        <Pager page list is_scrolled=viewport.is_active />
        <RowMenu page kind row=menu bulk rights />
    }
    .into_any()
}

fn element_of(target: Option<web_sys::EventTarget>) -> Option<Element> {
    target?.dyn_into::<Element>().ok()
}

/// Returns the row of an element in the table.
fn row_of(element: &Element, list: LiveList) -> Option<LiveRow> {
    let row = element.closest("tr").ok().flatten()?;
    let uid = row
        .dyn_into::<HtmlElement>()
        .ok()?
        .get_attribute("data-uid")?;
    list.rows
        .with_untracked(|rows| rows.iter().find(|row| row.uid == uid).cloned())
}
