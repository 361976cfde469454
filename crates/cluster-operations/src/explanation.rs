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

#[cfg(test)]
mod tests {
    use super::*;
    use portico_lifecycle::status::Status;

    fn cluster(status: &str, reason: Option<&str>) -> Cluster {
        let uuid = "900e3758-8071-430e-a8cf-5c48f428dc0e".to_owned();
        Cluster {
            status: Status::parse(status),
            reason: reason.map(str::to_owned),
            ..Cluster::deleted(uuid, "shop".to_owned())
        }
    }

    #[test]
    fn a_failed_creation_has_why_what_remains_and_what_to_do() {
        let reason = "Quota exceeded for cores";
        let found = lines(&cluster("CREATE_FAILED", Some(reason)));
        let starts: Vec<_> = found
            .iter()
            .filter_map(|line| line.split_once(": ").map(|(start, _)| start))
            .collect();
        assert_eq!(starts, ["Why", "Remains", "Magnum", "Next"]);
        assert!(
            found[1].contains("until the cluster is deleted"),
            "{found:?}"
        );
        assert_eq!(found[2], format!("Magnum: {reason}"));
        assert!(found[3].contains("Edit and retry; "), "{found:?}");
    }

    #[test]
    fn a_fault_is_preferred_to_a_general_reason_and_names_its_part() {
        let mut failed = cluster("CREATE_FAILED", Some("Failed to create a cluster"));
        let fault = "Quota exceeded for cores".to_owned();
        failed.faults.insert("default-worker".to_owned(), fault);
        let found = lines(&failed);
        assert!(found[0].ends_with(" (default-worker)"), "{found:?}");
        assert_eq!(found[2], "Magnum: Quota exceeded for cores");
    }

    #[test]
    fn a_failure_without_a_text_has_no_line_of_magnum() {
        let found = lines(&cluster("UPDATE_FAILED", None));
        assert!(found[0].starts_with("Why: "), "{found:?}");
        assert!(!found.iter().any(|line| line.starts_with("Magnum: ")));
    }

    #[test]
    fn nothing_is_explained_where_nothing_has_failed() {
        for status in [
            "CREATE_COMPLETE",
            "CREATE_IN_PROGRESS",
            "DELETE_IN_PROGRESS",
        ] {
            let mut running = cluster(status, Some("Quota exceeded for cores"));
            let health = ("api".to_owned(), "unreachable".to_owned());
            running.health.extend([health]);
            assert!(lines(&running).is_empty(), "{status}");
        }
    }

    #[test]
    fn the_text_of_a_failure_names_cluster_and_state_first() {
        let failed = cluster("DELETE_FAILED", Some("port is in use"));
        let text = of_failure(&failed);
        let mut found = text.lines();
        assert_eq!(found.next(), Some("the cluster shop is DELETE_FAILED"));
        assert!(found.all(|line| line.starts_with("  ")), "{text}");
        assert_eq!(text.lines().count(), 1 + lines(&failed).len());
    }
}
