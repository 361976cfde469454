//! What needs a person in a cluster, worst first, with the reason.
use super::health::{self, Judgement};
use crate::kube::{
    Api, KubeError, discovery,
    listing::{self, Selection},
    namespaces, objects,
    table::TableRow,
};
use futures::{StreamExt, stream};
use portico_domain::{
    identity::Named,
    panel::{Attention, Health, ListScope, ObjectRef, ResourceRef},
};
use std::collections::{BTreeMap, BTreeSet};

/// Objects of one kind that are read for their reason.
const MAX_READ: usize = 12;
const PARALLEL: usize = 6;

/// What was found, and what could not be looked at.
#[derive(Debug, Default)]
pub struct Findings {
    pub attention: Vec<Attention>,
    pub gaps: Vec<String>,
}

/// Looks at pods, workloads, jobs and claims of every namespace that the person may read.
pub async fn look(api: &Api, cluster: &Named) -> Findings {
    // jobs first: what a job says of its failed pods is worth more than what each pod says
    let kinds = [
        ("jobs", "batch", "jobs"),
        ("pods", "", "pods"),
        ("deployments", "apps", "deployments"),
        ("stateful sets", "apps", "statefulsets"),
        ("daemon sets", "apps", "daemonsets"),
        ("volume claims", "", "persistentvolumeclaims"),
    ];
    // discovery first, so that the six do not each ask for it
    let results = match discovery::catalog(api).await {
        Ok(catalog) => {
            let looks = kinds.map(|(_, group, plural)| unhealthy(api, &catalog, group, plural));
            futures::future::join_all(looks).await
        }
        Err(error) => {
            return Findings {
                gaps: vec![format!("{}: {}", cluster.name, error.sentence())],
                ..Findings::default()
            };
        }
    };
    let mut out = Findings::default();
    let mut refused: BTreeMap<Vec<String>, Vec<&str>> = BTreeMap::new();
    let mut explained = BTreeSet::new();
    let jobs_are_known = results.first().is_some_and(Result::is_ok);
    for ((words, ..), result) in kinds.into_iter().zip(results) {
        match result {
            Ok(mut found) => {
                if jobs_are_known {
                    found.objects.retain(|judged| !judged.of_a_job());
                }
                if !found.refused.is_empty() {
                    refused
                        .entry(found.refused.clone())
                        .or_default()
                        .push(words);
                }
                merge(&mut out.attention, found, cluster, &mut explained);
            }
            Err(error) => out
                .gaps
                .push(format!("{}: {words}. {}", cluster.name, error.sentence())),
        }
    }
    for (places, kinds) in refused {
        out.gaps.push(format!(
            "{}: {} in {}, which your roles do not let you list",
            cluster.name,
            kinds.join(", "),
            places.join(", ")
        ));
    }
    out.attention.sort_by(worst_first);
    out
}

/// A cluster that could not be looked at needs somebody itself.
pub fn unavailable(health: Health, cluster: Named, why: String) -> Findings {
    Findings {
        attention: vec![Attention {
            health,
            title: "Cluster unavailable".to_owned(),
            reason: why,
            cluster: Some(cluster),
            object: None,
            since: None,
            count: 0,
        }],
        gaps: Vec::new(),
    }
}

/// Worst first, then the longest lasting.
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
    objects: Vec<Judged>,
    refused: Vec<String>,
}

struct Judged {
    object: ObjectRef,
    row: TableRow,
    judgement: Judgement,
    /// Others of the same owner that this one stands for.
    others: u32,
    /// A pod that failed for good.
    ended: bool,
}

impl Judged {
    /// A failed try of a job: the job tries again, has succeeded since, or says itself that it failed.
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
    let scope = namespaces::scope(api, kind, None, "list").await?;
    let merged = listing::list(api, kind, &scope, &Selection::default()).await?;
    let rows = merged
        .into_rows()
        .into_iter()
        .filter(|row| needs_a_look(&resource, row))
        .collect();
    let mut objects: Vec<_> = stream::iter(one_of_each_owner(rows).into_iter().take(MAX_READ))
        .map(|(row, others)| read(api, &resource, row, others))
        .buffered(PARALLEL)
        .collect()
        .await;
    objects.retain(|judged| {
        matches!(
            judged.judgement.health,
            Health::Failed | Health::Warning | Health::Unknown
        )
    });
    let refused = match scope {
        ListScope::Namespaces { refused, .. } => refused,
        ListScope::Cluster | ListScope::Namespace(_) => Vec::new(),
    };
    Ok(Found { objects, refused })
}

