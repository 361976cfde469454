//! The pods of a large cluster. Their names, places and states depend only on their numbers.
use super::objects::{FEW_PODS, NAMESPACES, NODES, PODS, mixed, namespace_name, node_name};
use serde_json::{Value, json};

/// No name is part of another one, of a namespace or of a cell, so that each is a filter whose
/// number of matches is known.
const APPS: [&str; 40] = [
    "checkout",
    "catalogue",
    "basket",
    "invoice",
    "ledger",
    "mailer",
    "search",
    "ranking",
    "frontend",
    "gateway",
    "identity",
    "profile",
    "session",
    "tracker",
    "shipping",
    "returns",
    "pricing",
    "voucher",
    "inventory",
    "supplier",
    "forecast",
    "ingest",
    "transcode",
    "thumbnail",
    "archive",
    "backup",
    "billing",
    "payment",
    "refund",
    "fraud",
    "reviews",
    "wishlist",
    "newsletter",
    "chatbot",
    "geocoder",
    "weather",
    "scheduler",
    "reporting",
    "exporter",
    "auditor",
];
const PODS_PER_NAMESPACE: usize = PODS / NAMESPACES;
const REPLICAS: usize = 5;
/// The first and the last pod by name; neither is in the first or the last namespace.
pub const FIRST_BY_NAME: &str = "aaa-first";
pub const LAST_BY_NAME: &str = "zzz-last";
const PLACE_OF_FIRST: usize = FEW_PODS / 2 + 7;
const PLACE_OF_LAST: usize = FEW_PODS / 2 + 8;

