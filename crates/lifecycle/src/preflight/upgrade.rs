//! Checks before a cluster is upgraded.
use super::Checks;
use crate::{
    capabilities::{Feature, capability},
    driver::Cloud,
    model::{Cluster, Template},
    plan::{UpgradeChoice, other_driver, present_version, version_refusal},
    quota::Projection,
    status::{self, Operation},
};

/// A value that the caller reads from the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading<T> {
    /// It was read.
    Known(T),
    /// It was not checked, for this reason (a sentence): the API could not be reached, or the user may not
    /// read it.
    NotChecked(String),
}

/// What is known before an upgrade.
#[derive(Clone, Debug)]
pub struct UpgradeContext<'a> {
    /// The cluster.
    pub cluster: &'a Cluster,
    /// The template to upgrade to.
    pub target: &'a Template,
    /// What the cloud's Magnum offers.
    pub cloud: Cloud,
    /// The template that the cluster was made from, if it still exists.
    pub present: Option<&'a Template>,
    /// `health_status` is HEALTHY.
    pub is_healthy: Reading<bool>,
    /// Nodes that are not Ready.
    pub unready_nodes: Reading<Vec<String>>,
    /// PodDisruptionBudgets that permit no disruption, as `namespace/name`.
    pub blocking_budgets: Reading<Vec<String>>,
    /// Pods without a controller, as `namespace/name`.
    pub bare_pods: Reading<Vec<String>>,
    /// Pods with data on the disk of their node, as `namespace/name`, with the kind of their volumes.
    pub local_data_pods: Reading<Vec<String>>,
    /// APIs in use that the target version removes, each with the release that does.
    pub removed_apis: Reading<Vec<String>>,
    /// Room for one more node in each group ([`crate::quota::surge`]).
    pub surge: &'a [Projection],
    /// Days until the first certificate expires.
    pub certificate_days: Reading<i64>,
    /// A single group or a batch size, if it was chosen.
    pub choice: &'a UpgradeChoice,
}

const NO_BACKUP: &str = "Not checked: Portico does not know of backups. Before you upgrade, check with your \
                         backup tool that the last backup of the cluster's objects and volumes is recent and \
                         complete (with Velero: velero backup get).";
/// Days that certificates should still be valid.
const MIN_CERTIFICATE_DAYS: i64 = 30;

/// Checks an upgrade.
pub fn before_upgrade(context: &UpgradeContext<'_>) -> Checks {
    let mut checks = Checks::default();
    let cluster = context.cluster;
    match status::check(&cluster.status, Operation::Upgrade) {
        Ok(()) => checks.ok(
            "State",
            format!("The cluster is settled ({}).", cluster.status),
        ),
        Err(forbidden) => checks.block("State", forbidden.reason),
    }
    let support = capability(cluster.driver, context.cloud, Feature::Upgrade);
    if support.is_offered() {
        checks.ok("Driver", support.reason);
    } else {
        checks.block("Driver", support.reason);
    }
    template(context, &mut checks);
    options(context, &mut checks);
    inside(context, &mut checks);
    checks.quotas(context.surge);
    match &context.certificate_days {
        Reading::Known(days) if *days < MIN_CERTIFICATE_DAYS => checks.warn(
            "Certificates",
            format!("The first certificate expires in {days} days."),
        ),
        Reading::Known(days) => {
            checks.ok(
                "Certificates",
                format!("The certificates are valid for {days} days."),
            );
        }
        Reading::NotChecked(reason) => {
            checks.warn("Certificates", format!("Not checked: {reason}"));
        }
    }
    checks.warn("Backup", NO_BACKUP);
    checks
}

