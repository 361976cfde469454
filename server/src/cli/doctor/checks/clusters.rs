//! Checks the API servers: connection, certificate, health.
use crate::cli::doctor::fault::Fault;
use crate::cli::doctor::finding::Finding;
use crate::cli::doctor::http;
use portico_domain::cluster::ClusterRecord;
use portico_runtime::error_chain;
use reqwest::StatusCode;

/// Returns the name of a cluster in the report.
pub(super) fn subject(cluster: &ClusterRecord) -> String {
    format!("cluster {}", cluster.name)
}

pub(super) async fn check(cluster: &ClusterRecord) -> Vec<Finding> {
    let subject = subject(cluster);
    let mut findings = vec![api_server(cluster, &subject).await];
    if cluster.accepted_projects.is_empty() && cluster.accepted_domains.is_empty() {
        let owner = &cluster.owner_project;
        findings.push(Finding::fault(Fault::ClusterOwnerOnly, subject, owner));
    }
    findings
}

async fn api_server(cluster: &ClusterRecord, subject: &str) -> Finding {
    let address = &cluster.api_url;
    let client = match http::client(cluster.ca_file.as_deref()) {
        Ok(client) => client,
        Err(error) => {
            let seen = error_chain(&*error);
            return Finding::fault(Fault::ClusterCertificate, subject, seen);
        }
    };
    let url = format!("{}/version", address.trim_end_matches('/'));
    let response = match client.get(url).send().await {
        Ok(response) => response,
        Err(error) => {
            let fault = http::fault_of(&error);
            let (fault, remedy) = match fault {
                Some(fault) if fault.is_certificate() => (Fault::ClusterCertificate, None),
                Some(fault) => (Fault::ClusterUnreachable, Some(fault.next_step())),
                None => (Fault::ClusterUnreachable, None),
            };
            let seen = format!("{address}: {}", http::text_of(error));
            let finding = Finding::fault(fault, subject, seen);
            return match remedy {
                Some(remedy) => finding.remedy(remedy),
                None => finding,
            };
        }
    };
    let status = response.status();
    // a server that shows its version to its users only still responds
    if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return Finding::ok(subject, format!("{address} answers (HTTP {status})"));
    }
    let body: serde_json::Value =
        serde_json::from_slice(&http::body(response).await).unwrap_or_default();
    match body["gitVersion"].as_str() {
        Some(version) if status.is_success() => {
            Finding::ok(subject, format!("{address} answers ({version})"))
        }
        _ => {
            let seen = format!("{address}/version: HTTP {status}");
            Finding::fault(Fault::ClusterUnhealthy, subject, seen)
        }
    }
}
