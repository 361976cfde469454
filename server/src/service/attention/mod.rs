//! The attention list: what needs attention in a cluster, worst first, with the reason.
pub mod alerts;
mod gaps;

pub use gaps::gap_rows;

use super::{health::Assessment, object, restarts};
use crate::kube::{
    Api, KubeError, discovery,
    listing::{self, Selection},
    namespaces, objects,
    table::TableRow,
};
use futures::{StreamExt, stream};
use gaps::CheckedKind;
use portico_domain::{
    identity::Named,
    panel::{Attention, Health, ListScope, ObjectRef, Refusal, ResourceRef},
};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of objects of one kind that are read for their reason.
const MAX_READ: usize = 12;
/// Maximum number of running but recently restarted pods that are read: between two crashes a pod
/// looks healthy.
const MAX_RESTARTED: usize = 12;
const MAX_CONCURRENT_READS: usize = 6;

/// The problems found, and what could not be checked.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    pub troubles: Vec<Trouble>,
    pub gaps: Vec<Refusal>,
}

/// Returns the rows for a page.
pub fn rows(troubles: Vec<Trouble>) -> Vec<Attention> {
    troubles
        .into_iter()
        .map(|trouble| trouble.attention)
        .collect()
}

/// One row, with every object that it covers: an alert about one of them is the same problem.
#[derive(Clone, Debug)]
pub struct Trouble {
    pub attention: Attention,
    keys: Vec<TroubleKey>,
}

/// The identity of an object in a cluster; the API version is not part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TroubleKey {
    plural: String,
    namespace: Option<String>,
    name: String,
}

impl TroubleKey {
    fn new(plural: &str, namespace: Option<&str>, name: &str) -> Self {
        Self {
            plural: plural.to_owned(),
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
        }
    }

    fn of(object: &ObjectRef) -> Self {
        Self::new(
            &object.resource.plural,
            object.namespace.as_deref(),
            &object.name,
        )
    }
}

/// Checks pods, workloads, jobs and claims of every namespace that the caller may read.
pub async fn look(api: &Api, cluster: &Named) -> Findings {
    // jobs first: a job's reason for its failed pods is more useful than each pod's own
    let kinds: [CheckedKind; 6] = [
        ("jobs", "batch", "jobs"),
        ("pods", "", "pods"),
        ("deployments", "apps", "deployments"),
        ("StatefulSets", "apps", "statefulsets"),
        ("DaemonSets", "apps", "daemonsets"),
        ("PersistentVolumeClaims", "", "persistentvolumeclaims"),
    ];
    // discovery first, so that the six do not each request it
    let results = match discovery::catalog(api).await {
        Ok(catalog) => {
            let looks = kinds.map(|(_, group, plural)| unhealthy(api, &catalog, group, plural));
            futures::future::join_all(looks).await
        }
        Err(error) => {
            return Findings {
                gaps: vec![gaps::unread(&format!("{}:", cluster.name), error)],
                ..Findings::default()
            };
        }
    };
    let mut out = Findings::default();
    let mut refused: BTreeMap<Vec<String>, Vec<CheckedKind>> = BTreeMap::new();
    let mut explained = BTreeSet::new();
    let jobs_are_known = results.first().is_some_and(Result::is_ok);
    for (kind, result) in kinds.into_iter().zip(results) {
        match result {
            Ok(mut found) => {
                if jobs_are_known {
                    found.objects.retain(|assessed| !assessed.of_a_job());
                }
                if !found.refused.is_empty() {
                    refused.entry(found.refused.clone()).or_default().push(kind);
                }
                merge(&mut out.troubles, found, cluster, &mut explained);
            }
            Err(error) => {
                let subject = format!("{}: {}.", cluster.name, kind.0);
                out.gaps.push(gaps::unread(&subject, error));
            }
        }
    }
    for (namespaces, kinds) in refused {
        let gap = gaps::not_listed(&cluster.name, &kinds, &namespaces);
        out.gaps.push(gap);
    }
    out.troubles
        .sort_by(|a, b| worst_first(&a.attention, &b.attention));
    out
}

