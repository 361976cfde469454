//! Conversion of Tables into rows. Events have columns of their own: the API server's Table starts
//! with an age in words and names the object without its API group.
use super::{
    Api, KubeError,
    discovery::{self, Catalog},
    events::{self, Event, Involved},
    table::{Table, TableRow},
};
use portico_domain::panel::{Column, EventFields, Health, ObjectRef, ResourceRef};
use std::sync::Arc;

/// Reads the rows of one kind.
pub enum RowReader {
    /// Rows as the API server renders them.
    Plain { plural: String },
    /// Events, with the catalog for the plurals of the kinds that they name.
    Events(Arc<Catalog>),
}

impl RowReader {
    /// Returns the reader of a kind.
    ///
    /// # Errors
    /// Those of discovery, which events need.
    pub async fn new(api: &Api, resource: &ResourceRef) -> Result<Self, KubeError> {
        if resource.is_events() {
            Ok(Self::Events(discovery::catalog(api).await?))
        } else {
            Ok(Self::Plain {
                plural: resource.plural.clone(),
            })
        }
    }

    /// Returns the query parameter `includeObject`; empty for the API server's default, the
    /// metadata.
    pub fn include_object(&self) -> &'static str {
        match self {
            Self::Plain { .. } => "",
            Self::Events(_) => "Object",
        }
    }

    pub fn columns(&self, table: &Table) -> Vec<Column> {
        match self {
            Self::Plain { .. } => table.columns(),
            Self::Events(_) => event_columns(),
        }
    }

    /// Returns the rows, with their health by `columns` (a watch names them only once).
    pub fn rows(&self, table: Table, columns: &[Column]) -> Vec<TableRow> {
        match self {
            Self::Plain { plural } => table.into_rows(plural, columns),
            Self::Events(catalog) => table
                .into_events()
                .map(|event| event_row(event, catalog))
                .collect(),
        }
    }
}

fn event_columns() -> Vec<Column> {
    [
        ("Last seen", "date", "When it happened last."),
        ("Type", "string", "Normal or Warning."),
        ("Reason", "string", "A short word for what happened."),
        ("Object", "string", "The object that it is about."),
        ("Message", "string", "What happened, in words."),
    ]
    .map(|(name, kind, description)| Column {
        name: name.to_owned(),
        description: description.to_owned(),
        priority: 0,
        kind: kind.to_owned(),
    })
    .to_vec()
}

fn event_row(mut event: Event, catalog: &Catalog) -> TableRow {
    let meta = std::mem::take(&mut event.metadata);
    let involved = std::mem::take(&mut event.involved_object);
    // the last resort for the time of the event
    event.metadata.creation_timestamp = meta.creation_timestamp;
    let object = object_of(&involved, meta.namespace.as_deref(), catalog);
    let columns = events::row(event);
    let health = (columns.kind == "Warning").then_some(Health::Warning);
    let mut row = meta.into_row(
        vec![
            // shown as an age, from `event`
            String::new(),
            columns.kind,
            columns.reason,
            format!("{} {}", involved.kind, involved.name),
            columns.message,
        ],
        health,
    );
    row.row.event = Some(EventFields {
        last_seen: columns.last_seen,
        count: columns.count,
        object,
    });
    row
}

