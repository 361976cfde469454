//! Rows, columns and queries for unit tests.
use super::arrangement::ListRows;
use crate::kube::table::TableRow;
use jiff::Timestamp;
use portico_domain::panel::{Column, Health, ListQuery, ResourceRef, Row};
use std::sync::Arc;

pub const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);

pub fn columns() -> [Column; 4] {
    ["Name", "Status", "Restarts", "Age"].map(|name| Column {
        name: name.to_owned(),
        description: String::new(),
        priority: 0,
        kind: "string".to_owned(),
    })
}

pub fn row(namespace: &str, name: &str, status: &str, restarts: &str) -> Row {
    Row {
        uid: format!("{namespace}/{name}"),
        name: name.to_owned(),
        namespace: Some(namespace.to_owned()),
        resource_version: "1".to_owned(),
        created_at: None,
        cells: vec![
            name.to_owned(),
            status.to_owned(),
            restarts.to_owned(),
            "3d".to_owned(),
        ],
        labels: vec![("app".to_owned(), name.to_lowercase())],
        health: Some(match status {
            "Running" => Health::Ok,
            "Pending" => Health::Warning,
            _ => Health::Failed,
        }),
        event: None,
    }
}

pub fn rows(rows: Vec<Row>) -> Arc<ListRows> {
    Arc::new(ListRows {
        columns: columns().into(),
        rows: rows
            .into_iter()
            .map(|row| Arc::new(TableRow { row, owner: None }))
            .collect(),
        ..ListRows::default()
    })
}

pub fn query() -> ListQuery {
    ListQuery {
        resource: ResourceRef::core("pods"),
        namespaces: Vec::new(),
        search: String::new(),
        labels: String::new(),
        fields: String::new(),
        status: Vec::new(),
        sort: String::new(),
    }
}