/// Returns that the check of a cluster took too long.
pub fn took_too_long(cluster: &Named) -> Findings {
    Findings {
        troubles: Vec::new(),
        gaps: vec![Refusal::from(format!(
            "{}: it took too long to look at its workloads",
            cluster.name
        ))],
    }
}

/// Returns the row of a cluster that could not be checked.
pub fn unavailable(health: Health, cluster: Named, why: String) -> Findings {
    Findings {
        troubles: vec![Trouble {
            keys: Vec::new(),
            attention: Attention {
                health,
                title: "Cluster unavailable".to_owned(),
                reason: why,
                cluster: Some(cluster),
                object: None,
                since: None,
                count: 0,
                alerts: Vec::new(),
            },
        }],
        gaps: Vec::new(),
    }
}

/// Orders worst first, then the longest lasting.
pub fn worst_first(a: &Attention, b: &Attention) -> std::cmp::Ordering {
    let rank = |health: Health| match health {
        Health::Failed => 0,
        Health::Warning => 1,
        Health::Unknown => 2,
        Health::Progressing => 3,
        Health::Ok => 4,
    };
    (rank(a.health), a.since, &a.title).cmp(&(rank(b.health), b.since, &b.title))
}

#[derive(Default)]
struct Found {
    objects: Vec<Assessed>,
    refused: Vec<String>,
}

struct Assessed {
    object: ObjectRef,
    row: TableRow,
    assessment: Assessment,
    /// Names of others of the same owner that this row covers.
    others: Vec<String>,
    /// Whether a pod has failed permanently.
    ended: bool,
}

impl Assessed {
    /// Returns whether this is a failed attempt of a job: the job retries, has succeeded since, or
    /// reports its failure itself.
    fn of_a_job(&self) -> bool {
        let owner = self.row.owner.as_ref();
        self.ended && owner.is_some_and(|owner| owner.kind == "Job")
    }
}

async fn unhealthy(
    api: &Api,
    catalog: &discovery::Catalog,
    group: &str,
    plural: &str,
) -> Result<Found, KubeError> {
    let Some(kind) = catalog.preferred(group, plural) else {
        return Ok(Found::default());
    };
    let resource = discovery::reference(kind);
    let scope = namespaces::scope(api, kind, &[], "list").await?;
    let merged = listing::list(api, kind, &scope, &Selection::default()).await?;
    let restarts = (resource.plural == "pods")
        .then(|| restarts::Column::of(&merged.columns()))
        .flatten();
    let (mut ill, well): (Vec<_>, Vec<_>) = merged
        .into_rows()
        .into_iter()
        .partition(|row| needs_a_look(&resource, row));
    // the worst represents its owner
    ill.sort_by_key(|row| row.row.health != Some(Health::Failed));
    let mut looks = one_of_each_owner(ill);
    looks.truncate(MAX_READ);
    if let Some(column) = restarts {
        let mut restarted = recently_restarted(column, well);
        restarted.retain(|row| !looks.iter().any(|(known, _)| same_owner(known, row)));
        looks.extend(one_of_each_owner(restarted).into_iter().take(MAX_RESTARTED));
    }
    let mut objects: Vec<_> = stream::iter(looks)
        .map(|(row, others)| read(api, &resource, row, others))
        .buffered(MAX_CONCURRENT_READS)
        .collect()
        .await;
    objects.retain(|assessed| {
        matches!(
            assessed.assessment.health,
            Health::Failed | Health::Warning | Health::Unknown
        )
    });
    let refused = match scope {
        ListScope::Namespaces { refused, .. } => refused,
        ListScope::Cluster | ListScope::Namespace(_) => Vec::new(),
    };
    Ok(Found { objects, refused })
}

/// Returns the pods that may be between two crashes, the most restarted first.
fn recently_restarted(column: restarts::Column, rows: Vec<TableRow>) -> Vec<TableRow> {
    let mut found: Vec<(u32, TableRow)> = rows
        .into_iter()
        .filter(|row| row.row.health == Some(Health::Ok))
        .filter_map(|row| Some((column.recent(&row.row)?, row)))
        .collect();
    found.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    found.into_iter().map(|(_, row)| row).collect()
}

