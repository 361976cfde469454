//! The filter by status: every status of the list, the most severe first, with its number of rows.
use super::page::{ListPage, StateLink};
use crate::{
    format,
    hooks::LiveList,
    routes::ListState,
    ui::{Icon, Popover, Tone, icons},
};
use leptos::prelude::*;
use portico_domain::panel::{Health, StatusCount};

/// Maximum number of troubles that are shown beside the count of a list.
const MAX_TROUBLES: usize = 4;

fn toggle(status: &str, state: &mut ListState) {
    let before = state.status.len();
    state.status.retain(|chosen| chosen != status);
    if state.status.len() == before {
        state.status.push(status.to_owned());
    }
}

#[component]
pub fn StatusFacet(page: ListPage, list: LiveList) -> impl IntoView {
    let state = page.state;
    let has_any = Memo::new(move |_| {
        list.statuses.with(|all| !all.is_empty()) || state.with(|state| !state.status.is_empty())
    });
    let label = Signal::derive(move || {
        state.with(|state| match state.status.as_slice() {
            [] => "Any status".to_owned(),
            [one] => one.clone(),
            more => format!("{} states", more.len()),
        })
    });
    let options = move |found: StatusCount| {
        let status = found.status;
        let (shown, value, clicked) = (status.clone(), status.clone(), status.clone());
        let is_chosen = {
            let status = status.clone();
            move || state.with(|state| state.status.contains(&status))
        };
        // by its name: the number changes under the user's hand
        let count = move || {
            list.statuses.with(|all| {
                let found = all.iter().find(|one| one.status == status);
                format::count(found.map_or(0, |found| found.count))
            })
        };
        view! {
            <label class="option">
                <input
                    type="checkbox"
                    name="status"
                    value=value
                    checked=untrack(&is_chosen)
                    prop:checked=is_chosen
                    on:change=move |_| page.change(|state| toggle(&clicked, state))
                />
                {marked(found.health, shown)}
                <span class="option-count">{count}</span>
            </label>
        }
    };
    view! {
        <Show when=move || has_any.get()>
            <Popover
                id="filter-status"
                label
                caption="Status"
                icon=icons::ACTIVITY
                active=Signal::derive(move || state.with(|state| !state.status.is_empty()))
            >
                <div class="options" role="group" aria-label="Status">
                    <For
                        each=move || list.statuses.get()
                        key=|found| (found.status.clone(), found.health)
                        children=options
                    />
                </div>
                <button
                    type="button"
                    class="btn btn-quiet btn-small"
                    on:click=move |_| page.change(|state| state.status.clear())
                >
                    "Any status"
                </button>
            </Popover>
        </Show>
    }
    .into_any()
}

/// Returns a status with the icon of its severity; in colour only if it is trouble.
fn marked(health: Option<Health>, status: String) -> AnyView {
    let tone = health.map_or(Tone::Idle, Tone::from);
    view! {
        <span class=format!("status {}", tone.class())>
            <Icon icon=tone.icon() />
            <span>{status}</span>
        </span>
    }
    .into_any()
}

/// What needs attention in the list, each a filter of its own.
#[component]
pub fn Troubles(page: ListPage, list: LiveList) -> impl IntoView {
    let troubles = Memo::new(move |_| {
        let chosen = page.state.with(|state| state.status.clone());
        list.statuses.with(|all| {
            all.iter()
                .filter(|one| {
                    matches!(one.health, Some(Health::Failed | Health::Warning))
                        && !chosen.contains(&one.status)
                })
                .take(MAX_TROUBLES)
                .cloned()
                .collect::<Vec<_>>()
        })
    });
    move || {
        troubles
            .get()
            .into_iter()
            .map(|one| {
                let status = one.status.clone();
                let text = format!("{} {}", format::count(one.count), one.status);
                view! {
                    <StateLink
                        page
                        class="trouble"
                        title="Show only these"
                        change=move |state: &mut ListState| toggle(&status, state)
                    >
                        {marked(one.health, text)}
                    </StateLink>
                }
            })
            .collect_view()
    }
}
