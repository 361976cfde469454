use super::{Json, PanelClient};
use crate::error::UiError;
use leptos::prelude::*;
use portico_domain::panel::{
    ClusterOverview, ClusterState, ResourceKind, RightAnswer, RightQuestion,
};
use uuid::Uuid;

/// Returns a cluster's page. What takes long in a large cluster is in it only with `wait`.
#[server(prefix = "/api", endpoint = "clusters/get", output = Json, client = PanelClient)]
pub async fn get_cluster(
    cluster: Uuid,
    #[server(default)] wait: bool,
) -> Result<ClusterOverview, UiError> {
    super::answer(super::panel()?.cluster(cluster, wait).await)
}

/// Returns the states of clusters of the project; of all of them if none is named.
#[server(prefix = "/api", endpoint = "clusters/states", input = Json, output = Json, client = PanelClient)]
pub async fn cluster_states(clusters: Vec<Uuid>) -> Result<Vec<ClusterState>, UiError> {
    super::answer(super::panel()?.cluster_states(clusters).await)
}

/// Returns every kind that can be listed.
#[server(prefix = "/api", endpoint = "clusters/kinds", output = Json, client = PanelClient)]
pub async fn list_kinds(cluster: Uuid) -> Result<Vec<ResourceKind>, UiError> {
    super::answer(super::panel()?.kinds(cluster).await)
}

/// Returns what the viewer may do, by access reviews of the API server.
#[server(prefix = "/api", endpoint = "clusters/rights", input = Json, output = Json, client = PanelClient)]
pub async fn review_rights(
    cluster: Uuid,
    questions: Vec<RightQuestion>,
) -> Result<Vec<RightAnswer>, UiError> {
    super::answer(super::panel()?.rights(cluster, questions).await)
}
