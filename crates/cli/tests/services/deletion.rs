//! Deletion: what is shown before, what is left afterwards, and deletions that fail or hang.
use crate::service_proxy::Rules;
use crate::stand_in::StandIn;
use crate::tenant::{CLUSTER_API, FULL, Tenant, cluster, json};
use serde_json::Value;

fn kinds(list: &Value) -> Vec<&str> {
    let items = list.as_array().unwrap().iter();
    items.map(|item| item["kind"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn case_49_without_the_name_nothing_is_deleted() {
    Tenant::run(|tenant| async move {
        let (person, proxy) = tenant.through(Rules::default()).await;
        let name = tenant.name("kept");
        let made = tenant.make_complete(&name, FULL, &[]).await;
        // there is no terminal to type the name
        let ran = cluster(&person, &["delete", &name]).await;
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains("nothing was deleted"), "{}", ran.err);
        assert!(ran.out.contains("\nWill be deleted\n"), "{}", ran.out);
        assert!(proxy.changes().is_empty());
        assert_eq!(tenant.named(&name).await[0].status, made.status);
        let words = ["delete", &name, "--dry-run", "-o", "json"];
        let ran = cluster(&person, &words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let shown = json(&ran);
        let goes = kinds(&shown["goes"]);
        for kind in [
            "server",
            "network of the cluster",
            "router of the cluster",
            "security group",
        ] {
            assert!(goes.contains(&kind), "{kind}: {shown}");
        }
        // every service of the cloud was asked
        assert_eq!(shown["not_checked"].as_array().unwrap().len(), 0);
        assert!(proxy.changes().is_empty());
        let ran = cluster(&person, &["delete", &name, "--yes", "--wait"]).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(tenant.named(&name).await.is_empty());
    })
    .await;
}

#[tokio::test]
async fn case_50_what_stays_is_announced_before_and_listed_afterwards() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("leaves");
        let labels = [
            ("sim_workload", "lbs,volumes"),
            ("sim_leave", "lbs,volumes"),
        ];
        let made = tenant.make_complete(&name, FULL, &labels).await;
        let words = ["delete", &name, "--dry-run", "-o", "json"];
        let ran = tenant.cluster(&words).await;
        let shown = json(&ran);
        let announced = kinds(&shown["depends"]);
        for kind in ["persistent volume", "load balancer of a Service"] {
            assert!(announced.contains(&kind), "{shown}");
        }
        let ran = tenant.cluster(&["delete", &name, "--yes", "--wait"]).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(tenant.named(&name).await.is_empty());
        let (_, left) = ran.err.split_once("What is left:").unwrap();
        for part in ["kube_service_", "data-postgres-0"] {
            assert!(left.contains(part), "{part}: {left}");
        }
        let uuid = made.uuid.to_string();
        let ran = tenant.cluster(&["leftovers", &uuid]).await;
        assert_eq!(ran.code, 1, "{}", ran.err);
        for part in ["openstack volume delete ", "openstack loadbalancer delete"] {
            assert!(ran.out.contains(part), "{part}: {}", ran.out);
        }
        StandIn::of(&tenant).delete_leftovers().await;
        let ran = tenant.cluster(&["leftovers", &uuid]).await;
        assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    })
    .await;
}

#[tokio::test]
async fn case_51_a_deletion_that_failed_is_explained_and_can_be_repeated() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("in-use");
        let made = tenant.make_complete(&name, FULL, &[]).await;
        let stand_in = StandIn::of(&tenant);
        stand_in.refuse_to_delete_network(&made, 1).await;
        let words = ["delete", &name, "--yes", "--wait"];
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 8, "{}", ran.err);
        for part in ["DELETE_FAILED", "ports are still in use", "Next: "] {
            assert!(ran.err.contains(part), "{part}: {}", ran.err);
        }
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(tenant.named(&name).await.is_empty());
    })
    .await;
}

#[tokio::test]
async fn case_52_a_deletion_that_hangs_can_be_left_and_resumed() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("hangs");
        let made = tenant.make_complete(&name, CLUSTER_API, &[]).await;
        let stand_in = StandIn::of(&tenant);
        // this driver tries again each second
        stand_in.refuse_to_delete_network(&made, 8).await;
        let words = ["delete", &name, "--yes", "--wait", "--timeout", "3s"];
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 9, "{}", ran.err);
        let step = "Deletion of resources: ";
        assert!(ran.err.contains(step), "{}", ran.err);
        let uuid = made.uuid.to_string();
        let resume = format!("portico cluster watch {uuid}");
        assert!(ran.err.contains(&resume), "{}", ran.err);
        let ran = tenant.cluster(&["watch", &uuid]).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(tenant.named(&name).await.is_empty());
    })
    .await;
}
