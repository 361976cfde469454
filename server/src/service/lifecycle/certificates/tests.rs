//! Authorities, with Magnum inside of the test.
use super::{
    reading::read,
    requests::{send_request, send_rotation},
};
use crate::service::lifecycle::{
    changing_magnum::{Answer, CLUSTER, ChangingMagnum, Received, TEMPLATE, cluster},
    fixtures::NOW,
    viewer::Viewer,
};
use app::error::UiErrorKind;
use portico_domain::panel::lifecycle::{
    AuthorityReading, ChangeOutcome, ClusterCertificates, Expiry, OtherAuthorityKind,
    RecordedAuthority,
};
use portico_openstack::rest::Effect;
use rcgen::{CertificateParams, DnType, KeyPair};
use serde_json::{Value, json};

/// Returns a certificate with this subject, signed by itself, in PEM.
fn certificate(name: &str) -> String {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.self_signed(&key).unwrap().pem()
}

/// Returns a certificate request, and its private key.
fn request() -> (String, String) {
    let key = KeyPair::generate().unwrap();
    let request = CertificateParams::default().serialize_request(&key);
    (request.unwrap().pem().unwrap(), key.serialize_pem())
}

fn reply(request: &Received, driver: &str, authority: &str) -> Option<Answer> {
    match (request.method.as_str(), request.path.as_str()) {
        ("GET", path) if path == format!("clustertemplates/{TEMPLATE}") => Some((
            200,
            json!({"uuid": TEMPLATE, "name": "small", "project_id": "acme", "public": true,
                   "driver": driver, "coe": "kubernetes", "labels": {}}),
        )),
        ("GET", path) if path == format!("certificates/{CLUSTER}") => {
            Some((200, json!({"pem": authority})))
        }
        ("POST", "certificates") => Some((201, json!({"pem": authority}))),
        ("PATCH", path) if path == format!("certificates/{CLUSTER}") => Some((202, Value::Null)),
        _ => None,
    }
}

async fn magnum(driver: &'static str, authority: &str) -> ChangingMagnum {
    let authority = authority.to_owned();
    ChangingMagnum::start(
        vec![cluster("shop", "CREATE_COMPLETE")],
        move |request, _| reply(request, driver, &authority),
    )
    .await
}

/// Starts a Magnum with answers of its own about the other authorities.
async fn magnum_with(
    authority: &str,
    others: impl Fn(&str) -> Option<Answer> + Send + Sync + 'static,
) -> ChangingMagnum {
    let authority = authority.to_owned();
    ChangingMagnum::start(
        vec![cluster("shop", "CREATE_COMPLETE")],
        move |request, _| others(&request.query).or_else(|| reply(request, HEAT, &authority)),
    )
    .await
}

const HEAT: &str = "k8s_fedora_coreos_v1";
const CLUSTER_API: &str = "k8s_cluster_api_ubuntu_v1";

/// Returns a Magnum that answers to changes with a proxy's page about a timeout.
async fn losing() -> ChangingMagnum {
    let clusters = vec![cluster("shop", "CREATE_COMPLETE")];
    ChangingMagnum::start(clusters, |request, _| match request.method.as_str() {
        "GET" => reply(request, HEAT, ""),
        _ => Some((504, json!("<html>gateway timeout</html>"))),
    })
    .await
}

fn ada(magnum: &ChangingMagnum) -> Viewer {
    magnum.viewer("ada", &["member", "reader"])
}

async fn page(
    magnum: &ChangingMagnum,
    who: &Viewer,
    recorded: Option<&str>,
) -> ClusterCertificates {
    let found = read(&magnum.clients, who, CLUSTER, recorded, NOW).await;
    found.unwrap()
}

