//! The search for objects of the common kinds by their names, over their lists.
mod names;
mod places;

use super::{Services, error::ServiceError, lists};
use crate::{
    caller::Caller,
    kube::{
        Api, KubeError,
        discovery::{self, Catalog},
        listing::{self, Selection},
    },
    session_budgets::Resource,
};
use futures::{StreamExt, stream};
use names::{Rank, rank, words};
use places::Places;
use portico_domain::panel::{
    Health, ListScope, ObjectRef, ResourceKind, SearchAnswer, SearchHit, row_status, status_column,
};
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::Notify,
    time::{Instant, timeout_at},
};

/// The kinds that are searched, by group and plural; the first are the first among equal matches.
const KINDS: [(&str, &str); 12] = [
    ("apps", "deployments"),
    ("apps", "statefulsets"),
    ("apps", "daemonsets"),
    ("", "pods"),
    ("batch", "cronjobs"),
    ("batch", "jobs"),
    ("", "services"),
    ("networking.k8s.io", "ingresses"),
    ("", "configmaps"),
    ("", "persistentvolumeclaims"),
    ("", "namespaces"),
    ("", "nodes"),
];
/// Time limit for the whole search.
const SEARCH_TIMEOUT: Duration = Duration::from_millis(2_500);
const MAX_CONCURRENT_KINDS: usize = 6;
/// Maximum number of namespaces that are searched one by one.
const MAX_PLACES: usize = 200;
const MAX_HITS: usize = 50;

/// The matches within one kind.
#[derive(Default)]
struct Found {
    hits: Vec<Ranked>,
    failure: Option<String>,
    /// The kind, if it was not read completely in time.
    late: Option<String>,
    /// The kind may not be listed anywhere.
    refused: Option<KubeError>,
}

impl Found {
    fn late(kind: &str) -> Self {
        Self {
            late: Some(kind.to_owned()),
            ..Self::default()
        }
    }
}

struct Ranked {
    rank: Rank,
    /// Index in [`KINDS`].
    kind: usize,
    hit: SearchHit,
}

/// Searches names in all namespaces that the user may list.
///
/// # Errors
/// `Invalid` for a text that is too short or too long, and those of discovery. A kind that cannot be
/// searched is a part of the answer.
pub async fn search(
    services: &Services,
    caller: &Caller,
    api: &Api,
    text: &str,
) -> Result<SearchAnswer, ServiceError> {
    let words = words(text)?;
    let deadline = Instant::now() + SEARCH_TIMEOUT;
    let Ok(catalog) = timeout_at(deadline, discovery::catalog(api)).await else {
        return Ok(answer(vec![Found::late("the kinds of this cluster")]));
    };
    let catalog = catalog?;
    let places = Places::default();
    let (words, places) = (&words, &places);
    let searches: Vec<_> = kinds(&catalog)
        .map(|(index, kind)| async move {
            let search = KindSearch {
                services,
                caller,
                api,
                kind,
                index,
                places,
            };
            search.run(words, deadline).await
        })
        .collect();
    let found: Vec<_> = stream::iter(searches)
        .buffered(MAX_CONCURRENT_KINDS)
        .collect()
        .await;
    Ok(answer(found))
}

/// Returns the kinds that the cluster has, with their index in [`KINDS`].
fn kinds(catalog: &Catalog) -> impl Iterator<Item = (usize, ResourceKind)> {
    KINDS
        .iter()
        .enumerate()
        .filter_map(|(index, (group, plural))| {
            Some((index, catalog.preferred(group, plural)?.clone()))
        })
}

