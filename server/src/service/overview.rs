//! Clusters: a card on the launchpad, and the overview page.
use super::{attention, capacity, error::ServiceError, health, rights, support};
use crate::kube::{Api, KubeError, api::Call, path};
use k8s_openapi::api::core::v1::Node;
use portico_domain::{
    cluster::ClusterRecord,
    identity::Named,
    panel::{
        ClusterCard, ClusterOverview, Health, NodeRow, Reading, ResourceRef, RightsSummary,
        TerminalHelp,
    },
};
use serde::Deserialize;
use serde_json::Value;

/// Turns an answer into what a page shows of it.
pub fn reading<T>(answer: Result<T, ServiceError>) -> Reading<T> {
    use app::error::UiErrorKind::NotPermitted;
    match answer {
        Ok(value) => Reading::Known(value),
        Err(error) if error.kind == NotPermitted => Reading::NotPermitted(error.message),
        Err(error) => Reading::Unavailable(error.message),
    }
}

/// The cluster as its card shows it. Never fails: what does not answer is what the card says.
pub async fn card(
    api: Result<Api, KubeError>,
    record: &ClusterRecord,
    asks_for: &str,
) -> ClusterCard {
    let mut card = ClusterCard {
        id: record.id,
        name: record.name.clone(),
        health: Health::Unknown,
        status: String::new(),
        version: None,
        nodes_ready: None,
        nodes_total: None,
        you_may: "not known".to_owned(),
        rights_hint: None,
    };
    let api = match api {
        Ok(api) => api,
        Err(error) => {
            card.status = error.sentence();
            return card;
        }
    };
    let (alive, version, nodes, rights) = tokio::join!(
        ready(&api),
        version(&api),
        nodes(&api),
        rights::summaries(&api)
    );
    card.version = version.ok();
    match alive {
        Ok(()) => {
            card.health = Health::Ok;
            "Ready".clone_into(&mut card.status);
        }
        Err(error) => {
            card.health = Health::Failed;
            card.status = error.sentence();
        }
    }
    if let Ok(nodes) = nodes {
        count_nodes(&mut card, &nodes);
    }
    if let Ok(rights) = rights {
        may(&mut card, &rights, asks_for);
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
    if card.health == Health::Ok && well < total {
        card.health = Health::Warning;
        card.status = format!("{} of {total} nodes not ready", total - well);
    }
}

/// The whole page.
pub async fn overview(
    api: Api,
    record: &ClusterRecord,
    portico_url: &str,
    asks_for: &str,
) -> ClusterOverview {
    let named = Named {
        id: record.id.to_string(),
        name: record.name.clone(),
    };
    let with_capacity = async {
        let found = nodes(&api).await.map_err(ServiceError::from);
        let sums = match &found {
            Ok(nodes) => capacity::capacity(&api, nodes).await,
            Err(error) => Err(error.clone()),
        };
        (found, sums)
    };
    let (alive, version, (nodes, capacity), rights, findings) = tokio::join!(
        ready(&api),
        version(&api),
        with_capacity,
        rights::summaries(&api),
        attention::look(&api, &named),
    );
    let mut card = ClusterCard {
        id: record.id,
        name: record.name.clone(),
        health: Health::Ok,
        status: "Ready".to_owned(),
        version: version.clone().ok(),
        nodes_ready: None,
        nodes_total: None,
        you_may: "not known".to_owned(),
        rights_hint: None,
    };
    if let Err(error) = alive {
        card.health = Health::Failed;
        card.status = error.sentence();
    }
    if let Ok(nodes) = &nodes {
        count_nodes(&mut card, nodes);
    }
    let mut gaps = findings.gaps;
    let rights = match rights {
        Ok(rights) => {
            may(&mut card, &rights, asks_for);
            rights
        }
        Err(error) => {
            gaps.push(format!("Your rights are not known. {}", error.message));
            Vec::new()
        }
    };
    let today = jiff::Zoned::now().date();
    ClusterOverview {
        card,
        api_url: record.api_url.clone(),
        attention: findings.attention,
        attention_gaps: gaps,
        version: version
            .ok()
            .map(|version| support::support(&version, today)),
        nodes: reading(nodes.map(|nodes| nodes.iter().map(node_row).collect())),
        capacity: reading(capacity),
        rights,
        terminal: TerminalHelp {
            portico_url: portico_url.to_owned(),
            cluster_name: record.name.clone(),
        },
    }
}

/// Whether the API server answers this person: it and its sign-in check are both at work.
async fn ready(api: &Api) -> Result<(), KubeError> {
    let call = Call {
        accept: "*/*",
        ..Call::get("/readyz")
    };
    match api.bytes(call).await {
        // older servers and tight roles have no /readyz for everybody; the refusal is an answer
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

fn node_row(node: &Node) -> NodeRow {
    let judgement = health::node(node);
    NodeRow {
        name: node.metadata.name.clone().unwrap_or_default(),
        health: judgement.health,
        status: judgement.status,
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
