//! The CPU and memory that pods, workloads, namespaces, nodes and the cluster use, against requests,
//! limits, quota and what nodes can allocate.
//!
//! The source is Prometheus where the operator configured one, else `metrics.k8s.io`, which is read
//! with the viewer's own token. Prometheus has rights of its own, so it is asked only after the API
//! server has confirmed with the viewer's token that they may get the pods of the namespace, or the
//! nodes. Kubelets are never asked (`nodes/proxy`). A source that fails leaves the usage unknown,
//! with the reason.
mod bounds;
mod history;
mod metrics_api;
mod prometheus;
mod rows;
mod subject;

pub use prometheus::{Prometheus, PrometheusSetupError};
pub use rows::of_rows;

use super::{error::ServiceError, overview::reading};
use crate::kube::{Api, discovery, reviews};
use app::error::UiErrorKind;
use portico_domain::panel::{
    CpuMemory, ObjectRef, Reading, ResourceRef, UsageFigure, UsagePart, UsagePoint, UsageSource,
    UsageView, has_usage,
};
use prometheus::PrometheusError;
use std::{cmp::Reverse, time::Duration};
use subject::{Place, Subject};

/// Maximum number of parts that a page shows.
const MAX_PARTS: usize = 20;

/// What a source has measured in one place.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    source: UsageSource,
    used: CpuMemory,
    /// Number of pods that were measured, where it is known.
    pods: Option<usize>,
    parts: Vec<UsagePart>,
    cpu_history: Vec<UsagePoint>,
    memory_history: Vec<UsagePoint>,
}

impl Measured {
    /// Returns nothing used, as measured by a source.
    fn of(source: UsageSource) -> Self {
        Self {
            source,
            used: CpuMemory::default(),
            pods: None,
            parts: Vec::new(),
            cpu_history: Vec::new(),
            memory_history: Vec::new(),
        }
    }
}

/// Returns what a pod, a workload's pods, a namespace or a node uses.
///
/// # Errors
/// Those of reading the object with the viewer's token. A source that fails is a reading.
pub async fn of_object(
    prometheus: Option<&Prometheus>,
    api: &Api,
    object: &ObjectRef,
) -> Result<Reading<UsageView>, ServiceError> {
    let subject = subject::read(api, object).await?;
    let Some(place) = &subject.place else {
        let idle = ServiceError::new(UiErrorKind::Unavailable, "No pod is running.");
        return Ok(reading(Err(idle)));
    };
    let measured = measure(prometheus, api, place).await;
    Ok(reading(measured.map(|measured| view(measured, subject))))
}

/// Returns what all nodes of a cluster use together, as far as it is known after `patience`.
pub async fn of_cluster(
    prometheus: Option<&Prometheus>,
    api: &Api,
    patience: Duration,
) -> Reading<CpuMemory> {
    let place = Place::Cluster;
    let measured = tokio::time::timeout(patience, measure(prometheus, api, &place))
        .await
        .unwrap_or_else(|_| {
            Err(ServiceError::new(
                UiErrorKind::Unavailable,
                "The source of metrics did not answer in time.",
            ))
        });
    reading(measured.map(|measured| measured.used))
}

/// Returns whether objects of a kind use CPU and memory and there is a source for it. Makes no request
/// beyond discovery, which is cached.
pub async fn has_source(
    prometheus: Option<&Prometheus>,
    api: &Api,
    resource: &ResourceRef,
) -> bool {
    if !has_usage(resource) {
        return false;
    }
    if prometheus.is_some() {
        return true;
    }
    let metrics = metrics_api::resource(&resource.plural);
    match discovery::catalog(api).await {
        Ok(catalog) => catalog.find(&metrics).is_some(),
        Err(_) => false,
    }
}

