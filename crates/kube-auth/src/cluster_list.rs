//! The signed list of enrolled clusters: fetched, verified, put in use, and written to the state file
//! (ADR 0023).
use crate::config::ClusterListConfig;
use crate::listed::{Applied, ListedClusters};
use crate::metrics;
use jiff::Timestamp;
use portico_assertion::cluster_list::{ListRefused, ListVerifier, MAX_BYTES, PATH};
use portico_assertion::keys::KeyError;
use portico_clock::Clock;
use portico_runtime::conditional_get::{ClientError, DocumentClient, Fetched, GetError};
use portico_runtime::secret_file::{SecretFileError, read_token_file};
use rand::Rng as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Time between two fetches, on average.
const POLL_INTERVAL: Duration = Duration::from_secs(10);
/// Minimum time between two fetches, however many clients name unknown clusters.
const MIN_INTERVAL: Duration = Duration::from_secs(1);
/// Time limit for one fetch. The list has up to 32 MiB.
const FETCH_TIMEOUT: Duration = Duration::from_secs(30);

/// The reason why the cluster list cannot be followed.
#[derive(Debug, thiserror::Error)]
pub enum ClusterListError {
    #[error("kube_auth.cluster_list.keys_file: {0}")]
    Keys(#[from] KeyError),
    #[error("kube_auth.cluster_list.ca_file: {0}")]
    Client(#[from] ClientError),
    #[error("kube_auth.cluster_list.token_file: {0}")]
    Token(#[from] SecretFileError),
    #[error("kube_auth.cluster_list.state_file: {path}: {source}")]
    State { path: PathBuf, source: io::Error },
}

/// The reason why a fetch changed nothing. The list in use stays until it expires.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum Failure {
    #[error("{0}")]
    Get(GetError),
    #[error(
        "the gateway refused the token: the files gateway.cluster_list.token_file and \
         kube_auth.cluster_list.token_file must have the same, and both services read it at their start"
    )]
    Token,
    #[error("the list is refused: {0}")]
    Refused(#[from] ListRefused),
    #[error("the list is refused: its sequence {found} is below {current}, that of the one in use")]
    Older { found: u64, current: u64 },
    #[error("the task that verifies lists has failed")]
    Task,
}

/// Keeps the cluster list up to date.
#[derive(Debug)]
pub struct ClusterListFollower {
    listed: Arc<ListedClusters>,
    section: ClusterListConfig,
    client: DocumentClient,
    verifier: ListVerifier,
    etag: Option<String>,
    /// What was logged last, so that an outage is logged once.
    failing: Option<Failure>,
    clock: Clock,
}

impl ClusterListFollower {
    /// Reads the files; the list of the state file is in use afterwards, if it is still valid.
    pub(crate) fn open(
        section: &ClusterListConfig,
        listed: Arc<ListedClusters>,
        clock: Clock,
    ) -> Result<Self, ClusterListError> {
        let verifier = ListVerifier::read(&section.keys_file, section.issuer())?;
        let url = format!("{}{PATH}", section.url.trim_end_matches('/'));
        let ca_file = section.ca_file.as_deref();
        let token = read_token_file(&section.token_file)?;
        let client = DocumentClient::new(url, ca_file, MAX_BYTES, FETCH_TIMEOUT)?.with_token(token);
        if let Some(path) = &section.state_file {
            restore(path, &verifier, &listed, clock.now())?;
        }
        Ok(Self {
            listed,
            section: section.clone(),
            client,
            verifier,
            etag: None,
            failing: None,
            clock,
        })
    }

    /// Fetches the list every 10 seconds, and at once if a client names a cluster that it does not
    /// have; runs until dropped.
    pub async fn run(mut self) {
        loop {
            self.refresh().await;
            let jitter = rand::rng().random_range(0.8..=1.2);
            let wanted = async {
                tokio::time::sleep(MIN_INTERVAL).await;
                self.listed.newest_wanted().await;
            };
            tokio::select! {
                () = tokio::time::sleep(POLL_INTERVAL.mul_f64(jitter)) => {}
                () = wanted => {}
            }
        }
    }

