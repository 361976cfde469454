//! Creations that fail, with the words of a real conductor.
use crate::tenant::{FULL, Tenant, create, json};
use portico_openstack::magnum::Status;
use std::time::Duration;
use tokio::time::Instant;

#[tokio::test]
async fn case_19_a_failed_creation_has_its_class_and_a_fault_for_each_group() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("failed");
        let words = create(&name, &["--set", "sim_fail=create", "--wait"]);
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 8, "{}", ran.err);
        for part in ["CREATE_FAILED", "Why: ", "20 of 20", "Next: "] {
            assert!(ran.err.contains(part), "{part}: {}", ran.err);
        }
        let ran = tenant.cluster(&["show", &name, "-o", "json"]).await;
        let shown = json(&ran);
        let fault = shown["faults"]["default-worker"].as_str();
        assert!(fault.unwrap().contains("Quota exceeded"), "{shown}");
        // watching a cluster that has failed says the same
        let ran = tenant.cluster(&["watch", &name]).await;
        assert_eq!(ran.code, 8, "{}", ran.err);
    })
    .await;
}

#[tokio::test]
async fn case_20_a_driver_that_refuses_at_once_is_reported_in_seconds() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("refused");
        let labels = [("sim_raise", "create")];
        let new = tenant.new_cluster(&name, FULL, &labels).await;
        let began = Instant::now();
        let created = tenant.magnum.create_cluster(&tenant.token, &new).await;
        let failed = tenant.settled(created.unwrap()).await;
        let took = began.elapsed();
        assert!(took < Duration::from_secs(5), "{took:?}");
        assert_eq!(failed.status, Status::CreateFailed);
        let ran = tenant.cluster(&["watch", &name]).await;
        assert_eq!(ran.code, 8, "{}", ran.err);
        let reason = "The driver failed at once";
        assert!(ran.err.contains(reason), "{}", ran.err);
    })
    .await;
}
