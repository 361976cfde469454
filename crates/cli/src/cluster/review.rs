//! What a creation would do, as the command line reads and prints it.
use super::arguments::ClusterOutput;
use super::checks::{exit_code_of, level};
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use super::views::print_object;
use portico_cluster_operations::conductor::has_conductor;
use portico_cluster_operations::mapping;
use portico_cluster_operations::usages::{flavors, usages};
use portico_lifecycle::labels::{LabelRow, Origin};
use portico_lifecycle::preflight::Level;
use portico_lifecycle::review::{Review, ReviewContext, review};
use portico_lifecycle::spec::ClusterDocument;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Reads what a review needs, and reviews. Nothing is changed.
///
/// # Errors
/// If the template does not exist or has an ambiguous name, or Magnum cannot be asked.
pub async fn read(
    connection: &Connection,
    document: &ClusterDocument,
) -> Result<Review, ClusterError> {
    let (magnum, token) = (&connection.clients.magnum, &connection.token);
    let found = magnum.template_named(token, &document.spec.template);
    let template = mapping::template(&found.await?, &connection.clients.drivers);
    let cloud = connection.offer().await?;
    let clusters = magnum.clusters(token).await?;
    let flavors = flavors(&connection.clients, token).await;
    let count = clusters.cut.is_none().then_some(clusters.items.len());
    let (usages, has_conductor) = tokio::join!(
        usages(&connection.clients, token, count),
        has_conductor(&connection.clients, token),
    );
    let name = &document.metadata.name;
    let same_name: Vec<_> = clusters
        .items
        .iter()
        .filter(|cluster| cluster.name == *name)
        .map(|cluster| cluster.uuid.to_string())
        .collect();
    Ok(review(&ReviewContext {
        document,
        template: &template,
        cloud,
        usages: &usages,
        flavors: &flavors,
        same_name: &same_name,
        is_permitted: None,
        has_conductor,
        free_addresses: None,
        client: None,
    }))
}

/// Refuses a creation that the checks or the plan do not permit.
///
/// # Errors
/// [`ClusterError::Blocked`] with all reasons and the exit code of the first.
pub fn ensure_permitted(review: &Review) -> Result<(), ClusterError> {
    let refusals = review.refusals();
    let Some(first) = refusals.first() else {
        return Ok(());
    };
    let reasons: Vec<_> = refusals
        .iter()
        .map(|refusal| format!("{}: {}", refusal.subject, refusal.text))
        .collect();
    Err(ClusterError::Blocked {
        exit: exit_code_of(first.subject),
        text: format!(
            "the cluster cannot be created; nothing was sent\n  {}",
            reasons.join("\n  ")
        ),
    })
}

/// Writes warnings and adjustments to standard error.
pub fn warn(review: &Review, console: &mut Console) {
    for text in &review.adjustments {
        console.say(text);
    }
    for check in &review.checks.0 {
        // what could not be read is shown by --dry-run
        if check.level == Level::Warning && check.subject != "Quota" {
            console.say(format!("{}: {}", check.subject, check.text));
        }
    }
}

/// Prints the review: as YAML the file with every default filled in.
///
/// # Errors
/// If it cannot be written.
pub fn print(
    review: &Review,
    console: &mut Console,
    format: ClusterOutput,
) -> Result<(), ClusterError> {
    let name = &review.document.metadata.name;
    if format == ClusterOutput::Yaml {
        let file = review.document.to_value();
        return print_object(console, format, &file, name, || Ok(String::new()));
    }
    print_object(console, format, &to_json(review), name, || Ok(text(review)))
}

fn to_json(review: &Review) -> Value {
    let steps = review.plan.steps.iter();
    let steps: Vec<_> = steps
        .map(|step| json!({"effect": step.effect, "refusal": step.refusal}))
        .collect();
    let labels = review.labels.iter();
    let labels: Vec<_> = labels
        .map(|row| {
            json!({"key": row.key, "template": row.template, "yours": row.yours,
                   "result": row.result, "origin": origin(row.origin), "notes": row.notes})
        })
        .collect();
    let quotas = review.projections.iter();
    let quotas: Vec<_> = quotas
        .map(|one| {
            json!({"resource": one.resource.name(), "used": one.usage.map(|usage| usage.used),
                   "change": one.change, "after": one.after, "text": one.sentence()})
        })
        .collect();
    let checks = review.checks.0.iter();
    let checks: Vec<_> = checks
        .map(|check| {
            json!({"subject": check.subject, "level": level(check.level), "text": check.text})
        })
        .collect();
    json!({"plan": steps, "labels": labels, "quotas": quotas, "checks": checks,
           "adjustments": review.adjustments, "request": review.request,
           "command": review.command, "document": review.document.to_value()})
}

fn text(review: &Review) -> String {
    let mut text = "Plan\n".to_owned();
    // writing to a string cannot fail
    for step in &review.plan.steps {
        let _ = writeln!(text, "  {}", step.effect);
    }
    for adjustment in &review.adjustments {
        let _ = writeln!(text, "  {adjustment}");
    }
    if !review.labels.is_empty() {
        text.push_str("\nLabels\n");
    }
    for row in &review.labels {
        let _ = writeln!(
            text,
            "  {}={}  ({})",
            row.key,
            row.result,
            origin_in_words(row)
        );
        for note in &row.notes {
            let _ = writeln!(text, "      {note}");
        }
    }
    text.push_str("\nQuota\n");
    for projection in &review.projections {
        let _ = writeln!(text, "  {}", projection.sentence());
    }
    text.push_str("\nChecks\n");
    for check in &review.checks.0 {
        let _ = writeln!(
            text,
            "  {:<8}{}: {}",
            level(check.level),
            check.subject,
            check.text
        );
    }
    let request = Value::Object(review.request.clone());
    let _ = writeln!(text, "\nRequest\n  POST /clusters {request}");
    let _ = writeln!(text, "\nCommand\n  {}", review.command);
    text.push_str("\nNothing was sent.\n");
    text
}

fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::Template => "template",
        Origin::Added => "added",
        Origin::Overridden => "overridden",
    }
}

fn origin_in_words(row: &LabelRow) -> String {
    match (row.origin, &row.template) {
        (Origin::Overridden, Some(template)) => format!("yours; the template has {template}"),
        (Origin::Overridden | Origin::Added, _) => "yours".to_owned(),
        (Origin::Template, _) => "template".to_owned(),
    }
}
