//! `portico kube-auth sync`: creates a namespace for each project of a cluster, and a role binding
//! for each role that users hold there.
//!
//! It reads the same file as k8s-keystone-auth's synchronisation and runs independently of
//! requests: from Keystone's role assignments and never from tokens, with an account of its own on
//! both sides. It changes only objects that it made, which it finds by labels, and uses the
//! mechanism of `bootstrap` ([`super::reconcile`]).
mod config;
mod source;
mod tenants;

#[cfg(test)]
mod tests;

pub use config::{InvalidSyncConfig, RoleGroups, SyncConfig};
pub use source::{OWNER, PROJECT_LABEL};
pub use tenants::{HeldRole, Tenant, Tenants};

use super::reconcile::{
    Failure, Plan, Pruning, ReconcileError, apply, connect, observe, observe_cluster_bindings, plan,
};
use k8s_openapi::api::rbac::v1::ClusterRole;
use kube::{Api, Client};
use portico_domain::cluster::ClusterRecord;
use portico_openstack::keystone::{self, ServiceAccount, ServiceAccountError};
use std::{
    collections::{BTreeMap, BTreeSet},
    future::Future,
    path::PathBuf,
    time::Duration,
};

/// The options of a synchronisation.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// A kubeconfig of the service account that may create namespaces and bind the roles.
    pub kubeconfig: PathBuf,
    /// Report the changes without making them.
    pub dry_run: bool,
    pub pruning: Pruning,
    /// ClusterRoles by the Keystone role's ID; empty: by the role's name.
    pub roles: BTreeMap<String, String>,
    pub subjects: Subjects,
    /// Labels of new namespaces, besides Portico's own.
    pub namespace_labels: BTreeMap<String, String>,
}

/// The subjects of a binding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Subjects {
    /// Every user with a token for the project in which they have the role.
    #[default]
    Roles,
    /// The users who have the role, whatever the project of their token.
    Users,
}

/// The reason why synchronisation failed. Nothing was changed then.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    #[error(transparent)]
    Cluster(#[from] ReconcileError),
    #[error(
        "Keystone forbids the service account to read projects and role assignments: give its user \
         the role reader and set system = true, or domain to that of the projects"
    )]
    Forbidden,
    #[error("ask Keystone for projects and role assignments: {0}")]
    Keystone(ServiceAccountError),
}

impl From<ServiceAccountError> for SyncError {
    fn from(error: ServiceAccountError) -> Self {
        match error {
            ServiceAccountError::Call(keystone::Error::Forbidden) => Self::Forbidden,
            error => Self::Keystone(error),
        }
    }
}

/// The result of one pass.
#[derive(Debug)]
pub struct Outcome {
    pub plan: Plan,
    /// Assignments that could not be synchronised, in words.
    pub notes: Vec<String>,
    /// Changes made, in words; empty in a dry run.
    pub done: Vec<String>,
    pub failed: Vec<Failure>,
}

/// The synchronisation of one cluster.
pub struct Sync {
    cluster: ClusterRecord,
    account: ServiceAccount,
    config: SyncConfig,
    options: Options,
    client: Client,
}

impl Sync {
    /// Reads the kubeconfig; sends no request yet.
    ///
    /// # Errors
    /// If the kubeconfig cannot be used.
    pub async fn new(
        cluster: ClusterRecord,
        account: ServiceAccount,
        config: SyncConfig,
        options: Options,
    ) -> Result<Self, SyncError> {
        Ok(Self {
            client: connect(&options.kubeconfig).await?,
            cluster,
            account,
            config,
            options,
        })
    }

    /// Runs one pass.
    ///
    /// # Errors
    /// If Keystone or the cluster cannot be read, before anything is changed.
    pub async fn once(&self) -> Result<Outcome, SyncError> {
        let maps_groups = !self.config.role_groups.is_empty();
        let with_roles = self.config.role_assignments || maps_groups;
        let found = tenants::tenants(&self.account, &self.cluster, with_roles).await?;
        let mut observed = observe(&self.client, None).await?;
        if maps_groups {
            observe_cluster_bindings(&self.client, &mut observed).await?;
        }
        let known = self.cluster_roles(&found).await?;
        let (wanted, notes) =
            source::wanted(&self.config, &self.options, &found, &observed, &known);
        let plan = plan(&wanted, &observed, self.options.pruning);
        let (done, failed) = if self.options.dry_run {
            (Vec::new(), Vec::new())
        } else {
            apply(&self.client, OWNER, &plan).await
        };
        Ok(Outcome {
            plan,
            notes,
            done,
            failed,
        })
    }

    /// Runs a pass every `interval` until `stop` is ready. A failed pass is logged and repeated.
    pub async fn watch(&self, interval: Duration, stop: impl Future<Output = ()> + Send) {
        let mut logged = BTreeSet::new();
        let mut ticks = tokio::time::interval(interval);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        tokio::pin!(stop);
        loop {
            tokio::select! {
                () = &mut stop => return,
                _ = ticks.tick() => {}
            }
            // a running pass is completed: each of its steps is atomic
            match self.once().await {
                Ok(outcome) => log_outcome(&outcome, &mut logged),
                Err(error) => {
                    tracing::error!(%error, "nothing was synchronised; tried again in {interval:?}");
                }
            }
        }
    }

    /// Returns which of the ClusterRoles that may be bound exist.
    async fn cluster_roles(&self, found: &Tenants) -> Result<BTreeSet<String>, SyncError> {
        let held = found.tenants.iter().flat_map(|tenant| &tenant.roles);
        let names: BTreeSet<String> = held
            .filter_map(|(id, held)| source::cluster_role(&self.options, id, &held.name).ok()?)
            .collect();
        let api = Api::<ClusterRole>::all(self.client.clone());
        let mut known = BTreeSet::new();
        for name in names {
            match api.get_opt(&name).await {
                Ok(Some(_)) => {
                    known.insert(name);
                }
                Ok(None) => {}
                Err(kube::Error::Api(status)) if status.code == 403 => {}
                Err(error) => {
                    let doing = ReconcileError::doing(format!("read ClusterRole {name}"));
                    return Err(doing(error).into());
                }
            }
        }
        Ok(known)
    }
}

fn log_outcome(outcome: &Outcome, logged: &mut BTreeSet<String>) {
    for done in &outcome.done {
        tracing::info!("{done}");
    }
    for failure in &outcome.failed {
        tracing::error!("{failure}");
    }
    let plan = &outcome.plan;
    let stale = plan
        .stale
        .iter()
        .map(|stale| format!("{stale} is no longer wanted, and is kept"));
    let left = plan.differences.iter().chain(&outcome.notes).cloned();
    for message in left.chain(stale) {
        // once and not every minute
        if logged.insert(message.clone()) {
            tracing::warn!("{message}");
        }
    }
}
