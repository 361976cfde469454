//! Lists of any kind, read in chunks and merged over the namespaces that a person may list.
use super::{
    Api, KubeError,
    api::Call,
    path,
    row_reader::RowReader,
    table::{self, Table, TableRow},
};
use futures::{StreamExt, stream};
use portico_domain::panel::{Column, ListScope, ResourceKind, ResourceRef};

const CHUNK: &str = "500";
/// Rows of one list that are held at most.
const MAX_ROWS: usize = 20_000;
const PARALLEL: usize = 8;

/// One place's part of a list: a namespace, or the whole cluster.
#[derive(Debug, Default)]
pub struct Part {
    pub namespace: Option<String>,
    pub columns: Vec<Column>,
    pub rows: Vec<TableRow>,
    /// Where a watch goes on from.
    pub resource_version: String,
    /// True when [`MAX_ROWS`] cut the list.
    pub cut: bool,
}

/// What to select of a kind.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    pub labels: String,
    pub fields: String,
}

/// A merged list, and the places that did not answer.
#[derive(Debug)]
pub struct Merged {
    pub parts: Vec<Part>,
    pub failures: Vec<(Option<String>, KubeError)>,
}

impl Merged {
    pub fn columns(&self) -> Vec<Column> {
        self.parts
            .iter()
            .map(|part| &part.columns)
            .find(|columns| !columns.is_empty())
            .cloned()
            .unwrap_or_default()
    }

    pub fn into_rows(self) -> Vec<TableRow> {
        self.parts.into_iter().flat_map(|part| part.rows).collect()
    }
}

/// The places that a scope stands for.
pub fn places(scope: &ListScope) -> Vec<Option<String>> {
    match scope {
        ListScope::Cluster => vec![None],
        ListScope::Namespace(namespace) => vec![Some(namespace.clone())],
        ListScope::Namespaces { listed, .. } => listed.iter().cloned().map(Some).collect(),
    }
}

/// Lists a kind over a scope. One place that fails does not hide the others; if all fail, the
/// first failure is the answer.
pub async fn list(
    api: &Api,
    kind: &ResourceKind,
    scope: &ListScope,
    selection: &Selection,
) -> Result<Merged, KubeError> {
    let resource = super::discovery::reference(kind);
    let resource = &resource;
    let answers: Vec<_> = stream::iter(places(scope))
        .map(|namespace| async move {
            let part = list_one(api, resource, namespace.as_deref(), selection).await;
            (namespace, part)
        })
        .buffered(PARALLEL)
        .collect()
        .await;
    let mut merged = Merged {
        parts: Vec::new(),
        failures: Vec::new(),
    };
    for (namespace, answer) in answers {
        match answer {
            Ok(part) => merged.parts.push(part),
            Err(error) => merged.failures.push((namespace, error)),
        }
    }
    match (merged.parts.is_empty(), merged.failures.first()) {
        (true, Some((_, error))) => Err(error.clone()),
        _ => Ok(merged),
    }
}

/// Lists one place, chunk by chunk.
pub async fn list_one(
    api: &Api,
    resource: &ResourceRef,
    namespace: Option<&str>,
    selection: &Selection,
) -> Result<Part, KubeError> {
    let collection = path::collection(resource, namespace)?;
    let reader = RowReader::new(api, resource).await?;
    let mut part = Part {
        namespace: namespace.map(str::to_owned),
        ..Part::default()
    };
    let mut position = String::new();
    let mut restarted = false;
    loop {
        let chunk = path::with_query(
            &collection,
            &[
                ("limit", CHUNK),
                ("continue", &position),
                ("labelSelector", &selection.labels),
                ("fieldSelector", &selection.fields),
                ("includeObject", reader.include_object()),
            ],
        );
        let answer = api
            .bytes(Call {
                accept: table::ACCEPT,
                ..Call::get(&chunk)
            })
            .await;
        let table = match answer {
            // the chunks' snapshot was compacted away: begin once more
            Err(KubeError::Expired) if !restarted => {
                restarted = true;
                position.clear();
                part.rows.clear();
                continue;
            }
            other => Table::read(&other?)?,
        };
        if part.columns.is_empty() {
            part.columns = reader.columns(&table);
        }
        part.resource_version
            .clone_from(&table.metadata.resource_version);
        position.clone_from(&table.metadata.continue_token);
        part.rows.extend(reader.rows(table, &part.columns));
        if position.is_empty() {
            return Ok(part);
        }
        if part.rows.len() >= MAX_ROWS {
            part.cut = true;
            return Ok(part);
        }
    }
}
