//! Health, delete protection and quotas of clusters.
use super::outcomes::{accepted, change};
use crate::{
    caller::audit::{self, Outcome},
    service::{
        lifecycle::{self, RequestOutcome},
        panel::PanelService,
    },
};
use app::{error::UiError, ports::ClusterCare};
use async_trait::async_trait;
use portico_domain::panel::lifecycle::{ClusterHealth, DeleteProtection, ProjectUsage};
use uuid::Uuid;

const PROTECT: &str = "protect_cluster";
const UNPROTECT: &str = "unprotect_cluster";

#[async_trait]
impl ClusterCare for PanelService {
    async fn cluster_health(&self, cluster: Uuid) -> Result<ClusterHealth, UiError> {
        let (services, clusters, caller) = (&self.services, &self.clusters, &self.caller);
        self.ui(lifecycle::health(services, clusters, caller, cluster).await)
    }

    async fn delete_protection(&self, cluster: Uuid) -> Result<DeleteProtection, UiError> {
        self.ui(lifecycle::protection(&self.services, &self.caller, cluster).await)
    }

    async fn set_delete_protection(
        &self,
        cluster: Uuid,
        is_on: bool,
        typed: String,
        reason: String,
    ) -> Result<DeleteProtection, UiError> {
        let (services, caller) = (&self.services, &self.caller);
        let action = if is_on { PROTECT } else { UNPROTECT };
        let work = lifecycle::set_protection(services, caller, cluster, is_on, &typed);
        let entry = change(cluster, action, "").with_reason(&reason);
        let answer = self.journalled(entry, work, accepted).await;
        self.audited(action, cluster, &typed, answer)
    }

    async fn project_usage(&self) -> Result<ProjectUsage, UiError> {
        self.ui(lifecycle::project_usage(&self.services, &self.caller).await)
    }
}

impl PanelService {
    /// Records that a new cluster is protected, if it is.
    pub(super) async fn record_protection(&self, cluster: Uuid) {
        let (services, caller) = (&self.services, &self.caller);
        if !lifecycle::was_protected(services, caller, cluster).await {
            return;
        }
        let entry = change(cluster, PROTECT, "");
        lifecycle::record(services, caller, entry, RequestOutcome::Accepted, None).await;
        audit::record(caller, PROTECT, cluster, "", Outcome::Done);
    }
}
