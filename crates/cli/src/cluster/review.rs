//! What a creation would do, before anything is sent: plan, labels, quotas, checks, and the request.
use super::arguments::ClusterOutput;
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use super::exit_code;
use super::mapping;
use super::usages::{flavors, usages};
use super::views::print_object;
use portico_lifecycle::labels::{self, LabelRow, Origin};
use portico_lifecycle::model::Template;
use portico_lifecycle::plan::{Plan, PlanContext, plan};
use portico_lifecycle::preflight::{Checks, CreationContext, Level, before_creation};
use portico_lifecycle::quota::{self, Change, ClusterSize, Projection, Resource};
use portico_lifecycle::spec::{
    ClusterDocument, CommandLine, create_request, effective, request_labels,
};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// A creation, checked.
#[derive(Debug)]
pub struct Review {
    /// The specification with every default filled in.
    pub document: ClusterDocument,
    pub template: Template,
    pub plan: Plan,
    /// The body of `POST /clusters`, without the marker.
    pub request: Map<String, Value>,
    adjustments: Vec<String>,
    labels: Vec<LabelRow>,
    projections: Vec<Projection>,
    checks: Checks,
    command: String,
}

impl Review {
    /// Reads what the checks need, and checks. Nothing is changed.
    ///
    /// # Errors
    /// If the template does not exist or has an ambiguous name, or Magnum cannot be asked.
    pub async fn of(
        connection: &Connection,
        document: &ClusterDocument,
    ) -> Result<Self, ClusterError> {
        let (magnum, token) = (&connection.magnum, &connection.token);
        let found = magnum.template_named(token, &document.spec.template);
        let template = mapping::template(&found.await?);
        let cloud = connection.offer().await?;
        let clusters = magnum.clusters(token).await?;
        let filled = effective(document, &template);
        let family = template.driver.family;
        let yours = request_labels(&filled.document.spec, family);
        let merged = labels::merge(&template.labels, &yours);
        let sizes = flavors(connection).await;
        let count = clusters.cut.is_none().then_some(clusters.items.len());
        let usages = usages(connection, count).await;
        let size = quota::size(&filled.document, &merged, &sizes, family).ok();
        let (change, surge) = needs(size.as_ref());
        let projections = quota::project(&usages, &change, &surge);
        let name = &document.metadata.name;
        let same_name: Vec<_> = clusters
            .items
            .iter()
            .filter(|cluster| cluster.name == *name)
            .map(|cluster| cluster.uuid.to_string())
            .collect();
        let used: Vec<_> = flavors_of(&filled.document)
            .into_iter()
            .filter_map(|name| sizes.get(&name).map(|size| (name, *size)))
            .collect();
        let checks = before_creation(&CreationContext {
            document: &filled.document,
            template: &template,
            cloud,
            is_permitted: None,
            has_conductor: None,
            same_name: &same_name,
            quotas: &projections,
            flavors: &used,
            free_addresses: None,
            client: None,
        });
        let context = PlanContext {
            template: &template,
            cloud,
            prune: false,
        };
        let mut request = create_request(&filled.document, family);
        // a name would be resolved by Magnum
        request.insert("cluster_template_id".to_owned(), json!(template.uuid));
        Ok(Self {
            plan: plan(None, &filled.document, context),
            labels: labels::table(&template.labels, &yours, template.driver),
            command: CommandLine::of(document).to_shell(),
            adjustments: filled.adjustments,
            document: filled.document,
            template,
            request,
            projections,
            checks,
        })
    }

    /// Refuses a creation that the checks or the plan do not permit.
    ///
    /// # Errors
    /// [`ClusterError::Blocked`] with all reasons and the exit code of the first.
    pub fn ensure_permitted(&self) -> Result<(), ClusterError> {
        let blocking = self.checks.0.iter();
        let blocking: Vec<_> = blocking
            .filter(|check| check.level == Level::Blocks)
            .collect();
        let refusals = self.plan.steps.iter().filter_map(|step| {
            let refusal = step.refusal.as_ref()?;
            Some(format!("Plan: {refusal}"))
        });
        let mut reasons: Vec<_> = blocking
            .iter()
            .map(|check| format!("{}: {}", check.subject, check.text))
            .collect();
        reasons.extend(refusals);
        if reasons.is_empty() {
            return Ok(());
        }
        let subject = blocking.first().map(|check| check.subject);
        Err(ClusterError::Blocked {
            exit: exit_code_of(subject),
            text: format!(
                "the cluster cannot be created; nothing was sent\n  {}",
                reasons.join("\n  ")
            ),
        })
    }

