//! Lists of any kind, read in chunks and merged over the namespaces that a user may list.
use super::{
    Api, KubeError,
    api::Call,
    path,
    row_reader::RowReader,
    table::{self, Table, TableRow},
};
use futures::{StreamExt, stream};
use portico_domain::panel::{Column, ListScope, ResourceKind, ResourceRef};

/// Rows of the first chunk, which are all that a page needs at first.
const FIRST_CHUNK_ROWS: &str = "500";
/// Rows of the others: larger, as each chunk costs the API server a fixed amount too.
const CHUNK_ROWS: &str = "2000";
/// Maximum number of rows in one list.
const MAX_ROWS: usize = 20_000;
/// Maximum number of chunks in one list: an API server may name a next one for ever.
const MAX_CHUNKS: usize = 64;
const MAX_CONCURRENT_LISTS: usize = 8;

/// The part of a list that comes from one place: a namespace, or the whole cluster.
#[derive(Debug, Default)]
pub struct Part {
    pub namespace: Option<String>,
    pub columns: Vec<Column>,
    pub rows: Vec<TableRow>,
    /// Where a watch continues.
    pub resource_version: String,
    /// True when [`MAX_ROWS`] cut the list.
    pub cut: bool,
}

/// The selection within a kind.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    pub labels: String,
    pub fields: String,
}

/// A merged list, and the places that did not respond.
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

    /// Counts namespaces that refused the list as not permitted instead of failed. Rights end
    /// between the review and the list if a namespace is deleted.
    pub fn leave_out_refused(&mut self, scope: ListScope) -> ListScope {
        let ListScope::Namespaces {
            mut listed,
            mut refused,
            all_known,
        } = scope
        else {
            return scope;
        };
        self.failures.retain(|(namespace, error)| {
            let gone = namespace
                .as_ref()
                .filter(|_| matches!(error, KubeError::Refused(_)));
            if let Some(gone) = gone {
                listed.retain(|name| name != gone);
                refused.push(gone.clone());
            }
            gone.is_none()
        });
        refused.sort_unstable();
        ListScope::Namespaces {
            listed,
            refused,
            all_known,
        }
    }

    pub fn into_rows(self) -> Vec<TableRow> {
        self.parts.into_iter().flat_map(|part| part.rows).collect()
    }
}

/// Returns the places of a scope.
pub fn places(scope: &ListScope) -> Vec<Option<String>> {
    match scope {
        ListScope::Cluster => vec![None],
        ListScope::Namespace(namespace) => vec![Some(namespace.clone())],
        ListScope::Namespaces { listed, .. } => listed.iter().cloned().map(Some).collect(),
    }
}

/// Lists a kind over a scope. One place that fails does not hide the others; if all fail, the first
/// failure is returned.
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
        .buffered(MAX_CONCURRENT_LISTS)
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

/// Lists one place.
///
/// # Errors
/// Those of [`Chunks::next`].
pub async fn list_one(
    api: &Api,
    resource: &ResourceRef,
    namespace: Option<&str>,
    selection: &Selection,
) -> Result<Part, KubeError> {
    let mut part = Part {
        namespace: namespace.map(str::to_owned),
        ..Part::default()
    };
    let mut chunks = Chunks::new(api, resource, namespace, selection).await?;
    while let Some(chunk) = chunks.next().await? {
        if chunk.is_restarted {
            part.rows.clear();
        }
        if part.columns.is_empty() {
            part.columns = chunk.columns;
        }
        part.resource_version = chunk.resource_version;
        part.cut = chunk.is_cut;
        part.rows.extend(chunk.rows);
    }
    Ok(part)
}

/// A part of a list, in the API server's order: by namespace and name.
#[derive(Debug, Default)]
pub struct Chunk {
    pub columns: Vec<Column>,
    pub rows: Vec<TableRow>,
    /// Where a watch continues after the last chunk.
    pub resource_version: String,
    /// Whether the list had to start again: the rows of the chunks before do not count.
    pub is_restarted: bool,
    /// Approximate number of rows after this chunk; 0 if the API server does not say.
    pub remaining: usize,
    /// True when [`MAX_ROWS`] or [`MAX_CHUNKS`] cut the list.
    pub is_cut: bool,
}

/// Reads one place chunk by chunk.
pub struct Chunks<'a> {
    api: &'a Api,
    collection: String,
    selection: &'a Selection,
    reader: RowReader,
    columns: Vec<Column>,
    rows: usize,
    chunks: usize,
    /// The position of the next chunk; empty for the first, `None` after the last.
    next: Option<String>,
    was_restarted: bool,
}

