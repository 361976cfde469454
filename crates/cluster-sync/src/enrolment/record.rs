//! The record of a cluster from what Magnum has about it.
use super::EnrolmentError;
use portico_domain::enrolled_cluster::{
    API_SERVER_AUDIENCES, ClusterSource, EnrolledCluster, is_plain_name,
};
use portico_openstack::magnum::{Cluster, Status};

const KUBERNETES: &str = "kubernetes";

/// Returns the address of the API server of a cluster that can be enrolled in this project.
///
/// # Errors
/// [`EnrolmentError::OtherProject`], [`EnrolmentError::Deleting`] or [`EnrolmentError::NoAddress`].
pub(super) fn api_url(found: &Cluster, project: &str) -> Result<String, EnrolmentError> {
    // the token of an administrator may see the clusters of others
    if found.project_id != project {
        return Err(EnrolmentError::OtherProject);
    }
    if matches!(
        found.status,
        Status::DeleteInProgress | Status::DeleteFailed | Status::DeleteComplete
    ) {
        return Err(EnrolmentError::Deleting);
    }
    let address = found.api_address.as_deref().unwrap_or_default().trim();
    if address.is_empty() {
        return Err(EnrolmentError::NoAddress);
    }
    Ok(address.trim_end_matches('/').to_owned())
}

/// Checks the container engine of a template.
///
/// # Errors
/// [`EnrolmentError::Engine`] for another one than Kubernetes.
pub(super) fn check_engine(engine: Option<&str>) -> Result<(), EnrolmentError> {
    match engine {
        None | Some(KUBERNETES) => Ok(()),
        Some(other) => Err(EnrolmentError::Engine(other.chars().take(32).collect())),
    }
}

/// Returns the record: the cluster's own authority also issues the certificate with which its API
/// server authenticates to kube-auth.
///
/// # Errors
/// [`EnrolmentError::Record`] beyond a limit of records.
pub(super) fn record(
    found: &Cluster,
    api_url: String,
    ca: &str,
) -> Result<EnrolledCluster, EnrolmentError> {
    let name = match is_plain_name(&found.name) {
        true => found.name.clone(),
        false => found.uuid.to_string(),
    };
    let ca = format!("{}\n", ca.trim());
    let record = EnrolledCluster {
        id: found.uuid,
        name,
        owner_project: found.project_id.clone(),
        accepted_projects: vec![found.project_id.clone()],
        accepted_roles: Vec::new(),
        api_url,
        client_ca: ca.clone(),
        ca,
        api_audiences: API_SERVER_AUDIENCES.map(str::to_owned).to_vec(),
        source: ClusterSource::Magnum,
    };
    record.check()?;
    Ok(record)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEM: &str = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n\n";

    fn cluster(change: serde_json::Value) -> Cluster {
        let mut json = serde_json::json!({
            "uuid": "6f0c1a52-0000-4000-8000-000000000001", "name": "shop", "project_id": "p1",
            "status": "CREATE_COMPLETE", "api_address": "https://192.0.2.10:6443/",
        });
        for (key, value) in change.as_object().unwrap() {
            json[key] = value.clone();
        }
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn a_cluster_of_the_project_with_an_address_becomes_a_record() {
        let found = cluster(serde_json::json!({}));
        let url = api_url(&found, "p1").unwrap();
        assert_eq!(url, "https://192.0.2.10:6443");
        let record = record(&found, url, PEM).unwrap();
        assert_eq!((record.id, record.name.as_str()), (found.uuid, "shop"));
        assert_eq!(record.owner_project, "p1");
        assert_eq!(record.accepted_projects, ["p1"]);
        // the same authority for both directions
        assert_eq!(record.ca, format!("{}\n", PEM.trim()));
        assert_eq!(record.client_ca, record.ca);
        assert_eq!(record.check(), Ok(()));
    }

    #[test]
    fn other_projects_deletions_and_clusters_without_an_address_are_refused() {
        let refused = |change| api_url(&cluster(change), "p1").unwrap_err().to_string();
        let other = refused(serde_json::json!({ "project_id": "p2" }));
        assert!(other.contains("another project"));
        for status in ["DELETE_IN_PROGRESS", "DELETE_FAILED"] {
            let deleting = refused(serde_json::json!({ "status": status }));
            assert!(deleting.contains("deleted"), "{status}");
        }
        for address in [serde_json::Value::Null, " ".into()] {
            let none = refused(serde_json::json!({ "api_address": address }));
            assert!(none.contains("no address"));
        }
    }

    #[test]
    fn only_kubernetes_and_valid_certificates_are_accepted() {
        assert!(check_engine(Some("kubernetes")).is_ok());
        assert!(check_engine(None).is_ok());
        let swarm = check_engine(Some("swarm"));
        assert!(matches!(swarm, Err(EnrolmentError::Engine(_))));
        let found = cluster(serde_json::json!({}));
        for ca in ["", "nonsense", "-----BEGIN PRIVATE KEY-----"] {
            let url = "https://192.0.2.10:6443".to_owned();
            let invalid = record(&found, url, ca);
            assert!(matches!(invalid, Err(EnrolmentError::Record(_))), "{ca}");
        }
    }

    #[test]
    fn a_cluster_without_a_name_that_magnum_permits_is_named_by_its_id() {
        for name in [
            serde_json::Value::Null,
            "$(reboot)".into(),
            "-context".into(),
            "prod\u{202e}".into(),
            "a b".into(),
        ] {
            let found = cluster(serde_json::json!({ "name": name }));
            let url = api_url(&found, "p1").unwrap();
            let record = record(&found, url, PEM).unwrap();
            assert_eq!(record.name, found.uuid.to_string());
        }
    }
}
