//! The ways out of failed, orphaned and interrupted states of clusters.
use super::outcomes::{of_change, outcome_of_change};
use crate::{
    caller::audit,
    service::{
        error::ServiceError,
        lifecycle::{self, Change, waiting},
        panel::PanelService,
    },
};
use app::{
    error::UiError,
    ports::{ClusterRepairs, Lifecycle},
};
use async_trait::async_trait;
use portico_domain::panel::lifecycle::{
    ChangeOutcome, ChangeQueue, NodeGroupChange, Ownership, SettledSize, Settlement,
};
use uuid::Uuid;

const SETTLE: &str = "settle_cluster";

#[async_trait]
impl ClusterRepairs for PanelService {
    async fn settlement(&self, cluster: Uuid) -> Result<Settlement, UiError> {
        self.ui(lifecycle::settlement(&self.services, &self.caller, cluster).await)
    }

    async fn settle_cluster(
        &self,
        cluster: Uuid,
        reviewed: SettledSize,
        reason: String,
    ) -> Result<ChangeOutcome, UiError> {
        let entry = Change {
            cluster,
            action: SETTLE,
            target: "",
            reason: Some(&reason),
        };
        let work = lifecycle::settle(&self.services, &self.caller, cluster, &reviewed);
        self.repaired(entry, "", work).await
    }

    async fn ownership(&self, cluster: Uuid) -> Result<Ownership, UiError> {
        self.ui(lifecycle::ownership(&self.services, &self.caller, cluster).await)
    }

    async fn rotate_credential(
        &self,
        cluster: Uuid,
        typed: String,
        reason: String,
    ) -> Result<ChangeOutcome, UiError> {
        let (services, caller) = (&self.services, &self.caller);
        // an error of it is one of the rotation too
        let passing = lifecycle::credential_passing(services, caller, cluster).await;
        let passing = passing.unwrap_or_default();
        let entry = Change {
            cluster,
            action: lifecycle::ROTATE_CREDENTIAL,
            target: &passing,
            reason: Some(&reason),
        };
        let work = lifecycle::rotate_credential(services, caller, cluster, &typed);
        self.repaired(entry, &passing, work).await
    }

    async fn change_queue(&self, cluster: Uuid) -> Result<ChangeQueue, UiError> {
        self.ui(waiting::queue_of(&self.services, &self.caller, cluster).await)
    }

    async fn queue_change(
        &self,
        cluster: Uuid,
        change: NodeGroupChange,
        reason: String,
    ) -> Result<ChangeOutcome, UiError> {
        let (services, caller) = (&self.services, &self.caller);
        // its entry in the journal is the change that waits
        let answer =
            waiting::queue(services, &self.clusters, caller, cluster, &change, &reason).await;
        let outcome = outcome_of_change(&answer);
        let target = lifecycle::target_of(&change);
        audit::record(caller, waiting::QUEUE, cluster, &target, outcome);
        self.ui(answer)
    }

    async fn continue_change(&self, cluster: Uuid, id: String) -> Result<ChangeOutcome, UiError> {
        let next = waiting::next(&self.services, &self.caller, cluster, &id).await;
        match next {
            Ok(Some((change, reason))) => self.change_node_group(cluster, change, reason).await,
            Ok(None) => Ok(ChangeOutcome::Refused {
                reason: "This change does not wait any longer. Another page may have continued or discarded it."
                    .to_owned(),
                next_step: Some("Look at the node groups and at the journal.".to_owned()),
                request_id: None,
            }),
            Err(error) => self.ui(Err(error)),
        }
    }

    async fn discard_change(&self, cluster: Uuid, id: String) -> Result<(), UiError> {
        let answer = waiting::discard(&self.services, &self.caller, cluster, &id).await;
        self.audited(waiting::DISCARD, cluster, "", answer)
    }
}

impl PanelService {
    /// Carries out a change that is in the cluster's journal and in the audit log; `object` is what the
    /// audit log has of it.
    async fn repaired(
        &self,
        entry: Change<'_>,
        object: &str,
        work: impl Future<Output = Result<ChangeOutcome, ServiceError>> + Send,
    ) -> Result<ChangeOutcome, UiError> {
        let (action, cluster) = (entry.action, entry.cluster);
        let answer = self.journalled(entry, work, of_change).await;
        let outcome = outcome_of_change(&answer);
        audit::record(&self.caller, action, cluster, object, outcome);
        self.ui(answer)
    }
}
