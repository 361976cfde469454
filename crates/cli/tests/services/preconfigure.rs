//! `portico cluster preconfigure`, for a project of the stack.
use crate::tenant::{FULL, Tenant, json};
use serde_json::{Value, json as value};

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

#[tokio::test]
async fn a_key_pair_and_a_template_are_made_where_the_cloud_has_none() {
    Tenant::run(|tenant| async move {
        let (template, key_pair) = (tenant.name("made"), tenant.name("key"));
        let document = value!({"apiVersion": "portico.dev/v1alpha1", "kind": "Bootstrap", "spec": {
            "template": template, "keypair": key_pair, "driver": "k8s_sim_full",
            "image": "ubuntu-24.04-kube-v1.31.4", "externalNetwork": "public",
            "controlPlane": {"flavor": "m1.medium"}, "workers": {"flavor": "m1.medium"}}});
        let path = tenant.person.write("fix.yaml", &document.to_string());
        let path = path.unwrap().display().to_string();
        let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 test\n";
        let key = tenant
            .person
            .write("id.pub", key)
            .unwrap()
            .display()
            .to_string();
        let words = ["preconfigure", "-f", &path, "-o", "json"];
        let report = json(&tenant.cluster(&words).await);
        for subject in ["Template", "Key pair"] {
            assert_eq!(check(&report, subject)["result"], "missing", "{report}");
        }
        let more = ["--fix", "--public-key", &key];
        let words: Vec<_> = words.into_iter().chain(more).collect();
        let ran = tenant.cluster(&words).await;
        for made in [
            format!("the key pair {key_pair}."),
            format!("the template {template} ("),
        ] {
            assert!(ran.err.contains(&format!("Made {made}")), "{}", ran.err);
        }
        let report = json(&ran);
        for subject in ["Template", "Key pair"] {
            assert_eq!(check(&report, subject)["result"], "ok", "{report}");
        }
        // the second time there is nothing to make
        let ran = tenant.cluster(&words).await;
        assert!(!ran.err.contains("Made "), "{}", ran.err);
        let name = tenant.name("fixed");
        let words = ["create", &name, "-t", &template, "--keypair", &key_pair];
        let more = ["--workers", "1", "--set", "sim_seconds=1", "--wait"];
        let words: Vec<_> = words.into_iter().chain(more).collect();
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
    })
    .await;
}
