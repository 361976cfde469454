//! The logs of the pods of a list, in place of its rows. Their code is loaded when they are opened.
use super::{
    page::ListPage,
    rights::{Deed, Rights},
};
use crate::{
    components::not_permitted,
    hooks::{LiveList, Timer},
    pages::lazy,
    ui::{Banner, Icon, SkeletonLines, Tone, icons, suspended},
};
use leptos::prelude::*;
use portico_domain::panel::{ListQuery, ListScope, ResourceRef};
use std::time::Duration;

/// How long a filter has to be unchanged before other logs are opened.
const FILTER_DELAY: Duration = Duration::from_millis(500);

/// Returns whether a list shows logs in place of its rows.
pub fn are_shown(page: ListPage) -> bool {
    has_logs(page) && page.state.with(|state| state.logs)
}

fn has_logs(page: ListPage) -> bool {
    let pods = ResourceRef::core("pods");
    page.resource.with_value(|resource| *resource == pods)
}

/// The link to the logs of a list of pods, and back to its rows.
#[component]
pub fn LogsLink(page: ListPage) -> impl IntoView {
    has_logs(page).then(|| {
        view! {
            <a
                class=move || if are_shown(page) { "btn is-active" } else { "btn" }
                href=move || page.href(|state| state.logs = !state.logs)
            >
                <Icon icon=icons::LOGS />
                <span class="btn-label">
                    {move || if are_shown(page) { "Back to the list" } else { "Logs" }}
                </span>
            </a>
        }
    })
}

#[component]
pub fn ListedLogs(page: ListPage, list: LiveList, rights: Rights) -> impl IntoView {
    let wanted = Memo::new(move |_| ListQuery {
        // the order is that of the lines
        sort: String::new(),
        ..list.columns.with(|columns| page.query(Some(columns)))
    });
    // in the browser only; another query is another view
    let shown = RwSignal::new(None::<ListQuery>);
    let delay = Timer::new();
    Effect::new(move |was: Option<()>| {
        let next = wanted.get();
        if was.is_none() {
            shown.set(Some(next));
        } else {
            delay.start(FILTER_DELAY, move || shown.set(Some(next)));
        }
    });
    let namespaces = Memo::new(move |_| namespaces(page, list));
    Effect::new(move |_| namespaces.with(|namespaces| rights.ask(&[Deed::Logs], namespaces)));
    let refusal =
        Memo::new(move |_| namespaces.with(|namespaces| rights.refusal(Deed::Logs, namespaces)));
    let content = move || {
        if let Some(refusal) = refusal.get() {
            let refused = not_permitted("see the logs of these pods", &refusal);
            return view! { <div class="card">{refused}</div> }.into_any();
        }
        let part = move |query| {
            let logs = suspended(lazy::listed_logs(page.cluster, query));
            view! { <Suspense fallback=loading>{logs}</Suspense> }
        };
        view! { {move || shown.get().map(part)} }.into_any()
    };
    view! {
        <noscript>
            <Banner tone=Tone::Info>"Logs are a live stream and need JavaScript."</Banner>
        </noscript>
        {content}
    }
    .into_any()
}

/// Returns the namespaces of the pods as far as they are known; empty for all of the cluster.
fn namespaces(page: ListPage, list: LiveList) -> Vec<Option<String>> {
    let chosen = page.state.with(|state| state.namespaces.clone());
    let known = if chosen.is_empty() {
        match list.scope.get() {
            ListScope::Namespaces { listed, .. } => listed,
            ListScope::Namespace(one) => vec![one],
            ListScope::Cluster => Vec::new(),
        }
    } else {
        chosen
    };
    known.into_iter().map(Some).collect()
}

fn loading() -> AnyView {
    view! {
        <div class="card card-body">
            <SkeletonLines lines=6 />
        </div>
    }
    .into_any()
}