/// The state of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    Running,
    NotReady,
    Succeeded,
    Waiting(&'static str),
    Terminated(&'static str),
    Unschedulable,
}

/// A pod by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pod(pub usize);

impl Pod {
    /// Returns the namespace.
    pub fn namespace(self) -> String {
        namespace_name(self.0 / PODS_PER_NAMESPACE)
    }

    /// Returns the name, which is unique in the cluster.
    pub fn name(self) -> String {
        match self.0 {
            PLACE_OF_FIRST => FIRST_BY_NAME.to_owned(),
            PLACE_OF_LAST => LAST_BY_NAME.to_owned(),
            number => {
                let app = self.app();
                let owner = mixed(number / REPLICAS);
                format!(
                    "{app}-{:010x}-{:05x}",
                    owner & 0xff_ffff_ffff,
                    mixed(number) & 0xf_ffff
                )
            }
        }
    }

    /// Returns the path of the pod in the API.
    pub fn path(self) -> String {
        format!("{}/{}", self.collection(), self.name())
    }

    /// Returns the path of the pods of its namespace.
    pub fn collection(self) -> String {
        format!("/api/v1/namespaces/{}/pods", self.namespace())
    }

    /// Returns whether its first container has a status with a number of restarts.
    pub fn has_restarts(self) -> bool {
        self.condition() != Condition::Unschedulable
    }

    fn app(self) -> &'static str {
        APPS[self.0 / REPLICAS % APPS.len()]
    }

    /// Returns the name of its node.
    pub fn node(self) -> String {
        node_name(mixed(self.0) as usize % NODES)
    }

    /// Of a hundred pods 86 run, and the others are in the states that people look for.
    fn condition(self) -> Condition {
        match mixed(self.0 + 1) % 100 {
            0..=85 => Condition::Running,
            86 => Condition::NotReady,
            87..=89 => Condition::Succeeded,
            90..=92 => Condition::Waiting("CrashLoopBackOff"),
            93..=94 => Condition::Waiting("ImagePullBackOff"),
            95..=96 => Condition::Waiting("ContainerCreating"),
            97 => Condition::Terminated("OOMKilled"),
            98 => Condition::Terminated("Error"),
            _ => Condition::Unschedulable,
        }
    }

    /// Returns the object to create.
    pub fn object(self) -> Value {
        let app = self.app();
        let owner = format!("{app}-{:010x}", mixed(self.0 / REPLICAS) & 0xff_ffff_ffff);
        let node = (self.condition() != Condition::Unschedulable).then(|| self.node());
        let image = |name: &str| {
            format!(
                "registry.example.org/{}/{name}:2026.11.{}",
                self.namespace(),
                self.0 % 30
            )
        };
        json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {
                "name": self.name(),
                "namespace": self.namespace(),
                "labels": {
                    "app": app,
                    "app.kubernetes.io/name": app,
                    "app.kubernetes.io/instance": format!("{app}-{}", self.namespace()),
                    "app.kubernetes.io/part-of": "shop",
                    "app.kubernetes.io/managed-by": "Helm",
                    "pod-template-hash": format!("{:010x}", mixed(self.0 / REPLICAS) & 0xff_ffff_ffff),
                    "tier": if self.0.is_multiple_of(3) { "web" } else { "api" },
                },
                "annotations": {
                    "checksum/config": format!("{:016x}{:016x}", mixed(self.0), mixed(self.0 + 3)),
                    "prometheus.io/scrape": "true",
                    "prometheus.io/port": "9102",
                },
                "ownerReferences": [{
                    "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner,
                    "uid": format!("00000000-0000-4000-8000-{:012x}", self.0 / REPLICAS),
                    "controller": true, "blockOwnerDeletion": true,
                }],
            },
            "spec": {
                "nodeName": node,
                "serviceAccountName": "default",
                "restartPolicy": "Always",
                "terminationGracePeriodSeconds": 30,
                "securityContext": {"runAsNonRoot": true, "runAsUser": 10001, "fsGroup": 10001},
                "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{
                    "weight": 100,
                    "podAffinityTerm": {
                        "labelSelector": {"matchLabels": {"app": app}},
                        "topologyKey": "kubernetes.io/hostname",
                    },
                }]}},
                "containers": [
                    {
                        "name": app, "image": image(app), "imagePullPolicy": "IfNotPresent",
                        "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
                        "env": [
                            {"name": "LOG_LEVEL", "value": "info"},
                            {"name": "DATABASE_URL", "valueFrom": {"secretKeyRef": {"name": "database", "key": "url"}}},
                            {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                        ],
                        "resources": {
                            "requests": {"cpu": "100m", "memory": "128Mi"},
                            "limits": {"cpu": "500m", "memory": "256Mi"},
                        },
                        "readinessProbe": {"httpGet": {"path": "/ready", "port": "http"}, "periodSeconds": 10},
                        "livenessProbe": {"httpGet": {"path": "/live", "port": "http"}, "periodSeconds": 20},
                        "volumeMounts": [{"name": "config", "mountPath": "/etc/app"}, {"name": "cache", "mountPath": "/cache"}],
                    },
                    {
                        "name": "metrics", "image": image("metrics"), "imagePullPolicy": "IfNotPresent",
                        "args": ["--listen=:9102", "--upstream=http://127.0.0.1:8080"],
                        "ports": [{"name": "metrics", "containerPort": 9102, "protocol": "TCP"}],
                        "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": "64Mi"}},
                    },
                ],
                "volumes": [
                    {"name": "config", "configMap": {"name": format!("{app}-config")}},
                    {"name": "cache", "emptyDir": {}},
                ],
            },
        })
    }

    /// Returns the status, which the API server accepts only after the pod was created.
    pub fn status(self, now: &str) -> Value {
        let condition = self.condition();
        let phase = match condition {
            Condition::Succeeded => "Succeeded",
            Condition::Unschedulable
            | Condition::Waiting("ContainerCreating" | "ImagePullBackOff") => "Pending",
            _ => "Running",
        };
        if condition == Condition::Unschedulable {
            return json!({"phase": phase, "qosClass": "Burstable", "conditions": [{
                "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastTransitionTime": now,
                "message": "0/1000 nodes are available: 1000 Insufficient cpu.",
            }]});
        }
        let ready = condition == Condition::Running;
        let state = |main: bool| match condition {
            Condition::Succeeded => json!({"terminated": {
                "exitCode": 0, "reason": "Completed", "startedAt": now, "finishedAt": now,
            }}),
            Condition::Waiting(reason) if main => json!({"waiting": {
                "reason": reason, "message": "back-off 5m0s restarting failed container",
            }}),
            Condition::Terminated(reason) if main => json!({"terminated": {
                "exitCode": 137, "reason": reason, "startedAt": now, "finishedAt": now,
            }}),
            _ => json!({"running": {"startedAt": now}}),
        };
        let container = |name: &str, main: bool| {
            json!({
                "name": name, "ready": ready || (!main && condition != Condition::Succeeded),
                "started": true, "restartCount": if main && !ready { mixed(self.0) % 40 } else { 0 },
                "image": format!("registry.example.org/{}/{name}:2026.11.{}", self.namespace(), self.0 % 30),
                "imageID": format!("registry.example.org/{name}@sha256:{0:016x}{0:016x}{0:016x}{0:016x}", mixed(self.0)),
                "containerID": format!("containerd://{0:016x}{0:016x}{0:016x}{0:016x}", mixed(self.0 + 5)),
                "state": state(main), "lastState": {},
            })
        };
        let condition_of = |kind: &str, is: bool| {
            json!({
                "type": kind, "status": if is { "True" } else { "False" },
                "lastProbeTime": null, "lastTransitionTime": now,
            })
        };
        json!({
            "phase": phase,
            "qosClass": "Burstable",
            "startTime": now,
            "hostIP": "10.0.0.1",
            "podIP": format!("10.{}.{}.{}", 128 + self.0 / 65_536, self.0 / 256 % 256, self.0 % 256),
            "conditions": [
                condition_of("Initialized", true), condition_of("Ready", ready),
                condition_of("ContainersReady", ready), condition_of("PodScheduled", true),
            ],
            "containerStatuses": [container(self.app(), true), container("metrics", false)],
        })
    }
}