/// Measures a place with the first source that has it.
async fn measure(
    prometheus: Option<&Prometheus>,
    api: &Api,
    place: &Place,
) -> Result<Measured, ServiceError> {
    let failure = match prometheus {
        Some(prometheus) => match by_prometheus(prometheus, api, place).await {
            Ok(measured) => return Ok(measured),
            Err(error) => Some(error),
        },
        None => None,
    };
    match metrics_api::measure(api, place).await {
        Ok(Some(measured)) => Ok(measured),
        Ok(None) => Err(failure.unwrap_or_else(no_source)),
        Err(error) => Err(failure.unwrap_or(error)),
    }
}

fn no_source() -> ServiceError {
    ServiceError::new(
        UiErrorKind::Unavailable,
        "This cluster does not serve metrics.k8s.io (metrics-server), and Portico has no Prometheus \
         for it.",
    )
}

/// Measures with Prometheus, if the viewer may read the pods or nodes of the place.
async fn by_prometheus(
    prometheus: &Prometheus,
    api: &Api,
    place: &Place,
) -> Result<Measured, ServiceError> {
    let question = place.question();
    if !reviews::allowed(api, &question).await? {
        return Err(ServiceError::lacks(question));
    }
    let measured = prometheus.measure(api.cluster(), place).await;
    measured.map_err(|error| prometheus_failure(api, &error))
}

/// Logs a failure of Prometheus, and returns it for users.
fn prometheus_failure(api: &Api, error: &PrometheusError) -> ServiceError {
    let cluster_id = api.cluster();
    if error.is_expected() {
        tracing::debug!(%cluster_id, %error, "no usage from Prometheus");
    } else {
        tracing::warn!(%cluster_id, %error, "no usage from Prometheus");
    }
    ServiceError::new(UiErrorKind::Unavailable, error.sentence())
}

/// Puts together what a page shows.
fn view(measured: Measured, subject: Subject) -> UsageView {
    let mut notes = subject.notes;
    if let (Some(measured), Some(active)) = (measured.pods, subject.active_pods)
        && measured < active
    {
        notes.push(format!("{measured} of {active} pods are measured.").into());
    }
    let mut parts = measured.parts;
    parts.sort_by(|one, other| {
        let key = |part: &UsagePart| (Reverse(part.used.cpu), Reverse(part.used.memory));
        key(one)
            .cmp(&key(other))
            .then_with(|| one.name.cmp(&other.name))
    });
    if parts.len() > MAX_PARTS {
        let shown = format!(
            "The table has the {MAX_PARTS} that use the most CPU, of {}.",
            parts.len()
        );
        notes.push(shown.into());
        parts.truncate(MAX_PARTS);
    }
    UsageView {
        source: measured.source,
        cpu: UsageFigure {
            used: measured.used.cpu,
            bounds: subject.bounds.cpu,
            history: measured.cpu_history,
        },
        memory: UsageFigure {
            used: measured.used.memory,
            bounds: subject.bounds.memory,
            history: measured.memory_history,
        },
        parts,
        notes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bounds::Bounds;

    fn measured(pods: usize, parts: usize) -> Measured {
        let part = |number: usize| UsagePart {
            name: format!("web-{number}"),
            used: CpuMemory {
                cpu: number as u64,
                memory: 1,
            },
        };
        Measured {
            pods: Some(pods),
            parts: (0..parts).map(part).collect(),
            ..Measured::of(UsageSource::MetricsApi)
        }
    }

    fn subject(active: usize) -> Subject {
        Subject {
            place: None,
            bounds: Bounds::default(),
            active_pods: Some(active),
            notes: Vec::new(),
        }
    }

    #[test]
    fn pods_that_are_not_measured_are_mentioned() {
        let notes = |measured| view(measured, subject(3)).notes;
        assert_eq!(notes(measured(2, 2))[0].reason, "2 of 3 pods are measured.");
        assert!(notes(measured(3, 3)).is_empty());
    }

    #[test]
    fn the_parts_that_use_the_most_come_first() {
        let view = view(measured(30, 30), subject(30));
        assert_eq!(view.parts.len(), MAX_PARTS);
        assert_eq!(view.parts[0].name, "web-29");
        assert_eq!(view.notes.len(), 1);
    }
}