/// Rows that may need a person. A job's row does not say that it failed, so all unfinished are read.
fn needs_a_look(resource: &ResourceRef, row: &TableRow) -> bool {
    match row.row.health {
        Some(Health::Failed | Health::Warning | Health::Unknown) => true,
        Some(Health::Progressing) => resource.plural == "jobs",
        _ => false,
    }
}

/// One row for each owner, with how many others it stands for.
fn one_of_each_owner(rows: Vec<TableRow>) -> Vec<(TableRow, u32)> {
    let mut kept: Vec<(TableRow, u32)> = Vec::new();
    for row in rows {
        let same = row.owner.as_ref().and_then(|owner| {
            kept.iter_mut().find(|(first, _)| {
                first
                    .owner
                    .as_ref()
                    .is_some_and(|known| known.uid == owner.uid)
            })
        });
        match same {
            Some((_, others)) => *others += 1,
            None => kept.push((row, 0)),
        }
    }
    kept
}

async fn read(api: &Api, resource: &ResourceRef, row: TableRow, others: u32) -> Judged {
    let object = ObjectRef {
        resource: resource.clone(),
        namespace: row.row.namespace.clone(),
        name: row.row.name.clone(),
    };
    let (judgement, ended) = match objects::get(api, &object).await {
        Ok(value) => (
            health::judge(resource, &value),
            value["status"]["phase"] == "Failed",
        ),
        Err(error) => {
            let health = row.row.health.unwrap_or(Health::Unknown);
            let reason = format!("The reason could not be read. {}", error.sentence());
            (Judgement::new(health, "Not healthy").because(reason), false)
        }
    };
    Judged {
        object,
        row,
        judgement,
        others,
        ended,
    }
}

fn merge(
    attention: &mut Vec<Attention>,
    found: Found,
    cluster: &Named,
    explained: &mut BTreeSet<(String, String)>,
) {
    for judged in found.objects {
        let place = judged.object.namespace.clone().unwrap_or_default();
        if judged.object.resource.plural == "pods" {
            explained.extend(workloads(&judged.row).map(|name| (place.clone(), name)));
        } else if explained.contains(&(place, judged.object.name.clone())) {
            // its pods have been told of already, with a better reason
            continue;
        }
        attention.push(Attention {
            health: judged.judgement.health,
            title: judged.judgement.status,
            reason: judged.judgement.reason.unwrap_or_default(),
            cluster: Some(cluster.clone()),
            object: Some(judged.object),
            since: judged.row.row.created_at,
            count: judged.others,
        });
    }
}

/// The workloads that a pod belongs to: its owner, and the deployment behind a replica set.
fn workloads(row: &TableRow) -> impl Iterator<Item = String> {
    let owner = row.owner.clone();
    let deployment = owner
        .as_ref()
        .filter(|owner| owner.kind == "ReplicaSet")
        .and_then(|owner| owner.name.rsplit_once('-'))
        .map(|(deployment, _)| deployment.to_owned());
    owner.map(|owner| owner.name).into_iter().chain(deployment)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kube::table::Owner;
    use portico_domain::panel::Row;

    fn pod(name: &str, owner: Option<&str>) -> TableRow {
        TableRow {
            owner: owner.map(|name| Owner {
                kind: "ReplicaSet".to_owned(),
                name: name.to_owned(),
                uid: format!("uid-{name}"),
                controller: true,
            }),
            row: Row {
                uid: name.to_owned(),
                name: name.to_owned(),
                namespace: Some("shop".to_owned()),
                resource_version: "1".to_owned(),
                created_at: None,
                cells: Vec::new(),
                labels: Vec::new(),
                health: Some(Health::Failed),
                event: None,
            },
        }
    }

    #[test]
    fn pods_of_one_workload_are_told_of_once() {
        let kept = one_of_each_owner(vec![
            pod("web-1", Some("web-5c9")),
            pod("web-2", Some("web-5c9")),
            pod("alone", None),
            pod("alone-2", None),
        ]);
        let told: Vec<_> = kept
            .iter()
            .map(|(row, others)| (row.row.name.as_str(), *others))
            .collect();
        assert_eq!(told, [("web-1", 1), ("alone", 0), ("alone-2", 0)]);
        assert_eq!(
            workloads(&kept[0].0).collect::<Vec<_>>(),
            ["web-5c9", "web"]
        );
    }
}
