//! The usage of the rows of a list that are in the page, with one request of the page and a fixed
//! number of requests to the source, whatever the number of rows.
mod aggregate;
mod batch;
mod collect;
mod metrics;
mod workload;

pub use batch::{Batch, Key};

use super::{Prometheus, no_source, prometheus_failure, subject::Place};
use crate::{
    kube::{Api, reviews},
    service::{error::ServiceError, overview::reading},
};
use batch::Samples;
use k8s_openapi::api::core::v1::{Node, Pod, ResourceQuota};
use portico_domain::panel::{
    MAX_USAGE_ROWS, Reading, ResourceRef, RightQuestion, RowsUsage, UsageRow, UsageSource,
    has_usage,
};
use std::collections::HashMap;

/// Maximum number of pods whose requests are read.
const MAX_PODS: usize = 1_000;
/// Maximum number of nodes that are read.
const MAX_NODES: usize = 1_000;
/// Maximum number of quotas that are read.
const MAX_QUOTAS: usize = 1_000;

/// Returns what the rows of a list use: pods, workloads, namespaces or nodes. A source that fails is
/// a reading; a row that it does not have is unknown, with the reason.
///
/// # Errors
/// `Invalid` for a kind that has no usage, for no or too many rows, and for incomplete ones.
pub async fn of_rows(
    prometheus: Option<&Prometheus>,
    api: &Api,
    resource: &ResourceRef,
    rows: &[UsageRow],
) -> Result<Reading<RowsUsage>, ServiceError> {
    check(resource, rows)?;
    let batch = Batch::of(resource, rows);
    let answer = match &batch {
        Batch::Nodes => of_nodes(prometheus, api, rows, &batch).await,
        Batch::Namespaces(_) => of_namespaces(prometheus, api, rows, &batch).await,
        Batch::Pods { .. } => of_pods(prometheus, api, resource, rows, &batch).await,
    };
    Ok(reading(answer))
}

fn check(resource: &ResourceRef, rows: &[UsageRow]) -> Result<(), ServiceError> {
    if !has_usage(resource) {
        return Err(ServiceError::invalid("This kind has no usage of its own."));
    }
    if rows.is_empty() || rows.len() > MAX_USAGE_ROWS {
        return Err(ServiceError::invalid(format!(
            "The usage of 1 to {MAX_USAGE_ROWS} rows can be read at once."
        )));
    }
    let is_namespaced = !matches!(resource.plural.as_str(), "nodes" | "namespaces");
    for row in rows {
        let namespace = row.namespace.as_deref().unwrap_or_default();
        if row.name.is_empty() || (is_namespaced && namespace.is_empty()) {
            return Err(ServiceError::invalid(
                "A row has no name, or its namespace is missing.",
            ));
        }
    }
    Ok(())
}

async fn of_pods(
    prometheus: Option<&Prometheus>,
    api: &Api,
    resource: &ResourceRef,
    rows: &[UsageRow],
    batch: &Batch,
) -> Result<RowsUsage, ServiceError> {
    let pods = ResourceRef::core("pods");
    let (samples, read) = tokio::join!(
        measure(prometheus, api, batch),
        collect::of_namespaces::<Pod>(api, &pods, batch.namespaces(), MAX_PODS),
    );
    let samples = samples?;
    let rows = if resource.plural == "pods" {
        aggregate::of_pods(rows, &samples, &read)
    } else {
        aggregate::of_workloads(&resource.plural, rows, &samples, &read)
    };
    Ok(RowsUsage {
        source: samples.source,
        rows,
    })
}

async fn of_namespaces(
    prometheus: Option<&Prometheus>,
    api: &Api,
    rows: &[UsageRow],
    batch: &Batch,
) -> Result<RowsUsage, ServiceError> {
    let quotas = ResourceRef::core("resourcequotas");
    let (samples, read) = tokio::join!(
        measure(prometheus, api, batch),
        collect::of_namespaces::<ResourceQuota>(api, &quotas, batch.namespaces(), MAX_QUOTAS),
    );
    let samples = samples?;
    Ok(RowsUsage {
        source: samples.source,
        rows: aggregate::of_namespaces(rows, &samples, &read),
    })
}

