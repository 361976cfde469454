//! Clusters: a card on the launchpad, and the overview page.
use super::{
    attention,
    details::Details,
    error::ServiceError,
    health, rights, support,
    usage::{self, Prometheus},
};
use crate::kube::{Api, KubeError, api::Call, path};
use jiff::tz::TimeZone;
use k8s_openapi::api::core::v1::Node;
use portico_domain::{
    cluster::ClusterRecord,
    identity::Named,
    panel::{
        AttentionGap, ClusterCard, ClusterOverview, Health, NodeRow, Reading, Refusal, ResourceRef,
        RightsSummary, System, TerminalHelp,
    },
};
use serde::Deserialize;
use serde_json::Value;
use std::{sync::Arc, time::Duration};

/// How long a page waits for its slower parts once the cluster has responded.
pub const DETAILS_TIMEOUT: Duration = Duration::from_secs(6);
/// How long a page that is not shown yet waits for what is read from every pod.
const FIRST_PAGE_PATIENCE: Duration = Duration::from_millis(700);
/// How long a page that is shown waits for it.
const SHOWN_PAGE_PATIENCE: Duration = Duration::from_secs(12);
/// Maximum number of nodes on the page of a cluster; their list has all.
const MAX_NODE_ROWS: usize = 25;
/// How long a cluster's state waits for its nodes once the cluster has responded.
const NODES_TIMEOUT: Duration = Duration::from_secs(3);

/// Returns how long the page of a cluster waits for its details.
pub fn patience(is_shown: bool) -> Duration {
    if is_shown {
        SHOWN_PAGE_PATIENCE
    } else {
        FIRST_PAGE_PATIENCE
    }
}

/// Turns a result into what a page shows of it.
pub fn reading<T>(answer: Result<T, ServiceError>) -> Reading<T> {
    use app::error::UiErrorKind::NotPermitted;
    match answer {
        Ok(value) => Reading::Known(value),
        Err(error) if error.kind == NotPermitted => Reading::NotPermitted(error.into_refusal()),
        Err(error) => Reading::Unavailable(error.message),
    }
}

/// Returns the card of a cluster that cannot be used now, with the reason.
pub fn closed_card(record: &ClusterRecord, health: Health, why: String) -> ClusterCard {
    ClusterCard {
        id: record.id,
        name: record.name.clone(),
        health,
        status: why,
        version: None,
        nodes_ready: None,
        nodes_total: None,
        you_may: "not known".to_owned(),
        rights_hint: None,
    }
}

/// Returns the card of a cluster that has responded; details that do not arrive in time are left
/// open.
pub async fn card(api: &Api, record: &ClusterRecord, asks_for: &str) -> ClusterCard {
    let mut card = closed_card(record, Health::Ok, "Ready".to_owned());
    let (version, nodes, rights) = tokio::join!(
        version(api),
        nodes(api),
        tokio::time::timeout(DETAILS_TIMEOUT, rights::summaries(api))
    );
    card.version = version.ok();
    if let Ok(nodes) = nodes {
        count_nodes(&mut card, &nodes);
    }
    if let Ok(Ok(rights)) = rights {
        may(&mut card, &rights, asks_for);
    }
    card
}

/// Returns the card of a cluster that has responded, with no more than the state of its nodes, as
/// far as they arrive in time.
pub async fn nodes_card(api: &Api, record: &ClusterRecord) -> ClusterCard {
    let mut card = closed_card(record, Health::Ok, "Ready".to_owned());
    if let Ok(Ok(nodes)) = tokio::time::timeout(NODES_TIMEOUT, nodes(api)).await {
        count_nodes(&mut card, &nodes);
    }
    card
}

fn may(card: &mut ClusterCard, rights: &[RightsSummary], asks_for: &str) {
    match rights::in_short(rights) {
        Some(words) => card.you_may = words,
        None => {
            "nothing yet".clone_into(&mut card.you_may);
            card.rights_hint = Some(asks_for.to_owned());
        }
    }
}

