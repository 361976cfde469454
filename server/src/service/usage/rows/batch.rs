//! What is measured for the rows of a list, and the result.
use crate::service::error::ServiceError;
use portico_domain::panel::{CpuMemory, ResourceRef, UsageRow, UsageSource};
use std::collections::{BTreeSet, HashMap};

/// The namespace, empty for what is in none, and the name of an object.
pub type Key = (String, String);

/// Returns the key of a row.
pub fn key(row: &UsageRow) -> Key {
    (row.namespace.clone().unwrap_or_default(), row.name.clone())
}

/// What a source measures for the rows of one request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Batch {
    /// Each pod of these namespaces.
    Pods {
        namespaces: Vec<String>,
        /// The pods of interest; empty if they are not known yet.
        names: Vec<String>,
    },
    /// The pods of each namespace together.
    Namespaces(Vec<String>),
    /// Each node.
    Nodes,
}

impl Batch {
    /// Returns what is measured for rows of a kind that has usage.
    pub fn of(resource: &ResourceRef, rows: &[UsageRow]) -> Self {
        let names: BTreeSet<String> = rows.iter().map(|row| row.name.clone()).collect();
        let namespaces: BTreeSet<String> = rows
            .iter()
            .filter_map(|row| row.namespace.clone())
            .collect();
        match resource.plural.as_str() {
            "nodes" => Self::Nodes,
            "namespaces" => Self::Namespaces(names.into_iter().collect()),
            "pods" => Self::Pods {
                namespaces: namespaces.into_iter().collect(),
                names: names.into_iter().collect(),
            },
            _ => Self::Pods {
                namespaces: namespaces.into_iter().collect(),
                names: Vec::new(),
            },
        }
    }

    pub fn namespaces(&self) -> &[String] {
        match self {
            Self::Pods { namespaces, .. } | Self::Namespaces(namespaces) => namespaces,
            Self::Nodes => &[],
        }
    }

    /// Returns the same in other namespaces.
    pub fn within(&self, namespaces: Vec<String>) -> Self {
        match self {
            Self::Pods { names, .. } => Self::Pods {
                namespaces,
                names: names.clone(),
            },
            Self::Namespaces(_) => Self::Namespaces(namespaces),
            Self::Nodes => Self::Nodes,
        }
    }
}

/// What a source has measured for a batch.
#[derive(Clone, Debug)]
pub struct Samples {
    pub source: UsageSource,
    pub used: HashMap<Key, CpuMemory>,
    /// Namespaces that could not be measured.
    pub failures: HashMap<String, ServiceError>,
}

impl Samples {
    /// Returns nothing measured by a source.
    pub fn of(source: UsageSource) -> Self {
        Self {
            source,
            used: HashMap::new(),
            failures: HashMap::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(namespace: Option<&str>, name: &str) -> UsageRow {
        UsageRow {
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
        }
    }

    #[test]
    fn need_07_rows_of_one_namespace_are_one_place() {
        let rows = [
            row(Some("shop"), "web"),
            row(Some("bank"), "web"),
            row(Some("shop"), "db"),
        ];
        let workloads = Batch::of(&ResourceRef::new("apps", "v1", "deployments"), &rows);
        assert_eq!(workloads.namespaces(), ["bank", "shop"]);
        assert!(matches!(&workloads, Batch::Pods { names, .. } if names.is_empty()));
        let pods = Batch::of(&ResourceRef::core("pods"), &rows);
        assert!(matches!(&pods, Batch::Pods { names, .. } if names == &["db", "web"]));
        let only = pods.within(vec!["shop".to_owned()]);
        assert_eq!(only.namespaces(), ["shop"]);
        let namespaces = Batch::of(&ResourceRef::core("namespaces"), &[row(None, "shop")]);
        assert_eq!(namespaces, Batch::Namespaces(vec!["shop".to_owned()]));
        let nodes = Batch::of(&ResourceRef::core("nodes"), &[row(None, "node-1")]);
        assert!(nodes.namespaces().is_empty());
    }
}
