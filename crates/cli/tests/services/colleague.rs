//! A colleague of the creator uses an enrolled cluster. Magnum lets only the creator read its authority, and
//! Portico's record has it.
use crate::panel::Panel;
use crate::story::namespaces;
use crate::tenant::{Tenant, cluster};

#[tokio::test]
async fn case_41_a_colleague_uses_a_cluster_without_certificates_of_magnum() {
    Tenant::run(|tenant| async move {
        let colleague = tenant.user("member").await;
        // in an enrolled cluster this role is bound
        let role = tenant.env.get("ROLE_ID_K8S_DEVELOPER").unwrap();
        for user in [&tenant.member, &colleague] {
            let granted = tenant.admin.grant(&user.id, &tenant.project, role);
            granted.await.unwrap();
        }
        let name = tenant.name("shared");
        let words = [
            "create",
            &name,
            "-t",
            "kubernetes-local",
            "--keypair",
            "ops",
        ];
        let more = ["--workers", "1", "--wait", "--timeout", "120s"];
        let words: Vec<_> = words.iter().chain(&more).copied().collect();
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let made = tenant.named(&name).await.remove(0);
        assert_eq!(made.user_id, tenant.member.id);
        let mut panel = Panel::sign_in(&tenant).await;
        panel.enrol(made.uuid).await;

        let machine = tenant.person_of(&colleague);
        let listed = namespaces(&tenant, &machine, &made).await;
        assert!(listed.contains("namespace/kube-system"), "{listed}");
        // control case: Magnum refuses the colleague each call about certificates
        let ran = cluster(&machine, &["ca", "show", &name]).await;
        assert_eq!(ran.code, 5, "{}", ran.err);

        let words = ["delete", &name, "--yes", "--wait", "--timeout", "60s"];
        let ran = cluster(&machine, &words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(panel.remove_record(made.uuid).await);
    })
    .await;
}