impl<'a> Chunks<'a> {
    /// # Errors
    /// `Invalid` for a name that no path can have, and those of [`RowReader::new`].
    pub async fn new(
        api: &'a Api,
        resource: &ResourceRef,
        namespace: Option<&str>,
        selection: &'a Selection,
    ) -> Result<Self, KubeError> {
        Ok(Self {
            collection: path::collection(resource, namespace)?,
            reader: RowReader::new(api, resource).await?,
            api,
            selection,
            columns: Vec::new(),
            rows: 0,
            chunks: 0,
            next: Some(String::new()),
            was_restarted: false,
        })
    }

    /// Returns the next chunk; `None` after the last.
    ///
    /// # Errors
    /// Those of the request. `Expired` if the list could not be finished in the second attempt
    /// either.
    pub async fn next(&mut self) -> Result<Option<Chunk>, KubeError> {
        let Some(position) = self.next.take() else {
            return Ok(None);
        };
        let (table, is_restarted) = match self.read(&position).await {
            // the chunks' snapshot was compacted away: start again
            Err(KubeError::Expired) if !self.was_restarted => {
                self.was_restarted = true;
                self.rows = 0;
                (self.read("").await?, true)
            }
            other => (other?, false),
        };
        if self.columns.is_empty() {
            self.columns = self.reader.columns(&table);
        }
        let metadata = table.metadata.clone();
        let rows = self.reader.rows(table, &self.columns);
        self.rows += rows.len();
        self.chunks += 1;
        let is_last = metadata.continue_token.is_empty();
        let is_full = self.rows >= MAX_ROWS || self.chunks >= MAX_CHUNKS;
        let is_cut = !is_last && is_full;
        if !is_last && !is_cut {
            self.next = Some(metadata.continue_token);
        }
        Ok(Some(Chunk {
            columns: self.columns.clone(),
            rows,
            resource_version: metadata.resource_version,
            is_restarted,
            remaining: metadata.remaining_item_count,
            is_cut,
        }))
    }

    async fn read(&self, position: &str) -> Result<Table, KubeError> {
        let limit = if position.is_empty() {
            FIRST_CHUNK_ROWS
        } else {
            CHUNK_ROWS
        };
        let path = path::with_query(
            &self.collection,
            &[
                ("limit", limit),
                ("continue", position),
                ("labelSelector", &self.selection.labels),
                ("fieldSelector", &self.selection.fields),
                ("includeObject", self.reader.include_object()),
            ],
        );
        let bytes = self
            .api
            .bytes(Call {
                accept: table::ACCEPT,
                ..Call::get(&path)
            })
            .await?;
        Table::read(&bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failing(failures: &[(&str, KubeError)]) -> Merged {
        Merged {
            parts: vec![Part::default()],
            failures: failures
                .iter()
                .map(|(name, error)| (Some((*name).to_owned()), error.clone()))
                .collect(),
        }
    }

    fn over(listed: &[&str], refused: &[&str]) -> ListScope {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        ListScope::Namespaces {
            listed: owned(listed),
            refused: owned(refused),
            all_known: true,
        }
    }

    #[test]
    fn a_namespace_that_refuses_the_list_is_left_out_of_a_merged_one() {
        let mut merged = failing(&[("deleted", KubeError::Refused("no role".to_owned().into()))]);
        let scope = merged.leave_out_refused(over(&["deleted", "shop"], &["kube-system"]));
        assert_eq!(scope, over(&["shop"], &["deleted", "kube-system"]));
        assert!(merged.failures.is_empty());
    }

    #[test]
    fn a_namespace_that_does_not_answer_stays_a_failure() {
        let mut merged = failing(&[("shop", KubeError::Unreachable("timeout".to_owned()))]);
        let scope = merged.leave_out_refused(over(&["shop"], &[]));
        assert_eq!(scope, over(&["shop"], &[]));
        assert_eq!(merged.failures.len(), 1);
    }

    #[test]
    fn a_refusal_of_the_one_namespace_that_was_asked_for_stays_a_failure() {
        let mut merged = failing(&[("shop", KubeError::Refused("no role".to_owned().into()))]);
        let scope = merged.leave_out_refused(ListScope::Namespace("shop".to_owned()));
        assert_eq!(scope, ListScope::Namespace("shop".to_owned()));
        assert_eq!(merged.failures.len(), 1);
    }
}
