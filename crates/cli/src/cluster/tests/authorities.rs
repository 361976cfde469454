use super::Machine;
use super::stand_in::{Answer, CLUSTER, Received, StandIn, cluster, error};
use rcgen::{CertificateParams, DnType, KeyPair};
use serde_json::json;

/// Returns a certificate with this subject, signed by itself, in PEM.
fn certificate(name: &str) -> String {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.self_signed(&key).unwrap().pem()
}

/// Starts a Magnum with these answers, by the query of the request for a certificate.
async fn cloud(answer: impl Fn(&str) -> Option<Answer> + Send + Sync + 'static) -> StandIn {
    let clusters = vec![cluster(CLUSTER, "shop", "CREATE_COMPLETE")];
    let path = format!("certificates/{CLUSTER}");
    let reply = move |request: &Received, _: &mut Vec<serde_json::Value>| {
        (request.path == path)
            .then(|| answer(&request.query))
            .flatten()
    };
    StandIn::start(clusters, reply).await
}

#[tokio::test]
async fn all_authorities_are_listed_with_the_days_that_are_left() {
    let pems = ["shop", "etcd", "front-proxy"].map(certificate);
    let cloud = cloud(move |query| {
        let [kubernetes, etcd, front_proxy] = &pems;
        let pem = match query {
            "ca_cert_type=etcd" => etcd,
            "ca_cert_type=front-proxy" => front_proxy,
            _ => kubernetes,
        };
        Some((200, json!({"cluster_uuid": CLUSTER, "pem": pem})))
    })
    .await;
    let machine = Machine::new();
    let ran = machine.run(&cloud, &["ca", "list", "shop"], None).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let firsts = ran.out.lines().filter_map(|line| line.split(' ').next());
    let firsts: Vec<_> = firsts.collect();
    assert_eq!(firsts, ["AUTHORITY", "kubernetes", "etcd", "front-proxy"]);
    let words = ["ca", "list", "shop", "-o", "json"];
    let found = machine.run(&cloud, &words, None).await.json();
    for (row, name) in ["CN=shop", "CN=etcd", "CN=front-proxy"].iter().enumerate() {
        let certificate = &found[row]["certificate"];
        let subject = certificate["subject"].as_str().unwrap();
        assert!(subject.contains(name), "{subject}");
        assert!(certificate["days_left"].as_i64().unwrap() > 90);
    }
    assert!(cloud.calls().is_empty());
}

#[tokio::test]
async fn authorities_that_magnum_does_not_have_are_a_dash() {
    let pem = certificate("shop");
    // one driver has no secret for etcd; a Magnum that does not know `front-proxy` ignores it
    let cloud = cloud(move |query| match query {
        "ca_cert_type=etcd" => Some((500, error("No secret."))),
        _ => Some((200, json!({"cluster_uuid": CLUSTER, "pem": pem}))),
    })
    .await;
    let machine = Machine::new();
    let words = ["ca", "list", "shop", "-o", "json"];
    let ran = machine.run(&cloud, &words, None).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let found = ran.json();
    assert!(found[0]["certificate"].is_object(), "{found}");
    for row in [1, 2] {
        assert!(found[row]["certificate"].is_null(), "{found}");
    }
    let ran = machine.run(&cloud, &["ca", "list", "shop"], None).await;
    assert!(
        ran.out.lines().nth(2).unwrap().contains(" - "),
        "{}",
        ran.out
    );
}