fn count_nodes(card: &mut ClusterCard, nodes: &[Node]) {
    let total = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
    let well = nodes
        .iter()
        .filter(|node| !matches!(health::node(node).health, Health::Failed))
        .count();
    let well = u32::try_from(well).unwrap_or(u32::MAX);
    card.nodes_total = Some(total);
    card.nodes_ready = Some(well);
    if card.health == Health::Ok && total == 0 {
        // an empty cluster responds, and runs nothing
        card.health = Health::Warning;
        "No nodes".clone_into(&mut card.status);
    } else if card.health == Health::Ok && well < total {
        card.health = Health::Warning;
        card.status = format!("{} of {total} nodes not ready", total - well);
    }
}

/// What a cluster's page is made from, besides the API server.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    pub details: &'a Details,
    pub prometheus: Option<&'a Prometheus>,
}

/// Returns the whole page. A cluster that does not respond is reported at once, not after every
/// part of it. `project` is the one of the page's URL.
pub async fn overview(
    api: Api,
    record: &ClusterRecord,
    project: &str,
    portico_url: &str,
    asks_for: &str,
    sources: Sources<'_>,
    patience: Duration,
) -> ClusterOverview {
    let mut page = match ready(&api).await {
        Ok(()) => open_page(&api, record, project, asks_for, sources, patience).await,
        Err(error) => closed_page(record, &error),
    };
    page.terminal.portico_url = portico_url.to_owned();
    page
}

async fn open_page(
    api: &Api,
    record: &ClusterRecord,
    project: &str,
    asks_for: &str,
    sources: Sources<'_>,
    patience: Duration,
) -> ClusterOverview {
    let Sources {
        details,
        prometheus,
    } = sources;
    let named = Named {
        id: record.id.to_string(),
        name: record.name.clone(),
    };
    let with_capacity = async {
        let nodes = nodes(api).await.map(Arc::new).map_err(ServiceError::from);
        let sums = match &nodes {
            Ok(nodes) => details.capacity(api, Arc::clone(nodes), patience).await,
            Err(error) => Some(Err(error.clone())),
        };
        (nodes, sums)
    };
    let (version, (nodes, capacity), rights, findings, usage) = tokio::join!(
        version(api),
        with_capacity,
        rights::summaries(api),
        details.attention(api, &named, patience),
        usage::of_cluster(prometheus, api, patience),
    );
    let mut card = closed_card(record, Health::Ok, "Ready".to_owned());
    card.version = version.clone().ok();
    if let Ok(nodes) = &nodes {
        count_nodes(&mut card, nodes);
    }
    let is_pending = findings.is_none() || capacity.is_none();
    let findings = findings.as_deref().cloned().unwrap_or_default();
    let attention = attention::rows(findings.troubles);
    let mut gaps = findings.gaps;
    let rights = rights.unwrap_or_else(|error| {
        gaps.push(Refusal {
            reason: format!("Your rights are not known. {}", error.message),
            missing: error.missing,
        });
        Vec::new()
    });
    if !rights.is_empty() {
        may(&mut card, &rights, asks_for);
    }
    let today = api.now().to_zoned(TimeZone::UTC).date();
    ClusterOverview {
        card,
        attention,
        attention_gaps: attention::gap_rows(gaps, project, record.id),
        version: version
            .ok()
            .map(|version| support::support(&version, today)),
        nodes: reading(nodes.map(|nodes| node_rows(&nodes))),
        capacity: capacity.map_or_else(|| Reading::Unavailable(String::new()), reading),
        usage,
        rights,
        is_pending,
        ..frame(record)
    }
}

fn closed_page(record: &ClusterRecord, error: &KubeError) -> ClusterOverview {
    let why = error.sentence();
    ClusterOverview {
        card: closed_card(record, Health::Failed, why.clone()),
        attention_gaps: vec![AttentionGap::from(why.clone())],
        nodes: Reading::Unavailable(why.clone()),
        capacity: Reading::Unavailable(why),
        ..frame(record)
    }
}

/// Returns what is known of a cluster without a request to it.
fn frame(record: &ClusterRecord) -> ClusterOverview {
    ClusterOverview {
        card: closed_card(record, Health::Unknown, String::new()),
        api_url: record.api_url.clone(),
        attention: Vec::new(),
        attention_gaps: Vec::new(),
        version: None,
        nodes: Reading::Unavailable(String::new()),
        capacity: Reading::Unavailable(String::new()),
        usage: Reading::Unavailable(String::new()),
        rights: Vec::new(),
        is_pending: false,
        terminal: TerminalHelp {
            portico_url: String::new(),
            cluster_name: record.name.clone(),
            system: System::default(),
        },
    }
}