    /// Writes warnings and adjustments to standard error.
    pub fn warn(&self, console: &mut Console) {
        for text in &self.adjustments {
            console.say(text);
        }
        for check in &self.checks.0 {
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
    pub fn print(&self, console: &mut Console, format: ClusterOutput) -> Result<(), ClusterError> {
        let name = &self.document.metadata.name;
        if format == ClusterOutput::Yaml {
            let file = self.document.to_value();
            return print_object(console, format, &file, name, || Ok(String::new()));
        }
        print_object(console, format, &self.to_json(), name, || Ok(self.text()))
    }

    fn to_json(&self) -> Value {
        let steps = self.plan.steps.iter();
        let steps: Vec<_> = steps
            .map(|step| json!({"effect": step.effect, "refusal": step.refusal}))
            .collect();
        let labels = self.labels.iter();
        let labels: Vec<_> = labels
            .map(|row| {
                json!({"key": row.key, "template": row.template, "yours": row.yours,
                       "result": row.result, "origin": origin(row.origin), "notes": row.notes})
            })
            .collect();
        let quotas = self.projections.iter();
        let quotas: Vec<_> = quotas
            .map(|one| {
                json!({"resource": one.resource.name(), "used": one.usage.map(|usage| usage.used),
                       "change": one.change, "after": one.after, "text": one.sentence()})
            })
            .collect();
        let checks = self.checks.0.iter();
        let checks: Vec<_> = checks
            .map(|check| {
                json!({"subject": check.subject, "level": level(check.level), "text": check.text})
            })
            .collect();
        json!({"plan": steps, "labels": labels, "quotas": quotas, "checks": checks,
               "adjustments": self.adjustments, "request": self.request,
               "command": self.command, "document": self.document.to_value()})
    }

    fn text(&self) -> String {
        let mut text = "Plan\n".to_owned();
        // writing to a string cannot fail
        for step in &self.plan.steps {
            let _ = writeln!(text, "  {}", step.effect);
        }
        for adjustment in &self.adjustments {
            let _ = writeln!(text, "  {adjustment}");
        }
        if !self.labels.is_empty() {
            text.push_str("\nLabels\n");
        }
        for row in &self.labels {
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
        for projection in &self.projections {
            let _ = writeln!(text, "  {}", projection.sentence());
        }
        text.push_str("\nChecks\n");
        for check in &self.checks.0 {
            let _ = writeln!(
                text,
                "  {:<8}{}: {}",
                level(check.level),
                check.subject,
                check.text
            );
        }
        let request = Value::Object(self.request.clone());
        let _ = writeln!(text, "\nRequest\n  POST /clusters {request}");
        let _ = writeln!(text, "\nCommand\n  {}", self.command);
        text.push_str("\nNothing was sent.\n");
        text
    }
}

/// Returns what the cluster needs, and what a later upgrade needs on top. Where a flavor is not known,
/// only the cluster itself counts.
fn needs(size: Option<&ClusterSize>) -> (Change, Change) {
    let Some(size) = size else {
        return (Change::from([(Resource::Clusters, 1)]), Change::new());
    };
    let mut groups = vec![size.control_plane];
    groups.extend(size.workers.iter().copied());
    (quota::creation(size), quota::surge(&groups))
}

fn flavors_of(document: &ClusterDocument) -> Vec<String> {
    let spec = &document.spec;
    let groups = spec.node_groups.iter().map(|group| &group.flavor);
    let mut names: Vec<_> = std::iter::once(&spec.control_plane.flavor)
        .chain(groups)
        .flatten()
        .cloned()
        .collect();
    names.sort();
    names.dedup();
    names
}

fn exit_code_of(subject: Option<&str>) -> u8 {
    match subject {
        Some("Specification") => exit_code::INVALID,
        Some("Rights") => exit_code::FORBIDDEN,
        Some("Quota") => exit_code::QUOTA,
        Some("Magnum") => exit_code::UNAVAILABLE,
        // a refusal of the plan is one of the driver
        Some("API" | "Node groups") | None => exit_code::UNSUPPORTED,
        Some(_) => exit_code::NEGATIVE,
    }
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Ok => "ok",
        Level::Warning => "warning",
        Level::Blocks => "blocks",
    }
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
