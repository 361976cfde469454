//! The source of a policy: a file, read again when it changes, or a watch of a ConfigMap
//! ([`PushedPolicy`]). An invalid policy changes nothing.
use super::PushedPolicy;
use crate::policy::{MAX_BYTES, Policy, PolicyError};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use tokio::time::Instant;

/// Minimum time between two checks of the file.
const CHECK_INTERVAL: Duration = Duration::from_secs(2);

const LOADS: &str = "portico_authorization_policy_loads_total";
const RULES: &str = "portico_authorization_policy_rules";

/// The reason why a file is not a valid policy.
#[derive(Debug, thiserror::Error)]
pub enum PolicyFileError {
    #[error("{path}: {source}")]
    Read { path: PathBuf, source: io::Error },
    #[error("{path}: {source}")]
    Policy { path: PathBuf, source: PolicyError },
}

/// A cluster's policy, from any source.
#[derive(Debug)]
pub(crate) enum PolicySource {
    File(PolicyFile),
    Pushed(PushedPolicy),
}

impl PolicySource {
    /// Returns the policy in force; `None` until there has been a valid one.
    pub fn current(&self) -> Option<Arc<Policy>> {
        match self {
            Self::File(file) => Some(file.current()),
            Self::Pushed(pushed) => pushed.current(),
        }
    }
}

/// The file with the last valid policy.
#[derive(Debug)]
pub(crate) struct PolicyFile {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    policy: Arc<Policy>,
    /// The stamp of the version that was read last, valid or not.
    stamp: Option<Stamp>,
    looked: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    bytes: u64,
}

impl PolicyFile {
    /// Reads the file for the first time.
    pub fn open(path: &Path) -> Result<Self, PolicyFileError> {
        let stamp = stamp(path);
        let policy = read(path).inspect(loaded)?;
        Ok(Self {
            path: path.to_owned(),
            state: Mutex::new(State {
                policy: Arc::new(policy),
                stamp,
                looked: Instant::now(),
            }),
        })
    }

    /// Returns the current policy.
    pub fn current(&self) -> Arc<Policy> {
        self.current_at(Instant::now())
    }

    fn current_at(&self, now: Instant) -> Arc<Policy> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if now.saturating_duration_since(state.looked) >= CHECK_INTERVAL {
            state.looked = now;
            let stamp = stamp(&self.path);
            if stamp != state.stamp {
                state.stamp = stamp;
                match read(&self.path) {
                    Ok(policy) => {
                        loaded(&policy);
                        tracing::info!(file = %self.path.display(), rules = policy.len(), "policy loaded");
                        state.policy = Arc::new(policy);
                    }
                    Err(error) => {
                        refused();
                        tracing::error!(%error, "policy refused, the last good one stays");
                    }
                }
            }
        }
        Arc::clone(&state.policy)
    }
}

pub(super) fn refused() {
    metrics::counter!(LOADS, "result" => "refused").increment(1);
}

pub(super) fn missing() {
    metrics::counter!(LOADS, "result" => "missing").increment(1);
}

pub(super) fn loaded(policy: &Policy) {
    metrics::counter!(LOADS, "result" => "loaded").increment(1);
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    metrics::gauge!(RULES).set(policy.len() as f64);
}

/// Describes the metrics.
pub(crate) fn describe() {
    metrics::describe_counter!(LOADS, "Authorization policies read, by result.");
    metrics::describe_gauge!(
        RULES,
        "Rules of the authorization policy that was loaded last."
    );
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(path).ok()?;
    Some(Stamp {
        modified: metadata.modified().ok(),
        bytes: metadata.len(),
    })
}

fn read(path: &Path) -> Result<Policy, PolicyFileError> {
    let failed = |source| PolicyFileError::Read {
        path: path.to_owned(),
        source,
    };
    let mut text = String::new();
    // parsing refuses longer texts
    let limit = MAX_BYTES as u64 + 1;
    let file = File::open(path).map_err(failed)?;
    file.take(limit).read_to_string(&mut text).map_err(failed)?;
    Policy::parse(&text).map_err(|source| PolicyFileError::Policy {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(rules: usize) -> String {
        let rule = r#"{"users": {"projects": ["p"]}, "resource_permissions": {"*/*": ["get"]}}"#;
        format!("[{}]", vec![rule; rules].join(","))
    }

    #[test]
    fn a_new_version_counts_and_a_broken_one_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("policy.json");
        assert!(matches!(
            PolicyFile::open(&path),
            Err(PolicyFileError::Read { .. })
        ));
        std::fs::write(&path, policy(1)).unwrap();
        let file = PolicyFile::open(&path).unwrap();
        let mut now = Instant::now();
        let mut rules_after = |text: Option<&str>| {
            match text {
                Some(text) => std::fs::write(&path, text).unwrap(),
                None => std::fs::remove_file(&path).unwrap(),
            }
            now += CHECK_INTERVAL;
            file.current_at(now).len()
        };
        assert_eq!(rules_after(Some(&policy(2))), 2);
        assert_eq!(rules_after(Some("[{")), 2);
        assert_eq!(rules_after(Some("")), 2);
        assert_eq!(rules_after(None), 2);
        assert_eq!(rules_after(Some(&policy(3))), 3);
        std::fs::write(dir.path().join("broken"), "[{").unwrap();
        let error = PolicyFile::open(&dir.path().join("broken")).unwrap_err();
        assert!(error.to_string().contains("broken: EOF"), "{error}");
    }
}
