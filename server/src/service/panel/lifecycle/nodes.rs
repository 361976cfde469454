//! Nodes of clusters.
use super::outcomes::{of_change, outcome_of_change};
use crate::{
    caller::audit,
    service::{
        lifecycle::{self, Change},
        panel::PanelService,
    },
};
use app::{error::UiError, ports::NodeOperations};
use async_trait::async_trait;
use portico_domain::panel::lifecycle::{ChangeOutcome, ClusterNodes, NodeGroupReview};
use uuid::Uuid;

const REMOVE: &str = "remove_node";

#[async_trait]
impl NodeOperations for PanelService {
    async fn cluster_nodes(&self, cluster: Uuid) -> Result<ClusterNodes, UiError> {
        let (services, clusters, caller) = (&self.services, &self.clusters, &self.caller);
        self.ui(lifecycle::nodes(services, clusters, caller, cluster).await)
    }

    async fn review_node_removal(
        &self,
        cluster: Uuid,
        server: String,
    ) -> Result<NodeGroupReview, UiError> {
        let (services, caller) = (&self.services, &self.caller);
        self.ui(lifecycle::review_node_removal(services, caller, cluster, &server).await)
    }

    async fn remove_node(
        &self,
        cluster: Uuid,
        server: String,
        typed: String,
        reason: String,
    ) -> Result<ChangeOutcome, UiError> {
        let (services, caller) = (&self.services, &self.caller);
        // the name may be of another node by then, the server is not
        let target = format!("{typed} ({server})");
        let entry = Change {
            cluster,
            action: REMOVE,
            target: &target,
            reason: Some(&reason),
        };
        let work = lifecycle::remove_node(services, caller, cluster, &server, &typed);
        let answer = self.journalled(entry, work, of_change).await;
        let outcome = outcome_of_change(&answer);
        audit::record(caller, REMOVE, cluster, &target, outcome);
        self.ui(answer)
    }
}
