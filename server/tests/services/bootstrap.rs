//! The reconciler of the pre-defined roles.
use crate::stack::Stack;
use k8s_openapi::api::rbac::v1::RoleBinding;
use portico_cluster_sync::bootstrap::{Options, VIEWER, run_once};

#[tokio::test]
async fn a_deleted_binding_is_reported_and_stays_deleted() {
    let stack = Stack::open();
    let own = stack.namespace("bootstrap").await;
    let directory = tempfile::tempdir().unwrap();
    let options = Options {
        kubeconfig: stack.var("KUBE_ADMIN_KUBECONFIG").into(),
        developer_role: stack.var("ROLE_ID_K8S_DEVELOPER").to_owned(),
        viewer_role: stack.var("ROLE_ID_K8S_VIEWER").to_owned(),
        state_file: Some(directory.path().join("state.json")),
        ..Options::default()
    };
    run_once(&options).await.unwrap();
    let bindings = kube::Api::<RoleBinding>::namespaced(own.client.clone(), &own.name);
    assert!(bindings.get_opt(VIEWER).await.unwrap().is_some());
    bindings.delete(VIEWER, &Default::default()).await.unwrap();
    let report = run_once(&options).await.unwrap();
    let message = format!("RoleBinding {}/{VIEWER} was deleted", own.name);
    assert!(
        report.differences.contains(&message),
        "{:?}",
        report.differences
    );
    assert!(bindings.get_opt(VIEWER).await.unwrap().is_none());
    own.done().await;
}
