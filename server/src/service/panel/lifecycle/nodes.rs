//! Nodes of clusters.
use super::outcomes::{accepted, change, of_change, of_drain, outcome_of_change};
use crate::{
    caller::audit,
    service::{
        lifecycle::{self, Change},
        panel::PanelService,
    },
};
use app::{
    error::{UiError, UiErrorKind},
    ports::NodeOperations,
};
use async_trait::async_trait;
use portico_domain::panel::{
    DrainOptions,
    lifecycle::{ChangeOutcome, ClusterNodes, NodeDrain, NodeGroupReview, NodeRemoval},
};
use uuid::Uuid;

const REMOVE: &str = "remove_node";
/// Maximum number of servers that an entry of the audit log names, which has room for 256 bytes.
const MAX_AUDITED_SERVERS: usize = 3;

/// Returns the nodes of a removal for the audit log. The journal, whose chain the sealed audit log holds, names all.
fn audited_removal(typed: &str, servers: &[&str]) -> String {
    let named = servers.iter().take(MAX_AUDITED_SERVERS).copied();
    let named = named.collect::<Vec<_>>().join(", ");
    let count = servers.len();
    match count.saturating_sub(MAX_AUDITED_SERVERS) {
        0 => format!("{typed} ({named})"),
        more => format!("{typed} ({count} servers: {named} and {more} more)"),
    }
}

#[async_trait]
impl NodeOperations for PanelService {
    async fn cluster_nodes(&self, cluster: Uuid) -> Result<ClusterNodes, UiError> {
        let (services, clusters, caller) = (&self.services, &self.clusters, &self.caller);
        self.ui(lifecycle::nodes(services, clusters, caller, cluster).await)
    }

    async fn review_node_removal(
        &self,
        cluster: Uuid,
        node: NodeRemoval,
    ) -> Result<NodeGroupReview, UiError> {
        let (services, clusters, caller) = (&self.services, &self.clusters, &self.caller);
        let review =
            lifecycle::review_node_removal(services, clusters, caller, cluster, &node).await;
        self.ui(review)
    }

    async fn remove_node(
        &self,
        cluster: Uuid,
        node: NodeRemoval,
        reason: String,
    ) -> Result<ChangeOutcome, UiError> {
        let (services, clusters, caller) = (&self.services, &self.clusters, &self.caller);
        let servers = node.servers();
        let running = lifecycle::running_replacement(services, caller, cluster).await;
        let running = running.ok().flatten();
        let (action, target) = match running.filter(|running| servers == [running.server.as_str()])
        {
            Some(running) => (lifecycle::REPLACE, running.removal().to_string()),
            // the name may be of another node by then, the servers are not
            None => (REMOVE, format!("{} ({})", node.typed, servers.join(", "))),
        };
        let entry = Change {
            cluster,
            action,
            target: &target,
            reason: Some(&reason),
        };
        let work = lifecycle::remove_node(services, clusters, caller, cluster, &node);
        let answer = self.journalled(entry, work, of_change).await;
        let outcome = outcome_of_change(&answer);
        let audited = match action {
            REMOVE => audited_removal(&node.typed, &servers),
            _ => target,
        };
        audit::record(caller, action, cluster, &audited, outcome);
        self.ui(answer)
    }

    async fn begin_node_drain(
        &self,
        cluster: Uuid,
        server: String,
        options: DrainOptions,
        reason: String,
    ) -> Result<(), UiError> {
        let (services, clusters, caller) = (&self.services, &self.clusters, &self.caller);
        let action = lifecycle::DRAIN;
        let wanted = match lifecycle::planned_drain(services, caller, cluster, &server).await {
            Ok(wanted) => wanted,
            Err(error) => return self.audited(action, cluster, &server, Err(error)),
        };
        let target = wanted.to_string();
        let entry = Change {
            cluster,
            action,
            target: &target,
            reason: Some(&reason),
        };
        let work = lifecycle::begin_drain(services, clusters, caller, cluster, &wanted, options);
        let (begun, failure) = match self.journalled(entry, work, of_drain).await {
            Ok(begun) => (Ok(()), begun.failure),
            Err(error) => (Err(error), None),
        };
        self.audited(action, cluster, &target, begun)?;
        // it is open, and the page shows why the first pods stay
        failure.map_or(Ok(()), |error| self.ui(Err(error)))
    }

    async fn continue_node_drain(
        &self,
        cluster: Uuid,
        server: String,
        options: DrainOptions,
    ) -> Result<NodeDrain, UiError> {
        let (services, clusters, caller) = (&self.services, &self.clusters, &self.caller);
        let drain = (server.as_str(), options);
        match lifecycle::continue_drain(services, clusters, caller, cluster, drain).await {
            Err(error) if error.kind == UiErrorKind::NotPermitted => {
                self.audited(lifecycle::DRAIN, cluster, &server, Err(error))
            }
            // its evictions are recorded where they are requested
            answer => self.ui(answer),
        }
    }

