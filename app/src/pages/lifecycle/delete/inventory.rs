//! What will be deleted, what depends on the driver or the reclaim policy, and what remains.
use crate::{
    components::Age,
    format,
    pages::lifecycle::checks,
    ui::{Banner, Card, Tone},
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{DeletionInventory, DeletionItem};

/// Returns the groups of an inventory, its gaps, and the checks.
pub fn view(inventory: DeletionInventory) -> AnyView {
    let groups = [
        (
            "Will be deleted",
            "Only the cluster's record.",
            inventory.goes,
        ),
        (
            "Depends on the driver or the reclaim policy",
            "Nothing.",
            inventory.depends,
        ),
        ("Remains and may incur costs", "Nothing.", inventory.stays),
    ]
    .map(|(title, nothing, items)| group(title, nothing, items))
    .collect_view();
    view! {
        <p class="text-muted mt-4">"Read " <Age at=Some(inventory.read_at) /> " ago."</p>
        {gaps(inventory.gaps)}
        {groups}
        {checks::card(inventory.checks)}
    }
    .into_any()
}

fn group(title: &str, nothing: &'static str, items: Vec<DeletionItem>) -> AnyView {
    let title = format!("{title} ({})", format::count(items.len()));
    let has_items = !items.is_empty();
    let content = if items.is_empty() {
        view! { <p class="text-muted">{nothing}</p> }.into_any()
    } else {
        let rows = items.into_iter().map(row).collect_view();
        view! { <ul class="rows">{rows}</ul> }.into_any()
    };
    view! { <div class="mt-4"><Card title flush=has_items>{content}</Card></div> }.into_any()
}

fn row(item: DeletionItem) -> AnyView {
    view! {
        <li class="grid gap-1">
            <span class="wrap-anywhere">
                <strong>{item.name}</strong>
                " · "
                {format::capitalised(&item.kind)}
                " · "
                <code>{item.id}</code>
            </span>
            <span class="text-muted wrap-anywhere">{item.reason}</span>
        </li>
    }
    .into_any()
}

/// Returns what could not be looked at; nothing if everything was.
pub fn gaps(gaps: Vec<String>) -> Option<AnyView> {
    (!gaps.is_empty()).then(|| {
        let rows = gaps
            .into_iter()
            .map(|gap| view! { <li>{gap}</li> })
            .collect_view();
        view! {
            <div class="mt-4" data-part="gaps">
                <Banner tone=Tone::Warn>
                    <p class="font-semibold">"This list is not complete. More may exist."</p>
                    <ul class="notes">{rows}</ul>
                </Banner>
            </div>
        }
        .into_any()
    })
}