/// Returns whether a row may need attention. A job's row does not show that it failed, so all
/// unfinished ones are read.
fn needs_a_look(resource: &ResourceRef, row: &TableRow) -> bool {
    match row.row.health {
        Some(Health::Failed | Health::Warning | Health::Unknown) => true,
        Some(Health::Progressing) => resource.plural == "jobs",
        _ => false,
    }
}

fn same_owner(a: &TableRow, b: &TableRow) -> bool {
    match (&a.owner, &b.owner) {
        (Some(a), Some(b)) => a.uid == b.uid,
        _ => false,
    }
}

/// Returns one row for each owner, with the names of the others that it covers.
fn one_of_each_owner(rows: Vec<TableRow>) -> Vec<(TableRow, Vec<String>)> {
    let mut kept: Vec<(TableRow, Vec<String>)> = Vec::new();
    for row in rows {
        match kept.iter_mut().find(|(first, _)| same_owner(first, &row)) {
            Some((_, others)) => others.push(row.row.name),
            None => kept.push((row, Vec::new())),
        }
    }
    kept
}

async fn read(api: &Api, resource: &ResourceRef, row: TableRow, others: Vec<String>) -> Assessed {
    let reference = ObjectRef {
        resource: resource.clone(),
        namespace: row.row.namespace.clone(),
        name: row.row.name.clone(),
    };
    let (assessment, ended) = match objects::get(api, &reference).await {
        // replicas requested only just now need no attention
        Ok(value) => (
            object::assess(api, &reference, &value).await,
            value["status"]["phase"] == "Failed",
        ),
        Err(error) => {
            let health = row.row.health.unwrap_or(Health::Unknown);
            let reason = format!("The reason could not be read. {}", error.sentence());
            (
                Assessment::new(health, "Not healthy").because(reason),
                false,
            )
        }
    };
    Assessed {
        object: reference,
        row,
        assessment,
        others,
        ended,
    }
}

fn merge(
    troubles: &mut Vec<Trouble>,
    found: Found,
    cluster: &Named,
    explained: &mut BTreeSet<(String, String)>,
) {
    for assessed in found.objects {
        let place = assessed.object.namespace.clone().unwrap_or_default();
        if assessed.object.resource.plural == "pods" {
            let names = workloads(&assessed.row).map(|(_, name)| (place.clone(), name));
            explained.extend(names);
        } else if explained.contains(&(place, assessed.object.name.clone())) {
            // the rows of its pods have a better reason
            continue;
        }
        troubles.push(trouble(assessed, cluster));
    }
}

fn trouble(assessed: Assessed, cluster: &Named) -> Trouble {
    let mut keys = vec![TroubleKey::of(&assessed.object)];
    if assessed.object.resource.plural == "pods" {
        let namespace = assessed.object.namespace.as_deref();
        let others = assessed.others.iter();
        keys.extend(others.map(|name| TroubleKey::new("pods", namespace, name)));
        let owners = workloads(&assessed.row);
        keys.extend(owners.map(|(plural, name)| TroubleKey::new(&plural, namespace, &name)));
    }
    Trouble {
        keys,
        attention: Attention {
            health: assessed.assessment.health,
            title: assessed.assessment.status,
            reason: assessed.assessment.reason.unwrap_or_default(),
            cluster: Some(cluster.clone()),
            object: Some(assessed.object),
            since: assessed.row.row.created_at,
            count: u32::try_from(assessed.others.len()).unwrap_or(u32::MAX),
            alerts: Vec::new(),
        },
    }
}

/// Returns the workloads that a pod belongs to, by kind (as in a URL) and name: its owner, and the
/// Deployment behind a ReplicaSet.
fn workloads(row: &TableRow) -> impl Iterator<Item = (String, String)> {
    let owner = row.owner.clone();
    let deployment = owner
        .as_ref()
        .filter(|owner| owner.kind == "ReplicaSet")
        .and_then(|owner| owner.name.rsplit_once('-'))
        .map(|(deployment, _)| ("deployments".to_owned(), deployment.to_owned()));
    owner
        .map(|owner| (format!("{}s", owner.kind.to_lowercase()), owner.name))
        .into_iter()
        .chain(deployment)
}

#[cfg(test)]
mod tests;
