//! A failed or blocked cluster in words: why, what remains, and what to do.
use portico_lifecycle::failure::{Report, explain};
use portico_lifecycle::model::Cluster;
use std::collections::BTreeMap;

/// Explains the failure of a cluster in several lines.
pub fn of_failure(cluster: &Cluster) -> String {
    let mut text = format!("the cluster {} is {}", cluster.name, cluster.status);
    for line in lines(cluster) {
        text.push_str("\n  ");
        text.push_str(&line);
    }
    text
}

/// Returns the explanation of a failure, one line for each part; none where nothing has failed.
pub fn lines(cluster: &Cluster) -> Vec<String> {
    let none = BTreeMap::new();
    let failure = explain(&Report {
        status: &cluster.status,
        reason: cluster.reason.as_deref(),
        faults: &cluster.faults,
        health: &cluster.health,
        groups: &none,
        existing: None,
    });
    let Some(failure) = failure.filter(|_| cluster.status.is_failed()) else {
        return Vec::new();
    };
    let part = failure.part.map(|part| format!(" ({part})"));
    let mut lines = vec![
        format!("Why: {}{}", failure.explanation, part.unwrap_or_default()),
        format!("Remains: {}", failure.remains),
    ];
    if !failure.raw.is_empty() {
        lines.push(format!("Magnum: {}", failure.raw));
    }
    let actions = failure.next_actions.iter().map(|action| action.label());
    let actions: Vec<_> = actions.collect();
    if !actions.is_empty() {
        lines.push(format!("Next: {}", actions.join("; ")));
    }
    lines
}