    async fn stop_node_drain(
        &self,
        cluster: Uuid,
        server: String,
        uncordon: bool,
    ) -> Result<(), UiError> {
        let (services, clusters, caller) = (&self.services, &self.clusters, &self.caller);
        let action = lifecycle::DRAIN;
        let request = match lifecycle::running_drain(services, caller, cluster).await {
            Ok(Some(running)) if running.server == server => running.stopped(),
            // it is stopped; that of another node was not meant
            Ok(_) => return Ok(()),
            Err(error) => return self.audited(action, cluster, "", Err(error)),
        };
        let target = request.to_string();
        let what = (&request, uncordon);
        let work = lifecycle::stop_drain(services, clusters, caller, cluster, what);
        let answer = self
            .journalled(change(cluster, action, &target), work, accepted)
            .await;
        self.audited(action, cluster, &target, answer)
    }

    async fn review_node_replacement(
        &self,
        cluster: Uuid,
        server: String,
    ) -> Result<NodeGroupReview, UiError> {
        let (services, clusters, caller) = (&self.services, &self.clusters, &self.caller);
        let review =
            lifecycle::review_replacement(services, clusters, caller, cluster, &server).await;
        self.ui(review)
    }

    async fn replace_node(
        &self,
        cluster: Uuid,
        server: String,
        reason: String,
    ) -> Result<ChangeOutcome, UiError> {
        let (services, caller) = (&self.services, &self.caller);
        let action = lifecycle::REPLACE;
        let planned = lifecycle::planned_replacement(services, caller, cluster, &server).await;
        let wanted = match planned {
            Ok(wanted) => wanted,
            Err(error) => return self.audited(action, cluster, &server, Err(error)),
        };
        let target = wanted.to_string();
        let entry = Change {
            cluster,
            action,
            target: &target,
            reason: Some(&reason),
        };
        let work = lifecycle::start_replacement(services, caller, cluster, &wanted);
        let answer = self.journalled(entry, work, of_change).await;
        let outcome = outcome_of_change(&answer);
        audit::record(caller, action, cluster, &target, outcome);
        self.ui(answer)
    }

    async fn replace_node_in_place(
        &self,
        cluster: Uuid,
        node: NodeRemoval,
        reason: String,
    ) -> Result<ChangeOutcome, UiError> {
        let (services, clusters, caller) = (&self.services, &self.clusters, &self.caller);
        let (action, server) = (lifecycle::REPLACE, &node.server);
        let planned = lifecycle::planned_in_place(services, caller, cluster, server).await;
        let wanted = match planned {
            Ok(wanted) => wanted,
            Err(error) => return self.audited(action, cluster, server, Err(error)),
        };
        let target = wanted.to_string();
        let entry = Change {
            cluster,
            action,
            target: &target,
            reason: Some(&reason),
        };
        let what = (&node, &wanted);
        let work = lifecycle::start_in_place(services, clusters, caller, cluster, what);
        let answer = self.journalled(entry, work, of_change).await;
        let outcome = outcome_of_change(&answer);
        audit::record(caller, action, cluster, &target, outcome);
        self.ui(answer)
    }

    async fn add_replacing_node(
        &self,
        cluster: Uuid,
        reason: String,
    ) -> Result<ChangeOutcome, UiError> {
        let (services, caller) = (&self.services, &self.caller);
        let action = lifecycle::REPLACE;
        let wanted = match lifecycle::planned_refill(services, caller, cluster).await {
            Ok(wanted) => wanted,
            Err(error) => return self.audited(action, cluster, "", Err(error)),
        };
        let target = wanted.to_string();
        let entry = Change {
            cluster,
            action,
            target: &target,
            reason: Some(&reason),
        };
        let work = lifecycle::refill(services, caller, cluster, &wanted);
        let answer = self.journalled(entry, work, of_change).await;
        let outcome = outcome_of_change(&answer);
        audit::record(caller, action, cluster, &target, outcome);
        self.ui(answer)
    }

    async fn stop_node_replacement(&self, cluster: Uuid) -> Result<(), UiError> {
        let (services, caller) = (&self.services, &self.caller);
        let action = lifecycle::REPLACE;
        let running = match lifecycle::running_replacement(services, caller, cluster).await {
            Ok(Some(running)) => running.at(lifecycle::Stage::Stop),
            // it is stopped
            Ok(None) => return Ok(()),
            Err(error) => return self.audited(action, cluster, "", Err(error)),
        };
        let target = running.to_string();
        let work = lifecycle::stop_replacement(services, caller, cluster);
        let answer = self
            .journalled(change(cluster, action, &target), work, accepted)
            .await;
        self.audited(action, cluster, &target, answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_of_the_audit_log_counts_the_servers_that_it_does_not_name() {
        let servers: Vec<_> = (0..NodeRemoval::MAX_NODES as u128)
            .map(|number| Uuid::from_u128(number).to_string())
            .collect();
        let servers: Vec<_> = servers.iter().map(String::as_str).collect();
        let one = audited_removal("worker-0", &servers[..1]);
        assert_eq!(one, format!("worker-0 ({})", servers[0]));
        let three = audited_removal("worker-0 and 2 more", &servers[..3]);
        assert!(three.contains(servers[2]), "{three}");
        // a name of a node has at most 63 characters
        let confirmation = NodeRemoval::confirmation(&"n".repeat(63), servers.len() - 1);
        let typed = NodeRemoval::without_draining(&confirmation);
        let all = audited_removal(&typed, &servers);
        assert!(all.contains("(50 servers: "), "{all}");
        assert!(all.ends_with(" and 47 more)"), "{all}");
        assert!(all.len() <= 256, "{} bytes: {all}", all.len());
    }
}
