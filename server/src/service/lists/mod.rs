//! Lists of any kind: scope, filter, order and window.
mod arrangement;
mod source;

pub use arrangement::{Filter, MAX_ROWS, Window, arrange};
pub use source::{Opened, PlaceState, open, places_state, read, unconfirmed};

use super::{Services, error::ServiceError, row_health::RowHealth};
use crate::kube::{
    Api, KubeError, discovery,
    listing::{self, Selection},
    namespaces,
};
use portico_domain::panel::{ListQuery, ListScope, ResourceKind, ResourceRef, ResourceTable};
use std::{sync::Arc, time::Duration};
use tokio::{sync::Notify, time::timeout};

/// Time limit for the first rows of a list that many viewers share.
const READ_TIMEOUT: Duration = Duration::from_secs(12);
const CUT: &str = "There are more objects than are read at once; narrow the list.";

/// Returns every kind that can be listed.
pub async fn kinds(api: &Api) -> Result<Vec<ResourceKind>, ServiceError> {
    Ok(discovery::catalog(api).await?.listable())
}

/// Returns a list over everything that the user may see.
pub async fn list(
    services: &Services,
    api: &Api,
    query: &ListQuery,
) -> Result<ResourceTable, ServiceError> {
    let changed = Arc::new(Notify::new());
    let opened = source::open(&services.watches, api, query, Arc::clone(&changed)).await?;
    let mut table = match opened.viewers {
        Some(_) => timeout(READ_TIMEOUT, shared(opened, &changed, query))
            .await
            .unwrap_or_else(|_| Err(KubeError::Timeout(READ_TIMEOUT.as_secs()).into()))?,
        None => direct(api, opened.kind, opened.scope, query).await?,
    };
    if let Some(health) = RowHealth::of(&query.resource, &table.columns) {
        health.refine(api, &mut table.rows).await;
    }
    Ok(table)
}

/// Reads a list from shared watches, as soon as they have its first rows.
async fn shared(
    mut opened: Opened,
    changed: &Notify,
    query: &ListQuery,
) -> Result<ResourceTable, ServiceError> {
    let filter = Filter::new(query)?;
    opened.ready(changed, &filter).await?;
    let viewers = opened.viewers.as_deref().unwrap_or_default();
    let window = source::read(viewers, &filter).ok_or_else(source::unconfirmed)?;
    Ok(ResourceTable {
        kind: opened.kind,
        columns: window.columns.to_vec(),
        rows: window.rows,
        total: window.total,
        scope: opened.scope,
        failures: window.is_cut.then(|| CUT.to_owned()).into_iter().collect(),
    })
}

/// Reads a list with the user's own requests only.
async fn direct(
    api: &Api,
    kind: ResourceKind,
    scope: ListScope,
    query: &ListQuery,
) -> Result<ResourceTable, ServiceError> {
    let filter = Filter::new(query)?;
    let mut merged = listing::list(api, &kind, &scope, &selection(query)).await?;
    let scope = merged.leave_out_refused(scope);
    let columns = merged.columns();
    let mut failures: Vec<_> = merged
        .failures
        .iter()
        .map(|(namespace, error)| {
            let place = namespace.as_deref().unwrap_or("the cluster");
            format!("{place}: {}", error.sentence())
        })
        .collect();
    if merged.parts.iter().any(|part| part.cut) {
        failures.push(CUT.to_owned());
    }
    let rows = merged.into_rows().into_iter().map(Arc::new).collect();
    let (rows, total) = arrange(rows, &columns, &filter);
    Ok(ResourceTable {
        kind,
        columns,
        rows,
        total,
        scope,
        failures,
    })
}

/// Returns the namespaces that a list of this kind can be narrowed to: those that the user may
/// list, and `None` for a kind whose objects are in no namespace.
pub async fn namespaces_for(
    api: &Api,
    resource: &ResourceRef,
) -> Result<Option<Vec<String>>, ServiceError> {
    if !discovery::kind(api, resource).await?.namespaced {
        return Ok(None);
    }
    match namespaces::list(api).await {
        Ok(names) => Ok(Some(names)),
        // the page still offers the namespace in its address
        Err(KubeError::Refused(_)) => Ok(Some(Vec::new())),
        Err(error) => Err(error.into()),
    }
}

/// Returns the part of a query that the API server evaluates, if the list is the user's own.
pub fn selection(query: &ListQuery) -> Selection {
    Selection {
        labels: query.labels.trim().to_owned(),
        fields: String::new(),
    }
}