fn answer(found: Vec<Found>) -> SearchAnswer {
    let is_refused = found.iter().all(|found| found.refused.is_some());
    let (mut hits, mut failures, mut late) = (Vec::new(), Vec::new(), Vec::new());
    let mut refused = None;
    for one in found {
        hits.extend(one.hits);
        failures.extend(one.failure);
        late.extend(one.late);
        refused = refused.or(one.refused);
    }
    let mut missing = None;
    if let Some(error) = refused.filter(|_| is_refused) {
        let refusal = ServiceError::from(error).into_refusal();
        failures.push(refusal.reason);
        missing = refusal.missing;
    }
    let severity = |hit: &SearchHit| hit.health.map_or(u8::MAX, Health::severity);
    hits.sort_by(|a, b| {
        let key = |one: &Ranked| {
            (
                one.rank,
                severity(&one.hit),
                one.hit.object.name.len(),
                one.kind,
            )
        };
        key(a)
            .cmp(&key(b))
            .then_with(|| a.hit.object.name.cmp(&b.hit.object.name))
            .then_with(|| a.hit.object.namespace.cmp(&b.hit.object.namespace))
    });
    SearchAnswer {
        total: hits.len(),
        hits: hits
            .into_iter()
            .take(MAX_HITS)
            .map(|ranked| ranked.hit)
            .collect(),
        failures,
        late,
        missing,
    }
}

struct KindSearch<'a> {
    services: &'a Services,
    caller: &'a Caller,
    api: &'a Api,
    kind: ResourceKind,
    index: usize,
    places: &'a Places,
}

impl KindSearch<'_> {
    async fn run(&self, words: &[String], deadline: Instant) -> Found {
        let failed = |reason: &str| Found {
            failure: Some(format!("{}: {reason}", self.kind.plural_name())),
            ..Found::default()
        };
        match timeout_at(deadline, self.rows(deadline)).await {
            Ok(Ok((rows, is_complete))) => Found {
                hits: self.matches(&rows, words),
                late: (!is_complete).then(|| self.kind.plural_name()),
                ..Found::default()
            },
            Ok(Err(NotSearched::Kube(error @ KubeError::Refused(_)))) => Found {
                refused: Some(error),
                ..Found::default()
            },
            Ok(Err(NotSearched::Kube(error))) => failed(&error.sentence()),
            Ok(Err(NotSearched::Limit(reason))) => failed(&reason),
            Err(_) => Found::late(&self.kind.plural_name()),
        }
    }

    /// Returns the rows of the kind, and whether these are all. The whole cluster is read from a shared
    /// watch, which the next letter finds open. To join a watch in each of several namespaces would
    /// take more requests than to list them.
    async fn rows(&self, deadline: Instant) -> Result<(lists::ListRows, bool), NotSearched> {
        let scope = self.places.scope(self.api, &self.kind).await?;
        match listing::places(&scope).len() {
            1 => self.watched(deadline).await,
            places if places > MAX_PLACES => Err(NotSearched::Limit(format!(
                "{places} namespaces are too many for a search."
            ))),
            _ => self.listed(scope).await,
        }
    }

    async fn watched(&self, deadline: Instant) -> Result<(lists::ListRows, bool), NotSearched> {
        let services = self.services;
        // held until the answer; the watch itself ends a few seconds later
        let _share = services
            .budgets
            .take(self.caller.session_id(), Resource::Watches, 1)
            .map_err(|reached| NotSearched::Limit(reached.to_string()))?;
        let resource = discovery::reference(&self.kind);
        let changed = Arc::new(Notify::new());
        let shared = Arc::clone(&changed);
        let mut opened = lists::open(&services.watches, self.api, &resource, &[], shared).await?;
        if opened.viewers.is_none() {
            return self.listed(opened.scope).await;
        }
        // a little earlier than the deadline, so that the rows that were read are searched
        let soon = deadline
            .checked_sub(Duration::from_millis(100))
            .unwrap_or(deadline);
        let is_complete = match timeout_at(soon, opened.ready(&changed, None)).await {
            Ok(ready) => {
                ready?;
                true
            }
            Err(_) => false,
        };
        let viewers = opened.viewers.as_deref().unwrap_or_default();
        let (rows, _) = lists::collect(viewers).ok_or_else(lists::unconfirmed)?;
        Ok((rows, is_complete))
    }

    async fn listed(&self, scope: ListScope) -> Result<(lists::ListRows, bool), NotSearched> {
        let everything = Selection::default();
        let mut merged = listing::list(self.api, &self.kind, &scope, &everything).await?;
        merged.leave_out_refused(scope);
        let is_complete = merged.failures.is_empty();
        Ok((lists::all_rows(merged), is_complete))
    }

    fn matches(&self, rows: &lists::ListRows, words: &[String]) -> Vec<Ranked> {
        let resource = discovery::reference(&self.kind);
        let status = status_column(&resource, &rows.columns);
        rows.rows
            .iter()
            .filter_map(|row| {
                let row = &row.row;
                Some(Ranked {
                    rank: rank(row, &self.kind, words)?,
                    kind: self.index,
                    hit: SearchHit {
                        object: ObjectRef {
                            resource: resource.clone(),
                            namespace: row.namespace.clone(),
                            name: row.name.clone(),
                        },
                        kind: self.kind.kind.clone(),
                        status: row_status(row, status).map(str::to_owned),
                        health: row.health,
                    },
                })
            })
            .collect()
    }
}

