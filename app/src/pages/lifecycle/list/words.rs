//! What the list states in words.
use crate::format;
use portico_domain::panel::lifecycle::{ManagedCluster, QuotaUsage, QuotaUse};

/// Returns the quota of clusters as a sentence.
pub fn quota(quota: Option<&QuotaUse>) -> String {
    match quota.and_then(|quota| quota.usage) {
        None => "The quota of clusters is not known.".to_owned(),
        Some(QuotaUsage {
            used,
            limit: Some(limit),
        }) => format!("Quota of clusters: {used} of {limit} used."),
        Some(QuotaUsage { used, limit: None }) => {
            format!("Quota of clusters: {used} used, no limit.")
        }
    }
}

/// Returns the number of nodes, as far as it is known.
pub fn nodes(cluster: &ManagedCluster) -> String {
    let count = |count: u32, noun: &str| format::counted(count as usize, noun);
    match (cluster.control_plane_count, cluster.node_count) {
        (None, None) => "not known".to_owned(),
        (None, Some(workers)) => count(workers, "worker"),
        (Some(plane), None) => format!("{plane} control plane"),
        (Some(plane), Some(workers)) => {
            format!("{plane} control plane, {}", count(workers, "worker"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quota_of_clusters_is_a_sentence() {
        let of = |limit| {
            quota(Some(&QuotaUse {
                resource: "clusters".to_owned(),
                usage: Some(QuotaUsage { used: 2, limit }),
            }))
        };
        assert_eq!(of(Some(5)), "Quota of clusters: 2 of 5 used.");
        assert_eq!(of(None), "Quota of clusters: 2 used, no limit.");
        assert_eq!(quota(None), "The quota of clusters is not known.");
    }
}