/// Returns the reference of an event's object. Events of cluster-scoped objects are in a namespace
/// too.
fn object_of(involved: &Involved, namespace: Option<&str>, catalog: &Catalog) -> Option<ObjectRef> {
    let (group, version) = involved
        .api_version
        .split_once('/')
        .unwrap_or(("", &involved.api_version));
    let kind = catalog
        .by_kind(group, version, &involved.kind)
        .or_else(|| catalog.by_group_and_kind(group, &involved.kind))?;
    let namespace = Some(involved.namespace.as_str())
        .filter(|name| !name.is_empty())
        .or(namespace)
        .filter(|_| kind.namespaced);
    (!involved.name.is_empty()).then(|| ObjectRef {
        resource: discovery::reference(kind),
        namespace: namespace.map(str::to_owned),
        name: involved.name.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::panel::ResourceKind;

    fn catalog() -> Arc<Catalog> {
        let kind = |group: &str, plural: &str, kind: &str, namespaced: bool| ResourceKind {
            group: group.to_owned(),
            version: "v1".to_owned(),
            plural: plural.to_owned(),
            kind: kind.to_owned(),
            namespaced,
            verbs: vec!["list".to_owned()],
            short_names: Vec::new(),
        };
        Arc::new(Catalog::new(vec![
            kind("", "pods", "Pod", true),
            kind("", "nodes", "Node", false),
            kind("data.example.org", "backups", "Backup", true),
        ]))
    }

    /// Returns the rows of a Table with one event.
    fn read(object: &serde_json::Value) -> TableRow {
        let table = serde_json::json!({
            "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": {"resourceVersion": "1"},
            "columnDefinitions": [{"name": "Last Seen", "type": "string"}],
            "rows": [{"cells": ["12s"], "object": object}],
        });
        let table = Table::read(table.to_string().as_bytes()).unwrap();
        let reader = RowReader::Events(catalog());
        let columns = reader.columns(&table);
        let names: Vec<_> = columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["Last seen", "Type", "Reason", "Object", "Message"]);
        reader.rows(table, &columns).remove(0)
    }

    fn object(resource: ResourceRef, namespace: Option<&str>, name: &str) -> Option<ObjectRef> {
        Some(ObjectRef {
            resource,
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
        })
    }

    #[test]
    fn finding_p2_an_event_of_the_core_group_has_its_time_type_reason_object_and_message() {
        let row = read(&serde_json::json!({
            "metadata": {"name": "web-1.17a", "namespace": "shop", "uid": "u", "resourceVersion": "2",
                "creationTimestamp": "2026-11-21T10:00:00Z"},
            "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "web-1", "apiVersion": "v1"},
            "reason": "BackOff", "message": "Back-off restarting failed container", "type": "Warning",
            "source": {"component": "kubelet", "host": "n1"}, "count": 7, "eventTime": null,
            "firstTimestamp": "2026-11-21T10:00:00Z", "lastTimestamp": "2026-11-21T10:05:00Z",
            "reportingComponent": "", "reportingInstance": "",
        }));
        assert_eq!(
            row.row.cells[1..],
            [
                "Warning",
                "BackOff",
                "Pod web-1",
                "Back-off restarting failed container"
            ]
        );
        assert_eq!(row.row.health, Some(Health::Warning));
        let event = row.row.event.unwrap();
        assert_eq!(event.last_seen, row.row.created_at.map(|made| made + 300));
        assert_eq!(event.count, 7);
        assert_eq!(
            event.object,
            object(ResourceRef::core("pods"), Some("shop"), "web-1")
        );
    }

    #[test]
    fn finding_p2_an_event_of_the_newer_group_is_read_the_same() {
        let row = read(&serde_json::json!({
            "metadata": {"name": "nightly.17b", "namespace": "shop", "uid": "u", "resourceVersion": "2",
                "creationTimestamp": "2026-11-21T10:00:00Z"},
            "regarding": {"kind": "Backup", "namespace": "shop", "name": "nightly",
                "apiVersion": "data.example.org/v1"},
            "reason": "Done", "note": "It is stored.", "type": "Normal", "deprecatedSource": {},
            "deprecatedFirstTimestamp": null, "deprecatedLastTimestamp": null,
            "eventTime": "2026-11-21T10:00:01.000000Z", "reportingController": "backup",
            "series": {"count": 3, "lastObservedTime": "2026-11-21T10:02:00.000000Z"},
        }));
        assert_eq!(
            row.row.cells[1..],
            ["Normal", "Done", "Backup nightly", "It is stored."]
        );
        assert_eq!(row.row.health, None);
        let event = row.row.event.unwrap();
        assert_eq!(event.last_seen, row.row.created_at.map(|made| made + 120));
        assert_eq!(event.count, 3);
        let backups = ResourceRef::new("data.example.org", "v1", "backups");
        assert_eq!(event.object, object(backups, Some("shop"), "nightly"));
    }

    #[test]
    fn finding_p2_a_nodes_event_leads_to_the_node_and_an_unknown_kind_nowhere() {
        // the kubelet omits the API version and the namespace
        let about = |involved: serde_json::Value| {
            let row = read(&serde_json::json!({
                "metadata": {"name": "e", "namespace": "default", "uid": "u", "resourceVersion": "2"},
                "involvedObject": involved, "lastTimestamp": "2026-11-21T10:05:00Z",
            }));
            row.row.event.unwrap().object
        };
        assert_eq!(
            about(serde_json::json!({"kind": "Node", "name": "n1", "uid": "n1"})),
            object(ResourceRef::core("nodes"), None, "n1")
        );
        let unknown = serde_json::json!({"kind": "Unicorn", "name": "u", "apiVersion": "x.org/v1"});
        assert_eq!(about(unknown), None);
    }
}