enum NotSearched {
    Kube(KubeError),
    /// The session's budget does not allow it.
    Limit(String),
}

impl From<KubeError> for NotSearched {
    fn from(error: KubeError) -> Self {
        Self::Kube(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kube::Forbidden;
    use portico_domain::panel::{ResourceRef, RightQuestion};

    fn found(name: &str, rank: Rank, health: Health) -> Ranked {
        Ranked {
            rank,
            kind: 0,
            hit: SearchHit {
                object: ObjectRef {
                    resource: ResourceRef::core("pods"),
                    namespace: None,
                    name: name.to_owned(),
                },
                kind: "Pod".to_owned(),
                status: None,
                health: Some(health),
            },
        }
    }

    #[test]
    fn trouble_is_first_among_equal_matches_and_the_total_counts_all() {
        let mut hits = vec![
            found("web-ok", Rank::Prefix, Health::Ok),
            found("web-failed", Rank::Prefix, Health::Failed),
            found("web", Rank::Exact, Health::Ok),
        ];
        let others = |number: usize| found(&format!("x-{number}"), Rank::Substring, Health::Ok);
        hits.extend((0..60).map(others));
        let answer = answer(vec![Found {
            hits,
            ..Found::default()
        }]);
        let names: Vec<_> = answer.hits[..3]
            .iter()
            .map(|hit| hit.object.name.as_str())
            .collect();
        assert_eq!(names, ["web", "web-failed", "web-ok"]);
        assert_eq!((answer.hits.len(), answer.total), (MAX_HITS, 63));
    }

    #[test]
    fn kinds_that_may_not_be_listed_are_left_out_unless_it_is_all_of_them() {
        let refused = || Found {
            refused: Some(KubeError::Refused("no role".to_owned().into())),
            ..Found::default()
        };
        assert!(
            answer(vec![refused(), Found::default()])
                .failures
                .is_empty()
        );
        assert_eq!(
            answer(vec![refused(), refused()]).failures,
            ["The cluster refused this: no role."]
        );
    }

    #[test]
    fn need_31_a_search_that_is_refused_names_the_missing_permission() {
        let question = RightQuestion::on("list", &ResourceRef::core("pods"), None);
        let refused = Found {
            refused: Some(KubeError::Refused(Forbidden::lacks(
                "no role".to_owned(),
                question.clone(),
            ))),
            ..Found::default()
        };
        assert_eq!(answer(vec![refused]).missing, Some(Box::new(question)));
        assert_eq!(answer(vec![Found::default()]).missing, None);
    }

    #[test]
    fn a_kind_that_was_not_read_in_time_is_not_a_failure() {
        let answer = answer(vec![Found::late("Pods"), Found::default()]);
        assert_eq!(answer.late, ["Pods"]);
        assert!(answer.failures.is_empty());
    }
}