#[tokio::test]
async fn the_creator_sees_the_authority_and_how_long_it_is_valid() {
    let authority = certificate("shop");
    let magnum = magnum(HEAT, &authority).await;
    let found = page(&magnum, &ada(&magnum), Some(&authority)).await;
    assert!(found.is_own);
    let AuthorityReading::Magnum(read) = &found.authority else {
        panic!("{found:?}");
    };
    assert!(read.subject.contains("CN=shop"), "{}", read.subject);
    assert_eq!(read.fingerprint.len(), 64);
    assert_eq!(read.expiry, Expiry::Distant);
    assert_eq!(found.record, RecordedAuthority::Same);
    assert!(found.signing.is_offered());
    let other = page(&magnum, &ada(&magnum), Some(&certificate("shop"))).await;
    assert_eq!(other.record, RecordedAuthority::Differs);
    let none = page(&magnum, &ada(&magnum), None).await;
    assert_eq!(none.record, RecordedAuthority::None);
}

#[tokio::test]
async fn case_42_a_colleague_sees_the_authority_of_the_record_and_who_may_read_it() {
    let authority = certificate("shop");
    let magnum = magnum(HEAT, &authority).await;
    let bob = magnum.viewer("bob", &["member", "reader"]);
    let found = page(&magnum, &bob, Some(&authority)).await;
    let AuthorityReading::Record {
        certificate,
        reason,
    } = &found.authority
    else {
        panic!("{found:?}");
    };
    assert!(certificate.subject.contains("CN=shop"));
    assert!(reason.contains("user who created it only"), "{reason}");
    assert_eq!((found.is_own, found.creator.as_str()), (false, "ada"));
    assert!(!found.signing.is_offered());
    assert_eq!(found.record, RecordedAuthority::NotCompared);
    let without = page(&magnum, &bob, None).await;
    assert!(matches!(
        without.authority,
        AuthorityReading::Refused { .. }
    ));
    // the rotation is a right of members
    assert!(found.rotation.is_offered());
}

#[tokio::test]
async fn the_other_authorities_are_shown_where_magnum_has_them() {
    let [kubernetes, etcd, front_proxy] = ["shop", "etcd", "front-proxy"].map(certificate);
    let magnum = magnum_with(&kubernetes, move |query| match query {
        "ca_cert_type=etcd" => Some((200, json!({"pem": etcd}))),
        "ca_cert_type=front-proxy" => Some((200, json!({"pem": front_proxy}))),
        _ => None,
    })
    .await;
    let found = page(&magnum, &ada(&magnum), None).await;
    let shown: Vec<_> = found.other_authorities.iter().collect();
    let kinds: Vec<_> = shown.iter().map(|other| other.kind).collect();
    assert_eq!(
        kinds,
        [OtherAuthorityKind::Etcd, OtherAuthorityKind::FrontProxy]
    );
    for (other, name) in shown.iter().zip(["CN=etcd", "CN=front-proxy"]) {
        let certificate = other.certificate.as_ref().unwrap();
        assert!(certificate.subject.contains(name), "{certificate:?}");
        assert_eq!(certificate.expiry, Expiry::Distant);
    }
    // a colleague asks for none of them
    let bob = magnum.viewer("bob", &["member", "reader"]);
    let found = page(&magnum, &bob, Some(&kubernetes)).await;
    assert!(found.other_authorities.is_empty());
}

#[tokio::test]
async fn without_other_authorities_the_page_has_that_of_kubernetes() {
    let kubernetes = certificate("shop");
    let fault = json!({"errors": [{"status": 500, "title": "Error", "detail": "No secret."}]});
    let failing = magnum_with(&kubernetes, move |query| {
        (!query.is_empty()).then(|| (500, fault.clone()))
    })
    .await;
    // a Magnum that does not know the parameter ignores it
    for magnum in [failing, magnum(HEAT, &kubernetes).await] {
        let found = page(&magnum, &ada(&magnum), None).await;
        assert!(matches!(found.authority, AuthorityReading::Magnum(_)));
        assert_eq!(found.other_authorities.len(), 2);
        let others = found.other_authorities.iter();
        assert!(others.map(|other| &other.certificate).all(Option::is_none));
    }
}

