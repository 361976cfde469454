use super::Machine;
use super::stand_in::{Answer, CLUSTER, Received, StandIn, cluster, error};
use rcgen::{
    BasicConstraints, CertificateParams, CertificateSigningRequestParams, CertifiedIssuer, IsCa,
    KeyPair,
};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;

type Issuer = CertifiedIssuer<'static, KeyPair>;

fn issuer() -> Issuer {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// Answers as Magnum does to the creator of the cluster.
fn certificates(request: &Received, issuer: &Issuer) -> Option<Answer> {
    let path = format!("certificates/{CLUSTER}");
    let answer = |pem: String| json!({"cluster_uuid": CLUSTER, "pem": pem});
    if request.method == "GET" && request.path == path {
        return Some((200, answer(issuer.pem())));
    }
    if request.method != "POST" {
        return None;
    }
    let csr = request.body["csr"].as_str().unwrap();
    let signed = CertificateSigningRequestParams::from_pem(csr).unwrap();
    let signed = signed.signed_by(issuer).unwrap();
    Some((201, answer(signed.pem())))
}

async fn cloud() -> StandIn {
    let issuer = issuer();
    let clusters = vec![cluster(CLUSTER, "shop", "CREATE_COMPLETE")];
    StandIn::start(clusters, move |request, _| certificates(request, &issuer)).await
}

fn words(path: &str) -> [&str; 5] {
    ["kubeconfig", "shop", "--certificate", "--out", path]
}

#[tokio::test]
async fn case_43_a_kubeconfig_with_a_certificate_is_for_its_owner_only() {
    let (machine, cloud) = (Machine::new(), cloud().await);
    let path = machine.0.path().join("shop.kubeconfig");
    let words = words(path.to_str().unwrap());
    let ran = machine.run(&cloud, &words, Some("shop")).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("valid for five years"), "{}", ran.err);
    // Magnum is called directly here
    assert!(ran.err.contains("has no record"), "{}", ran.err);
    let subject = "O=system:masters, CN=admin";
    assert!(ran.err.contains(subject), "{}", ran.err);
    assert!(ran.out.contains(subject), "{}", ran.out);
    let metadata = std::fs::metadata(&path).unwrap();
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    let written = std::fs::read_to_string(&path).unwrap();
    let written: Value = serde_norway::from_str(&written).unwrap();
    let server = &written["clusters"][0]["cluster"]["server"];
    assert_eq!(server, "https://192.0.2.10:6443");
    let key = &written["users"][0]["user"]["client-key-data"];
    let key = key.as_str().unwrap();
    // neither sent nor printed
    assert_eq!(cloud.calls(), ["POST certificates"]);
    let sent = cloud.changes()[0].body.to_string();
    assert!(!sent.contains("PRIVATE KEY"), "{sent}");
    assert!(!ran.out.contains(key) && !ran.err.contains(key));
}

#[tokio::test]
async fn case_43_without_the_name_nothing_is_signed() {
    let (machine, cloud) = (Machine::new(), cloud().await);
    let path = machine.0.path().join("shop.kubeconfig");
    let words = words(path.to_str().unwrap());
    for (typed, code) in [(Some("other"), 1), (None, 2)] {
        let ran = machine.run(&cloud, &words, typed).await;
        assert_eq!(ran.code, code, "{}", ran.err);
    }
    assert!(cloud.calls().is_empty());
    assert!(!path.exists());
}

#[tokio::test]
async fn case_43_a_file_that_exists_stays_and_nothing_is_signed() {
    let (machine, cloud) = (Machine::new(), cloud().await);
    let path = machine.file("shop.kubeconfig", "mine");
    let ran = machine.run(&cloud, &words(&path), Some("shop")).await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("is not replaced"), "{}", ran.err);
    assert!(cloud.calls().is_empty());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
}

#[tokio::test]
async fn case_43_a_colleague_learns_that_only_the_creator_gets_certificates() {
    let clusters = vec![cluster(CLUSTER, "shop", "CREATE_COMPLETE")];
    let cloud = StandIn::start(clusters, |request, _| {
        let text = "Policy doesn't allow certificate:get to be performed.";
        let is_certificate = request.path.starts_with("certificates");
        is_certificate.then(|| (403, error(text)))
    });
    let (machine, cloud) = (Machine::new(), cloud.await);
    let path = machine.0.path().join("shop.kubeconfig");
    let words = words(path.to_str().unwrap());
    let ran = machine.run(&cloud, &words, Some("shop")).await;
    assert_ran!("certificate_for_a_colleague", ran);
    assert!(!path.exists());
}

#[tokio::test]
async fn without_a_session_a_kubeconfig_without_a_secret_is_refused_with_the_next_step() {
    let (machine, cloud) = (Machine::new(), cloud().await);
    for (words, name) in [
        (vec!["kubeconfig", "shop"], "without_a_session"),
        (
            vec!["kubeconfig", "shop", "--merge"],
            "merge_without_a_session",
        ),
    ] {
        let ran = machine.run(&cloud, &words, None).await;
        assert_ran!(name, ran);
    }
    assert!(cloud.calls().is_empty());
}
