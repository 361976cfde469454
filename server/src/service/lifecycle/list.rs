//! The clusters of the project.
use super::{
    access::MagnumAccess,
    enrolment_state::{self, Examined},
    error,
    managed::{self, Known, offer},
    origin::{self, StoredCreations},
    viewer::Viewer,
};
use crate::{
    caller::Caller,
    kube::ClusterSnapshot,
    service::{Services, error::ServiceError},
};
use app::error::UiErrorKind;
use futures::StreamExt as _;
use jiff::Timestamp;
use portico_domain::panel::lifecycle::{
    ClusterAction, ManagedCluster, ManagedClusters, MissingFeature, QuotaUsage, QuotaUse,
    UnfinishedCreation,
};
use portico_lifecycle::{
    driver::{ApiVersion, Cloud},
    journal::Observation,
    rights::Call,
};
use portico_openstack::{
    magnum::{Cluster, ClusterTemplate, Features, HealthStatus, Quota},
    rest::{Error, ErrorKind, Listing},
};
use portico_store::JournalKey;
use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};
use tokio::time::Instant;
use uuid::Uuid;

/// Maximum time for the whole list: it has several calls and pages.
const LIST_TIMEOUT: Duration = Duration::from_secs(25);
/// How long the list waits for the API servers of enrolled clusters, for all together.
const PROBES_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum number of clusters whose enrolment is looked at at once.
const MAX_CONCURRENT_CLUSTERS: usize = 32;

/// Returns the clusters of the caller's project, with what the caller may do.
///
/// # Errors
/// `NotPermitted` without a token or if Magnum refuses; `Unavailable` if the cloud has no Magnum, or it
/// does not answer.
pub async fn list(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
) -> Result<ManagedClusters, ServiceError> {
    tokio::time::timeout(LIST_TIMEOUT, read(services, clusters, caller))
        .await
        .unwrap_or_else(|_| {
            let seconds = LIST_TIMEOUT.as_secs();
            Err(ServiceError::new(
                UiErrorKind::Unavailable,
                format!("Magnum did not list the clusters within {seconds} seconds."),
            )
            .next("Try again in a minute."))
        })
}

async fn read(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
) -> Result<ManagedClusters, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let read_at = services.clock.now();
    let answers = Answers::read(access, &viewer).await?;
    let deadline = Some(Instant::now() + PROBES_TIMEOUT);
    let rows = answers.clusters.items.iter().map(|cluster| {
        let (viewer, answers) = (&viewer, &answers);
        async move {
            let origin = origin::of(cluster, answers.creations.as_ref(), services.clock.now());
            let examined = Examined {
                cluster,
                origin,
                deadline,
            };
            let enrolment = enrolment_state::of(services, clusters, caller, viewer, examined).await;
            let template = answers.template_of(cluster);
            let known = Known {
                cluster,
                model: &access.clients.model(cluster, template),
                template_name: template.map(|template| template.name.as_str()),
                enrolment,
                origin,
                // what remains of a plan follows from the node groups, which the list does not read
                remaining: &[],
                cloud: Some(answers.cloud()),
                is_gone: false,
            };
            managed::row(known, viewer, services.clock.now())
        }
    });
    // buffered streams of borrowing futures: collected before, so that they have one type
    let rows: Vec<_> = rows.collect();
    let mut rows: Vec<ManagedCluster> = futures::stream::iter(rows)
        .buffered(MAX_CONCURRENT_CLUSTERS)
        .collect()
        .await;
    observe(access, &viewer, &answers, read_at);
    rows.extend(records_without_cluster(clusters, &viewer, &answers));
    rows.sort_by(|one, other| (&one.name, one.id).cmp(&(&other.name, other.id)));
    Ok(ManagedClusters {
        clusters: rows,
        gaps: answers.gaps(),
        missing: missing(answers.features),
        creation: offer(
            ClusterAction::Create,
            viewer.refusal(Call::CreateCluster, None),
        ),
        quota: answers.quota_use(),
        api_version: answers.features.version.to_string(),
        unfinished: answers.unfinished.unwrap_or_default(),
        support_contact: services.support_contact.clone(),
        now: services.clock.now().as_second(),
    })
}