async fn of_nodes(
    prometheus: Option<&Prometheus>,
    api: &Api,
    rows: &[UsageRow],
    batch: &Batch,
) -> Result<RowsUsage, ServiceError> {
    let nodes = ResourceRef::core("nodes");
    let (samples, read) = tokio::join!(
        measure(prometheus, api, batch),
        collect::of_cluster::<Node>(api, &nodes, MAX_NODES),
    );
    let samples = samples?;
    Ok(RowsUsage {
        source: samples.source,
        rows: aggregate::of_nodes(rows, &samples, &read),
    })
}

/// Measures a batch with the first source that has samples of it.
async fn measure(
    prometheus: Option<&Prometheus>,
    api: &Api,
    batch: &Batch,
) -> Result<Samples, ServiceError> {
    let first = match prometheus {
        Some(prometheus) => match by_prometheus(prometheus, api, batch).await {
            Ok(samples) if !samples.used.is_empty() => return Ok(samples),
            empty_or_failed => Some(empty_or_failed),
        },
        None => None,
    };
    match (metrics::measure(api, batch).await, first) {
        (Ok(Some(samples)), _) => Ok(samples),
        (_, Some(first)) => first,
        (Ok(None), None) => Err(no_source()),
        (Err(error), None) => Err(error),
    }
}

/// Measures with Prometheus, as far as the viewer may get the pods or list the nodes.
async fn by_prometheus(
    prometheus: &Prometheus,
    api: &Api,
    batch: &Batch,
) -> Result<Samples, ServiceError> {
    let mut samples = Samples::of(UsageSource::Prometheus);
    let permitted = if *batch == Batch::Nodes {
        let question = Place::Cluster.question();
        if !reviews::allowed(api, &question).await? {
            return Err(ServiceError::lacks(question));
        }
        Batch::Nodes
    } else {
        let namespaces = batch.namespaces();
        samples.failures = refused(api, namespaces).await;
        let mut permitted = namespaces.to_vec();
        permitted.retain(|name| !samples.failures.contains_key(name));
        if permitted.is_empty() {
            let first = namespaces
                .iter()
                .find_map(|name| samples.failures.get(name));
            return Err(first.cloned().unwrap_or_else(no_source));
        }
        batch.within(permitted)
    };
    let measured = prometheus.measure_rows(api, &permitted).await;
    let used = measured.map_err(|error| prometheus_failure(api, &error))?;
    samples.used = (*used).clone();
    Ok(samples)
}

/// Returns the namespaces whose pods the viewer may not get, or for which that is not known, with the
/// reason. With the permission in the whole cluster, one review is enough.
async fn refused(api: &Api, namespaces: &[String]) -> HashMap<String, ServiceError> {
    let mut refused = HashMap::new();
    if namespaces.len() > 1 {
        let everywhere = reviews::question("get", &ResourceRef::core("pods"), None);
        if matches!(reviews::allowed(api, &everywhere).await, Ok(true)) {
            return refused;
        }
    }
    let questions: Vec<RightQuestion> = namespaces
        .iter()
        .map(|name| Place::Namespace(name.clone()).question())
        .collect();
    let answers = reviews::review_all(api, questions.clone()).await;
    for ((name, question), answer) in namespaces.iter().zip(questions).zip(answers) {
        match answer {
            Ok(review) if review.allowed => {}
            Ok(_) => {
                refused.insert(name.clone(), ServiceError::lacks(question));
            }
            Err(error) => {
                refused.insert(name.clone(), ServiceError::from(error));
            }
        }
    }
    refused
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(namespace: Option<&str>, name: &str) -> UsageRow {
        UsageRow {
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
        }
    }

    #[test]
    fn need_07_rows_are_limited_in_number_and_complete() {
        let pods = ResourceRef::core("pods");
        let web = row(Some("shop"), "web");
        assert!(check(&pods, std::slice::from_ref(&web)).is_ok());
        assert!(check(&pods, &vec![web.clone(); MAX_USAGE_ROWS]).is_ok());
        assert!(check(&pods, &vec![web.clone(); MAX_USAGE_ROWS + 1]).is_err());
        assert!(check(&pods, &[]).is_err());
        // the empty namespace would be every namespace
        for incomplete in [
            row(None, "web"),
            row(Some(""), "web"),
            row(Some("shop"), ""),
        ] {
            assert!(check(&pods, &[incomplete]).is_err());
        }
        assert!(check(&ResourceRef::core("nodes"), &[row(None, "node-1")]).is_ok());
        assert!(check(&ResourceRef::core("secrets"), &[web]).is_err());
    }
}
