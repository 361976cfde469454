//! The form for a new cluster, and its creation.
use super::not_available;
use crate::{
    caller::Caller,
    service::{Services, error::ServiceError},
};
use portico_domain::panel::lifecycle::{
    ClusterFile, CreationForm, CreationOptions, CreationOutcome, CreationReview,
};
use uuid::Uuid;

/// Returns what the form offers. A service besides Magnum that does not answer leaves a gap.
///
/// # Errors
/// Those of [`super::list()`].
pub async fn options(
    services: &Services,
    caller: &Caller,
) -> Result<CreationOptions, ServiceError> {
    // not written yet
    let _ = (services, caller);
    Err(not_available())
}

/// Reads a file of Portico (YAML or JSON) or the JSON of Magnum's request into the form; makes no
/// request. What is wrong with the text is in the answer.
///
/// # Errors
/// `Invalid` for a text that is too large.
pub fn read_file(text: &str) -> Result<ClusterFile, ServiceError> {
    // not written yet
    let _ = text;
    Err(not_available())
}

/// Returns what a creation would do; changes nothing.
///
/// # Errors
/// Those of [`super::list()`]. What is wrong with the form is in the answer.
pub async fn review(
    services: &Services,
    caller: &Caller,
    form: &CreationForm,
) -> Result<CreationReview, ServiceError> {
    // not written yet
    let _ = (services, caller, form);
    Err(not_available())
}

/// Creates a cluster once, however often it is called with the same attempt (of the same user and
/// project). It reviews the form again, and sends nothing that the review refuses.
///
/// # Errors
/// Those of [`super::list()`], if nothing was sent. Refusals and lost responses are in the answer.
pub async fn create(
    services: &Services,
    caller: &Caller,
    form: &CreationForm,
    attempt: Uuid,
) -> Result<CreationOutcome, ServiceError> {
    // not written yet
    let _ = (services, caller, form, attempt);
    Err(not_available())
}

/// Sends the next step of the plan of a creation, such as a further node group, once the cluster is
/// settled.
///
/// # Errors
/// `Conflict` while no step is ready; else those of [`super::list()`].
pub async fn continue_creation(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
) -> Result<(), ServiceError> {
    // not written yet
    let _ = (services, caller, cluster);
    Err(not_available())
}