/// Writes what differs to the journals of the clusters, after the answer. The list has no node groups. What
/// a poller has observed after `read_at` is newer.
fn observe(access: &MagnumAccess, viewer: &Viewer, answers: &Answers, read_at: Timestamp) {
    let observed = answers.clusters.items.iter().map(|cluster| {
        let model = access.clients.model(cluster, answers.template_of(cluster));
        let health = cluster.health_status.as_ref().map(HealthStatus::as_str);
        let key = JournalKey {
            project_id: viewer.project_id().to_owned(),
            cluster: cluster.uuid,
        };
        (key, Observation::of(&model, health, None))
    });
    let journal = access.feeds.journal();
    journal.observe_later(observed.collect(), read_at);
}

/// Returns rows of the enrolled clusters of the viewer's project that Magnum no longer has.
fn records_without_cluster(
    clusters: &ClusterSnapshot,
    viewer: &Viewer,
    answers: &Answers,
) -> Vec<ManagedCluster> {
    // a cluster that an incomplete list lacks may exist
    if answers.clusters.cut.is_some() {
        return Vec::new();
    }
    let listed: HashSet<Uuid> = answers.clusters.items.iter().map(|one| one.uuid).collect();
    clusters
        .of_magnum()
        .filter(|record| record.owner_project == viewer.project_id())
        .filter(|record| !listed.contains(&record.id))
        .map(|record| managed::row_of_record(record.id, &record.name, &record.api_url))
        .collect()
}

/// What the services have answered.
struct Answers {
    features: Features,
    clusters: Listing<Cluster>,
    templates: Result<HashMap<String, ClusterTemplate>, String>,
    quota: Result<Quota, Error>,
    unfinished: Result<Vec<UnfinishedCreation>, ServiceError>,
    /// `None`: they cannot be read.
    creations: Option<StoredCreations>,
    /// Of Magnum, from the configuration.
    release: Option<u16>,
}

impl Answers {
    async fn read(access: &MagnumAccess, viewer: &Viewer) -> Result<Self, ServiceError> {
        let (magnum, token) = (&access.clients.magnum, &viewer.token);
        // first, so that the others do not ask for the versions too
        let features = magnum.features(token).await;
        let features = features.map_err(|error| error::of_service(&error))?;
        let (clusters, templates, quota, unfinished, creations) = tokio::join!(
            magnum.clusters(token),
            magnum.templates(token),
            magnum.quota(token, viewer.project_id()),
            access
                .attempts
                .unfinished(viewer.project_id(), &viewer.user_id),
            origin::creations(access, viewer.project_id()),
        );
        Ok(Self {
            features,
            clusters: clusters.map_err(|error| error::of_service(&error))?,
            templates: by_id(templates),
            quota,
            unfinished,
            creations,
            release: access.clients.drivers.release,
        })
    }

    fn template_of(&self, cluster: &Cluster) -> Option<&ClusterTemplate> {
        let templates = self.templates.as_ref().ok()?;
        templates.get(&cluster.cluster_template_id)
    }

    fn cloud(&self) -> Cloud {
        Cloud {
            api: ApiVersion(self.features.version.minor),
            release: self.release,
        }
    }

    fn quota_use(&self) -> Option<QuotaUse> {
        // with an incomplete list the number of clusters is not known
        let quota = self
            .quota
            .as_ref()
            .ok()
            .filter(|_| self.clusters.cut.is_none())?;
        Some(QuotaUse {
            resource: "clusters".to_owned(),
            usage: Some(QuotaUsage {
                used: u64::try_from(self.clusters.items.len()).unwrap_or(u64::MAX),
                limit: u64::try_from(quota.hard_limit).ok(),
            }),
        })
    }

    fn gaps(&self) -> Vec<String> {
        let mut gaps = Vec::new();
        if let Some(cut) = self.clusters.cut {
            gaps.push(format!("The list of clusters is incomplete: {cut}."));
        }
        if let Err(reason) = &self.templates {
            gaps.push(reason.clone());
        }
        match &self.quota {
            // that is among the missing features
            Ok(_) => {}
            Err(error) if matches!(error.kind, ErrorKind::NotAvailable(_)) => {}
            Err(error) => gaps.push(format!(
                "The quota of clusters is not known. {}",
                error::message(error)
            )),
        }
        if let Err(error) = &self.unfinished {
            gaps.push(format!(
                "Whether creations of yours are unfinished is not known. {}",
                error.message
            ));
        }
        gaps
    }
}

/// Returns the templates by UUID, or why they are not complete.
fn by_id(
    templates: Result<Listing<ClusterTemplate>, Error>,
) -> Result<HashMap<String, ClusterTemplate>, String> {
    let listing = templates.map_err(|error| {
        format!(
            "The names of the templates are not known. {}",
            error::message(&error)
        )
    })?;
    let entry = |template: ClusterTemplate| (template.uuid.to_string(), template);
    Ok(listing.items.into_iter().map(entry).collect())
}