    /// Fetches the list once. A failure is logged and counted.
    async fn refresh(&mut self) {
        let outcome = self.fetch().await;
        metrics::record_list_fetch(match &outcome {
            Ok(true) => "taken",
            Ok(false) => "unchanged",
            Err(Failure::Get(_) | Failure::Token | Failure::Task) => "failed",
            Err(Failure::Refused(refused)) => refused.label(),
            Err(Failure::Older { .. }) => "older",
        });
        match outcome {
            Ok(_) => {
                if self.failing.take().is_some() {
                    tracing::info!("the cluster list is up to date again");
                }
            }
            Err(failure) => {
                self.etag = None;
                if self.failing.as_ref() != Some(&failure) {
                    let url = &self.section.url;
                    tracing::error!(error = %failure, url, "no new cluster list, the last good one stays");
                }
                self.failing = Some(failure);
            }
        }
    }

    /// Returns whether a new list is in use.
    async fn fetch(&mut self) -> Result<bool, Failure> {
        // an expired list is signed anew although its content is the same
        let expired = self.listed.is_expired(self.clock.now());
        let etag = self.etag.as_deref().filter(|_| !expired);
        let fetched = self.client.get(etag).await.map_err(failure)?;
        let Fetched::Document { body, etag } = fetched else {
            return Ok(false);
        };
        let (listed, section) = (Arc::clone(&self.listed), self.section.clone());
        let (mut verifier, clock) = (self.verifier.clone(), self.clock.clone());
        let verifying = tokio::task::spawn_blocking(move || {
            read_keys(&section, &mut verifier);
            let taken = take(
                &body,
                &verifier,
                &listed,
                section.state_file.as_deref(),
                clock.now(),
            );
            (verifier, taken)
        });
        let (verifier, taken) = verifying.await.map_err(|_| Failure::Task)?;
        self.verifier = verifier;
        let taken = taken?;
        self.etag = etag;
        Ok(taken)
    }
}

fn failure(error: GetError) -> Failure {
    match error {
        GetError::Status(401) => Failure::Token,
        other => Failure::Get(other),
    }
}

/// Takes over the keys of a changed file; the last good ones stay otherwise.
fn read_keys(section: &ClusterListConfig, verifier: &mut ListVerifier) {
    match ListVerifier::read(&section.keys_file, section.issuer()) {
        Ok(read) if read != *verifier => {
            tracing::info!(file = %section.keys_file.display(), "keys of the cluster list reloaded");
            *verifier = read;
        }
        Ok(_) => {}
        Err(error) => tracing::warn!(%error, "new keys not usable, the old ones stay"),
    }
}

/// Puts a fetched list in use; returns whether it is another one.
fn take(
    body: &[u8],
    verifier: &ListVerifier,
    listed: &ListedClusters,
    state_file: Option<&Path>,
    now: Timestamp,
) -> Result<bool, Failure> {
    let text = std::str::from_utf8(body).map_err(|_| ListRefused::Shape)?;
    let list = verifier.verify(text.trim_end(), now)?;
    let (found, total) = (list.sequence, list.clusters.len());
    match listed.apply(list) {
        Applied::Known => Ok(false),
        Applied::Older { current } => Err(Failure::Older { found, current }),
        Applied::Taken => {
            tracing::info!(version = found, total, "cluster list in use");
            if let Some(path) = state_file
                && let Err(error) = write(path, text.trim_end())
            {
                tracing::error!(%error, file = %path.display(), "the cluster list cannot be saved");
            }
            Ok(true)
        }
    }
}

/// Puts the list of the state file in use, verified like a fetched one. A file that is not a valid
/// list is logged and replaced by the next good list.
fn restore(
    path: &Path,
    verifier: &ListVerifier,
    listed: &ListedClusters,
    now: Timestamp,
) -> Result<(), ClusterListError> {
    let failed = |source| ClusterListError::State {
        path: path.to_owned(),
        source,
    };
    let text = match fs::metadata(path) {
        Ok(found) if found.len() > MAX_BYTES as u64 => Err(ListRefused::TooLarge),
        Ok(_) => Ok(fs::read(path).map_err(failed)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    let taken = text
        .map_err(Failure::from)
        .and_then(|text| take(&text, verifier, listed, None, now));
    if let Err(error) = taken {
        tracing::warn!(%error, file = %path.display(), "the saved cluster list is not used");
    }
    Ok(())
}

/// Replaces the file as a whole.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut next = path.as_os_str().to_owned();
    next.push(".new");
    let next = PathBuf::from(next);
    let mut file = fs::File::create(&next)?;
    io::Write::write_all(&mut file, text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&next, path)
}

#[cfg(test)]
mod tests;
