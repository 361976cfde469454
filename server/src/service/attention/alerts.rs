//! Alerts in the attention list: those of this project's clusters only, merged into one row if an
//! alert and an object are about the same problem.
//!
//! The cluster, project and object of an alert are read from its labels, as the rules of
//! kube-prometheus and kube-state-metrics write them.
use super::{Trouble, TroubleKey, worst_first};
use portico_domain::{
    cluster::ClusterRecord,
    identity::{Named, Project},
    panel::{Alert, AlertRef, Attention, Health, ObjectRef, ResourceRef},
};
use uuid::Uuid;

/// Alerts that only prove that alerting works, or that serve other alerts.
const META_ALERTS: [&str; 3] = ["Watchdog", "DeadMansSwitch", "InfoInhibitor"];
/// Severities that require no action.
const HARMLESS_SEVERITIES: [&str; 6] = ["none", "info", "informational", "notice", "debug", "ok"];
/// Severities of failures that have already happened.
const FAILURE_SEVERITIES: [&str; 6] = ["critical", "page", "error", "fatal", "emergency", "high"];
const CLUSTER_LABELS: [&str; 3] = ["cluster_id", "cluster", "cluster_name"];
const PROJECT_ID_LABELS: [&str; 2] = ["project_id", "openstack_project_id"];
/// Labels that name an object, the most specific first; `job` is Prometheus' own word for a target.
const OBJECT_LABELS: [(&str, &str, &str); 7] = [
    ("pod", "", "pods"),
    ("deployment", "apps", "deployments"),
    ("statefulset", "apps", "statefulsets"),
    ("daemonset", "apps", "daemonsets"),
    ("job_name", "batch", "jobs"),
    ("persistentvolumeclaim", "", "persistentvolumeclaims"),
    ("node", "", "nodes"),
];

/// An alert with its app.
#[derive(Clone, Debug)]
pub struct Fired {
    pub alert: Alert,
    /// The Alertmanager's app.
    pub app: Named,
}

/// The clusters to which alerts are assigned.
pub struct Scope<'a> {
    pub project: &'a Project,
    /// Other projects of the viewer, whose names an alert may carry.
    pub projects: &'a [Project],
    /// Those that the project may see.
    pub own: Vec<&'a ClusterRecord>,
    /// Those of the configuration, whose names the operator chooses.
    pub all: Vec<&'a ClusterRecord>,
    /// Returns whether it is the ID of a cluster, enrolled ones included.
    pub is_cluster: &'a dyn Fn(Uuid) -> bool,
}

/// Adds the alerts about this project to the problems of objects.
pub fn join(troubles: &mut Vec<Trouble>, fired: Vec<Fired>, scope: &Scope<'_>) {
    let mut seen: Vec<(String, Vec<(String, String)>)> = Vec::new();
    for Fired { alert, app } in fired {
        if !needs_attention(&alert) {
            continue;
        }
        let Some(cluster) = scope.cluster_of(&alert) else {
            continue;
        };
        // the two Alertmanagers of a pair have the same alerts
        let identity = (alert.name.clone(), alert.labels.clone());
        if seen.contains(&identity) {
            continue;
        }
        seen.push(identity);
        let object = object_of(&alert);
        let known = match &object {
            Some(object) => find(troubles, object, cluster),
            None => None,
        };
        match known {
            Some(trouble) => merge(trouble, &alert, &app),
            None => troubles.push(row(alert, app, object, cluster)),
        }
    }
    troubles.sort_by(|a, b| worst_first(&a.attention, &b.attention));
}

/// Returns whether an alert requires an action.
fn needs_attention(alert: &Alert) -> bool {
    let severity = alert.severity.to_lowercase();
    !META_ALERTS.contains(&alert.name.as_str()) && !HARMLESS_SEVERITIES.contains(&severity.as_str())
}

fn health_of(alert: &Alert) -> Health {
    if FAILURE_SEVERITIES.contains(&alert.severity.to_lowercase().as_str()) {
        Health::Failed
    } else {
        Health::Warning
    }
}

