//! The signed list of enrolled clusters, as kube-auth fetches it.
use std::{os::unix::fs::PermissionsExt as _, path::Path, time::Duration};

use http::{Method, StatusCode};
use jiff::Timestamp;
use portico_assertion::{
    SigningKey,
    cluster_list::{LIFETIME_SECONDS, ListRefused, ListVerifier},
};
use portico_domain::enrolled_cluster::{ClusterSource, EnrolledCluster};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{
    browser::Browser,
    stack::{MAIN, Stack, Wanted},
    time::advance,
};

const TOKEN: &str = "0123456789abcdef0123456789abcdef";
const BEARER: &str = "Bearer 0123456789abcdef0123456789abcdef";

/// Writes the files of the section, with this token.
fn section(dir: &Path, key: &SigningKey, token: &str) -> Value {
    let (key_file, token_file) = (dir.join("list.pem"), dir.join("token"));
    key.write_new(&key_file).expect("key file");
    std::fs::write(&token_file, token).expect("written");
    let owner = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(&token_file, owner).expect("permissions");
    json!({ "cluster_list": { "signing_key_file": key_file, "token_file": token_file } })
}

fn cluster(id: u128) -> EnrolledCluster {
    let pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    EnrolledCluster {
        id: Uuid::from_u128(id),
        name: format!("cluster-{id}"),
        owner_project: "acme".to_owned(),
        accepted_projects: vec!["acme".to_owned()],
        accepted_roles: Vec::new(),
        api_url: "https://192.0.2.7:6443".to_owned(),
        ca: pem.to_owned(),
        client_ca: pem.to_owned(),
        api_audiences: vec!["https://kubernetes.default.svc".to_owned()],
        source: ClusterSource::Magnum,
    }
}

#[tokio::test]
async fn the_list_of_enrolled_clusters_is_signed_and_changes_with_the_store() {
    let dir = tempfile::tempdir().expect("directory");
    let key = SigningKey::generate();
    let stack = Stack::start(Wanted {
        gateway: section(dir.path(), &key, &format!("{TOKEN}\n")),
        ..Wanted::on_sqlite()
    })
    .await;
    let now = Timestamp::now();
    let enrolled = stack.store.enrolled_clusters();
    enrolled.put(&cluster(1), now).await.expect("stored");
    let url = format!("{MAIN}/.well-known/portico-clusters");
    let mut kube_auth = Browser::new(stack.address);
    let authorization = ("authorization", BEARER);
    let page = kube_auth
        .send(Method::GET, &url, &[authorization], String::new())
        .await;
    assert_eq!(page.status, StatusCode::OK);
    let verifier = ListVerifier::from_pem(&key.public_pem().expect("PEM"), MAIN).expect("key");
    let list = verifier.verify(&page.body, now).expect("verified");
    assert_eq!(list.sequence, 1);
    assert_eq!(list.exp - list.iat, LIFETIME_SECONDS);
    assert_eq!(list.clusters, [cluster(1).listed()]);
    let stranger = SigningKey::generate().public_pem().expect("PEM");
    let stranger = ListVerifier::from_pem(&stranger, MAIN).expect("key");
    assert_eq!(
        stranger.verify(&page.body, now),
        Err(ListRefused::UnknownKey)
    );

    let etag = page.headers["etag"].to_str().expect("text").to_owned();
    let known = [authorization, ("if-none-match", etag.as_str())];
    let again = kube_auth
        .send(Method::GET, &url, &known, String::new())
        .await;
    // unless a full hour has begun since
    if again.headers["etag"] == page.headers["etag"] {
        assert_eq!(again.status, StatusCode::NOT_MODIFIED);
        assert_eq!(again.body, "");
    }

    enrolled.remove(Uuid::from_u128(1)).await.expect("removed");
    // a list is served for a second before the store is asked again
    advance(Duration::from_secs(1)).await;
    let page = kube_auth
        .send(Method::GET, &url, &known, String::new())
        .await;
    let list = verifier
        .verify(&page.body, Timestamp::now())
        .expect("verified");
    assert_eq!((list.sequence, list.clusters.len()), (2, 0));
}

