//! Pages of a list, for a browser without scripts; with them the table scrolls.
use super::page::{ListPage, PAGE_ROWS};
use crate::{format, hooks::LiveList};
use leptos::prelude::*;

#[component]
pub fn Pager(page: ListPage, list: LiveList, is_scrolled: RwSignal<bool>) -> impl IntoView {
    let link = move |offset: usize, text: &'static str, relation: &'static str| {
        let href = page.href(|state| state.offset = offset);
        view! {
            <a class="btn" href=href rel=relation>
                {text}
            </a>
        }
    };
    move || {
        if is_scrolled.get() {
            return ().into_any();
        }
        let (offset, total) = (list.offset.get(), list.total.get());
        let end = offset + list.rows.with(Vec::len);
        if offset == 0 && end >= total {
            return ().into_any();
        }
        let before = offset.saturating_sub(PAGE_ROWS);
        view! {
            <nav class="pager" aria-label="Pages of the list">
                <span class="text-muted">
                    {format!(
                        "{}–{} of {}",
                        format::count(offset + 1),
                        format::count(end),
                        format::count(total),
                    )}
                </span>
                {(offset > 0).then(|| link(before, "Previous", "prev"))}
                {(end < total).then(|| link(end, "Next", "next"))}
            </nav>
        }
        .into_any()
    }
}
