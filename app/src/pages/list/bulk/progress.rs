use super::{Bulk, Change, Stage, named, words};
use crate::{
    components::who_can_link,
    format,
    ui::{Button, ButtonKind, Icon, Tone, icons},
};
use leptos::prelude::*;
use portico_domain::panel::{BulkOutcome, BulkTarget};

/// Where a change is: about to be sent, being sent, or reported. Always in the page, so that screen
/// readers notice it.
#[component]
pub fn BulkProgress(bulk: Bulk) -> impl IntoView {
    view! {
        <div class="bulk-progress" role="status" aria-live="polite">
            {move || match bulk.stage.get() {
                Stage::Idle => ().into_any(),
                Stage::Waiting(change, seconds) => waiting(bulk, &change, seconds),
                Stage::Running(change, done) => running(bulk, &change, done),
                Stage::Report { change, done, failed, left } => {
                    report(bulk, change, done, failed, left)
                }
            }}
        </div>
    }
    .into_any()
}

fn waiting(bulk: Bulk, change: &Change, seconds: u32) -> AnyView {
    let [_, doing, _] = words(&change.action);
    let what = bulk.counted(change.targets.len());
    view! {
        <div class="bulk-card" data-stage="waiting">
            // read out once, not every second
            <span>{format!("{doing} {what}")}<span aria-hidden="true">{format!(" in {seconds} s")}</span></span>
            <Button label="Undo" icon=icons::UNDO small=true on_click=move |_| bulk.undo() />
        </div>
    }
    .into_any()
}

fn running(bulk: Bulk, change: &Change, done: usize) -> AnyView {
    let [_, doing, _] = words(&change.action);
    let all = change.targets.len();
    let text = format!("{doing}: {} of {}", format::count(done), format::count(all));
    view! {
        <div class="bulk-card" data-stage="running">
            <span class="flex-1">{text.clone()}</span>
            <progress max=all.to_string() value=done.to_string() aria-label=text></progress>
            <Button label="Stop" small=true on_click=move |_| bulk.stop() />
        </div>
    }
    .into_any()
}

fn report(
    bulk: Bulk,
    change: Change,
    done: usize,
    failed: Vec<BulkOutcome>,
    left: Vec<BulkTarget>,
) -> AnyView {
    let [_, _, was_done] = words(&change.action);
    let mut text = format!("{} {was_done}", bulk.counted(done));
    if !failed.is_empty() {
        text.push_str(&format!(", {} failed", format::count(failed.len())));
    }
    if !left.is_empty() {
        text.push_str(&format!(", {} left as they are", format::count(left.len())));
    }
    let is_success = failed.is_empty() && left.is_empty();
    let tone = if is_success { Tone::Ok } else { Tone::Warn };
    let again: Vec<BulkTarget> = failed
        .iter()
        .map(|outcome| outcome.target.clone())
        .collect();
    let retry = (!again.is_empty()).then(|| {
        let change = Change {
            action: change.action,
            targets: again,
        };
        view! {
            <Button
                label="Retry failed"
                icon=icons::REFRESH
                small=true
                on_click=move |_| bulk.retry(change.clone())
            />
        }
    });
    let reasons = (!failed.is_empty()).then(|| {
        let items = failed
            .iter()
            .map(|outcome| {
                let reason = outcome.error.clone().unwrap_or_default();
                let link = who_can_link(outcome.missing.as_deref());
                view! { <li><strong>{named(&outcome.target)}</strong>": "{reason} " " {link}</li> }
            })
            .collect_view();
        view! { <ul class="bulk-failures">{items}</ul> }
    });
    view! {
        <div class="bulk-card" data-stage="report">
            <span class=format!("status {}", tone.class())><Icon icon=tone.icon() /></span>
            <span class="flex-1">{text}</span>
            {retry}
            <Button
                label="Dismiss"
                icon=icons::CLOSE
                icon_only=true
                small=true
                kind=ButtonKind::Quiet
                on_click=move |_| bulk.dismiss()
            />
            {reasons}
        </div>
    }
    .into_any()
}