#[tokio::test]
async fn attack_without_the_token_of_kube_auth_nothing_is_served() {
    let (dir, key) = (
        tempfile::tempdir().expect("directory"),
        SigningKey::generate(),
    );
    let stack = Stack::start(Wanted {
        gateway: section(dir.path(), &key, TOKEN),
        ..Wanted::on_sqlite()
    })
    .await;
    let enrolled = stack.store.enrolled_clusters();
    let put = enrolled.put(&cluster(1), Timestamp::now()).await;
    put.expect("stored");
    let url = format!("{MAIN}/.well-known/portico-clusters");
    let mut client = Browser::new(stack.address);
    let right = ("authorization", BEARER);
    let first = client
        .send(Method::GET, &url, &[right], String::new())
        .await;
    assert_eq!(first.status, StatusCode::OK);
    let etag = first.headers["etag"].to_str().expect("text").to_owned();
    let navigation = [
        ("accept", "text/html"),
        ("sec-fetch-mode", "navigate"),
        ("sec-fetch-dest", "document"),
    ];
    let (longer, other) = (format!("{BEARER}0"), BEARER.replace('f', "e"));
    let (basic, two) = (
        BEARER.replace("Bearer", "Basic"),
        format!("Bearer {BEARER}"),
    );
    let wrong = |value| [("authorization", value), ("if-none-match", etag.as_str())];
    let cases: [(&str, &[(&str, &str)]); 10] = [
        ("none", &[]),
        (
            "none, with a known tag",
            &[("if-none-match", etag.as_str())],
        ),
        ("none, of a browser", &navigation),
        ("another", &wrong(other.as_str())),
        ("a longer one", &wrong(longer.as_str())),
        ("a shorter one", &wrong(&BEARER[..BEARER.len() - 1])),
        ("an empty one", &wrong("Bearer ")),
        ("another scheme", &wrong(basic.as_str())),
        ("the scheme twice", &wrong(two.as_str())),
        ("two lines", &[right, ("authorization", other.as_str())]),
    ];
    for (what, headers) in cases {
        for method in [Method::GET, Method::HEAD] {
            let page = client.send(method, &url, headers, String::new()).await;
            assert_eq!(page.status, StatusCode::UNAUTHORIZED, "{what}");
            assert_eq!(page.headers["www-authenticate"], "Bearer", "{what}");
            assert_eq!(page.headers["cache-control"], "no-store", "{what}");
            assert!(!page.headers.contains_key("etag"), "{what}");
            assert_eq!(page.body, "", "{what}");
        }
    }
    // a user's session is not enough
    let (mut signed_in, _) = stack.signed_in(&["k8s_admin"]).await;
    let page = signed_in.call(Method::GET, &url, "").await;
    assert_eq!(page.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_short_token_or_a_file_that_all_users_can_read_stops_the_start() {
    for (token, mode, reason) in [
        (&TOKEN[1..], 0o600, "at least 32"),
        (TOKEN, 0o644, "chmod 600"),
    ] {
        let dir = tempfile::tempdir().expect("directory");
        let gateway = section(dir.path(), &SigningKey::generate(), token);
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(dir.path().join("token"), permissions).expect("permissions");
        let refused = Stack::build(Wanted {
            gateway,
            ..Wanted::on_sqlite()
        })
        .await;
        let refused = refused.err().expect("refused").to_string();
        assert!(refused.contains(reason), "{refused}");
    }
}

#[tokio::test]
async fn without_a_signing_key_there_is_no_list() {
    let stack = Stack::start(Wanted::default()).await;
    let url = format!("{MAIN}/.well-known/portico-clusters");
    let mut kube_auth = Browser::new(stack.address);
    let page = kube_auth.send(Method::GET, &url, &[], String::new()).await;
    assert_eq!(page.status, StatusCode::NOT_FOUND);
}
