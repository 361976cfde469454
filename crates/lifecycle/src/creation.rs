//! Carries out the creation of a cluster exactly once. The rules are those of [`crate::idempotency`];
//! Magnum, the storage of attempts and time are the caller's, behind [`CreationEnvironment`].
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use crate::idempotency::{
    Attempt, Candidate, Decision, Delivery, LostResponse, SEARCH_TIME, decide,
};

/// For how long Magnum may be unable to list clusters: a minute longer than a lost request is looked
/// for.
const MAX_OUTAGE: SignedDuration = SEARCH_TIME.saturating_add(SignedDuration::from_secs(60));

/// What a creation needs of Magnum, of the storage of its attempt, and of time.
pub trait CreationEnvironment {
    /// An error of Magnum or of the storage.
    type Error;

    /// Returns the time.
    fn now(&self) -> Timestamp;

    /// Waits until a time.
    fn sleep_until(&mut self, at: Timestamp) -> impl Future<Output = ()>;

    /// Returns all clusters of the project; an incomplete list is an error.
    fn clusters(&mut self) -> impl Future<Output = Result<Vec<Candidate>, ListError<Self::Error>>>;

    /// Sends `POST /clusters` once, and returns the UUID.
    fn send(
        &mut self,
        request: Map<String, Value>,
    ) -> impl Future<Output = Result<String, SendError<Self::Error>>>;

    /// Waits for a moment until Magnum has the record of an accepted cluster; returns whether it has.
    fn is_recorded(&mut self, uuid: &str) -> impl Future<Output = Result<bool, Self::Error>>;

    /// Stores the attempt, so that it survives the end of the process.
    fn store(&mut self, attempt: &Attempt) -> impl Future<Output = Result<(), Self::Error>>;

    /// Forgets the attempt.
    fn forget(&mut self) -> impl Future<Output = Result<(), Self::Error>>;

    /// Tells the user that the response was lost, and that the cluster is looked for.
    fn note_lost(&mut self, error: &Self::Error);
}

/// Why the clusters could not be listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListError<E> {
    /// Magnum refuses: another call has the same result.
    Final(E),
    /// Magnum does not answer, or not completely: it may later.
    Outage(E),
}

/// Why a request has no UUID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendError<E> {
    /// It had no effect: Magnum refused it, or it was not sent.
    Refused(E),
    /// It may have had its effect.
    Lost(E),
}

/// Why a creation ended without a cluster.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CreationError<E> {
    /// An error of Magnum or of the storage.
    #[error("{0}")]
    Call(E),
    /// The user must decide; the attempt stays stored.
    #[error("{0}")]
    Lost(LostResponse),
    /// Magnum accepted the cluster with this UUID, and has no record of it; the attempt stays stored.
    #[error("Magnum accepted the request but has no record of the cluster {0}")]
    NotRecorded(String),
}

/// Creates a cluster and returns its UUID, once Magnum has its record: that of an earlier attempt whose
/// response was lost, if Magnum made it. `attempt` is the stored one, or a new one; only one process at
/// a time may work on it.
///
/// # Errors
/// [`CreationError`]. The attempt is forgotten after a refusal only: otherwise the next run continues
/// with it, and sends nothing twice.
pub async fn create_once<P: CreationEnvironment>(
    environment: &mut P,
    mut attempt: Attempt,
    request: &Map<String, Value>,
) -> Result<String, CreationError<P::Error>> {
    let began = environment.now();
    let uuid = loop {
        let found = match environment.clusters().await {
            Ok(found) => Some(found),
            // what was sent may have had its effect; before that, the user can try again
            Err(ListError::Outage(_))
                if attempt.delivery != Delivery::NotSent
                    && environment.now().duration_since(began) <= MAX_OUTAGE =>
            {
                None
            }
            Err(ListError::Outage(error) | ListError::Final(error)) => {
                return Err(CreationError::Call(error));
            }
        };
        match decide(&attempt, found.as_deref(), environment.now()) {
            Decision::Send => {
                if let Some(uuid) = send(environment, &mut attempt, request).await? {
                    break uuid;
                }
            }
            Decision::Adopt(uuid) => break uuid,
            Decision::LookAgain(at) => environment.sleep_until(at).await,
            Decision::Ask(lost) => return Err(CreationError::Lost(lost)),
        }
    };
    let is_recorded = environment.is_recorded(&uuid).await;
    if !is_recorded.map_err(CreationError::Call)? {
        return Err(CreationError::NotRecorded(uuid));
    }
    environment.forget().await.map_err(CreationError::Call)?;
    Ok(uuid)
}

/// Sends the request; `None` if the response was lost.
async fn send<P: CreationEnvironment>(
    environment: &mut P,
    attempt: &mut Attempt,
    request: &Map<String, Value>,
) -> Result<Option<String>, CreationError<P::Error>> {
    attempt.begin_sending(environment.now());
    environment
        .store(attempt)
        .await
        .map_err(CreationError::Call)?;
    match environment.send(attempt.marked(request)).await {
        Ok(uuid) => {
            attempt.accept(uuid.clone());
            environment
                .store(attempt)
                .await
                .map_err(CreationError::Call)?;
            Ok(Some(uuid))
        }
        Err(SendError::Lost(error)) => {
            environment.note_lost(&error);
            Ok(None)
        }
        Err(SendError::Refused(error)) => {
            environment.forget().await.map_err(CreationError::Call)?;
            Err(CreationError::Call(error))
        }
    }
}
