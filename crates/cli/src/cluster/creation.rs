//! Sends the request for a cluster once, also when its response is lost or the command is run again.
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use crate::private_file;
use crate::profile;
use jiff::{SignedDuration, Timestamp};
use portico_lifecycle::idempotency::{
    Attempt, Candidate, Decision, MARKER_LABEL, SEARCH_TIME, decide,
};
use portico_openstack::magnum::NewCluster;
use portico_openstack::rest::Effect;
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::time::Duration;
use uuid::Uuid;

/// How much longer than [`SEARCH_TIME`] Magnum may be unable to list clusters.
const OUTAGE_TIME: SignedDuration = SignedDuration::from_secs(60);

/// For how long the record of a new cluster may be missing.
const RECORD_TIMEOUT: Duration = Duration::from_secs(30);

/// Where attempts are stored, and how long the record of an accepted one may be missing.
#[derive(Clone, Debug)]
pub struct Attempts {
    pub directory: PathBuf,
    pub patience: Duration,
}

impl Attempts {
    /// Returns those of the user.
    ///
    /// # Errors
    /// If the environment names no home directory.
    pub fn of_user() -> Result<Self, ClusterError> {
        Ok(Self {
            directory: profile::config_home()?.join("creations"),
            patience: RECORD_TIMEOUT,
        })
    }
}

/// The stored attempt of one cluster name in one project. It survives an end of the command.
#[derive(Debug)]
pub struct AttemptFile {
    path: PathBuf,
    patience: Duration,
}

impl AttemptFile {
    /// Returns the file of a cluster name in the connection's project.
    ///
    /// # Errors
    /// If the directory cannot be made, or is another user's.
    pub fn of(
        attempts: &Attempts,
        connection: &Connection,
        name: &str,
    ) -> Result<Self, ClusterError> {
        private_file::private_directory(&attempts.directory)?;
        let parts = [
            connection.cloud.as_str(),
            connection.token.project_id.as_str(),
            name,
        ];
        let file = format!("{}.json", profile::file_hash(&parts));
        Ok(Self {
            path: attempts.directory.join(file),
            patience: attempts.patience,
        })
    }

    fn load(&self) -> Result<Option<Attempt>, ClusterError> {
        let Some(text) = private_file::read(&self.path)? else {
            return Ok(None);
        };
        serde_json::from_str(&text).map(Some).map_err(|error| {
            ClusterError::Usage(format!(
                "{} cannot be read ({error}): see `portico cluster list`, then remove the file",
                self.path.display()
            ))
        })
    }

    fn store(&self, attempt: &Attempt) -> Result<(), ClusterError> {
        let text = serde_json::to_string(attempt).map_err(std::io::Error::from)?;
        Ok(private_file::replace(&self.path, &text)?)
    }

    /// Forgets the attempt, once no other process works on it.
    ///
    /// # Errors
    /// If the file cannot be locked or removed.
    pub async fn forget(&self) -> Result<(), ClusterError> {
        let _lock = private_file::lock(&self.path).await?;
        self.remove()
    }

    fn remove(&self) -> Result<(), ClusterError> {
        Ok(private_file::remove(&self.path)?)
    }
}

