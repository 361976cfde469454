//! A cluster that answers: its nodes as Kubernetes has them, and what is deleted in it before the cluster is.
use crate::gateway::signed_in;
use crate::local::{Kubectl, enrolled, nodes_of_kubernetes};
use crate::panel::Panel;
use crate::stand_in::StandIn;
use crate::tenant::{Tenant, cluster, json};
use portico_openstack::magnum::Status;
use serde_json::{Value, json as value};
use std::time::Duration;
use tokio::time::{Instant, sleep};

const PAUSE: Duration = Duration::from_secs(1);
/// Maximum time until an object is gone, or a right is.
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn nodes_have_the_readiness_version_and_age_that_kubernetes_reports() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("nodes");
        let (made, mut panel) = enrolled(&tenant, &name).await;
        let kubectl = Kubectl::administrator(&tenant, &name).await;
        kubectl.permit_all().await;
        let nodes = nodes_of_kubernetes(&tenant.person, &name).await;
        // one of the control plane, and a worker
        assert_eq!(nodes.len(), 2, "{nodes:?}");
        for node in &nodes {
            assert_eq!(node["kubernetes_status"], "Ready", "{node}");
            assert_eq!(node["kubelet_version"], "v1.20.2", "{node}");
            assert_eq!(node["status"], "ACTIVE", "{node}");
            for field in ["joined_at", "server_id", "nodegroup"] {
                assert!(node[field].is_string(), "{field}: {node}");
            }
        }
        let is_worker = |node: &&Value| node["nodegroup"] == "default-worker";
        let worker = nodes.iter().find(is_worker).unwrap();
        let in_kubernetes = worker["name"].as_str().unwrap().to_lowercase();
        kubectl.run(&["cordon", &in_kubernetes]).await;
        let ran = tenant.cluster(&["nodes", "list", &name]).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let cordoned = ran.out.matches("Ready,SchedulingDisabled").count();
        assert_eq!(cordoned, 1, "{}", ran.out);
        assert_eq!(ran.out.matches("v1.20.2").count(), 2, "{}", ran.out);
        let words = ["delete", &name, "--yes", "--wait", "--timeout", "60s"];
        assert_eq!(tenant.cluster(&words).await.code, 0);
        assert!(panel.remove_record(made.uuid).await);
    })
    .await;
}

/// Returns a Service of a type.
fn service(name: &str, kind: &str) -> Value {
    value!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": "default"},
            "spec": {"type": kind, "ports": [{"port": 80}]}})
}

/// Makes two Services, and a claim for a volume of Cinder which stays until the test lets it go.
async fn make_content(tenant: &Tenant, kubectl: &Kubectl<'_>, volume: &str) {
    let persistent = value!({"apiVersion": "v1", "kind": "PersistentVolume",
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"},
                 "persistentVolumeReclaimPolicy": "Delete", "storageClassName": "",
                 "csi": {"driver": "cinder.csi.openstack.org", "volumeHandle": volume}}});
    let claim = value!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "default", "finalizers": ["portico.dev/hold"]},
        "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "", "volumeName": "data",
                 "resources": {"requests": {"storage": "1Gi"}}}});
    let services = [
        service("web", "LoadBalancer"),
        service("inside", "ClusterIP"),
    ];
    let items: Vec<_> = [persistent, claim].into_iter().chain(services).collect();
    let list = value!({"apiVersion": "v1", "kind": "List", "items": items});
    let file = tenant.person.write("content.json", &list.to_string());
    let file = file.unwrap().display().to_string();
    kubectl.run(&["create", "-f", &file]).await;
}

#[tokio::test]
async fn services_and_claims_are_deleted_through_kubernetes_before_their_cluster() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("content");
        let (made, mut panel) = enrolled(&tenant, &name).await;
        let kubectl = Kubectl::administrator(&tenant, &name).await;
        let stand_in = StandIn::of(&tenant);
        let volume = stand_in.make_workload(&made).await;
        make_content(&tenant, &kubectl, &volume).await;
        kubectl.permit_all().await;
        nodes_of_kubernetes(&tenant.person, &name).await;

        // what goes first is announced with its rule, and nothing is deleted yet
        let both = ["--delete-lbs", "--delete-volumes"];
        let words = ["delete", &name, "--dry-run", "-o", "json"];
        let words: Vec<_> = words.into_iter().chain(both).collect();
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let shown = json(&ran);
        let mut goes = shown["goes"].as_array().unwrap().iter();
        let found = goes.find(|item| item["id"] == volume.as_str());
        let rule = found.unwrap()["rule"].as_str().unwrap();
        assert!(rule.contains("deletes the claim first"), "{rule}");
        let services = kubectl.run(&["get", "services", "-o", "name"]).await;
        assert!(services.contains("service/web"), "{services}");

        let words = ["delete", &name, "--yes", "--wait", "--timeout", "60s"];
        let words: Vec<_> = words.into_iter().chain(both).collect();
        let free = async {
            let deadline = Instant::now() + PATIENCE;
            loop {
                let services = kubectl.run(&["get", "services", "-o", "name"]).await;
                if !services.contains("service/web") {
                    assert!(services.contains("service/inside"), "{services}");
                    break;
                }
                assert!(Instant::now() < deadline, "{services}");
                sleep(PAUSE).await;
            }
            // the claim is still there, so Magnum was not asked
            let found = tenant.named(&name).await.remove(0);
            assert_eq!(found.status, Status::CreateComplete);
            let patch = r#"{"metadata": {"finalizers": null}}"#;
            let words = ["patch", "pvc", "data", "--type=merge", "-p", patch];
            kubectl.run(&words).await;
        };
        let (ran, ()) = tokio::join!(tenant.cluster(&words), free);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let first = "Deleted first: Service default/web, PersistentVolumeClaim default/data.";
        assert!(ran.err.contains(first), "{}", ran.err);
        assert!(tenant.named(&name).await.is_empty());
        // no CSI driver runs in this cluster, so its volume is left, which the command reports
        let (_, left) = ran.err.split_once("What is left:").unwrap();
        assert!(left.contains(&volume), "{left}");
        stand_in.delete_leftovers().await;
        assert!(panel.remove_record(made.uuid).await);
    })
    .await;
}