#[tokio::test]
async fn case_39_a_rotation_that_the_driver_cannot_is_disabled_and_never_sent() {
    let magnum = magnum(CLUSTER_API, &certificate("shop")).await;
    let ada = ada(&magnum);
    let found = page(&magnum, &ada, None).await;
    let reason = found.rotation.refusal.unwrap();
    assert!(reason.contains("damage the cluster's record"), "{reason}");
    let sent = send_rotation(&magnum.clients, &ada, CLUSTER, "shop").await;
    let ChangeOutcome::Refused { reason, .. } = sent.unwrap().outcome else {
        panic!("it was sent");
    };
    assert!(reason.contains("damage the cluster's record"), "{reason}");
    assert_eq!(magnum.calls(), [""; 0]);
}

#[tokio::test]
async fn case_40_only_the_typed_name_rotates() {
    let magnum = magnum(HEAT, &certificate("shop")).await;
    let ada = ada(&magnum);
    for typed in ["", "Shop", "shop "] {
        let sent = send_rotation(&magnum.clients, &ada, CLUSTER, typed).await;
        let outcome = sent.unwrap().outcome;
        assert!(matches!(outcome, ChangeOutcome::Refused { .. }), "{typed}");
    }
    assert_eq!(magnum.calls(), [""; 0]);
    let sent = send_rotation(&magnum.clients, &ada, CLUSTER, "shop").await;
    let sent = sent.unwrap();
    assert_eq!(sent.outcome, ChangeOutcome::Accepted);
    assert!(sent.accepted.is_some());
    assert_eq!(magnum.calls(), [format!("PATCH certificates/{CLUSTER}")]);
}

#[tokio::test]
async fn a_request_is_signed_for_the_creator_and_a_private_key_is_never_sent() {
    let magnum = magnum(HEAT, &certificate("ops")).await;
    let ada = ada(&magnum);
    let (request, key) = request();
    let long = format!("{request}{}", " ".repeat(20_000));
    for text in ["", "shop", &key, &format!("{request}{key}"), &long] {
        let refused = send_request(&magnum.clients, &ada, CLUSTER, text, NOW).await;
        assert_eq!(refused.unwrap_err().kind, UiErrorKind::Invalid);
    }
    let bob = magnum.viewer("bob", &["member", "reader"]);
    let refused = send_request(&magnum.clients, &bob, CLUSTER, &request, NOW).await;
    assert_eq!(refused.unwrap_err().kind, UiErrorKind::NotPermitted);
    assert_eq!(magnum.calls(), [""; 0]);
    let signed = send_request(&magnum.clients, &ada, CLUSTER, &request, NOW).await;
    let signed = signed.unwrap();
    assert!(signed.subject.contains("CN=ops"), "{}", signed.subject);
    assert!(signed.pem.starts_with("-----BEGIN CERTIFICATE-----"));
    assert_eq!(magnum.calls(), ["POST certificates"]);
    assert_eq!(magnum.changes()[0].body["csr"], json!(request));
}

#[tokio::test]
async fn the_effect_of_a_request_whose_response_is_lost_is_unknown() {
    let magnum = losing().await;
    let ada = ada(&magnum);
    let (request, _) = request();
    let lost = send_request(&magnum.clients, &ada, CLUSTER, &request, NOW).await;
    let lost = lost.unwrap_err();
    assert_eq!(lost.effect, Effect::Unknown);
    let begin = "The response to the certificate request was lost. ";
    assert!(lost.message.starts_with(begin), "{}", lost.message);
    let step = lost.next_step.unwrap();
    assert!(step.contains("may have signed"), "{step}");
    let sent = send_rotation(&magnum.clients, &ada, CLUSTER, "shop").await;
    let outcome = sent.unwrap().outcome;
    assert!(
        matches!(outcome, ChangeOutcome::Unknown { .. }),
        "{outcome:?}"
    );
}
