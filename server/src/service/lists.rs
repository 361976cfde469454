//! Lists of any kind: scope, filter, order and window.
use super::{error::ServiceError, row_health::RowHealth};
use crate::kube::{
    Api, KubeError, discovery,
    listing::{self, Selection},
    namespaces,
};
use portico_domain::panel::{Column, ListQuery, ResourceKind, ResourceRef, ResourceTable, Row};
use std::cmp::Ordering;

/// Maximum number of rows in one response; `total` is their full number.
pub const MAX_ROWS: usize = 500;

/// Returns every kind that can be listed.
pub async fn kinds(api: &Api) -> Result<Vec<ResourceKind>, ServiceError> {
    Ok(discovery::catalog(api).await?.listable())
}

/// Returns a list over everything that the user may see.
pub async fn list(api: &Api, query: &ListQuery) -> Result<ResourceTable, ServiceError> {
    let kind = discovery::kind(api, &query.resource).await?;
    let scope = namespaces::scope(api, &kind, query.namespace.as_deref(), "list").await?;
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
        failures.push("There are more objects than are read at once; narrow the list.".to_owned());
    }
    let mut rows: Vec<_> = merged.into_rows().into_iter().map(|row| row.row).collect();
    let total = arrange(&mut rows, &columns, query);
    if let Some(health) = RowHealth::of(&query.resource, &columns) {
        health.refine(api, &mut rows).await;
    }
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

/// Returns the part of a query that the API server evaluates.
pub fn selection(query: &ListQuery) -> Selection {
    Selection {
        labels: query.labels.trim().to_owned(),
        fields: String::new(),
    }
}

/// Filters by name, sorts, and cuts to the window; returns the number of matches.
pub fn arrange(rows: &mut Vec<Row>, columns: &[Column], query: &ListQuery) -> usize {
    let wanted = query.name.trim().to_lowercase();
    if !wanted.is_empty() {
        rows.retain(|row| row.name.to_lowercase().contains(&wanted));
    }
    let total = rows.len();
    order(rows, columns, query.order());
    rows.truncate(MAX_ROWS);
    total
}

fn order(rows: &mut [Row], columns: &[Column], sort: &str) {
    type Compare = Box<dyn Fn(&Row, &Row) -> Ordering>;
    let (name, descending) = match sort.strip_prefix('-') {
        Some(name) => (name, true),
        None => (sort, false),
    };
    let by_place = |a: &Row, b: &Row| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name));
    let compare: Compare = match name {
        "" => Box::new(by_place),
        "namespace" => Box::new(|a, b| a.namespace.cmp(&b.namespace)),
        "health" => Box::new(|a, b| a.health.cmp(&b.health)),
        // ages grow as creation times decrease
        "age" => Box::new(|a, b| b.created_at.cmp(&a.created_at)),
        "last seen" => Box::new(|a, b| last_seen(b).cmp(&last_seen(a))),
        name => match columns
            .iter()
            .position(|column| column.name.to_lowercase() == name)
        {
            Some(index) => Box::new(move |a, b| natural(a.cells.get(index), b.cells.get(index))),
            None => Box::new(by_place),
        },
    };
    rows.sort_by(|a, b| {
        let order = compare(a, b);
        let order = if descending { order.reverse() } else { order };
        order.then_with(|| by_place(a, b))
    });
}

fn last_seen(row: &Row) -> Option<i64> {
    row.event.as_ref()?.last_seen
}

/// Compares numbers as numbers (also `1/3` and `7 (5m ago)`), anything else as text.
fn natural(a: Option<&String>, b: Option<&String>) -> Ordering {
    let number = |text: Option<&String>| -> Option<f64> {
        let text = text?;
        let end = text
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(text.len());
        text[..end].parse().ok()
    };
    match (number(a), number(b)) {
        (Some(x), Some(y)) => x.total_cmp(&y).then_with(|| a.cmp(&b)),
        _ => a.cmp(&b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::panel::EventFacts;

    fn row(namespace: &str, name: &str, restarts: &str) -> Row {
        Row {
            uid: format!("{namespace}/{name}"),
            name: name.to_owned(),
            namespace: Some(namespace.to_owned()),
            resource_version: "1".to_owned(),
            created_at: None,
            cells: vec![name.to_owned(), restarts.to_owned()],
            labels: Vec::new(),
            health: None,
            event: None,
        }
    }

    fn arranged(name: &str, sort: &str) -> Vec<String> {
        let column = |name: &str| Column {
            name: name.to_owned(),
            description: String::new(),
            priority: 0,
            kind: "string".to_owned(),
        };
        let mut rows = vec![
            row("b", "web", "10"),
            row("a", "Web-2", "9"),
            row("a", "db", "0"),
        ];
        arrange(
            &mut rows,
            &[column("Name"), column("Restarts")],
            &ListQuery {
                resource: ResourceRef::core("pods"),
                namespace: None,
                name: name.to_owned(),
                labels: String::new(),
                sort: sort.to_owned(),
            },
        );
        rows.into_iter().map(|row| row.name).collect()
    }

    #[test]
    fn rows_stand_by_namespace_and_name_unless_asked_otherwise() {
        assert_eq!(arranged("", ""), ["Web-2", "db", "web"]);
        assert_eq!(arranged("", "nonsense"), ["Web-2", "db", "web"]);
    }

    #[test]
    fn numbers_are_ordered_as_numbers_both_ways() {
        assert_eq!(arranged("", "restarts"), ["db", "Web-2", "web"]);
        assert_eq!(arranged("", "-restarts"), ["web", "Web-2", "db"]);
    }

    #[test]
    fn finding_p2_events_are_listed_newest_first() {
        let event = |name: &str, last_seen: Option<i64>| Row {
            event: Some(EventFacts {
                last_seen,
                count: 1,
                object: None,
            }),
            ..row("a", name, "0")
        };
        let listed = |sort: &str| {
            let mut rows = vec![
                event("old", Some(10)),
                event("unknown", None),
                event("new", Some(30)),
                event("between", Some(20)),
            ];
            let query = ListQuery {
                resource: ResourceRef::new("events.k8s.io", "v1", "events"),
                namespace: None,
                name: String::new(),
                labels: String::new(),
                sort: sort.to_owned(),
            };
            arrange(&mut rows, &[], &query);
            rows.into_iter().map(|row| row.name).collect::<Vec<_>>()
        };
        assert_eq!(listed(""), ["new", "between", "old", "unknown"]);
        assert_eq!(listed("-last seen"), ["unknown", "old", "between", "new"]);
    }

    #[test]
    fn a_name_is_found_in_any_case() {
        assert_eq!(arranged("WEB", ""), ["Web-2", "web"]);
    }
}