#[tokio::test]
async fn without_access_to_the_cluster_nothing_is_deleted_first_and_nothing_is_sent() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("closed");
        tenant.make_complete(&name, crate::tenant::FULL, &[]).await;
        for option in ["--delete-lbs", "--delete-volumes"] {
            let ran = tenant.cluster(&["delete", &name, "--yes", option]).await;
            assert_eq!(ran.code, 11, "{option}: {}", ran.err);
            assert!(ran.err.contains("so nothing was sent"), "{}", ran.err);
        }
        let found = tenant.named(&name).await.remove(0);
        assert_eq!(found.status, Status::CreateComplete);
    })
    .await;
}

#[tokio::test]
async fn nothing_is_deleted_in_a_cluster_that_the_user_may_not_delete() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("refused");
        let (made, mut panel) = enrolled(&tenant, &name).await;
        let kubectl = Kubectl::administrator(&tenant, &name).await;
        make_content(&tenant, &kubectl, &made.uuid.to_string()).await;
        kubectl.permit_all().await;
        nodes_of_kubernetes(&tenant.person, &name).await;
        let uuid = made.uuid.to_string();
        let words = ["delete", &uuid, "--yes", "--delete-lbs", "--delete-volumes"];

        // Kubernetes permits everything to a reader, Magnum does not
        let reader = tenant.user("reader").await;
        let mut of_reader = Panel::sign_in_as(&tenant, &reader).await;
        let person = signed_in(&tenant, &mut of_reader).await;
        let refused = cluster(&person, &words).await;
        assert_eq!(refused.code, 5, "{}", refused.err);
        assert!(refused.err.contains("cluster:delete"), "{}", refused.err);

        panel.set_protection(made.uuid, true, "").await;
        let person = signed_in(&tenant, &mut panel).await;
        let refused = cluster(&person, &words).await;
        assert_eq!(refused.code, 4, "{}", refused.err);
        assert!(
            refused.err.contains("nothing was deleted"),
            "{}",
            refused.err
        );

        let left = ["get", "services,pvc", "-o", "name"];
        let left = kubectl.run(&left).await;
        for object in ["service/web", "persistentvolumeclaim/data"] {
            assert!(left.contains(object), "{object}: {left}");
        }
        panel.set_protection(made.uuid, false, &name).await;
        let patch = r#"{"metadata": {"finalizers": null}}"#;
        let free = ["patch", "pvc", "data", "--type=merge", "-p", patch];
        kubectl.run(&free).await;
        let words = ["delete", &name, "--yes", "--wait", "--timeout", "60s"];
        assert_eq!(tenant.cluster(&words).await.code, 0);
        assert!(panel.remove_record(made.uuid).await);
    })
    .await;
}

#[tokio::test]
async fn with_rights_in_single_namespaces_what_is_left_is_accepted_and_recorded() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("partial");
        let (made, mut panel) = enrolled(&tenant, &name).await;
        let person = signed_in(&tenant, &mut panel).await;
        let uuid = made.uuid.to_string();
        let words = ["delete", &uuid, "--yes", "--delete-lbs"];
        // a developer is bound in the namespaces some seconds after the enrolment, and not in those of the system
        let deadline = Instant::now() + PATIENCE;
        let refused = loop {
            let ran = cluster(&person, &words).await;
            assert_ne!(ran.code, 0, "{}", ran.err);
            if ran.err.contains("this has to be accepted first") {
                break ran;
            }
            assert!(Instant::now() < deadline, "{}", ran.err);
            sleep(PAUSE).await;
        };
        assert_eq!(refused.code, 2, "{}", refused.err);
        for part in ["you can list: default", "--accept-partial"] {
            assert!(refused.err.contains(part), "{part}: {}", refused.err);
        }
        let found = tenant.named(&name).await.remove(0);
        assert_eq!(found.status, Status::CreateComplete);

        let more = ["--accept-partial", "--wait", "--timeout", "60s"];
        let words: Vec<_> = words.into_iter().chain(more).collect();
        let ran = cluster(&person, &words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let accepted = "accepted: Services of other namespaces may be left";
        let words = ["events", &uuid, "--source", "request", "-o", "json"];
        let events = cluster(&person, &words).await;
        let is_deletion = |line: &str| line.contains("delete_cluster") && line.contains(accepted);
        assert!(events.out.lines().any(is_deletion), "{}", events.out);
        let activity = panel.activity().await;
        assert!(activity.contains(accepted), "{activity}");
        assert!(panel.remove_record(made.uuid).await);
    })
    .await;
}
