//! `portico cluster upgrade`, and the templates that `versions` shows.
mod examination;

use super::arguments::{ChangeArgs, ClusterOutput};
use super::checks;
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use super::exit_code;
use super::part::{self, Target};
use super::views::{print_list, print_object};
use crate::output::TableRow;
use clap::{ArgGroup, Args};
use examination::check;
use portico_cluster_operations::upgrades;
use portico_lifecycle::model::Template;
use portico_lifecycle::plan::{Plan, UpgradeChoice, upgrade_refusal, upgrade_with};
use portico_lifecycle::preflight::{Checks, Level};
use serde::Serialize;
use serde_json::json;
use std::fmt::Write as _;

/// Upgrade a cluster to another template
///
/// Without --approve the checks are shown and nothing is sent: exit code 0 if the upgrade can be made, 1 if
/// not. What runs in the cluster is checked with your own access to it, as `validate` has it. Nodes are
/// replaced one after another, and an upgrade cannot be stopped.
#[derive(Args, Debug)]
#[command(group(ArgGroup::new("upgraded").args(["to", "node_group"]).multiple(true)), after_help = "\
Examples:
  portico cluster upgrade shop                            # the versions that are offered
  portico cluster upgrade shop --to v1.32 --plan          # the checks and what would change
  portico cluster upgrade shop --to k8s-1.32 --approve --wait
  portico cluster upgrade shop --node-group gpu --approve # a group, to the cluster's own template
  portico cluster upgrade shop --to k8s-1.32 --max-batch-size 3 --approve")]
pub struct UpgradeArgs {
    /// Name or UUID
    pub cluster: String,
    /// A template (name or UUID), or a version of Kubernetes such as v1.32. Default: list what is offered
    #[arg(long, value_name = "TEMPLATE|VERSION")]
    pub to: Option<String>,
    /// Show the checks only, as without --approve
    #[arg(long, requires = "upgraded", conflicts_with = "approve")]
    pub plan: bool,
    /// Upgrade, after the checks were read
    #[arg(long, requires = "upgraded")]
    pub approve: bool,
    /// Upgrade one node group only, where the driver can: to the template that the cluster has
    #[arg(long, value_name = "NAME")]
    pub node_group: Option<String>,
    /// How many nodes are replaced at once, where the driver heeds it. Default: 1
    #[arg(long, value_name = "NUMBER", requires = "upgraded", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_batch_size: Option<u32>,
    #[command(flatten)]
    pub change: ChangeArgs,
}

/// A template as the target of an upgrade.
#[derive(Debug, Serialize)]
pub struct TargetView {
    template: String,
    uuid: String,
    version: Option<String>,
    is_current: bool,
    /// Why it is not offered.
    refusal: Option<String>,
}

impl TableRow for TargetView {
    const HEADINGS: &'static [&'static str] = &["TEMPLATE", "VERSION", "UPGRADE"];

    fn cells(&self) -> Vec<String> {
        let offer = match &self.refusal {
            _ if self.is_current => "the cluster's template".to_owned(),
            Some(refusal) => format!("no: {refusal}"),
            None => "yes".to_owned(),
        };
        let version = self.version.clone().unwrap_or_else(|| "-".to_owned());
        vec![self.template.clone(), version, offer]
    }
}

/// Returns a cluster with the templates that it may be upgraded to, and why not to the others.
///
/// # Errors
/// If Magnum cannot be asked or refuses.
pub async fn targets(
    connection: &Connection,
    console: &mut Console,
    cluster: &str,
) -> Result<(Target, Vec<TargetView>), ClusterError> {
    let target = Target::read_named(connection, cluster).await?;
    let templates = templates(connection, console).await?;
    let views = views(&target, &templates);
    Ok((target, views))
}

