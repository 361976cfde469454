//! The implementation of [`app::ports::Panel`] for one request, with the caller's own rights. The
//! only place that turns causes into sentences.
pub mod access;
mod apps;
mod attention;
pub mod authentication;
mod bulk;
mod capacity;
mod cluster_states;
mod creation;
pub mod details;
pub mod enrolment;
pub mod error;
pub mod health;
mod launchpad;
pub mod lifecycle;
pub mod lists;
mod manifest;
pub mod object;
mod overview;
mod panel;
pub mod programs;
mod quantity;
mod restarts;
pub mod rights;
pub mod row_health;
mod search;
mod support;
mod text_diff;
pub mod usage;

pub use apps::Apps;
pub use panel::PanelService;

use crate::{
    caller::Caller,
    kube::{Api, Cluster, ClusterSnapshot, Clusters, KubeError},
    session_budgets::SessionBudgets,
    shared_watch::SharedWatches,
};
use access::{Names, UndoStore};
use authentication::{KubeAuthMetrics, RecentTests};
use error::ServiceError;
use portico_clock::Clock;
use portico_domain::cluster::NotAccepted;
use portico_openstack::keystone;
use std::{collections::BTreeMap, sync::Arc};
use url::Url;
use uuid::Uuid;

/// The state that all requests share.
pub struct Services {
    pub clock: Clock,
    pub clusters: Arc<Clusters>,
    pub apps: Apps,
    pub undo: UndoStore,
    pub tests: RecentTests,
    pub kube_auth_metrics: KubeAuthMetrics,
    pub public_url: Url,
    pub support_contact: String,
    pub role_names: BTreeMap<String, String>,
    /// For data that a viewer's own token may read there; a separate panel may do without.
    pub keystone: Option<keystone::Client>,
    pub docs_url: Option<Url>,
    pub budgets: SessionBudgets,
    pub watches: SharedWatches,
    pub arrangements: lists::Arrangements,
    pub details: details::Details,
    pub programs: programs::Programs,
    /// `None`: the operator permits no enrolment.
    pub enrolment: Option<enrolment::Enrolment>,
    /// `None`: the operator has not named Magnum as a source of clusters.
    pub magnum: Option<lifecycle::MagnumAccess>,
    /// `None`: usage is read from `metrics.k8s.io` only.
    pub prometheus: Option<usage::Prometheus>,
}

impl Services {
    /// Returns a cluster that the caller's project may see now, with the caller's own credential.
    pub async fn api(
        &self,
        caller: &Caller,
        cluster: Uuid,
    ) -> Result<(Api, Arc<Cluster>), ServiceError> {
        let clusters = self.clusters.snapshot();
        let (api, cluster) = self.api_among(&clusters, caller, cluster).await?;
        Ok((api, Arc::clone(cluster)))
    }

    /// Does the same for a request that uses one snapshot to its end.
    pub async fn api_among<'c>(
        &self,
        clusters: &'c ClusterSnapshot,
        caller: &Caller,
        cluster: Uuid,
    ) -> Result<(Api, &'c Arc<Cluster>), ServiceError> {
        let token = caller.token().ok_or(KubeError::NoToken)?;
        let cluster = visible(clusters, caller, cluster)?;
        let record = cluster.record();
        record.accepts(caller.identity()).map_err(|lacks| {
            ServiceError::not_permitted(match lacks {
                NotAccepted::Project => "This cluster does not accept sign-ins from this project.",
                NotAccepted::Role => "This cluster accepts none of your roles in this project.",
            })
        })?;
        let api = self.clusters.api(cluster, token).await?;
        let candidates = caller.namespace_candidates(record);
        Ok((api.with_namespace_candidates(candidates), cluster))
    }

    /// Returns a cluster that the caller's project may see now.
    pub fn cluster(&self, caller: &Caller, cluster: Uuid) -> Result<Arc<Cluster>, ServiceError> {
        visible(&self.clusters.snapshot(), caller, cluster).cloned()
    }

    /// Returns the programs that a user with a role in the project of the URL may download.
    pub fn programs(&self, caller: &Caller) -> Result<&programs::Programs, ServiceError> {
        caller.project().ok_or(KubeError::NoToken)?;
        Ok(&self.programs)
    }

    /// Returns the names that the caller may see.
    pub fn names<'a>(&'a self, caller: &'a Caller) -> Names<'a> {
        Names {
            identity: caller.identity(),
            projects: &caller.claims().projects,
            configured_roles: &self.role_names,
        }
    }

    /// Returns what a user without rights needs to request, and from whom.
    pub fn asks_for(&self) -> String {
        let mut names: Vec<_> = self.role_names.values().cloned().collect();
        names.sort_unstable();
        names.dedup();
        if names.is_empty() {
            return format!(
                "Ask {} for a role in this project that the cluster knows.",
                self.support_contact
            );
        }
        format!(
            "Ask {} for a role in this project: {}.",
            self.support_contact,
            names.join(", ")
        )
    }

    /// Returns whether the caller holds any role that apps or clusters of the project refer to.
    pub fn takes_part(&self, caller: &Caller, project: &str) -> bool {
        if self.role_names.is_empty() {
            return true;
        }
        let known = |id: &str, name: &str| {
            self.role_names.contains_key(id)
                || self
                    .apps
                    .of_project(project)
                    .flat_map(|app| &app.allow)
                    .filter_map(portico_domain::access::Rule::role)
                    .any(|rule| rule.project == project && (rule.role == id || rule.role == name))
        };
        caller
            .identity()
            .roles
            .iter()
            .any(|role| known(&role.id, &role.name))
    }
}

/// Returns a cluster that the caller's project may see.
pub fn visible<'c>(
    clusters: &'c ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
) -> Result<&'c Arc<Cluster>, ServiceError> {
    let project = caller.project().ok_or(KubeError::NoToken)?;
    clusters
        .find(project, cluster)
        .ok_or_else(|| ServiceError::not_found("This project has no such cluster."))
}
