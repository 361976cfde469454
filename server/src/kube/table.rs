//! Decoding of the API server's own Table format, which makes lists of any kind possible without
//! code for it.
use super::{KubeError, events::Event};
use jiff::Timestamp;
use portico_domain::panel::{Column, Health, Row};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The `Accept` header of a list or watch; servers without Tables respond with plain JSON, which is
/// refused.
pub const ACCEPT: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// A Table as received.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Table {
    pub kind: String,
    #[serde(default)]
    pub metadata: ListMeta,
    /// A watch sends `null` after its first event.
    #[serde(default)]
    column_definitions: Option<Vec<ColumnDefinition>>,
    #[serde(default)]
    rows: Option<Vec<RawRow>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ListMeta {
    pub resource_version: String,
    #[serde(rename = "continue")]
    pub continue_token: String,
    pub remaining_item_count: usize,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ColumnDefinition {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub description: String,
    pub priority: i32,
}

#[derive(Debug, Deserialize)]
struct RawRow {
    #[serde(default)]
    cells: Vec<Value>,
    /// The metadata alone for every kind except events, which are requested in full.
    object: Option<Event>,
}

/// The metadata that a row needs: annotations and managed fields are dropped while reading.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Meta {
    pub uid: String,
    name: String,
    pub namespace: Option<String>,
    resource_version: String,
    pub creation_timestamp: Option<Timestamp>,
    labels: Map<String, Value>,
    owner_references: Vec<Owner>,
}

impl Meta {
    /// Returns the row of an object with these cells.
    pub fn into_row(self, cells: Vec<String>, health: Option<Health>) -> TableRow {
        TableRow {
            owner: self
                .owner_references
                .into_iter()
                .find(|owner| owner.controller),
            row: Row {
                uid: self.uid,
                name: self.name,
                namespace: self.namespace,
                resource_version: self.resource_version,
                created_at: self.creation_timestamp.map(Timestamp::as_second),
                cells,
                labels: self
                    .labels
                    .into_iter()
                    .map(|(name, value)| (name, value.as_str().unwrap_or_default().to_owned()))
                    .collect(),
                health,
                event: None,
            },
        }
    }
}

/// The controller that made an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Owner {
    pub kind: String,
    pub name: String,
    pub uid: String,
    pub controller: bool,
}

/// A row with the additional data that the server needs.
#[derive(Clone, Debug, PartialEq)]
pub struct TableRow {
    pub row: Row,
    pub owner: Option<Owner>,
}

impl TableRow {
    /// Returns the approximate memory of the row in a map by its UID, in bytes: its texts, and the
    /// overhead of each.
    pub fn bytes(&self) -> usize {
        const TEXT: usize = size_of::<String>();
        let row = &self.row;
        let cells: usize = row.cells.iter().map(|cell| cell.len() + TEXT).sum();
        let labels: usize = row
            .labels
            .iter()
            .map(|(name, value)| name.len() + value.len() + 2 * TEXT)
            .sum();
        let keys = 2 * (row.uid.len() + TEXT) + row.resource_version.len() + TEXT;
        size_of::<Self>()
            + keys
            + row.name.len()
            + row.namespace.as_ref().map_or(0, String::len)
            + cells
            + labels
    }
}

impl Table {
    /// Reads a response, which must be a Table.
    pub fn read(bytes: &[u8]) -> Result<Self, KubeError> {
        let table: Self = serde_json::from_slice(bytes)
            .map_err(|error| KubeError::Protocol(error.to_string()))?;
        if table.kind == "Table" {
            Ok(table)
        } else {
            Err(KubeError::Protocol(format!(
                "a {} instead of a Table",
                table.kind
            )))
        }
    }

    /// Returns the columns for the page.
    pub fn columns(&self) -> Vec<Column> {
        self.column_definitions
            .iter()
            .flatten()
            .map(|column| Column {
                name: column.name.clone(),
                description: column.description.clone(),
                priority: column.priority,
                kind: column.kind.clone(),
            })
            .collect()
    }