/// Upgrades a cluster, or shows the checks; returns the exit code.
///
/// # Errors
/// [`ClusterError::Blocked`] if a check does not permit the approved upgrade; how it ended.
pub async fn upgrade(
    connection: &mut Connection,
    console: &mut Console,
    args: &UpgradeArgs,
) -> Result<u8, ClusterError> {
    let target = Target::open(connection, console, &args.cluster, &args.change).await?;
    let templates = templates(connection, console).await?;
    let choice = UpgradeChoice {
        group: args.node_group.clone(),
        max_batch_size: args.max_batch_size,
    };
    let template = match (&args.to, &choice.group) {
        (Some(wanted), _) => choose(&templates, wanted)?,
        (None, Some(_)) => own_template(&target, &templates)?,
        (None, None) => {
            let views = views(&target, &templates);
            print_targets(console, args.change.shared.output, &target, &views)?;
            return Ok(0);
        }
    };
    let (model, groups, cloud) = (&target.cluster, &target.groups, target.cloud);
    let step = upgrade_with(model, groups, template, cloud, &choice);
    let plan = Plan {
        steps: step.into_iter().collect(),
        ..Plan::default()
    };
    let checks = check(connection, &target, template, &choice).await?;
    if args.plan || !args.approve || args.change.dry_run.is_on() {
        print_checks(
            console,
            args.change.shared.output,
            &target,
            template,
            (&plan, &checks),
        )?;
        console.say("Nothing was sent. Add --approve to upgrade.");
        let is_refused = plan.steps.iter().any(|step| step.refusal.is_some());
        return Ok(match checks.level() {
            Level::Blocks => exit_code::NEGATIVE,
            _ if is_refused => exit_code::NEGATIVE,
            Level::Ok | Level::Warning => 0,
        });
    }
    checks::ensure(&checks, "the cluster cannot be upgraded")?;
    checks::warn(&checks, console);
    part::carry_out(connection, console, &target, &plan, &args.change).await
}

/// Returns the templates that the project may use.
async fn templates(
    connection: &Connection,
    console: &mut Console,
) -> Result<Vec<Template>, ClusterError> {
    let listing = upgrades::templates(&connection.clients, &connection.token).await?;
    if let Some(cut) = listing.cut {
        console.say(format!(
            "The list of templates is incomplete, because {cut}."
        ));
    }
    Ok(listing.items)
}

/// Returns the template with this UUID, name or version.
fn choose<'a>(templates: &'a [Template], wanted: &str) -> Result<&'a Template, ClusterError> {
    let of_name: Vec<_> = templates
        .iter()
        .filter(|template| template.uuid == wanted || template.name == wanted)
        .collect();
    let found = if of_name.is_empty() {
        let has_version = |template: &&Template| {
            let version = template.kubernetes_version();
            version.is_some_and(|version| is_version(&version.to_string(), wanted))
        };
        templates.iter().filter(has_version).collect()
    } else {
        of_name
    };
    match found.as_slice() {
        [one] => Ok(one),
        [] => Err(ClusterError::Blocked {
            exit: exit_code::NOT_FOUND,
            text: format!(
                "there is no template with the name or version {wanted}; see `portico cluster templates`"
            ),
        }),
        several => {
            let lines = several
                .iter()
                .map(|template| format!("{} ({})", template.name, template.uuid));
            Err(ClusterError::Blocked {
                exit: exit_code::CONFLICT,
                text: format!(
                    "several templates have the name or version {wanted}; use a UUID\n  {}",
                    lines.collect::<Vec<_>>().join("\n  ")
                ),
            })
        }
    }
}

