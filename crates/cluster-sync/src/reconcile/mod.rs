//! Reconciliation of a cluster's namespaces and role bindings with the desired state.
//!
//! A source states what it wants ([`Wanted`]: `bootstrap` for the pre-defined roles, `sync` for the
//! projects); [`Observed`] is the cluster's state; [`plan`] compares the two without side effects,
//! and [`apply`] carries the plan out. An object belongs to a source by two labels; a source never
//! changes objects that it does not own.
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

/// The label of every object that Portico creates, for any source.
pub const MANAGED_BY_LABEL: &str = "app.kubernetes.io/managed-by";
pub const MANAGED_BY: &str = "portico";
/// The label that names the source of an object.
pub const OWNER_LABEL: &str = "portico.dev/owner";
/// The label whose value `false` excludes a namespace from every source.
pub const OPT_OUT_LABEL: &str = "portico.dev/bind";

/// The reason why a cluster cannot be read.
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
    /// Returns a function that adds the failed operation to an error of Kubernetes.
    pub fn doing(what: impl Into<String>) -> impl FnOnce(kube::Error) -> Self {
        let doing = what.into();
        move |source| Self::Kubernetes {
            doing,
            source: Box::new(source),
        }
    }
}

/// Connects with the kubeconfig of the source's own service account.
///
/// # Errors
/// If the file cannot be used.
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

fn opted_out(labels: &BTreeMap<String, String>) -> bool {
    labels
        .get(OPT_OUT_LABEL)
        .is_some_and(|value| value == "false")
}
