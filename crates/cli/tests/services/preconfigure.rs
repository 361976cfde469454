//! `portico cluster preconfigure`, for a project of the stack.
use crate::tenant::{FULL, Tenant, json};
use serde_json::Value;

fn check<'a>(report: &'a Value, subject: &str) -> &'a Value {
    let mut checks = report["checks"].as_array().unwrap().iter();
    checks.find(|one| one["check"] == subject).unwrap()
}

#[tokio::test]
async fn what_is_named_in_a_file_is_looked_for_in_the_cloud() {
    Tenant::run(|tenant| async move {
        let file = |template: &str| {
            format!(
                "apiVersion: portico.dev/v1alpha1\nkind: Bootstrap\nspec:\n  template: {template}\n  \
                 keypair: ops\n"
            )
        };
        let path = tenant.person.write("bootstrap.yaml", &file(FULL)).unwrap();
        let words = ["preconfigure", "-f", path.to_str().unwrap(), "-o", "json"];
        let report = json(&tenant.cluster(&words).await);
        for subject in ["Template", "Key pair"] {
            assert_eq!(check(&report, subject)["result"], "ok", "{report}");
        }
        // a member may create clusters; without a role k8s_* it is a warning
        assert_ne!(check(&report, "Roles")["result"], "missing", "{report}");
        assert_ne!(check(&report, "Roles")["result"], "not_checked", "{report}");

        let absent = tenant.name("absent");
        let path = tenant.person.write("absent.yaml", &file(&absent)).unwrap();
        let words = ["preconfigure", "-f", path.to_str().unwrap(), "-o", "json"];
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 1, "{}", ran.err);
        assert_eq!(check(&json(&ran), "Template")["result"], "missing");
    })
    .await;
}
