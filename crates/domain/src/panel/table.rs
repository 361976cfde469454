//! Lists of any kind, from the API server's own Table format.
use serde::{Deserialize, Serialize};

/// One kind of the API, from discovery. The empty group is Kubernetes' core group.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ResourceKind {
    pub group: String,
    pub version: String,
    /// Lower-case plural, as in the API's path.
    pub plural: String,
    pub kind: String,
    pub namespaced: bool,
    pub verbs: Vec<String>,
    pub short_names: Vec<String>,
}

impl ResourceKind {
    /// Returns the kind's name in the plural, with the capitals of the API:
    /// `PersistentVolumeClaims`, `NetworkPolicies`. Falls back to the kind itself if its plural is
    /// another word.
    pub fn plural_name(&self) -> String {
        let same = self
            .kind
            .chars()
            .zip(self.plural.chars())
            .take_while(|(kind, plural)| kind.to_ascii_lowercase() == *plural)
            .count();
        // both are ASCII there, so that characters are bytes
        if same * 2 < self.kind.len() || !self.plural.is_char_boundary(same) {
            return self.kind.clone();
        }
        format!("{}{}", &self.kind[..same], &self.plural[same..])
    }
}

/// A reference to a kind, in a URL or a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ResourceRef {
    pub group: String,
    pub version: String,
    pub plural: String,
}

impl ResourceRef {
    pub fn new(group: &str, version: &str, plural: &str) -> Self {
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            plural: plural.to_owned(),
        }
    }

    /// Returns whether its objects are events: `v1` of the core group and `events.k8s.io` serve the
    /// same ones.
    pub fn is_events(&self) -> bool {
        self.plural == "events" && matches!(self.group.as_str(), "" | "events.k8s.io")
    }

    /// Returns whether its objects grant rights: roles and their bindings.
    pub fn is_of_rbac(&self) -> bool {
        self.group == "rbac.authorization.k8s.io"
    }

    /// Returns whether deleting an object also deletes what it contains, or stops what depends on
    /// it. Such a deletion is confirmed with a typed text.
    pub fn contains_others(&self) -> bool {
        (self.group.is_empty()
            && matches!(
                self.plural.as_str(),
                "namespaces" | "persistentvolumes" | "nodes"
            ))
            || self.plural == "customresourcedefinitions"
    }

    /// Returns a kind of the core group, version v1.
    pub fn core(plural: &str) -> Self {
        Self::new("", "v1", plural)
    }

    /// Returns the group in a URL: `core` for the empty one.
    pub fn group_segment(&self) -> &str {
        if self.group.is_empty() {
            "core"
        } else {
            &self.group
        }
    }
}

/// One object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ObjectRef {
    pub resource: ResourceRef,
    /// `None` for a cluster-scoped object.
    pub namespace: Option<String>,
    pub name: String,
}

impl ObjectRef {
    /// Returns the object's name in the audit log: `shop/pods/web-1`, `persistentvolumes/pv-1`.
    pub fn audit_name(&self) -> String {
        let kind = if self.resource.group.is_empty() {
            self.resource.plural.clone()
        } else {
            format!("{}.{}", self.resource.plural, self.resource.group)
        };
        match &self.namespace {
            Some(namespace) => format!("{namespace}/{kind}/{}", self.name),
            None => format!("{kind}/{}", self.name),
        }
    }
}

/// The query of a list: what it selects, and in which order.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ListQuery {
    pub resource: ResourceRef,
    /// Sorted, without duplicates; empty: every namespace that the viewer may list.
    #[serde(default)]
    pub namespaces: Vec<String>,
    /// Words, all of which occur in the name, the namespace or a cell; `-word` must not occur.
    #[serde(default)]
    pub search: String,
    /// A Kubernetes label selector.
    #[serde(default)]
    pub labels: String,
    /// Conditions on columns ([`super::field_selector`]).
    #[serde(default)]
    pub fields: String,
    /// Values of the status facet, any of which a row must have; empty: all.
    #[serde(default)]
    pub status: Vec<String>,
    /// `column` or `-column` (a column's lower-case name); empty: by namespace and name, events
    /// newest first. `status` is ordered by severity.
    #[serde(default)]
    pub sort: String,
}

/// The rows of an arranged list that a browser shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RowRange {
    pub offset: usize,
    /// At most [`MAX_WINDOW_ROWS`].
    pub limit: usize,
}

/// Maximum number of rows in a window.
pub const MAX_WINDOW_ROWS: usize = 200;

/// A window of an arranged list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowWindow {
    /// Number of matching rows before the first one of `rows`.
    pub offset: usize,
    pub rows: Vec<Row>,
    /// Number of rows that match the query.
    pub total: usize,
    /// Number of rows in the namespaces of the query, whatever its filters.
    pub unfiltered: usize,
}

/// One value of the status facet, with the number of rows that have it and match all other filters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusCount {
    /// The text of the kind's status column; the health in words for a kind without one.
    pub status: String,
    pub health: Option<super::Health>,
    pub count: usize,
}

/// A label that rows of a list have, with their number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelCount {
    pub key: String,
    /// `None`: any value.
    pub value: Option<String>,
    pub count: usize,
}