/// Returns whether a version such as `v1.32.1` is the wanted one; `v1.32` and `1.32` are its beginning.
pub fn is_version(version: &str, wanted: &str) -> bool {
    let version = version.trim_start_matches('v');
    let wanted = wanted.trim_start_matches('v');
    let rest = version.strip_prefix(wanted);
    !wanted.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn views(target: &Target, templates: &[Template]) -> Vec<TargetView> {
    let mut views: Vec<_> = templates
        .iter()
        .map(|template| TargetView {
            template: template.name.clone(),
            uuid: template.uuid.clone(),
            version: template.kubernetes_version().map(|one| one.to_string()),
            is_current: template.uuid == target.cluster.template,
            refusal: upgrade_refusal(&target.cluster, template, target.cloud),
        })
        .collect();
    views.sort_by(|one, other| {
        (&one.version, &one.template).cmp(&(&other.version, &other.template))
    });
    views
}

/// Prints the templates of a cluster; a table follows its version.
///
/// # Errors
/// If it cannot be written, or an expression does not fit.
pub fn print_targets(
    console: &mut Console,
    format: ClusterOutput,
    target: &Target,
    views: &[TargetView],
) -> Result<(), ClusterError> {
    if format == ClusterOutput::Table {
        let version = target.cluster.version.as_deref().unwrap_or("not reported");
        console.say(format!(
            "{} runs Kubernetes {version}.",
            target.cluster.name
        ));
    }
    print_list(console, format, views, |view| (&view.template, &view.uuid))
}

/// Returns the template that the cluster has: the only one to which Magnum upgrades a single group.
fn own_template<'a>(
    target: &Target,
    templates: &'a [Template],
) -> Result<&'a Template, ClusterError> {
    let mut templates = templates.iter();
    let own = templates.find(|template| template.uuid == target.cluster.template);
    own.ok_or_else(|| ClusterError::Blocked {
        exit: exit_code::NOT_FOUND,
        text: "the template of the cluster does not exist any longer or is not visible: upgrade the cluster to \
               another one first"
            .to_owned(),
    })
}

fn print_checks(
    console: &mut Console,
    format: ClusterOutput,
    target: &Target,
    template: &Template,
    (plan, checks): (&Plan, &Checks),
) -> Result<(), ClusterError> {
    let lines = checks.0.iter().map(|check| {
        json!({"subject": check.subject, "level": checks::level(check.level), "text": check.text})
    });
    let steps = plan.steps.iter();
    let steps = steps.map(|step| json!({"effect": step.effect, "refusal": step.refusal}));
    let object = json!({"cluster": target.cluster.uuid, "template": template.uuid,
                        "plan": steps.collect::<Vec<_>>(), "checks": lines.collect::<Vec<_>>()});
    print_object(console, format, &object, &template.name, || {
        let mut text = format!(
            "Upgrade of {} with the template {}\n\n",
            target.cluster.name, template.name
        );
        // writing to a string cannot fail
        for step in &plan.steps {
            let _ = writeln!(text, "  {}", step.effect);
            if let Some(refusal) = &step.refusal {
                let _ = writeln!(text, "  Not possible: {refusal}");
            }
            text.push('\n');
        }
        for check in &checks.0 {
            let level = checks::level(check.level);
            let _ = writeln!(text, "  {level:<8}{}: {}", check.subject, check.text);
        }
        Ok(text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        args: UpgradeArgs,
    }

    #[test]
    fn a_plan_has_a_target_and_is_not_approved_at_once() {
        let parse = |words: &str| Program::try_parse_from(words.split(' '));
        let planned = parse("upgrade shop --to v1.32 --plan");
        assert!(planned.is_ok_and(|program| program.args.plan));
        let of_group = parse("upgrade shop --node-group gpu --max-batch-size 2 --plan");
        let of_group = of_group.map(|program| program.args);
        assert!(of_group.is_ok_and(|args| args.max_batch_size == Some(2) && args.plan));
        for words in [
            "upgrade shop --max-batch-size 2",
            "upgrade shop --to v1.32 --max-batch-size 0",
            "upgrade shop --plan",
            "upgrade shop --to v1.32 --plan --approve",
        ] {
            assert!(parse(words).is_err(), "{words}");
        }
    }

    #[test]
    fn a_version_is_named_by_its_beginning() {
        for wanted in ["v1.32.1", "1.32.1", "v1.32", "1.32"] {
            assert!(is_version("v1.32.1", wanted), "{wanted}");
        }
        for wanted in ["v1.3", "1.33", "", "v", "2.1"] {
            assert!(!is_version("v1.32.1", wanted), "{wanted}");
        }
    }
}
