//! A difference between two texts, with signs beside the colours.
use crate::format;
use leptos::prelude::*;
use portico_domain::panel::{DiffKind, DiffLine, TextDiff};

#[component]
pub fn Difference(diff: TextDiff, #[prop(into)] label: String) -> impl IntoView {
    let summary = format!(
        "{} added, {} removed",
        format::counted(diff.added, "line"),
        format::counted(diff.removed, "line")
    );
    let lines = diff.lines.into_iter().map(line).collect_view();
    view! {
        <div class="diff">
            <p class="diff-summary">{summary}</p>
            <div class="diff-lines" role="region" tabindex="0" aria-label=label>
                {lines}
            </div>
        </div>
    }
    .into_any()
}

fn line(line: DiffLine) -> AnyView {
    match line.kind {
        DiffKind::Same => view! { <div class="diff-line">"  "{line.text}</div> }.into_any(),
        DiffKind::Added => {
            view! { <div class="diff-line"><ins>"+ "{line.text}</ins></div> }.into_any()
        }
        DiffKind::Removed => {
            view! { <div class="diff-line"><del>"− "{line.text}</del></div> }.into_any()
        }
        DiffKind::Gap => view! { <div class="diff-line is-gap">"⋯ "{line.text}</div> }.into_any(),
    }
}
