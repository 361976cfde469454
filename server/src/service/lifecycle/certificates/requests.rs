//! Requests to rotate the authorities of a cluster, and to sign a certificate.
use super::reading::{examine, view};
use crate::{
    caller::Caller,
    service::{
        Services,
        error::ServiceError,
        lifecycle::{change::Sent, error, feeds::Accepted, own, viewer::Viewer},
    },
};
use app::error::UiErrorKind;
use jiff::Timestamp;
use portico_cluster_operations::{
    Clients,
    certificate::{RequestError, check_request},
};
use portico_domain::panel::lifecycle::{CertificateView, ChangeOutcome};
use portico_lifecycle::{
    progress::{Followed, Goal, Mark},
    rights::Call,
    status::Operation,
};
use portico_openstack::{magnum::Authority, rest::Effect};
use uuid::Uuid;

/// Maximum length of a certificate request in PEM; one with a large key has some 3 KiB.
const MAX_REQUEST_BYTES: usize = 16 * 1_024;
/// What to do after the response to a request was lost.
const IF_LOST: &str = "Send the request again if you need the certificate: Magnum may have signed it, but \
                       the certificate was not delivered.";

/// Rotates the authorities of a cluster if `typed` is its name and the driver can.
///
/// # Errors
/// Those of [`super::certificates()`], if nothing was sent. Refusals are in the answer.
pub async fn rotate(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
    typed: &str,
) -> Result<ChangeOutcome, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let sent = send_rotation(&access.clients, &viewer, cluster, typed).await?;
    if let Some(accepted) = &sent.accepted {
        access.feeds.accepted(&viewer, cluster, accepted).await;
    }
    Ok(sent.outcome)
}

/// Sends a rotation with the clients of a cloud.
///
/// # Errors
/// As [`rotate`].
pub async fn send_rotation(
    clients: &Clients,
    viewer: &Viewer,
    cluster: Uuid,
    typed: &str,
) -> Result<Sent, ServiceError> {
    let found = own::cluster(clients, viewer, cluster).await?;
    let examined = examine(clients, viewer, &found).await?;
    if let Some(reason) = examined.refusal(viewer) {
        return Ok(Sent::refused(reason));
    }
    let before = &examined.cluster;
    if typed != before.name {
        return Ok(Sent::not_confirmed(&before.name));
    }
    let magnum = &clients.magnum;
    match magnum.rotate_authorities(&viewer.token, cluster).await {
        Ok(()) => Ok(Sent::accepted(Some(Accepted::Change {
            followed: Followed::Change {
                operation: Operation::RotateCa,
                before: Mark::of(before),
                goal: Goal::Unseen,
            },
            family: before.driver.family,
            versions: None,
        }))),
        Err(error) => Ok(Sent::failed(&error, "the rotation")),
    }
}

/// Has a certificate request in PEM signed by the authority of a cluster.
///
/// # Errors
/// `Invalid` for a text that is not a request, or one that Magnum cannot read; `NotPermitted` for other
/// users than the creator; `Unavailable` with an unknown effect if the certificate was lost; else those of
/// [`super::certificates()`].
pub async fn sign(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
    request: &str,
) -> Result<CertificateView, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let now = services.clock.now();
    send_request(&access.clients, &viewer, cluster, request, now).await
}

/// Sends a certificate request with the clients of a cloud.
///
/// # Errors
/// As [`sign`].
pub async fn send_request(
    clients: &Clients,
    viewer: &Viewer,
    cluster: Uuid,
    request: &str,
    now: Timestamp,
) -> Result<CertificateView, ServiceError> {
    check(request)?;
    let found = own::cluster(clients, viewer, cluster).await?;
    let creator = Some(found.user_id.as_str()).filter(|id| !id.is_empty());
    if let Some(refusal) = viewer.refusal(Call::SignCertificate, creator) {
        return Err(ServiceError::not_permitted(refusal));
    }
    let magnum = &clients.magnum;
    let signed = magnum.sign_certificate(&viewer.token, cluster, request, Authority::Kubernetes);
    let pem = signed
        .await
        .map_err(|error| error::of_change(&error, "the certificate request", IF_LOST))?;
    view(pem, now.as_second()).map_err(|error| ServiceError {
        cause: Some(error.to_string()),
        effect: Effect::Unknown,
        ..ServiceError::new(
            UiErrorKind::Unavailable,
            "Magnum signed the request, but its answer has no certificate that can be read.",
        )
        .next("Report it to the cloud's operator.")
    })
}

/// Checks a text before it is sent anywhere.
fn check(request: &str) -> Result<(), ServiceError> {
    if request.len() > MAX_REQUEST_BYTES {
        return Err(
            ServiceError::invalid("The text is too long for a certificate request.")
                .next("Paste one request in PEM, of at most 16 KiB."),
        );
    }
    check_request(request).map_err(|error| match error {
        RequestError::PrivateKey => ServiceError::invalid(
            "The text has a private key, which is never sent to Magnum.",
        )
        .next("Paste the request only: from BEGIN CERTIFICATE REQUEST to END CERTIFICATE REQUEST."),
        RequestError::NotARequest => ServiceError::invalid(
            "The text is not a certificate request in PEM.",
        )
        .next(
            "Make one with openssl req -new, and paste it from BEGIN CERTIFICATE REQUEST to END \
                 CERTIFICATE REQUEST.",
        ),
    })
}
