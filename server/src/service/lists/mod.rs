//! Lists of any kind: scope, filter, order and window.
mod arrangement;
mod arrangements;
mod assessments;
mod filter;
#[cfg(test)]
pub mod fixtures;
mod order;
mod source;
mod suggestions;

pub use arrangement::{Arranged, ListRows, changed_between};
pub use arrangements::{Arrangements, Reading, arrange};
pub use assessments::{Assessments, uncertain_rows};
pub use filter::{Filter, FilterError, contains};
pub use source::{Opened, PlaceState, collect, open, places_state, unconfirmed, versions};

use super::{Services, error::ServiceError, row_health::RowHealth, usage};
use crate::kube::{
    Api, KubeError, discovery,
    listing::{self, Merged, Selection as ListSelection},
    namespaces,
    table::TableRow,
};
use portico_domain::namespace_format::is_label;
use portico_domain::panel::{
    BulkTarget, LabelCount, ListQuery, ListScope, MAX_SELECTED, ResourceKind, ResourceRef,
    ResourceTable, RowRange, Selection, label_selector,
};
use std::{sync::Arc, time::Duration};
use tokio::{sync::Notify, time::timeout};

/// Time limit for the rows of a list that many viewers share.
const READ_TIMEOUT: Duration = Duration::from_secs(12);
const CUT: &str = "There are more objects than are read at once; narrow the list.";

/// A list that was read once.
struct Read {
    kind: ResourceKind,
    scope: ListScope,
    arranged: Arc<Arranged>,
    failures: Vec<String>,
}

/// Returns every kind that can be listed.
pub async fn kinds(api: &Api) -> Result<Vec<ResourceKind>, ServiceError> {
    Ok(discovery::recent_catalog(api).await?.listable())
}

/// Returns a window of a list over everything that the user may see.
pub async fn list(
    services: &Services,
    api: &Api,
    query: &ListQuery,
    range: RowRange,
) -> Result<ResourceTable, ServiceError> {
    let filter = Filter::new(query)?;
    let mut read = read(services, api, query, &filter, false).await?;
    let columns = read.arranged.source.columns.to_vec();
    let health = RowHealth::of(&query.resource, &columns);
    if let Some(health) = health.as_ref().filter(|health| health.is_status()) {
        read.arranged = assessments::assess(api, health, read.arranged, &filter, range).await?;
    }
    let mut window = read.arranged.window(range);
    if let Some(health) = health.filter(|health| !health.is_status()) {
        health.assess(api, &mut window.rows).await;
    }
    let prometheus = services.prometheus.as_ref();
    let has_usage = usage::has_source(prometheus, api, &query.resource).await;
    Ok(ResourceTable {
        kind: read.kind,
        columns,
        window,
        statuses: read.arranged.statuses.clone(),
        scope: read.scope,
        failures: read.failures,
        has_usage,
    })
}

/// Returns the labels of a list's rows that complete `typed`. The query's own label selector may be
/// incomplete: if it is not valid, it is left out.
pub async fn label_suggestions(
    services: &Services,
    api: &Api,
    mut query: ListQuery,
    typed: &str,
) -> Result<Vec<LabelCount>, ServiceError> {
    if label_selector::check(&query.labels).is_err() {
        query.labels.clear();
    }
    let filter = Filter::new(&query)?;
    let read = read(services, api, &query, &filter, true).await?;
    Ok(suggestions::complete(&read.arranged, typed))
}

/// Returns every row that a query selects, up to [`MAX_SELECTED`].
pub async fn select(
    services: &Services,
    api: &Api,
    query: &ListQuery,
) -> Result<Selection, ServiceError> {
    let filter = Filter::new(query)?;
    let mut read = read(services, api, query, &filter, true).await?;
    let health = RowHealth::of(&query.resource, &read.arranged.source.columns);
    // the rows that the list shows, which may be fewer than those whose cells have the status
    if let Some(health) = health.filter(RowHealth::is_status)
        && !query.status.is_empty()
    {
        read.arranged = assessments::recall(api, &health, read.arranged, &filter).await?;
    }
    let rows = read.arranged.rows.iter().take(MAX_SELECTED);
    Ok(Selection {
        targets: rows
            .map(|row| BulkTarget {
                uid: row.row.uid.clone(),
                namespace: row.row.namespace.clone(),
                name: row.row.name.clone(),
            })
            .collect(),
        total: read.arranged.total,
    })
}

