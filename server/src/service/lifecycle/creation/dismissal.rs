//! Dismisses a creation whose outcome is not known.
use super::attempt;
use crate::{
    caller::Caller,
    service::{Services, error::ServiceError, lifecycle::stored_attempts::RECENT},
};
use portico_store::AttemptKey;
use uuid::Uuid;

/// Removes one of the caller's creations from the list, without asking Magnum. If a cluster was created,
/// it exists and is listed.
///
/// # Errors
/// `Conflict` while its outcome may become known by itself, or if there is none; those of
/// [`crate::service::lifecycle::list()`].
pub async fn dismiss_creation(
    services: &Services,
    caller: &Caller,
    attempt: Uuid,
) -> Result<(), ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let Some(store) = access.attempts.store() else {
        return Err(attempt::no_storage());
    };
    let key = AttemptKey {
        project_id: viewer.project_id().to_owned(),
        user_id: viewer.user_id.clone(),
        attempt,
    };
    let now = services.clock.now();
    let dismissed = store
        .creation_attempts()
        .dismiss(&key, now - RECENT, now)
        .await;
    if dismissed.map_err(|error| attempt::of_store(&error))? {
        return Ok(());
    }
    Err(ServiceError::conflict(
        "This creation cannot be dismissed: its outcome is known, or may still become known.",
    )
    .next("Reload the list of clusters in some minutes."))
}