/// Returns whether the API server responds to this user: it and its authentication work.
pub async fn ready(api: &Api) -> Result<(), KubeError> {
    let call = Call {
        accept: "*/*",
        ..Call::get("/readyz")
    };
    match api.bytes(call).await {
        // older servers and restrictive roles have no /readyz for all users; a refusal is a
        // response
        Ok(_) | Err(KubeError::Refused(_) | KubeError::NotFound(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

async fn version(api: &Api) -> Result<String, KubeError> {
    api.get("/version").await?["gitVersion"]
        .as_str()
        .map(str::to_owned)
        .ok_or_else(|| KubeError::Protocol("no gitVersion".to_owned()))
}

async fn nodes(api: &Api) -> Result<Vec<Node>, KubeError> {
    let path = path::collection(&ResourceRef::core("nodes"), None)?;
    let mut list = api.get(&format!("{path}?limit=2000")).await?;
    list["items"]
        .as_array_mut()
        .into_iter()
        .flatten()
        .map(|item: &mut Value| {
            Node::deserialize(item.take()).map_err(|error| KubeError::Protocol(error.to_string()))
        })
        .collect()
}

/// Returns the rows of the page: in order, but those with problems first if there are too many.
fn node_rows(nodes: &[Node]) -> Vec<NodeRow> {
    let mut rows: Vec<NodeRow> = nodes.iter().map(node_row).collect();
    if rows.len() > MAX_NODE_ROWS {
        rows.sort_by_key(|row| (row.problems.is_empty(), row.health.severity()));
        rows.truncate(MAX_NODE_ROWS);
    }
    rows
}

fn node_row(node: &Node) -> NodeRow {
    let assessment = health::node(node);
    NodeRow {
        name: node.metadata.name.clone().unwrap_or_default(),
        health: assessment.health,
        status: assessment.status,
        problems: health::node_problems(node),
        version: node
            .status
            .as_ref()
            .and_then(|status| status.node_info.as_ref())
            .map(|info| info.kubelet_version.clone())
            .unwrap_or_default(),
        created_at: node
            .metadata
            .creation_timestamp
            .as_ref()
            .map(|time| time.0.as_second()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card_with(nodes: &[Node]) -> ClusterCard {
        let record = serde_json::from_value(serde_json::json!({
            "id": "11111111-1111-4111-8111-111111111111", "name": "prod", "owner_project": "p1",
            "api_url": "https://127.0.0.1:6443", "sealing_key_file": "key.pub",
        }))
        .expect("a record");
        let mut card = closed_card(&record, Health::Ok, "Ready".to_owned());
        count_nodes(&mut card, nodes);
        card
    }

    fn ready() -> Node {
        serde_json::from_value(serde_json::json!({
            "metadata": { "name": "node-1" },
            "status": { "conditions": [{ "type": "Ready", "status": "True" }] },
        }))
        .expect("a node")
    }

    #[test]
    fn a_large_cluster_shows_the_nodes_with_problems_first() {
        let node = |number: usize| {
            let mut node = ready();
            node.metadata.name = Some(format!("node-{number}"));
            node
        };
        let mut nodes: Vec<Node> = (0..1_000).map(node).collect();
        let condition = serde_json::json!({
            "conditions": [{ "type": "Ready", "status": "False", "reason": "KubeletNotReady" }],
        });
        nodes[777].status = serde_json::from_value(condition).expect("a status");
        let rows = node_rows(&nodes);
        assert_eq!(rows.len(), MAX_NODE_ROWS);
        assert_eq!(rows[0].name, "node-777");
        assert_eq!(rows[1].name, "node-0");
        let few = node_rows(&nodes[760..780]);
        assert_eq!(few.len(), 20);
        assert_eq!(few[17].name, "node-777", "in order");
    }

    #[test]
    fn finding_p12_a_cluster_without_nodes_is_not_ready() {
        let empty = card_with(&[]);
        assert_eq!(empty.status, "No nodes");
        assert_eq!(empty.health, Health::Warning);
        let one = card_with(&[ready()]);
        assert_eq!((one.health, one.status.as_str()), (Health::Ok, "Ready"));
    }
}
