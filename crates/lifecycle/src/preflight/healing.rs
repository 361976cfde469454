//! Checks before a cluster replaces a node by itself. Where Magnum's driver ignores which nodes are chosen, a
//! node is drained, its server is deleted, and auto-healing makes a new one.
use super::Checks;
use crate::model::Cluster;
use serde_json::Value;

/// The label that turns auto-healing on.
const ENABLED: &str = "auto_healing_enabled";
/// The share of unhealthy nodes in percent above which nothing is healed (`maxUnhealthy` of a
/// MachineHealthCheck).
const MAX_UNHEALTHY_PERCENT: usize = 40;

/// Whether a cluster replaces nodes that fail, as far as its labels state it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutoHealing {
    On,
    Off,
    /// There is no label: the driver's default applies.
    Default,
}

/// Returns whether a cluster replaces nodes that fail.
pub fn auto_healing(cluster: &Cluster) -> AutoHealing {
    match cluster.labels.get(ENABLED) {
        Some(value) if value.eq_ignore_ascii_case("true") => AutoHealing::On,
        Some(_) => AutoHealing::Off,
        None => AutoHealing::Default,
    }
}

/// Returns what users can do to replace a node of a cluster whose driver ignores which nodes are chosen, as
/// sentences.
pub fn healing_hint(cluster: &Cluster) -> String {
    match auto_healing(cluster) {
        AutoHealing::On => {
            "Auto-healing is on: drain the node, then delete its server, and the cluster makes \
                            a new one."
                .to_owned()
        }
        AutoHealing::Off => format!(
            "Auto-healing is off (label {ENABLED}), so the cluster does not make a new node for a deleted \
             server."
        ),
        AutoHealing::Default => format!(
            "Where auto-healing is on, drain the node, then delete its server, and the cluster makes a new \
             one. There is no label {ENABLED}: the driver's default applies."
        ),
    }
}

/// What is known before a node is replaced by auto-healing.
#[derive(Clone, Copy, Debug)]
pub struct HealingContext<'a> {
    /// The cluster.
    pub cluster: &'a Cluster,
    /// The nodes, as the Kubernetes API returns them; else why they could not be read, as a sentence.
    pub nodes: Result<&'a [Value], &'a str>,
    /// The name of the node that is to leave, in Kubernetes.
    pub leaving: &'a str,
}

/// Checks a replacement by auto-healing.
pub fn before_healing(context: &HealingContext<'_>) -> Checks {
    let mut checks = Checks::default();
    let hint = healing_hint(context.cluster);
    match auto_healing(context.cluster) {
        AutoHealing::On => checks.ok("Auto-healing", hint),
        AutoHealing::Off => checks.block("Auto-healing", hint),
        AutoHealing::Default => checks.warn("Auto-healing", hint),
    }
    let nodes = match context.nodes {
        Ok(nodes) => nodes,
        Err(reason) => {
            let text = format!("Not checked how many nodes are unhealthy: {reason}");
            checks.warn("Nodes", text);
            return checks;
        }
    };
    // without its server the node is unhealthy as well
    let unhealthy = nodes
        .iter()
        .filter(|node| !is_ready(node) || node["metadata"]["name"] == *context.leaving)
        .count();
    let all = nodes.len();
    let text = format!("{unhealthy} of {all} nodes would be unhealthy.");
    if unhealthy.saturating_mul(100) > all.saturating_mul(MAX_UNHEALTHY_PERCENT) {
        let text = format!(
            "{text} Above {MAX_UNHEALTHY_PERCENT} % nothing is healed: repair the other nodes first."
        );
        checks.block("Nodes", text);
    } else {
        checks.ok("Nodes", text);
    }
    checks
}

fn is_ready(node: &Value) -> bool {
    let conditions = node["status"]["conditions"].as_array();
    conditions
        .into_iter()
        .flatten()
        .any(|one| one["type"] == "Ready" && one["status"] == "True")
}
