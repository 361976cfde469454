//! The checks before a change of a cluster.
use crate::ui::{Card, Status, Tone};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{Check, CheckLevel};

/// Returns the card of the checks before a change; nothing if there are none.
pub fn card(checks: Vec<Check>) -> Option<AnyView> {
    (!checks.is_empty()).then(|| {
        let rows = checks.into_iter().map(check).collect_view();
        view! {
            <div class="mt-4" data-part="checks">
                <Card title="Checks" flush=true><ul class="rows">{rows}</ul></Card>
            </div>
        }
        .into_any()
    })
}

fn check(check: Check) -> AnyView {
    let tone = match check.level {
        CheckLevel::Ok => Tone::Ok,
        CheckLevel::Warning => Tone::Warn,
        CheckLevel::Blocks => Tone::Bad,
    };
    view! {
        <li class="grid gap-1">
            <Status tone text=check.subject />
            <span class="wrap-anywhere">{check.text}</span>
            {check.next_step.map(|step| view! {
                <span class="text-muted wrap-anywhere">{step}</span>
            })}
        </li>
    }
    .into_any()
}
