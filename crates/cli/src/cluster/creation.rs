//! Sends the request for a cluster once, also when its response is lost or the command is run again.
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use crate::private_file;
use crate::profile;
use jiff::Timestamp;
use portico_cluster_operations::conductor::has_conductor;
use portico_lifecycle::creation::{CreationEnvironment, CreationError, ListError, SendError};
use portico_lifecycle::idempotency::{Attempt, Candidate, MARKER_LABEL, SEARCH_TIME};
use portico_openstack::magnum::NewCluster;
use portico_openstack::rest::Effect;
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::time::Duration;
use uuid::Uuid;

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

    /// Stores that a cluster exists whose creation this run could not follow to its end, as a service was
    /// gone: the same command then continues with it.
    ///
    /// # Errors
    /// If the file cannot be locked or written.
    pub async fn keep(&self, name: &str, uuid: Uuid) -> Result<(), ClusterError> {
        let _lock = private_file::lock(&self.path).await?;
        // another run may have begun meanwhile
        if self.load()?.is_some() {
            return Ok(());
        }
        let mut attempt = Attempt::new(Uuid::new_v4().to_string(), name);
        attempt.accept(uuid.to_string());
        self.store(&attempt)
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
    let attempt = match file.load()? {
        Some(earlier) => {
            console.say(
                "An earlier run did not see the cluster that it requested: looking. The options of this \
                 run do not change that cluster.",
            );
            earlier
        }
        None => Attempt::new(Uuid::new_v4().to_string(), name),
    };
    let mut run = Run {
        connection,
        console,
        file,
    };
    let created = portico_lifecycle::creation::create_once(&mut run, attempt, request).await;
    match created {
        Ok(uuid) => parse(&uuid),
        Err(CreationError::Call(error)) => Err(error),
        Err(CreationError::Lost(lost)) => Err(ClusterError::Lost(lost)),
        Err(CreationError::NotRecorded(uuid)) => {
            let reason = match has_conductor(&connection.clients, &connection.token).await {
                Some(false) => {
                    "no conductor of Magnum answers, and the cluster appears once one does"
                }
                _ => "its conductor may be down, and the cluster may still appear",
            };
            Err(ClusterError::NotRecorded { uuid, reason })
        }
    }
}

/// Returns what a user is to know about an accepted cluster that could not be read.
pub fn accepted(uuid: Uuid) -> String {
    format!(
        "Magnum has accepted the cluster {uuid}. Run the command again to continue with it: it is not \
         requested twice."
    )
}

/// One run of a command that creates a cluster; it holds the lock of the file.
struct Run<'a> {
    connection: &'a Connection,
    console: &'a mut Console,
    file: &'a AttemptFile,
}

impl CreationEnvironment for Run<'_> {
    type Error = ClusterError;

    fn now(&self) -> Timestamp {
        self.connection.clock.now()
    }

    async fn sleep_until(&mut self, at: Timestamp) {
        let pause = at.duration_since(self.now());
        tokio::time::sleep(Duration::try_from(pause).unwrap_or_default()).await;
    }

    async fn clusters(&mut self) -> Result<Vec<Candidate>, ListError<ClusterError>> {
        let found = candidates(self.connection).await;
        found.map_err(|error| {
            if is_refusal(&error) {
                ListError::Final(error)
            } else {
                ListError::Outage(error)
            }
        })
    }

    async fn send(
        &mut self,
        request: Map<String, Value>,
    ) -> Result<String, SendError<ClusterError>> {
        let body = serde_json::from_value::<NewCluster>(Value::Object(request));
        let body = body.map_err(|error| {
            SendError::Refused(ClusterError::Usage(format!(
                "the request is invalid: {error}"
            )))
        })?;
        let magnum = &self.connection.clients.magnum;
        match magnum.create_cluster(&self.connection.token, &body).await {
            Ok(uuid) => Ok(uuid.to_string()),
            Err(error) if error.effect == Effect::Unknown => Err(SendError::Lost(error.into())),
            Err(error) => Err(SendError::Refused(error.into())),
        }
    }

    async fn is_recorded(&mut self, uuid: &str) -> Result<bool, ClusterError> {
        let (magnum, token) = (&self.connection.clients.magnum, &self.connection.token);
        let uuid = parse(uuid)?;
        let found = magnum
            .created_cluster(token, uuid, self.file.patience)
            .await;
        if found.is_err() {
            self.console.say(accepted(uuid));
        }
        Ok(found?.is_some())
    }

    async fn store(&mut self, attempt: &Attempt) -> Result<(), ClusterError> {
        self.file.store(attempt)
    }

    async fn forget(&mut self) -> Result<(), ClusterError> {
        self.file.remove()
    }

    fn note_lost(&mut self, error: &ClusterError) {
        self.console.say(format!(
            "The response was lost ({error}). Looking for the cluster until {} s after the request; it is \
             not sent again.",
            SEARCH_TIME.as_secs()
        ));
    }
}

fn parse(uuid: &str) -> Result<Uuid, ClusterError> {
    uuid.parse()
        .map_err(|_| ClusterError::Usage(format!("{uuid:?} is not a UUID")))
}

/// Returns all clusters of the project.
async fn candidates(connection: &Connection) -> Result<Vec<Candidate>, ClusterError> {
    let listing = connection
        .clients
        .magnum
        .clusters(&connection.token)
        .await?;
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

/// Returns whether another call has the same result.
fn is_refusal(error: &ClusterError) -> bool {
    // Magnum answers 400 while the record of a cluster has no node groups yet
    matches!(error, ClusterError::Service(error)
        if error.is_refusal() && error.status != Some(400))
}