impl<'a> Scope<'a> {
    /// Returns the cluster of an alert: `None` for an alert of another project, `Some(None)` if its
    /// labels name no known cluster.
    fn cluster_of(&self, alert: &Alert) -> Option<Option<&'a ClusterRecord>> {
        let other_id = PROJECT_ID_LABELS
            .iter()
            .filter_map(|label| value(alert, label))
            .any(|id| id != self.project.id);
        let other_name = value(alert, "project").is_some_and(|named| {
            let is_own = named == self.project.id || named == self.project.name;
            !is_own && self.is_other_project(named)
        });
        if other_id || other_name {
            return None;
        }
        let named: Vec<&str> = CLUSTER_LABELS
            .iter()
            .filter_map(|label| value(alert, label))
            .collect();
        let ids: Vec<Uuid> = named.iter().filter_map(|name| name.parse().ok()).collect();
        let own = self.own.iter().copied();
        if let Some(own) = own.clone().find(|record| ids.contains(&record.id)) {
            return Some(Some(own));
        }
        if ids.iter().any(|id| (self.is_cluster)(*id)) {
            return None;
        }
        let is_named = |record: &&ClusterRecord| named.contains(&record.name.as_str());
        let known = self.all.iter().copied().find(is_named);
        match (own.clone().find(is_named), known) {
            // a tenant chooses the name of an enrolled cluster, and gets no alerts of others by it
            (Some(own), Some(_)) if !self.is_configured(own) => None,
            (Some(own), _) => Some(Some(own)),
            (None, Some(_)) => None,
            (None, None) => Some(None),
        }
    }

    fn is_configured(&self, cluster: &ClusterRecord) -> bool {
        self.all.iter().any(|record| record.id == cluster.id)
    }

    fn is_other_project(&self, named: &str) -> bool {
        let of_viewer = self
            .projects
            .iter()
            .any(|project| project.id == named || project.name == named);
        of_viewer || self.all.iter().any(|record| record.owner_project == named)
    }
}

fn value<'a>(alert: &'a Alert, label: &str) -> Option<&'a str> {
    alert
        .labels
        .iter()
        .find(|(name, value)| name == label && !value.is_empty())
        .map(|(_, value)| value.as_str())
}

/// Returns the object that an alert names.
fn object_of(alert: &Alert) -> Option<ObjectRef> {
    OBJECT_LABELS.iter().find_map(|(label, group, plural)| {
        let name = value(alert, label)?;
        let namespace = match *plural {
            "nodes" => None,
            _ => Some(value(alert, "namespace")?.to_owned()),
        };
        Some(ObjectRef {
            resource: ResourceRef::new(group, "v1", plural),
            namespace,
            name: name.to_owned(),
        })
    })
}

/// Returns the row about the same object. An alert without a cluster matches in any of the
/// project's: its Prometheus watches one of them only.
fn find<'t>(
    troubles: &'t mut [Trouble],
    object: &ObjectRef,
    cluster: Option<&ClusterRecord>,
) -> Option<&'t mut Trouble> {
    let key = TroubleKey::of(object);
    let cluster = cluster.map(|record| record.id.to_string());
    troubles.iter_mut().find(|trouble| {
        let own = trouble.attention.cluster.as_ref();
        let same_cluster = match (&cluster, own) {
            (Some(id), Some(own)) => *id == own.id,
            (None, _) => true,
            (Some(_), None) => false,
        };
        same_cluster && trouble.keys.contains(&key)
    })
}

fn merge(trouble: &mut Trouble, alert: &Alert, app: &Named) {
    let attention = &mut trouble.attention;
    if health_of(alert) == Health::Failed {
        attention.health = Health::Failed;
    }
    if attention.reason.is_empty() {
        attention.reason.clone_from(&alert.summary);
    }
    attention.alerts.push(reference(alert, app));
}

fn reference(alert: &Alert, app: &Named) -> AlertRef {
    AlertRef {
        name: alert.name.clone(),
        app: app.clone(),
    }
}

fn row(
    alert: Alert,
    app: Named,
    object: Option<ObjectRef>,
    cluster: Option<&ClusterRecord>,
) -> Trouble {
    let keys = object.iter().map(TroubleKey::of).collect();
    Trouble {
        keys,
        attention: Attention {
            health: health_of(&alert),
            alerts: vec![reference(&alert, &app)],
            reason: if alert.summary.is_empty() {
                format!("{} reports it as firing.", app.name)
            } else {
                alert.summary
            },
            title: alert.name,
            cluster: cluster.map(|record| Named {
                id: record.id.to_string(),
                name: record.name.clone(),
            }),
            // without its cluster an object has no address
            object: object.filter(|_| cluster.is_some()),
            since: alert.starts_at,
            count: 0,
        },
    }
}

#[cfg(test)]
#[path = "alerts_tests.rs"]
mod tests;