/// Returns the first rows that a query selects, at most `limit`, and the number of all.
pub async fn first_rows(
    services: &Services,
    api: &Api,
    query: &ListQuery,
    limit: usize,
) -> Result<(Vec<Arc<TableRow>>, usize), ServiceError> {
    let filter = Filter::new(query)?;
    let read = read(services, api, query, &filter, true).await?;
    let rows = read.arranged.rows.iter().take(limit).cloned().collect();
    Ok((rows, read.arranged.total))
}

/// Reads a list: all its rows, or the first ones if these are enough for the first window.
async fn read(
    services: &Services,
    api: &Api,
    query: &ListQuery,
    filter: &Filter,
    needs_all: bool,
) -> Result<Read, ServiceError> {
    let changed = Arc::new(Notify::new());
    let opened = source::open(
        &services.watches,
        api,
        &query.resource,
        &query.namespaces,
        Arc::clone(&changed),
    )
    .await?;
    if opened.viewers.is_none() {
        return direct(api, opened.kind, opened.scope, filter).await;
    }
    let shared = shared(services, opened, &changed, filter, needs_all);
    timeout(READ_TIMEOUT, shared)
        .await
        .unwrap_or_else(|_| Err(KubeError::Timeout(READ_TIMEOUT.as_secs()).into()))
}

/// Reads a list from shared watches, as soon as they have its rows.
async fn shared(
    services: &Services,
    mut opened: Opened,
    changed: &Notify,
    filter: &Filter,
    needs_all: bool,
) -> Result<Read, ServiceError> {
    let first = (!needs_all).then_some(filter);
    opened.ready(changed, first).await?;
    let viewers = opened.viewers.as_deref().unwrap_or_default();
    let reading = services
        .arrangements
        .read(viewers, filter, Duration::ZERO)?
        .ok_or_else(source::unconfirmed)?;
    let is_cut = reading.arranged.source.is_cut;
    Ok(Read {
        kind: opened.kind,
        scope: opened.scope,
        arranged: reading.arranged,
        failures: is_cut.then(|| CUT.to_owned()).into_iter().collect(),
    })
}

/// Reads a list with the user's own requests only.
async fn direct(
    api: &Api,
    kind: ResourceKind,
    scope: ListScope,
    filter: &Filter,
) -> Result<Read, ServiceError> {
    let mut merged = listing::list(api, &kind, &scope, &ListSelection::default()).await?;
    let scope = merged.leave_out_refused(scope);
    let mut failures: Vec<_> = merged
        .failures
        .iter()
        .map(|(namespace, error)| {
            let place = namespace.as_deref().unwrap_or("the cluster");
            format!("{place}: {}", error.sentence())
        })
        .collect();
    let rows = all_rows(merged);
    if rows.is_cut {
        failures.push(CUT.to_owned());
    }
    Ok(Read {
        kind,
        scope,
        arranged: arrange(Arc::new(rows), filter, api.now())?,
        failures,
    })
}

/// Returns the rows of a merged list.
pub fn all_rows(merged: Merged) -> ListRows {
    let columns = merged.columns().into();
    let is_cut = merged.parts.iter().any(|part| part.cut);
    let rows: Vec<_> = merged.into_rows().into_iter().map(Arc::new).collect();
    ListRows {
        columns,
        bytes: rows.iter().map(|row| row.bytes()).sum(),
        rows,
        remaining: 0,
        is_cut,
    }
}

/// Returns the namespaces that a list of this kind can be narrowed to: those that the user may
/// see, and `None` for a kind whose objects are in no namespace.
pub async fn namespaces_for(
    api: &Api,
    resource: &ResourceRef,
) -> Result<Option<Vec<String>>, ServiceError> {
    if !discovery::kind(api, resource).await?.namespaced {
        return Ok(None);
    }
    Ok(Some(namespaces::visible(api).await?.names))
}

/// Checks that the user has any right in a namespace.
///
/// # Errors
/// `Invalid` for a text that is not a namespace's name, `NotPermitted` without a right.
pub async fn check_namespace(api: &Api, name: &str) -> Result<(), ServiceError> {
    if !is_label(name) {
        return Err(ServiceError::invalid(
            "A namespace's name has up to 63 lower-case letters, digits and hyphens.",
        ));
    }
    if namespaces::has_rights(api, name).await? {
        return Ok(());
    }
    Err(ServiceError::not_permitted(format!(
        "Your roles give you no rights in the namespace {name}, or it does not exist."
    ))
    .next("Check the name, or ask an administrator of the namespace for access."))
}
