//! `portico kube-auth bootstrap`: binds the pre-defined roles in every namespace.
//!
//! Runs with a service account of its own, which may watch namespaces, write role bindings and
//! `bind` three ClusterRoles, and nothing else. What an administrator changed or deleted afterwards
//! is reported and left alone. The bindings are applied by the mechanism that `sync` uses too
//! ([`super::reconcile`]); only the record of earlier runs is specific to it.
mod desired;
mod reconcile;
mod state;

pub use super::reconcile::OPT_OUT_LABEL;
pub use desired::{BINDINGS, CLUSTER_READER, DEVELOPER, VIEWER};

use super::reconcile::{Failure, ReconcileError};
use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::Namespace;
use kube::runtime::{WatchStreamExt, watcher};
use reconcile::Reconciler;
use std::{future::Future, path::PathBuf, time::Duration};

/// How often everything is compared again, so that changes made by others are noticed.
const RESYNC_INTERVAL: Duration = Duration::from_secs(60);

/// What to bind, and where.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub kubeconfig: PathBuf,
    /// Keystone role ID that becomes a developer.
    pub developer_role: String,
    /// Keystone role ID that becomes a viewer.
    pub viewer_role: String,
    /// Binds the roles of these projects only (qualified groups), for a cluster that accepts
    /// several; empty: the bare role IDs.
    pub projects: Vec<String>,
    /// Namespaces left out besides `kube-*` and those labelled to opt out.
    pub exclude_namespaces: Vec<String>,
    /// The file that records what was bound, so that a deleted binding stays deleted after a
    /// restart.
    pub state_file: Option<PathBuf>,
}

/// The reason why nothing can be bound.
#[derive(Debug, thiserror::Error)]
pub enum BootstrapError {
    #[error(transparent)]
    Cluster(#[from] ReconcileError),
    #[error("{0}")]
    Change(Failure),
    #[error(
        "ClusterRole {0} is missing; an administrator applies the pre-defined roles first \
         (kubectl apply -f roles.yaml)"
    )]
    MissingRole(&'static str),
    #[error("{path}: {source}")]
    State {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("watching namespaces: {0}")]
    Watch(Box<watcher::Error>),
}

/// The result of one pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Changes made, in words.
    pub created: Vec<String>,
    /// Number of bindings that were already as desired.
    pub unchanged: usize,
    /// What administrators changed or deleted, in words; left as it is.
    pub differences: Vec<String>,
    /// Namespaces left out.
    pub skipped: Vec<String>,
}

/// Runs one pass over every namespace.
pub async fn run_once(options: &Options) -> Result<Report, BootstrapError> {
    let mut reconciler = Reconciler::new(options).await?;
    reconciler.everything().await
}

/// Runs one pass with a client of the caller's, without a record of earlier runs: a binding that an
/// administrator has deleted since is made again. The kubeconfig and the state file of the options
/// are not used.
pub async fn run_with(client: kube::Client, options: &Options) -> Result<Report, BootstrapError> {
    Reconciler::with_client(client, options).everything().await
}

/// Runs a pass over every namespace, then over each new one within seconds, until `stop` is ready.
pub async fn watch(
    options: &Options,
    stop: impl Future<Output = ()> + Send,
) -> Result<(), BootstrapError> {
    let mut reconciler = Reconciler::new(options).await?;
    tell(&reconciler.everything().await?);
    if options.state_file.is_none() {
        tracing::warn!(
            "no state file: a binding that is deleted while this is not running is created again"
        );
    }
    let namespaces = kube::Api::<Namespace>::all(reconciler.client());
    let mut changes = watcher(namespaces, watcher::Config::default())
        .default_backoff()
        .applied_objects()
        .boxed();
    let mut recheck = tokio::time::interval(RESYNC_INTERVAL);
    recheck.reset();
    tokio::pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => return Ok(()),
            change = changes.try_next() => match change {
                Ok(Some(namespace)) => outcome(reconciler.namespace(&namespace).await),
                Ok(None) => return Ok(()),
                // the watcher restarts by itself, after a pause
                Err(error) => tracing::warn!(%error, "watching namespaces failed; trying again"),
            },
            _ = recheck.tick() => outcome(reconciler.everything().await),
        }
    }
}

fn outcome(pass: Result<Report, BootstrapError>) {
    match pass {
        Ok(report) => tell(&report),
        Err(error) => tracing::warn!(%error, "binding failed; trying again within a minute"),
    }
}

fn tell(report: &Report) {
    for binding in &report.created {
        tracing::info!("{binding}");
    }
    for difference in &report.differences {
        tracing::warn!(difference, "left as it is");
    }
}