/// Returns what the cloud's Magnum lacks.
pub fn missing(features: Features) -> Vec<MissingFeature> {
    let missing = features.missing().into_iter();
    missing
        .map(|(feature, lacks)| {
            let name = error::sentence(feature.describe());
            let name = name.trim_end_matches('.').to_owned();
            MissingFeature {
                explanation: format!(
                    "{name}: needs version {} of Magnum's API, this cloud has {}.",
                    lacks.needs, lacks.offers
                ),
                feature: name,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::access::MagnumParts;
    use super::super::attempts::NoAttempts;
    use super::super::stand_in::{Mode, StandIn};
    use super::super::{error::tests::failed, fixtures};
    use super::*;
    use crate::config::magnum::MagnumRoles;
    use portico_clock::Clock;
    use portico_openstack::rest::{Cut, VersionRange};
    use portico_openstack::{KeystoneConfig, keystone};
    use serde_json::json;
    use std::sync::Arc;

    fn features(max: &str) -> Features {
        Features::of(VersionRange {
            min: "1.1".parse().unwrap(),
            max: max.parse().unwrap(),
        })
        .unwrap()
    }

    fn answers(cut: Option<Cut>) -> Answers {
        Answers {
            features: features("1.14"),
            clusters: Listing {
                items: vec![fixtures::with("CREATE_COMPLETE", json!({}))],
                cut,
            },
            templates: Ok(HashMap::new()),
            quota: serde_json::from_value(
                json!({"project_id": "acme", "resource": "Cluster", "hard_limit": 3}),
            )
            .map_err(|_| failed(ErrorKind::Malformed("quota"))),
            unfinished: Ok(Vec::new()),
            creations: None,
            release: None,
        }
    }

    #[test]
    fn case_01_what_the_cloud_lacks_is_explained_with_both_versions() {
        let missing = missing(features("1.8"));
        let groups = missing.iter().find(|one| one.feature == "Node groups");
        assert_eq!(
            groups.unwrap().explanation,
            "Node groups: needs version 1.9 of Magnum's API, this cloud has 1.8."
        );
        assert!(super::missing(features("1.14")).is_empty());
    }

    #[tokio::test]
    async fn case_07_an_administrator_sees_the_clusters_of_the_project_only() {
        let magnum = StandIn::start(Mode::Cluster(fixtures::json("CREATE_COMPLETE"))).await;
        let keystone = KeystoneConfig::new("http://127.0.0.1:1/v3".parse().unwrap());
        let section = json!({"sealing_key_file": "key.pub", "sources": ["magnum"]});
        let access = MagnumAccess::new(MagnumParts {
            clients: magnum.clients.clone(),
            keystone: keystone::Client::new(&keystone, Clock::system()).unwrap(),
            section: serde_json::from_value(section).unwrap(),
            roles: MagnumRoles::default(),
            attempts: Arc::new(NoAttempts),
            clock: Clock::system(),
        });
        let root = magnum.viewer("root", &["admin"]);
        let answers = Answers::read(&access.unwrap(), &root).await.unwrap();
        let names: Vec<_> = answers.clusters.items.iter().map(|one| one.uuid).collect();
        assert_eq!(names, [fixtures::CLUSTER]);
        // templates and quota, which this Magnum does not have
        assert_eq!(answers.gaps().len(), 2);
    }

    #[test]
    fn an_incomplete_list_is_a_gap_and_counts_nothing() {
        let complete = answers(None);
        assert!(complete.gaps().is_empty());
        let usage = complete.quota_use().unwrap().usage.unwrap();
        assert_eq!((usage.used, usage.limit), (1, Some(3)));
        let incomplete = answers(Some(Cut::TooLong));
        assert_eq!(incomplete.gaps().len(), 1);
        assert_eq!(incomplete.quota_use(), None);
    }

    #[test]
    fn an_incomplete_answer_of_one_service_does_not_fail_the_list() {
        let mut answers = answers(None);
        answers.templates = by_id(Err(failed(ErrorKind::Malformed("no JSON"))));
        answers.quota = Err(failed(ErrorKind::Malformed("no JSON")));
        answers.unfinished = Err(ServiceError::not_found("Nothing is stored."));
        let gaps = answers.gaps();
        assert_eq!(gaps.len(), 3);
        assert!(gaps.iter().all(|gap| gap.ends_with('.')), "{gaps:?}");
    }
}
