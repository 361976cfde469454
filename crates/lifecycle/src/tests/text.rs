//! Plans and checks as texts, for snapshots.
use std::fmt::Write as _;

use crate::{
    plan::{Plan, Step},
    preflight::Checks,
};

/// Returns a step with its impact, and with the reason where it is refused.
pub(super) fn of_step(step: &Step) -> String {
    let refusal = step.refusal.as_ref();
    let refusal = refusal.map(|reason| format!("\n  refused: {reason}"));
    format!(
        "{:?}: {}{}\n",
        step.impact,
        step.effect,
        refusal.unwrap_or_default()
    )
}

/// Returns all that a user sees of a plan.
pub(super) fn of_plan(plan: &Plan) -> String {
    let mut text: String = plan.steps.iter().map(of_step).collect();
    // writing to a string cannot fail
    for one in &plan.immutable {
        let present = one.present.as_deref().unwrap_or("-");
        let _ = writeln!(
            text,
            "{}: {present} is not changed to {}. {}",
            one.field, one.desired, one.remedy
        );
    }
    for note in &plan.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

/// Returns the results of checks, one a line.
pub(super) fn of_checks(checks: &Checks) -> String {
    let lines = checks.0.iter();
    lines
        .map(|check| format!("{:?} {}: {}\n", check.level, check.subject, check.text))
        .collect()
}

/// Returns texts under their titles.
pub(super) fn titled<const N: usize>(parts: [(&str, String); N]) -> String {
    parts
        .map(|(title, text)| format!("# {title}\n{text}"))
        .join("\n")
}
