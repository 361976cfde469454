//! Authorities, signed certificates, and what drivers cannot rotate.
use crate::service_proxy::Rules;
use crate::tenant::{CLUSTER_API, FULL, HEAT, Tenant, cluster, json};
use std::os::unix::fs::PermissionsExt as _;

#[tokio::test]
async fn case_39_an_authority_that_the_driver_cannot_rotate_is_not_sent() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("rotate");
        tenant.make(&name, CLUSTER_API, &[]).await;
        let (person, proxy) = tenant.through(Rules::default()).await;
        let ran = cluster(&person, &["ca", "rotate", &name, "--yes"]).await;
        assert_eq!(ran.code, 13, "{}", ran.err);
        assert!(ran.err.contains("nothing was sent"), "{}", ran.err);
        assert!(proxy.changes().is_empty());
    })
    .await;
}

#[tokio::test]
async fn case_40_a_rotated_authority_has_another_fingerprint() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("renewed");
        tenant.make_complete(&name, FULL, &[]).await;
        let show = ["ca", "show", &name, "-o", "json"];
        let before = json(&tenant.cluster(&show).await);
        // without a terminal the name cannot be typed
        let ran = tenant.cluster(&["ca", "rotate", &name]).await;
        assert_eq!(ran.code, 2, "{}", ran.err);
        let words = ["ca", "rotate", &name, "--yes", "--wait"];
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let after = json(&tenant.cluster(&show).await);
        assert_ne!(before["fingerprint"], after["fingerprint"]);
    })
    .await;
}

#[tokio::test]
async fn case_44_a_credential_is_rotated_and_both_users_see_the_new_owner() {
    Tenant::run(|tenant| async move {
        let (heat, capi) = (tenant.name("heat"), tenant.name("capi"));
        tenant.make(&heat, HEAT, &[]).await;
        let made = tenant.make_complete(&capi, CLUSTER_API, &[]).await;
        assert_eq!(made.user_id, tenant.member.id);
        let words = |name| ["credential", "rotate", name, "--yes"];
        let ran = tenant.cluster(&words(&heat)).await;
        assert_eq!(ran.code, 13, "{}", ran.err);
        let colleague = tenant.user("member").await;
        let person = tenant.person_of(&colleague);
        // without a terminal the name cannot be typed
        let ran = cluster(&person, &words(&capi)[..3]).await;
        assert_eq!(ran.code, 2, "{}", ran.err);
        let read = tenant.magnum.cluster(&tenant.token, made.uuid).await;
        assert_eq!(read.unwrap().user_id, tenant.member.id);
        let ran = cluster(&person, &words(&capi)).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        // the new owner, before it is sent
        let from = format!("Ownership passes from the user {} to you", tenant.member.id);
        assert!(ran.err.contains(&from), "{}", ran.err);
        let read = tenant.magnum.cluster(&tenant.token, made.uuid).await;
        assert_eq!(read.unwrap().user_id, colleague.id);
        // the owner before, who gets no certificate any longer
        let show = ["ca", "show", &capi];
        let ran = tenant.cluster(&show).await;
        assert_eq!(ran.code, 5, "{}", ran.err);
        let owner = format!("the user {}", colleague.id);
        assert!(ran.err.contains(&owner), "{}", ran.err);
        assert_eq!(cluster(&person, &show).await.code, 0);
    })
    .await;
}

#[tokio::test]
async fn case_42_a_colleague_learns_that_only_the_creator_reads_the_authority() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("authority");
        tenant.make_complete(&name, FULL, &[]).await;
        let words = ["ca", "show", &name, "-o", "json"];
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let shown = json(&ran);
        assert!(shown["days_left"].as_i64().unwrap() > 1_000, "{shown}");
        assert_eq!(shown["fingerprint"].as_str().unwrap().len(), 64);
        let colleague = tenant.user("member").await;
        let ran = cluster(&tenant.person_of(&colleague), &words).await;
        assert_eq!(ran.code, 5, "{}", ran.err);
        assert!(ran.err.contains("certificate:get"), "{}", ran.err);
    })
    .await;
}

#[tokio::test]
async fn a_certificate_request_is_signed_and_a_key_is_never_sent() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("sign");
        tenant.make_complete(&name, FULL, &[]).await;
        let key = rcgen::KeyPair::generate().unwrap();
        let mut params = rcgen::CertificateParams::default();
        params
            .distinguished_name
            .push(rcgen::DnType::CommonName, "ops");
        let request = params.serialize_request(&key).unwrap().pem().unwrap();
        let path = tenant.person.write("ops.csr", &request).unwrap();
        let words = ["cert", "sign", &name, "--csr", path.to_str().unwrap()];
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(
            ran.out.starts_with("-----BEGIN CERTIFICATE-----"),
            "{}",
            ran.out
        );
        assert!(ran.err.contains("CN=ops"), "{}", ran.err);
        let path = tenant
            .person
            .write("ops.key", &key.serialize_pem())
            .unwrap();
        let words = ["cert", "sign", &name, "--csr", path.to_str().unwrap()];
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains("never sent"), "{}", ran.err);
    })
    .await;
}

#[tokio::test]
async fn case_43_a_kubeconfig_with_a_certificate_is_written_for_the_creator_only() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("admin");
        tenant.make_complete(&name, FULL, &[]).await;
        let path = tenant.person.write("place", "").unwrap();
        let path = path.with_file_name("admin.kubeconfig");
        let out = path.to_str().unwrap();
        let words = ["kubeconfig", &name, "--certificate", "--out", out];
        // without a terminal the name cannot be typed
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(!path.exists());
        let more = ["--yes", "-o", "json"];
        let words: Vec<_> = words.iter().chain(&more).copied().collect();
        let colleague = tenant.user("member").await;
        let ran = cluster(&tenant.person_of(&colleague), &words).await;
        assert_eq!(ran.code, 5, "{}", ran.err);
        assert!(!path.exists());
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.err.contains("valid for five years"), "{}", ran.err);
        let certificate = &json(&ran)["certificate"];
        let subject = certificate["subject"].as_str().unwrap();
        assert!(subject.contains("CN=admin"), "{subject}");
        assert!(subject.contains("O=system:masters"), "{subject}");
        let days = certificate["days_left"].as_i64().unwrap();
        assert!((1_800..=1_830).contains(&days), "{days}");
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        // an existing file is not replaced
        assert_eq!(tenant.cluster(&words).await.code, 2);
    })
    .await;
}
