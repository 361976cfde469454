//! Rows of a list whose cells do not show the health of their objects: these are assessed as on their
//! own pages. The cells of a workload do not show that replicas were requested only just now, and a
//! pod between two crashes looks healthy in its cells.
use super::{object, restarts};
use crate::kube::{Api, objects};
use futures::{StreamExt, stream};
use portico_domain::panel::{Column, Health, ObjectRef, ResourceRef, Row};
use std::cmp::Reverse;

/// Maximum number of workloads of one list that are read; the others keep the health of their
/// cells. With its pods, a workload takes two requests.
const MAX_WORKLOADS: usize = 12;
/// Maximum number of pods of one list that are read.
const MAX_PODS: usize = 24;
const MAX_CONCURRENT_READS: usize = 6;

/// Assesses the rows of one kind beyond their cells.
#[derive(Clone, Debug)]
pub struct RowHealth {
    resource: ResourceRef,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Workload,
    Pod { restarts: Option<restarts::Column> },
}

impl RowHealth {
    /// Returns the assessment of a kind, `None` if its cells are sufficient.
    pub fn of(resource: &ResourceRef, columns: &[Column]) -> Option<Self> {
        let kind = match (resource.group.as_str(), resource.plural.as_str()) {
            ("", "pods") => Kind::Pod {
                restarts: restarts::Column::of(columns),
            },
            ("apps", "deployments" | "statefulsets" | "daemonsets" | "replicasets") => {
                Kind::Workload
            }
            _ => return None,
        };
        Some(Self {
            resource: resource.clone(),
            kind,
        })
    }

    /// Returns whether lists of the kind are counted and filtered by health, for want of another
    /// status.
    pub fn is_status(&self) -> bool {
        matches!(self.kind, Kind::Workload)
    }

    /// Returns whether the page of a row's object may show another health than its cells.
    pub fn is_uncertain(&self, row: &Row) -> bool {
        match self.kind {
            Kind::Workload => matches!(row.health, Some(Health::Warning | Health::Failed)),
            Kind::Pod { .. } => {
                row.health == Some(Health::Warning) || self.recent_restarts(row).is_some()
            }
        }
    }

    /// Sets the health of uncertain rows that this user has read a short time ago. Returns whether
    /// others are left.
    pub async fn apply(&self, api: &Api, rows: &mut [Row]) -> bool {
        let mut is_left = false;
        for row in rows.iter_mut().filter(|row| self.is_uncertain(row)) {
            match api.assessed(row).await {
                Some(health) => row.health = Some(health),
                None => is_left = true,
            }
        }
        is_left
    }

    /// Sets the health of all uncertain rows, as far as they can be read.
    pub async fn assess(&self, api: &Api, rows: &mut [Row]) {
        self.read_unknown(api, rows).await;
        self.apply(api, rows).await;
    }

    /// As [`Self::read`], without the rows that this user has read a short time ago.
    pub async fn read_unknown(&self, api: &Api, rows: &[Row]) {
        let mut unknown = Vec::new();
        for row in rows.iter().filter(|row| self.is_uncertain(row)) {
            if api.assessed(row).await.is_none() {
                unknown.push(row.clone());
            }
        }
        self.read(api, unknown).await;
    }

    /// Reads the objects of uncertain rows, the pods that were restarted most often first, and stores
    /// their health for [`Self::apply`]. One that cannot be read keeps the health of its cells.
    pub async fn read(&self, api: &Api, mut rows: Vec<Row>) {
        rows.retain(|row| self.is_uncertain(row));
        rows.sort_by_key(|row| Reverse(self.recent_restarts(row)));
        rows.truncate(match self.kind {
            Kind::Workload => MAX_WORKLOADS,
            Kind::Pod { .. } => MAX_PODS,
        });
        let looks: Vec<_> = rows
            .into_iter()
            .map(|row| async move {
                let object = ObjectRef {
                    resource: self.resource.clone(),
                    namespace: row.namespace.clone(),
                    name: row.name.clone(),
                };
                let health = match objects::get(api, &object).await {
                    Ok(value) => Some(object::assess(api, &object, &value).await.health),
                    Err(_) => row.health,
                };
                if let Some(health) = health {
                    api.store_assessed(&row, health).await;
                }
            })
            .collect();
        stream::iter(looks)
            .for_each_concurrent(MAX_CONCURRENT_READS, |look| look)
            .await;
    }

    /// Returns the number of restarts of a pod that does not look failed and may be in a crash
    /// loop.
    fn recent_restarts(&self, row: &Row) -> Option<u32> {
        let Kind::Pod { restarts } = self.kind else {
            return None;
        };
        let looks_well = matches!(row.health, Some(Health::Ok | Health::Warning));
        restarts.filter(|_| looks_well)?.recent(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assess(resource: ResourceRef) -> Option<RowHealth> {
        let columns = ["Name", "Restarts"].map(|name| Column {
            name: name.to_owned(),
            description: String::new(),
            priority: 0,
            kind: "string".to_owned(),
        });
        RowHealth::of(&resource, &columns)
    }

    fn row(restarts: &str, health: Health) -> Row {
        Row {
            uid: "uid".to_owned(),
            name: "web".to_owned(),
            namespace: Some("shop".to_owned()),
            resource_version: "1".to_owned(),
            created_at: None,
            cells: vec!["web".to_owned(), restarts.to_owned()],
            labels: Vec::new(),
            health: Some(health),
            event: None,
        }
    }

    #[test]
    fn finding_p11_the_cells_of_a_pod_between_two_crashes_are_uncertain() {
        let pods = assess(ResourceRef::core("pods")).unwrap();
        for (restarts, health, uncertain) in [
            ("4 (50s ago)", Health::Ok, true),
            ("4 (50s ago)", Health::Warning, true),
            ("9 (3d ago)", Health::Ok, false),
            ("0", Health::Ok, false),
            // its cells show it already
            ("4 (50s ago)", Health::Failed, false),
            ("4 (50s ago)", Health::Progressing, false),
        ] {
            let row = row(restarts, health);
            assert_eq!(pods.is_uncertain(&row), uncertain, "{restarts} {health:?}");
        }
    }

    #[test]
    fn finding_p19_the_cells_of_what_is_not_ready_are_uncertain() {
        let deployments = assess(ResourceRef::new("apps", "v1", "deployments")).unwrap();
        assert!(deployments.is_uncertain(&row("", Health::Warning)));
        assert!(deployments.is_uncertain(&row("", Health::Failed)));
        assert!(!deployments.is_uncertain(&row("4 (50s ago)", Health::Ok)));
        let pods = assess(ResourceRef::core("pods")).unwrap();
        assert!(pods.is_uncertain(&row("0", Health::Warning)));
        assert!(assess(ResourceRef::new("batch", "v1", "jobs")).is_none());
    }
}
