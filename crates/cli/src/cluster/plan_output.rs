//! Prints plans in the form that the user has chosen.
use super::arguments::ClusterOutput;
use super::console::Console;
use super::error::ClusterError;
use super::protection::ProtectionChange;
use super::views::print_object;
use portico_lifecycle::plan::{Action, Impact, Plan};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Prints a plan for the cluster of a name.
///
/// # Errors
/// If it cannot be written.
pub fn print(
    console: &mut Console,
    format: ClusterOutput,
    name: &str,
    plan: &Plan,
) -> Result<(), ClusterError> {
    print_object(console, format, &to_json(plan), name, || Ok(text(plan)))
}

/// Does the same for a plan with a change of the protection.
///
/// # Errors
/// As [`print`].
pub fn print_with_protection(
    console: &mut Console,
    format: ClusterOutput,
    name: &str,
    plan: &Plan,
    protection: Option<ProtectionChange>,
) -> Result<(), ClusterError> {
    let Some(change) = protection else {
        return print(console, format, name, plan);
    };
    let mut value = to_json(plan);
    if let Value::Object(members) = &mut value {
        members.insert("protection".to_owned(), change.to_json());
    }
    print_object(console, format, &value, name, || {
        Ok(format!("{}{}\n", text(plan), change.effect()))
    })
}

fn to_json(plan: &Plan) -> Value {
    let steps = plan.steps.iter().map(|step| {
        json!({"action": word(&step.action), "effect": step.effect,
               "impact": impact(step.impact), "refusal": step.refusal})
    });
    let immutable = plan.immutable.iter().map(|one| {
        json!({"field": one.field, "present": one.present, "desired": one.desired,
               "remedy": one.remedy})
    });
    json!({"steps": steps.collect::<Vec<_>>(), "immutable": immutable.collect::<Vec<_>>(),
           "notes": plan.notes})
}

fn text(plan: &Plan) -> String {
    let mut text = String::new();
    // writing to a string cannot fail
    for step in &plan.steps {
        let _ = writeln!(text, "{}", step.effect);
        if let Some(refusal) = &step.refusal {
            let _ = writeln!(text, "    refused: {refusal}");
        }
    }
    for one in &plan.immutable {
        let present = one.present.as_deref().unwrap_or("none");
        let _ = writeln!(text, "{}: {present} -> {}", one.field, one.desired);
        let _ = writeln!(text, "    needs a new cluster: {}", one.remedy);
    }
    for note in &plan.notes {
        let _ = writeln!(text, "{note}");
    }
    text
}

fn word(action: &Action) -> &'static str {
    match action {
        Action::Create => "create",
        Action::CreateGroup(_) => "create_group",
        Action::SetBounds { .. } => "set_bounds",
        Action::SetLabelsAndTaints(_) => "set_labels_and_taints",
        Action::Resize { .. } => "resize",
        Action::RemoveNodes { .. } => "remove_nodes",
        Action::Upgrade { .. } => "upgrade",
        Action::DeleteGroup { .. } => "delete_group",
    }
}

fn impact(impact: Impact) -> &'static str {
    match impact {
        Impact::None => "none",
        Impact::Disruptive => "disruptive",
        Impact::Destructive => "destructive",
    }
}
