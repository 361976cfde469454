//! The enrolment of a cluster from its page.
use super::{api_server, enrolment_state, error, progress::no_such_cluster};
use crate::{
    caller::Caller,
    kube::ClusterSnapshot,
    service::{
        Services,
        enrolment::{self, EnrolError},
        error::ServiceError,
    },
};
use app::error::UiErrorKind;
use portico_cluster_sync::enrolment::EnrolmentError;
use portico_domain::{
    enrolled_cluster::ClusterSource,
    panel::lifecycle::{ApiServerConfiguration, EnrolmentOutcome},
};
use std::time::Duration;
use tokio::time::{Instant, sleep};
use uuid::Uuid;

/// How long to wait until the panel serves a new record, which it reads every few seconds.
const SERVED_TIMEOUT: Duration = Duration::from_secs(8);
const SERVED_INTERVAL: Duration = Duration::from_millis(500);
/// How long to wait until kube-auth knows a new cluster: it fetches the list every ten seconds.
const LISTED_TIMEOUT: Duration = Duration::from_secs(12);
const LISTED_INTERVAL: Duration = Duration::from_secs(3);

/// Enrols a cluster with [`crate::service::enrolment::enrol`], which writes the audit line.
///
/// # Errors
/// Those of [`super::list()`]. Refusals, and that it is too early, are in the answer.
pub async fn enrol(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
) -> Result<EnrolmentOutcome, ServiceError> {
    services.magnum()?;
    match enrolment::enrol(services, clusters, caller, cluster).await {
        Ok(record) => enrolled(services, caller, record.id).await,
        Err(error @ EnrolError::NoToken) => Err(error.into()),
        Err(error) => Ok(outcome_of(error)),
    }
}

/// Returns the outcome of a run that has stored a record.
async fn enrolled(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
) -> Result<EnrolmentOutcome, ServiceError> {
    let started = Instant::now();
    while services.clusters.snapshot().get(cluster).is_none() {
        if started.elapsed() > SERVED_TIMEOUT {
            return Ok(EnrolmentOutcome::Enrolled { cluster });
        }
        sleep(SERVED_INTERVAL).await;
    }
    let started = Instant::now();
    let clusters = services.clusters.snapshot();
    while enrolment_state::asks_kube_auth(services, &clusters, caller, cluster).await == Some(false)
    {
        if started.elapsed() > LISTED_TIMEOUT {
            let configuration = configuration(services, &clusters, caller, cluster).await?;
            return Ok(EnrolmentOutcome::WaitingForConfiguration(Box::new(
                configuration,
            )));
        }
        sleep(LISTED_INTERVAL).await;
        services.magnum()?.unconfigured.invalidate(&cluster).await;
    }
    Ok(EnrolmentOutcome::Enrolled { cluster })
}

/// Returns the outcome of a run that has stored nothing.
fn outcome_of(error: EnrolError) -> EnrolmentOutcome {
    let seconds = match &error {
        EnrolError::Running => Some(5),
        EnrolError::Busy => Some(20),
        EnrolError::Run(EnrolmentError::NoAddress | EnrolmentError::NoAnswer(_)) => Some(10),
        EnrolError::Run(EnrolmentError::Timeout(_)) => Some(30),
        _ => None,
    };
    let described = ServiceError::from(error);
    match seconds {
        Some(seconds) => EnrolmentOutcome::Later {
            reason: described.message,
            seconds,
        },
        None => {
            if let Some(cause) = &described.cause {
                tracing::warn!(cause, "a cluster was not enrolled");
            }
            EnrolmentOutcome::Refused {
                reason: described.message,
                next_step: described.next_step,
            }
        }
    }
}

/// Returns what the API server of a cluster needs, line by line; no secret is in it.
///
/// # Errors
/// `NotFound` if the project has no such cluster; else those of [`super::list()`].
pub async fn configuration(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
) -> Result<ApiServerConfiguration, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let Some(webhook) = &access.section.webhook else {
        return Err(ServiceError::new(
            UiErrorKind::Unavailable,
            "The address of kube-auth for API servers is not known here.",
        )
        .next("Ask the operator of Portico to set enrolment.webhook."));
    };
    let found = access.clients.magnum.cluster(&viewer.token, cluster).await;
    let found = found.map_err(|error| match error.is_not_found() {
        true => no_such_cluster(),
        false => error::of_service(&error),
    })?;
    // an administrator's token sees the clusters of all projects
    if !found.project_id.is_empty() && found.project_id != viewer.project_id() {
        return Err(no_such_cluster());
    }
    let ca = tokio::fs::read(&webhook.ca_file).await.map_err(|error| {
        let cause = format!("enrolment.webhook.ca_file: {error}");
        ServiceError {
            cause: Some(cause),
            ..ServiceError::new(
                UiErrorKind::Unavailable,
                "The certificate authority of kube-auth could not be read.",
            )
            .next("Report it to the operator of Portico, whose log has the reason.")
        }
    })?;
    let template = access.clients.template_of(&viewer.token, &found).await;
    let template = template.map_err(|error| error::of_service(&error))?;
    let model = access.clients.model(&found, template.as_ref());
    let is_configured = enrolment_state::asks_kube_auth(services, clusters, caller, cluster).await;
    Ok(api_server::of(&api_server::Wanted {
        id: cluster,
        name: &found.name,
        family: model.driver.family,
        source: ClusterSource::Magnum,
        url: webhook.url.as_str(),
        ca_pem: &ca,
        is_enrolled: clusters.get(cluster).is_some(),
        is_configured,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_early_is_tried_again_and_a_refusal_is_not() {
        for error in [
            EnrolError::Running,
            EnrolError::Busy,
            EnrolError::Run(EnrolmentError::NoAddress),
            EnrolError::Run(EnrolmentError::Timeout(120)),
        ] {
            let outcome = outcome_of(error);
            assert!(
                matches!(outcome, EnrolmentOutcome::Later { .. }),
                "{outcome:?}"
            );
        }
        for error in [
            EnrolError::Configured,
            EnrolError::Run(EnrolmentError::Deleting),
            EnrolError::Run(EnrolmentError::Address("outside".to_owned())),
        ] {
            let EnrolmentOutcome::Refused { next_step, .. } = outcome_of(error) else {
                panic!("it would be tried again");
            };
            assert!(next_step.is_some());
        }
    }
}
