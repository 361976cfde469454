//! What manifests would change, document by document.
use crate::{
    components::{Difference, who_can_link},
    ui::{Badge, Icon, Status, Tone, icons},
};
use leptos::prelude::*;
use portico_domain::panel::{
    Effect, FieldConflict, ManifestProblem, PlannedDocument, ProblemSeverity,
};
use std::collections::BTreeSet;

/// Shows planned documents; `take_over` holds the documents whose conflicts the user accepts.
#[component]
pub fn ManifestPlan(
    documents: Vec<PlannedDocument>,
    take_over: RwSignal<BTreeSet<usize>>,
) -> impl IntoView {
    let rows = documents
        .into_iter()
        .map(|document| entry(document, take_over))
        .collect_view();
    view! { <ul class="plan" aria-label="Changes">{rows}</ul> }.into_any()
}

fn entry(document: PlannedDocument, take_over: RwSignal<BTreeSet<usize>>) -> AnyView {
    let index = document.index;
    let title = document.title.clone();
    let diff = (!document.diff.is_empty()).then(|| {
        // a new object is its whole text, which the user has just written
        let open = document.effect == Effect::Change;
        view! {
            <details class="fold" prop:open=open open=open>
                <summary>
                    <Icon icon=icons::CHEVRON_RIGHT />
                    "Difference"
                </summary>
                <Difference diff=document.diff label=format!("Difference of {title}") />
            </details>
        }
    });
    let problems = document.problems.into_iter().map(problem).collect_view();
    let conflicts =
        (!document.conflicts.is_empty()).then(|| conflicts(&document.conflicts, index, take_over));
    view! {
        <li class="plan-entry" data-effect=word(document.effect)>
            <p class="flex flex-wrap items-center gap-2">
                {effect(document.effect)}
                <strong class="wrap-anywhere">{document.title}</strong>
            </p>
            {problems}
            {conflicts}
            {diff}
        </li>
    }
    .into_any()
}

/// Returns a badge with what a document would do.
fn effect(effect: Effect) -> AnyView {
    let (tone, text, icon) = match effect {
        Effect::Create => (Tone::Info, "Create", icons::PLUS),
        Effect::Change => (Tone::Info, "Change", icons::ROTATE),
        Effect::Nothing => (Tone::Idle, "No change", icons::CHECK),
        Effect::Refused => (Tone::Bad, "Refused", icons::FAILED),
    };
    view! { <Badge tone text icon /> }.into_any()
}

/// Returns a badge with what a document has done.
pub fn outcome_badge(effect: Effect) -> AnyView {
    let (tone, text, icon) = match effect {
        Effect::Create => (Tone::Ok, "Created", icons::CHECK),
        Effect::Change => (Tone::Ok, "Changed", icons::CHECK),
        Effect::Nothing => (Tone::Idle, "Unchanged", icons::CHECK),
        Effect::Refused => (Tone::Bad, "Refused", icons::FAILED),
    };
    view! { <Badge tone text icon /> }.into_any()
}

fn word(effect: Effect) -> &'static str {
    match effect {
        Effect::Create => "create",
        Effect::Change => "change",
        Effect::Nothing => "nothing",
        Effect::Refused => "refused",
    }
}

fn problem(problem: ManifestProblem) -> AnyView {
    let tone = match problem.severity {
        ProblemSeverity::Error => Tone::Bad,
        ProblemSeverity::Warning => Tone::Warn,
    };
    let text = if problem.path.is_empty() {
        problem.message
    } else {
        format!("{}: {}", problem.path, problem.message)
    };
    let link = who_can_link(problem.missing.as_deref());
    view! { <p class="wrap-anywhere"><Status tone text /> " " {link}</p> }.into_any()
}

fn conflicts(
    conflicts: &[FieldConflict],
    index: usize,
    take_over: RwSignal<BTreeSet<usize>>,
) -> AnyView {
    let rows = conflicts
        .iter()
        .map(|conflict| {
            view! {
                <li>
                    <code class="wrap-anywhere">{conflict.field.clone()}</code>
                    " is managed by "
                    <strong>{conflict.manager.clone()}</strong>
                </li>
            }
        })
        .collect_view();
    view! {
        <div class="plan-conflicts">
            <Status
                tone=Tone::Warn
                text="These fields are managed by others, which may set them back:"
            />
            <ul>{rows}</ul>
            <label class="check">
                <input
                    type="checkbox"
                    prop:checked=move || take_over.with(|chosen| chosen.contains(&index))
                    on:change=move |event| {
                        let checked = event_target_checked(&event);
                        take_over.update(|chosen| {
                            if checked {
                                chosen.insert(index);
                            } else {
                                chosen.remove(&index);
                            }
                        });
                    }
                />
                "Take these fields over"
            </label>
        </div>
    }
    .into_any()
}