fn template(context: &UpgradeContext<'_>, checks: &mut Checks) {
    let (cluster, target) = (context.cluster, context.target);
    if let Some(reason) = other_driver(cluster, target) {
        checks.block("Template", reason);
    }
    if target.is_hidden {
        checks.warn("Template", "The template is hidden: it may be withdrawn.");
    }
    if let Some(present) = context.present {
        for (what, from, to) in [
            ("distribution", &present.distribution, &target.distribution),
            (
                "network driver",
                &present.network_driver,
                &target.network_driver,
            ),
        ] {
            if from != to {
                let name =
                    |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
                let text = format!(
                    "The {what} changes from {} to {}, which an upgrade does not support.",
                    name(from),
                    name(to)
                );
                checks.block("Template", text);
            }
        }
    }
    if let Some(group) = &context.choice.group {
        let version = target.kubernetes_version();
        let version = version.map_or_else(|| "not known".to_owned(), |version| version.to_string());
        let text =
            format!("{group} gets the version of the cluster's template, which is {version}.");
        checks.ok("Version", text);
        return;
    }
    match (present_version(cluster), target.kubernetes_version()) {
        (Some(from), Some(to)) => match version_refusal(from, to) {
            Some(reason) => checks.block("Version", reason),
            None => checks.ok("Version", format!("Kubernetes changes from {from} to {to}.")),
        },
        _ => checks.warn(
            "Version",
            "The version of the cluster or of the template is not known, so the step could not be checked.",
        ),
    }
    let labels = capability(
        cluster.driver,
        context.cloud,
        Feature::TemplateLabelsOnUpgrade,
    );
    if target.labels != cluster.labels && !labels.is_offered() {
        checks.ok("Labels", labels.reason);
    }
}

fn options(context: &UpgradeContext<'_>, checks: &mut Checks) {
    let support = capability(
        context.cluster.driver,
        context.cloud,
        Feature::UpgradeBatchSize,
    );
    if !context.choice.is_empty() && !support.is_offered() {
        checks.block("Node group", support.reason);
    }
    let label = context.cluster.labels.get("auto_scaling_enabled");
    if label.is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        checks.warn(
            "Autoscaler",
            "The autoscaler may change sizes during the upgrade.",
        );
    }
}

/// What runs in the cluster.
fn inside(context: &UpgradeContext<'_>, checks: &mut Checks) {
    match &context.is_healthy {
        Reading::Known(true) => checks.ok("Health", "Magnum reports the cluster as healthy."),
        Reading::Known(false) => {
            checks.warn("Health", "Magnum does not report the cluster as healthy.");
        }
        Reading::NotChecked(reason) => checks.warn("Health", format!("Not checked: {reason}")),
    }
    list(
        &context.unready_nodes,
        "Nodes",
        "All nodes are ready.",
        checks,
        |nodes| format!("Not ready: {nodes}."),
    );
    list(
        &context.blocking_budgets,
        "Disruption budgets",
        "All PodDisruptionBudgets permit a disruption.",
        checks,
        |budgets| {
            format!("The drain of nodes would wait for {budgets}: no disruption is permitted.")
        },
    );
    list(
        &context.bare_pods,
        "Pods",
        "All pods have a controller.",
        checks,
        |pods| format!("Without a controller, so lost when their node is replaced: {pods}."),
    );
    list(
        &context.local_data_pods,
        "Local data",
        "No pod has data on the disk of its node.",
        checks,
        |pods| format!("With data on the disk of their node, which is lost with the node: {pods}."),
    );
    list(
        &context.removed_apis,
        "Removed APIs",
        "The API server has received no request for an API that the new version removes, since it was \
         started.",
        checks,
        |apis| {
            format!(
                "Requested since the API server was started, and not in the new version: {apis}. Change the \
                 clients and the manifests that use it first."
            )
        },
    );
}

fn list(
    found: &Reading<Vec<String>>,
    subject: &'static str,
    none: &'static str,
    checks: &mut Checks,
    some: impl Fn(&str) -> String,
) {
    match found {
        Reading::Known(names) if names.is_empty() => checks.ok(subject, none),
        Reading::Known(names) => checks.warn(subject, some(&names.join(", "))),
        Reading::NotChecked(reason) => checks.warn(subject, format!("Not checked: {reason}")),
    }
}