/// A filter of the list, and the number of pods whose names it matches.
pub struct Filter {
    pub text: &'static str,
    pub matches: usize,
}

/// Returns one filter for each round, over this number of pods.
pub fn filter(round: usize, pods: usize) -> Filter {
    let text = APPS[round % APPS.len()];
    let matches = (0..pods)
        .filter(|number| Pod(*number).name().contains(text))
        .count();
    Filter { text, matches }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_pod_has_a_name_of_its_own_between_the_first_and_the_last() {
        let names: HashSet<String> = (0..PODS).map(|number| Pod(number).name()).collect();
        assert_eq!(names.len(), PODS);
        assert!(names.contains(FIRST_BY_NAME) && names.contains(LAST_BY_NAME));
        assert!(
            names
                .iter()
                .all(|name| name.as_str() >= FIRST_BY_NAME && name.as_str() <= LAST_BY_NAME)
        );
    }

    #[test]
    fn a_filter_matches_by_one_apps_name_only() {
        for (round, app) in APPS.into_iter().enumerate() {
            let others = APPS.into_iter().filter(|other| *other != app);
            assert!(
                others.into_iter().all(|other| !other.contains(app)),
                "{app}"
            );
            assert!((100..1_000).contains(&filter(round, PODS).matches), "{app}");
        }
    }

    #[test]
    fn pods_are_as_large_as_real_ones() {
        let pod = Pod(4);
        let bytes =
            pod.object().to_string().len() + pod.status("2026-01-31T00:00:00Z").to_string().len();
        assert!((3_500..5_500).contains(&bytes), "{bytes}");
    }

    #[test]
    fn most_pods_run_and_every_state_occurs() {
        let running = (0..PODS)
            .filter(|n| Pod(*n).condition() == Condition::Running)
            .count();
        assert!((8_400..8_800).contains(&running), "{running}");
        assert!((0..PODS).any(|n| Pod(n).condition() == Condition::Unschedulable));
    }
}
