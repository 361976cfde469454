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

/// The query of a list.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ListQuery {
    pub resource: ResourceRef,
    /// `None`: every namespace that the viewer may list.
    pub namespace: Option<String>,
    /// Part of a name.
    pub name: String,
    /// A Kubernetes label selector.
    pub labels: String,
    /// `column` or `-column` (a column's lower-case name); empty: by namespace and name, events
    /// newest first.
    pub sort: String,
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
    pub rows: Vec<Row>,
    /// Number of rows before `rows` was cut to its limit.
    pub total: usize,
    /// The scope of the rows, if not everything may be listed.
    pub scope: ListScope,
    /// Namespaces that failed to respond, with the reason.
    pub failures: Vec<String>,
}

/// The scope of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ListScope {
    Cluster,
    Namespace(String),
    /// Merged over the namespaces that the viewer may list; the second is the number of those that
    /// they may not.
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
    pub event: Option<EventFacts>,
}

/// The data of an event's row besides its cells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventFacts {
    /// Unix seconds.
    pub last_seen: Option<i64>,
    /// Number of occurrences.
    pub count: i32,
    /// The object of the event; `None` if the cluster does not serve its kind.
    pub object: Option<ObjectRef>,
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
