use leptos::prelude::*;

/// Lines in place of text that is being loaded.
#[component]
pub fn SkeletonLines(#[prop(default = 3)] lines: usize) -> impl IntoView {
    let lines = (0..lines)
        .map(|line| {
            let width = ["w-11/12", "w-3/4", "w-5/6", "w-2/3"][line % 4];
            view! { <span class=format!("skeleton {width}")></span> }
        })
        .collect_view();
    view! {
        <div class="grid gap-3 py-2" role="status" data-state="loading">
            <span class="visually-hidden">"Loading"</span>
            {lines}
        </div>
    }
    .into_any()
}

/// A table's frame while its rows are being loaded.
#[component]
pub fn SkeletonTable(#[prop(default = 8)] rows: usize) -> impl IntoView {
    let rows = (0..rows)
        .map(|row| {
            let width = ["w-40", "w-52", "w-32", "w-48"][row % 4];
            view! {
                <li class="flex gap-6">
                    <span class=format!("skeleton {width}")></span>
                    <span class="skeleton w-20"></span>
                    <span class="skeleton w-16"></span>
                </li>
            }
        })
        .collect_view();
    view! {
        <div class="table-region" role="status" data-state="loading">
            <span class="visually-hidden">"Loading"</span>
            <ul class="rows">{rows}</ul>
        </div>
    }
    .into_any()
}

/// Cards that are being loaded.
#[component]
pub fn SkeletonCards(#[prop(default = 3)] cards: usize) -> impl IntoView {
    let cards = (0..cards)
        .map(|_| {
            view! {
                <div class="card card-body grid gap-3">
                    <span class="skeleton w-1/2"></span>
                    <span class="skeleton w-3/4"></span>
                    <span class="skeleton w-2/3"></span>
                </div>
            }
        })
        .collect_view();
    view! {
        <div class="grid-cards" role="status" data-state="loading">
            <span class="visually-hidden">"Loading"</span>
            {cards}
        </div>
    }
    .into_any()
}

/// A page of cards whose title is being loaded as well.
#[component]
pub fn SkeletonPage() -> impl IntoView {
    view! {
        <div class="page-head">
            <span class="skeleton w-48"></span>
        </div>
        <div class="card card-body">
            <SkeletonLines />
        </div>
        <div class="section">
            <SkeletonCards />
        </div>
    }
    .into_any()
}
