//! From what should be to what is: namespaces and role bindings of a cluster.
//!
//! A source says what it wants ([`Wanted`]: the pre-defined roles' `bootstrap`, the projects'
//! `sync`); [`Observed`] is what the cluster has; [`plan`] compares the two without touching
//! anything, and [`apply`] does what the plan says. An object belongs to a source by two labels,
//! and what a source does not own it never changes.
mod apply;
mod observe;
mod plan;
mod wanted;

#[cfg(test)]
mod tests;

pub use apply::{Failure, apply};
pub use observe::{
    FoundBinding, FoundNamespace, FoundSubject, Observed, observe, observe_cluster_bindings,
};
pub use plan::{Plan, Pruning, Step, plan};
pub use wanted::{Care, Place, RoleKind, Wanted, WantedBinding, WantedNamespace};

use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use std::{collections::BTreeMap, path::Path};

/// Everything that Portico makes carries it, whoever asked for it.
pub const MANAGED_BY_LABEL: &str = "app.kubernetes.io/managed-by";
pub const MANAGED_BY: &str = "portico";
/// Which source made an object.
pub const OWNER_LABEL: &str = "portico.dev/owner";
/// `false` keeps every source out of a namespace.
pub const OPT_OUT_LABEL: &str = "portico.dev/bind";

/// Why a cluster cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReconcileError {
    #[error("{path}: {source}")]
    Kubeconfig {
        path: std::path::PathBuf,
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("{doing}: {source}")]
    Kubernetes {
        doing: String,
        source: Box<kube::Error>,
    },
}

impl ReconcileError {
    /// What was being done when Kubernetes refused.
    pub fn doing(what: impl Into<String>) -> impl FnOnce(kube::Error) -> Self {
        let doing = what.into();
        move |source| Self::Kubernetes {
            doing,
            source: Box::new(source),
        }
    }
}

/// A client with the kubeconfig of the source's own service account.
///
/// # Errors
/// When the file cannot be used.
pub async fn connect(kubeconfig: &Path) -> Result<Client, ReconcileError> {
    let failed = |source: Box<dyn std::error::Error + Send + Sync>| ReconcileError::Kubeconfig {
        path: kubeconfig.to_owned(),
        source,
    };
    let read = Kubeconfig::read_from(kubeconfig).map_err(|error| failed(error.into()))?;
    let config = Config::from_custom_kubeconfig(read, &KubeConfigOptions::default())
        .await
        .map_err(|error| failed(error.into()))?;
    Client::try_from(config).map_err(|error| failed(error.into()))
}

/// Whether a namespace is Kubernetes' own.
pub fn is_system(namespace: &str) -> bool {
    namespace.starts_with("kube-")
}

fn opted_out(labels: &BTreeMap<String, String>) -> bool {
    labels
        .get(OPT_OUT_LABEL)
        .is_some_and(|value| value == "false")
}