    /// Returns the rows, with their health by `columns` (a watch names them only once).
    pub fn into_rows(self, plural: &str, columns: &[Column]) -> Vec<TableRow> {
        self.rows
            .unwrap_or_default()
            .into_iter()
            .filter_map(|raw| {
                let meta = raw.object?.metadata;
                let cells: Vec<_> = raw.cells.iter().map(cell).collect();
                let health = row_health(plural, columns, &cells);
                Some(meta.into_row(cells, health))
            })
            .collect()
    }

    /// Returns the objects of its rows.
    pub fn into_events(self) -> impl Iterator<Item = Event> {
        let rows = self.rows.unwrap_or_default();
        rows.into_iter().filter_map(|row| row.object)
    }

    /// Returns the position in a bookmark, whose field depends on the server's version.
    pub fn bookmark(&self) -> Option<String> {
        let row = self
            .rows
            .as_ref()
            .and_then(|rows| rows.first())
            .and_then(|row| row.object.as_ref())
            .map(|object| object.metadata.resource_version.clone());
        row.or_else(|| Some(self.metadata.resource_version.clone()))
            .filter(|version| !version.is_empty())
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns the health of an object by its cells: enough for a list; its own page gives the reason.
fn row_health(plural: &str, columns: &[Column], cells: &[String]) -> Option<Health> {
    let named = |name: &str| {
        columns
            .iter()
            .position(|column| column.name.eq_ignore_ascii_case(name))
            .and_then(|index| cells.get(index))
            .map(String::as_str)
    };
    match plural {
        "pods" => Some(pod_health(named("Status")?, named("Ready").unwrap_or(""))),
        "deployments" | "statefulsets" => Some(share_health(named("Ready")?)),
        "replicasets" | "daemonsets" | "replicationcontrollers" => {
            let (desired, ready) = (named("Desired")?, named("Ready")?);
            Some(share_health(&format!("{ready}/{desired}")))
        }
        "jobs" => {
            let health = share_health(named("Completions")?);
            // an unfinished job counts as progressing until its own page says that it failed
            Some(if health == Health::Ok {
                Health::Ok
            } else {
                Health::Progressing
            })
        }
        "nodes" => Some(match named("Status")? {
            "Ready" => Health::Ok,
            status if status.starts_with("Ready,") => Health::Warning,
            _ => Health::Failed,
        }),
        "namespaces" | "persistentvolumeclaims" | "persistentvolumes" => {
            Some(match named("Status")? {
                "Active" | "Bound" | "Available" => Health::Ok,
                "Terminating" => Health::Progressing,
                "Pending" | "Released" => Health::Warning,
                _ => Health::Failed,
            })
        }
        "apiservices" => Some(if named("Available")? == "True" {
            Health::Ok
        } else {
            Health::Failed
        }),
        _ => word_health(named("Status").or_else(|| named("Phase"))?),
    }
}

/// Returns the health for the word that a custom resource has as its status or phase; `None` for a
/// word that is not a common one.
fn word_health(status: &str) -> Option<Health> {
    Some(match status.to_ascii_lowercase().as_str() {
        "active" | "available" | "bound" | "complete" | "completed" | "deployed"
        | "established" | "healthy" | "ok" | "online" | "ready" | "running" | "succeeded"
        | "synced" => Health::Ok,
        "creating" | "deleting" | "initializing" | "pending" | "progressing" | "provisioning"
        | "reconciling" | "terminating" | "updating" | "upgrading" => Health::Progressing,
        "degraded" | "notready" | "not ready" | "outofsync" | "warning" => Health::Warning,
        "error" | "failed" | "faulted" | "lost" | "unhealthy" => Health::Failed,
        "unknown" => Health::Unknown,
        _ => return None,
    })
}

/// Returns the health for a pod's Status cell, as `kubectl get pods` shows it.
fn pod_health(status: &str, ready: &str) -> Health {
    match status {
        "Completed" | "Succeeded" => Health::Ok,
        "Running" => match ready.split_once('/') {
            Some((have, want)) if have != want => Health::Warning,
            _ => Health::Ok,
        },
        "Pending" => Health::Warning,
        "ContainerCreating" | "PodInitializing" | "Terminating" => Health::Progressing,
        status if status.starts_with("Init:") && !is_failure(status) => Health::Progressing,
        "Unknown" | "NodeLost" => Health::Unknown,
        _ => Health::Failed,
    }
}

fn is_failure(status: &str) -> bool {
    status.contains("BackOff") || status.contains("Err") || status.contains("Kill")
}

/// Returns the health for a share such as `2/3`.
fn share_health(share: &str) -> Health {
    match share.split_once('/') {
        Some((have, want)) if have == want => Health::Ok,
        Some(("0", _)) => Health::Failed,
        Some(_) => Health::Warning,
        None => Health::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PODS: &str = r#"{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"712","continue":"abc"},
        "columnDefinitions":[{"name":"Name","type":"string","format":"name","description":"n","priority":0},
            {"name":"Ready","type":"string","format":"","description":"r","priority":0},
            {"name":"Status","type":"string","format":"","description":"s","priority":0},
            {"name":"Restarts","type":"integer","format":"","description":"x","priority":0}],
        "rows":[{"cells":["web-1","0/1","CrashLoopBackOff",7],"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",
            "metadata":{"name":"web-1","namespace":"shop","uid":"u1","resourceVersion":"700","creationTimestamp":"2026-11-21T10:00:00Z",
            "labels":{"app":"web"},"annotations":{"secret":"x"},"managedFields":[{"manager":"k"}],
            "ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","uid":"o1","controller":true}]}}}]}"#;

    #[test]
    fn a_table_becomes_rows_with_health_and_owner() {
        let table = Table::read(PODS.as_bytes()).unwrap();
        assert_eq!(table.metadata.continue_token, "abc");
        let columns = table.columns();
        let rows = table.into_rows("pods", &columns);
        assert_eq!(rows[0].row.cells, ["web-1", "0/1", "CrashLoopBackOff", "7"]);
        assert_eq!(rows[0].row.health, Some(Health::Failed));
        assert_eq!(rows[0].owner.as_ref().unwrap().name, "web");
        assert!(rows[0].row.created_at.is_some());
    }

    #[test]
    fn pod_states_are_distinguished() {
        for (status, ready, health) in [
            ("Running", "1/1", Health::Ok),
            ("Running", "0/1", Health::Warning),
            ("Completed", "0/1", Health::Ok),
            ("Pending", "0/1", Health::Warning),
            ("Init:0/2", "0/1", Health::Progressing),
            ("Init:CrashLoopBackOff", "0/1", Health::Failed),
            ("ImagePullBackOff", "0/1", Health::Failed),
            ("OOMKilled", "0/1", Health::Failed),
            ("Terminating", "1/1", Health::Progressing),
        ] {
            assert_eq!(pod_health(status, ready), health, "{status} {ready}");
        }
    }

    #[test]
    fn the_status_of_a_custom_resource_gives_its_health_if_it_is_a_common_word() {
        let columns = |name: &str| {
            [Column {
                name: name.to_owned(),
                description: String::new(),
                priority: 0,
                kind: "string".to_owned(),
            }]
        };
        let health =
            |column: &str, cell: &str| row_health("backups", &columns(column), &[cell.to_owned()]);
        assert_eq!(health("Status", "Failed"), Some(Health::Failed));
        assert_eq!(health("Phase", "ready"), Some(Health::Ok));
        assert_eq!(health("Phase", "Provisioning"), Some(Health::Progressing));
        assert_eq!(health("Status", "Sleeping"), None);
        assert_eq!(health("Status", ""), None);
        assert_eq!(health("Color", "Failed"), None);
    }

    #[test]
    fn what_is_not_a_table_is_refused() {
        assert!(Table::read(br#"{"kind":"PodList","items":[]}"#).is_err());
        assert!(Table::read(b"nonsense").is_err());
    }
}
