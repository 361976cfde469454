//! Lists of any kind, as the API server's own Table rendering gives them.
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

/// Names a kind in a URL or a message.
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

    /// A kind of the core group, version v1.
    pub fn core(plural: &str) -> Self {
        Self::new("", "v1", plural)
    }

    /// The group as URLs spell it: `core` stands for the empty one.
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

/// What a list shows.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ListQuery {
    pub resource: ResourceRef,
    /// `None`: every namespace that the viewer may list.
    pub namespace: Option<String>,
    /// Part of a name.
    pub name: String,
    /// A Kubernetes label selector.
    pub labels: String,
    /// `column` or `-column` (a column's lower-case name); empty: by namespace and name.
    pub sort: String,
}

/// A list: columns as the API server names them, and the rows that the viewer may see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResourceTable {
    pub kind: ResourceKind,
    pub columns: Vec<Column>,
    pub rows: Vec<Row>,
    /// Rows before `rows` was cut to its limit.
    pub total: usize,
    /// Where the rows come from, when not everything may be listed.
    pub scope: ListScope,
    /// Namespaces that failed to answer, with the reason.
    pub failures: Vec<String>,
}

/// Over what a list was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ListScope {
    Cluster,
    Namespace(String),
    /// Merged over the namespaces that the viewer may list; the second is how many may not.
    Namespaces {
        listed: Vec<String>,
        refused: Vec<String>,
    },
}

/// One column of a Table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    pub name: String,
    pub description: String,
    /// 0 is always shown; higher ones only on wide screens.
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
    /// One cell a column, as text.
    pub cells: Vec<String>,
    pub labels: Vec<(String, String)>,
    pub health: Option<super::Health>,
}
