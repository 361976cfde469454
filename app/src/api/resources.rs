use super::{Json, PanelClient};
use crate::error::UiError;
use leptos::prelude::*;
use portico_domain::panel::{
    BulkAction, BulkOutcome, BulkTarget, LabelCount, ListQuery, PodList, Reading, ResourceRef,
    ResourceTable, RowRange, RowsUsage, SearchAnswer, Selection, UsageRow,
};
use uuid::Uuid;

/// Returns one window of a list of any kind.
#[server(prefix = "/api", endpoint = "resources/list", input = Json, output = Json, client = PanelClient)]
pub async fn list_resources(
    cluster: Uuid,
    query: ListQuery,
    range: RowRange,
) -> Result<ResourceTable, UiError> {
    super::answer(super::panel()?.list(cluster, query, range).await)
}

/// Returns the labels of a list's rows that complete `typed`.
#[server(prefix = "/api", endpoint = "resources/labels", input = Json, output = Json, client = PanelClient)]
pub async fn label_suggestions(
    cluster: Uuid,
    query: ListQuery,
    typed: String,
) -> Result<Vec<LabelCount>, UiError> {
    super::answer(
        super::panel()?
            .label_suggestions(cluster, query, typed)
            .await,
    )
}

/// Returns every row that a query selects.
#[server(prefix = "/api", endpoint = "resources/select", input = Json, output = Json, client = PanelClient)]
pub async fn select_rows(cluster: Uuid, query: ListQuery) -> Result<Selection, UiError> {
    super::answer(super::panel()?.select(cluster, query).await)
}

/// Returns the pods that a list shows, for their logs.
#[server(prefix = "/api", endpoint = "resources/pods", input = Json, output = Json, client = PanelClient)]
pub async fn pods_of_list(cluster: Uuid, query: ListQuery) -> Result<PodList, UiError> {
    super::answer(super::panel()?.pods_of_list(cluster, query).await)
}

/// Changes many objects of a kind.
#[server(prefix = "/api", endpoint = "resources/change", input = Json, output = Json, client = PanelClient)]
pub async fn change_many(
    cluster: Uuid,
    resource: ResourceRef,
    action: BulkAction,
    targets: Vec<BulkTarget>,
) -> Result<Vec<BulkOutcome>, UiError> {
    super::answer(
        super::panel()?
            .change_many(cluster, resource, action, targets)
            .await,
    )
}

/// Searches the names of objects of the common kinds.
#[server(prefix = "/api", endpoint = "resources/search", input = Json, output = Json, client = PanelClient)]
pub async fn search_objects(cluster: Uuid, text: String) -> Result<SearchAnswer, UiError> {
    super::answer(super::panel()?.search(cluster, text).await)
}

/// Returns the namespaces that a list of this kind can be narrowed to; `None` for a kind whose
/// objects are in no namespace.
#[server(prefix = "/api", endpoint = "resources/namespaces", input = Json, output = Json, client = PanelClient)]
pub async fn namespaces_for(
    cluster: Uuid,
    resource: ResourceRef,
) -> Result<Option<Vec<String>>, UiError> {
    super::answer(super::panel()?.namespaces_for(cluster, resource).await)
}

/// Returns the CPU and memory that rows of a list use.
#[server(prefix = "/api", endpoint = "resources/usage", input = Json, output = Json, client = PanelClient)]
pub async fn get_rows_usage(
    cluster: Uuid,
    resource: ResourceRef,
    rows: Vec<UsageRow>,
) -> Result<Reading<RowsUsage>, UiError> {
    super::answer(super::panel()?.rows_usage(cluster, resource, rows).await)
}
