//! Deployments, StatefulSets and DaemonSets, as far as they tell which service runs.
use serde_json::Value;

/// The labels that name what runs.
const LABELS: [&str; 3] = ["app.kubernetes.io/name", "k8s-app", "app"];
const VERSION: &str = "app.kubernetes.io/version";

/// A kind of workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Deployment,
    StatefulSet,
    DaemonSet,
}

impl Kind {
    pub const ALL: [Self; 3] = [Self::Deployment, Self::StatefulSet, Self::DaemonSet];

    /// Returns Kubernetes' name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Deployment => "Deployment",
            Self::StatefulSet => "StatefulSet",
            Self::DaemonSet => "DaemonSet",
        }
    }

    /// Returns the name in URLs.
    pub fn resource(self) -> &'static str {
        match self {
            Self::Deployment => "deployments",
            Self::StatefulSet => "statefulsets",
            Self::DaemonSet => "daemonsets",
        }
    }
}

/// A workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    pub kind: Kind,
    pub namespace: String,
    pub name: String,
    /// What its labels call it.
    pub called: Vec<String>,
    pub version: Option<String>,
    /// Pods that are ready.
    pub ready: u64,
    /// Pods that there should be.
    pub wanted: u64,
}

impl Workload {
    /// Returns a workload from the API's object; `None` if it has no name.
    pub fn read(kind: Kind, object: &Value) -> Option<Self> {
        let text = |path: &str| object.pointer(path).and_then(Value::as_str);
        let count = |path: &str| object.pointer(path).and_then(Value::as_u64);
        let labels = object.pointer("/metadata/labels");
        let label = |key: &str| labels?.get(key)?.as_str().map(str::to_owned);
        let (ready, wanted) = match kind {
            Kind::DaemonSet => (
                count("/status/numberReady"),
                count("/status/desiredNumberScheduled").unwrap_or_default(),
            ),
            // an absent number of replicas is 1
            Kind::Deployment | Kind::StatefulSet => (
                count("/status/readyReplicas"),
                count("/spec/replicas").unwrap_or(1),
            ),
        };
        Some(Self {
            kind,
            namespace: text("/metadata/namespace").unwrap_or_default().to_owned(),
            name: text("/metadata/name")?.to_owned(),
            called: LABELS.iter().filter_map(|key| label(key)).collect(),
            version: label(VERSION),
            ready: ready.unwrap_or_default(),
            wanted,
        })
    }

    /// Returns whether all its pods are ready.
    pub fn is_ready(&self) -> bool {
        self.ready >= self.wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pods_are_counted_by_the_fields_of_the_kind() {
        let object = json!({
            "metadata": {"name": "a", "namespace": "monitoring",
                         "labels": {"app": "grafana", "app.kubernetes.io/version": "11.0"}},
            "spec": {"replicas": 2}, "status": {"readyReplicas": 1, "numberReady": 3,
                                                "desiredNumberScheduled": 3}});
        let deployment = Workload::read(Kind::Deployment, &object).unwrap();
        assert_eq!((deployment.ready, deployment.wanted), (1, 2));
        assert!(!deployment.is_ready());
        assert_eq!(deployment.called, ["grafana"]);
        assert_eq!(deployment.version.as_deref(), Some("11.0"));
        let daemon_set = Workload::read(Kind::DaemonSet, &object).unwrap();
        assert_eq!((daemon_set.ready, daemon_set.wanted), (3, 3));
    }

    #[test]
    fn absent_fields_are_those_of_a_new_object() {
        let new = Workload::read(Kind::StatefulSet, &json!({"metadata": {"name": "a"}})).unwrap();
        assert_eq!((new.ready, new.wanted), (0, 1));
        assert_eq!(Workload::read(Kind::Deployment, &json!({})), None);
    }
}
