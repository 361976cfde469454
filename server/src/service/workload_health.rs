//! Workloads of a list whose cells say that replicas are not ready: judged as on their own pages, where
//! replicas that were only just asked for are progress.
use super::{health, object};
use crate::kube::{Api, objects};
use futures::{StreamExt, stream};
use portico_domain::panel::{Health, ObjectRef, ResourceRef, Row};

/// Workloads of one list that are read; the others keep what their cells say.
const MAX_READ: usize = 12;
const PARALLEL: usize = 6;

/// Whether rows of this kind are judged by [`refine`].
pub fn applies_to(resource: &ResourceRef) -> bool {
    resource.group == "apps"
        && matches!(
            resource.plural.as_str(),
            "deployments" | "statefulsets" | "daemonsets" | "replicasets"
        )
}

/// Whether the cells of a row say that replicas are not ready.
pub fn is_unready(row: &Row) -> bool {
    matches!(row.health, Some(Health::Warning | Health::Failed))
}

/// Judges the first rows with replicas that are not ready. One that cannot be read stays as it is.
pub async fn refine(api: &Api, resource: &ResourceRef, rows: &mut [Row]) {
    if !applies_to(resource) {
        return;
    }
    let looks: Vec<_> = rows
        .iter_mut()
        .filter(|row| is_unready(row))
        .take(MAX_READ)
        .map(|row| async move {
            let object = ObjectRef {
                resource: resource.clone(),
                namespace: row.namespace.clone(),
                name: row.name.clone(),
            };
            if let Ok(value) = objects::get(api, &object).await {
                let first = health::judge(resource, &value);
                row.health = Some(object::settle(api, &object, &value, first).await.health);
            }
        })
        .collect();
    stream::iter(looks)
        .for_each_concurrent(PARALLEL, |look| look)
        .await;
}