/// Creates a cluster and returns its UUID, once Magnum has its record: that of an earlier run whose
/// response was lost, if Magnum made it.
///
/// # Errors
/// Magnum's refusal; [`ClusterError::Lost`] if the user must decide; [`ClusterError::NotRecorded`] if
/// Magnum accepted the request, and has no record.
pub async fn create_once(
    connection: &Connection,
    console: &mut Console,
    file: &AttemptFile,
    name: &str,
    request: &Map<String, Value>,
) -> Result<Uuid, ClusterError> {
    // one process at a time works on a marker
    let _lock = private_file::lock(&file.path).await?;
    let mut attempt = match file.load()? {
        Some(earlier) => {
            console.say(
                "An earlier run did not see the cluster that it requested: looking. The options of this \
                 run do not change that cluster.",
            );
            earlier
        }
        None => Attempt::new(Uuid::new_v4().to_string(), name),
    };
    let began = Timestamp::now();
    let uuid = loop {
        let found = match candidates(connection).await {
            Ok(found) => Some(found),
            Err(error) if is_final(&error, began) => return Err(error),
            Err(_) => None,
        };
        match decide(&attempt, found.as_deref(), Timestamp::now()) {
            Decision::Send => {
                if let Some(uuid) = send(connection, console, file, &mut attempt, request).await? {
                    break uuid;
                }
            }
            Decision::Adopt(uuid) => {
                let parsed = uuid.parse();
                break parsed
                    .map_err(|_| ClusterError::Usage(format!("{uuid:?} is not a UUID")))?;
            }
            Decision::LookAgain(at) => {
                let pause = at.duration_since(Timestamp::now());
                tokio::time::sleep(Duration::try_from(pause).unwrap_or_default()).await;
            }
            // the attempt stays stored: another run finds a cluster that appears later
            Decision::Ask(lost) => return Err(ClusterError::Lost(lost)),
        }
    };
    recorded(connection, file, uuid).await?;
    file.remove()?;
    Ok(uuid)
}

/// Waits until Magnum has the record of an accepted cluster. The attempt stays stored otherwise:
/// another run would make a second cluster.
async fn recorded(
    connection: &Connection,
    file: &AttemptFile,
    uuid: Uuid,
) -> Result<(), ClusterError> {
    let (magnum, token) = (&connection.magnum, &connection.token);
    match magnum.created_cluster(token, uuid, file.patience).await? {
        Some(_) => Ok(()),
        None => Err(ClusterError::NotRecorded {
            uuid: uuid.to_string(),
        }),
    }
}

/// Sends the request; `None` if the response was lost.
async fn send(
    connection: &Connection,
    console: &mut Console,
    file: &AttemptFile,
    attempt: &mut Attempt,
    request: &Map<String, Value>,
) -> Result<Option<Uuid>, ClusterError> {
    let body = Value::Object(attempt.marked(request));
    let body: NewCluster = serde_json::from_value(body)
        .map_err(|error| ClusterError::Usage(format!("the request is invalid: {error}")))?;
    attempt.begin_sending(Timestamp::now());
    file.store(attempt)?;
    let sent = connection.magnum.create_cluster(&connection.token, &body);
    match sent.await {
        Ok(uuid) => {
            attempt.accept(uuid.to_string());
            file.store(attempt)?;
            Ok(Some(uuid))
        }
        Err(error) if error.effect == Effect::Unknown => {
            console.say(format!(
                "The response was lost ({error}). Looking for the cluster for {} s; the request is not \
                 sent again.",
                SEARCH_TIME.as_secs()
            ));
            Ok(None)
        }
        Err(error) => {
            file.remove()?;
            Err(error.into())
        }
    }
}

/// Returns all clusters of the project.
async fn candidates(connection: &Connection) -> Result<Vec<Candidate>, ClusterError> {
    let listing = connection.magnum.clusters(&connection.token).await?;
    // a cluster that is missing in an incomplete list may exist
    if let Some(cut) = listing.cut {
        return Err(ClusterError::Incomplete(cut));
    }
    let found = listing.items.into_iter().map(|cluster| Candidate {
        uuid: cluster.uuid.to_string(),
        name: cluster.name,
        marker: cluster.labels.applied.get(MARKER_LABEL).cloned(),
        created_at: cluster.created_at,
    });
    Ok(found.collect())
}

/// Returns whether looking again makes no sense: Magnum refuses, or did not answer for too long.
fn is_final(error: &ClusterError, began: Timestamp) -> bool {
    // Magnum answers 400 while the record of a cluster has no node groups yet
    let is_refusal = matches!(error, ClusterError::Service(error)
        if error.is_refusal() && error.status != Some(400));
    let waited = Timestamp::now().duration_since(began);
    is_refusal || waited > SEARCH_TIME.saturating_add(OUTAGE_TIME)
}