impl ListQuery {
    /// Returns the order of the list: the requested one, else the default one of its kind.
    pub fn order(&self) -> &str {
        usual_order(&self.resource, &self.sort)
    }
}

/// Returns `sort`, or if it is empty the default order of a kind, which is empty for all but
/// events.
pub fn usual_order<'a>(resource: &ResourceRef, sort: &'a str) -> &'a str {
    if sort.is_empty() && resource.is_events() {
        "last seen"
    } else {
        sort
    }
}

/// A list: columns with the API server's names, and the rows that the viewer may see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResourceTable {
    pub kind: ResourceKind,
    pub columns: Vec<Column>,
    pub window: RowWindow,
    /// The most severe first.
    pub statuses: Vec<StatusCount>,
    /// The scope of the rows, if not everything may be listed.
    pub scope: ListScope,
    /// Namespaces that failed to respond, with the reason.
    pub failures: Vec<String>,
    /// Whether its objects use CPU and memory, and the cluster has a source for it.
    #[serde(default)]
    pub has_usage: bool,
}

/// The scope of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ListScope {
    Cluster,
    Namespace(String),
    /// Merged over the namespaces that the viewer may list; `refused` are those that they may not, or
    /// that do not exist.
    Namespaces {
        listed: Vec<String>,
        refused: Vec<String>,
        /// Whether the viewer may list namespaces. If not, there may be others in which they have
        /// rights.
        all_known: bool,
    },
}

/// The namespaces of a cluster that the viewer may see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VisibleNamespaces {
    /// In their order.
    pub names: Vec<String>,
    /// Whether the viewer may list namespaces. If not, these are the ones that Portico knows and the
    /// API server confirms; there may be others.
    pub all_known: bool,
}

/// One column of a Table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    pub name: String,
    pub description: String,
    /// 0 is always shown; columns with higher values only on wide screens.
    pub priority: i32,
    /// `integer`, `string`, `date` ...
    pub kind: String,
}

/// One object of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    pub uid: String,
    pub name: String,
    pub namespace: Option<String>,
    pub resource_version: String,
    /// Unix seconds.
    pub created_at: Option<i64>,
    /// One cell per column, as text.
    pub cells: Vec<String>,
    pub labels: Vec<(String, String)>,
    pub health: Option<super::Health>,
    /// Events only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<EventFields>,
}

/// The data of an event's row besides its cells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventFields {
    /// Unix seconds.
    pub last_seen: Option<i64>,
    /// Number of occurrences.
    pub count: i32,
    /// The object of the event; `None` if the cluster does not serve its kind.
    pub object: Option<ObjectRef>,
}

/// Returns the column with the status of a kind's objects in words: Status or Phase; the type for
/// events.
pub fn status_column(resource: &ResourceRef, columns: &[Column]) -> Option<usize> {
    let named = |name: &str| {
        columns
            .iter()
            .position(|column| column.name.eq_ignore_ascii_case(name))
    };
    if resource.is_events() {
        return named("type");
    }
    named("status").or_else(|| named("phase"))
}

/// Returns the status of an object: the cell of its kind's [`status_column`]; without one, its health
/// in words. `None` for a kind that has neither.
pub fn row_status(row: &Row, column: Option<usize>) -> Option<&str> {
    let cell = column
        .and_then(|index| row.cells.get(index))
        .map(String::as_str)
        .filter(|text| !text.is_empty());
    let words = || row.health.map(super::Health::words);
    // a custom resource whose controller has not looked at it yet
    let unknown = || column.map(|_| super::Health::Unknown.words());
    cell.or_else(words).or_else(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plural_name(kind: &str, plural: &str) -> String {
        ResourceKind {
            group: String::new(),
            version: "v1".to_owned(),
            plural: plural.to_owned(),
            kind: kind.to_owned(),
            namespaced: true,
            verbs: Vec::new(),
            short_names: Vec::new(),
        }
        .plural_name()
    }

    #[test]
    fn finding_p9_plurals_keep_the_capitals_of_the_api() {
        for (kind, plural, name) in [
            (
                "PersistentVolumeClaim",
                "persistentvolumeclaims",
                "PersistentVolumeClaims",
            ),
            ("NetworkPolicy", "networkpolicies", "NetworkPolicies"),
            ("Ingress", "ingresses", "Ingresses"),
            ("Endpoints", "endpoints", "Endpoints"),
            ("CSIDriver", "csidrivers", "CSIDrivers"),
            ("PodMetrics", "pods", "PodMetrics"),
            ("Person", "people", "Person"),
            ("Ünicorn", "ünicorns", "Ünicorn"),
        ] {
            assert_eq!(plural_name(kind, plural), name, "{kind}");
        }
    }

    #[test]
    fn finding_p2_events_are_ordered_by_when_they_were_last_seen() {
        assert_eq!(usual_order(&ResourceRef::core("events"), ""), "last seen");
        assert_eq!(usual_order(&ResourceRef::core("events"), "-type"), "-type");
        assert_eq!(usual_order(&ResourceRef::core("pods"), ""), "");
    }
}
