//! `rediss://`, users and passwords.
use crate::suite::fixtures::{at, signed_in};
use crate::suite::keys;
use portico_store::{Store, StoreCause};
use portico_testkit::RedisServer;
use portico_transport::TransportFault;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use std::path::Path;

fn authority(file: &Path) -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let issuer = CertifiedIssuer::self_signed(params, key).unwrap();
    std::fs::write(file, issuer.pem()).unwrap();
    issuer
}

#[tokio::test]
async fn a_server_with_tls_is_asked_by_its_authority_only() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str| dir.path().join(name).display().to_string();
    let issuer = authority(Path::new(&file("ca.pem")));
    authority(Path::new(&file("other.pem")));
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &issuer).unwrap();
    std::fs::write(file("server.pem"), certificate.pem()).unwrap();
    std::fs::write(file("server.key"), key.serialize_pem()).unwrap();
    let server = RedisServer::with_tls(&[
        "--tls-cert-file",
        &file("server.pem"),
        "--tls-key-file",
        &file("server.key"),
        "--tls-auth-clients",
        "no",
        "--requirepass",
        "pass word",
    ])
    .unwrap();
    let address = server.address().replace("127.0.0.1", "localhost");
    let url = |ca: &str| format!("rediss://:pass%20word@{address}/0?ca_file={}", file(ca));
    let store = Store::connect(&url("ca.pem"), 1, keys(&[1])).await.unwrap();
    store.migrate(at(0)).await.unwrap();
    let (secret, _) = signed_in(&store, "ada").await;
    let found = store.sessions().find(&secret, at(1)).await;
    assert!(found.unwrap().is_some());
    let plain = format!("redis://:pass%20word@{address}/0");
    let by_address = url("ca.pem").replace("localhost", "127.0.0.1");
    for (refused, fault) in [
        (url("other.pem"), TransportFault::UnknownAuthority),
        (by_address, TransportFault::CertificateName),
        (plain, TransportFault::Closed),
    ] {
        let error = Store::connect(&refused, 1, keys(&[1])).await.unwrap_err();
        assert_eq!(error.cause(), StoreCause::Transport(fault), "{error}");
        assert!(!error.to_string().contains("pass"), "{error}");
    }
}

#[tokio::test]
async fn a_user_needs_its_password_and_its_keys_only() {
    let user = "--user portico on >secret ~portico:* +@all -@admin +info";
    let default_off = "--user default off";
    let options: Vec<&str> = user.split(' ').chain(default_off.split(' ')).collect();
    let server = RedisServer::with(&options).unwrap();
    let address = server.address();
    let url = format!("redis://portico:secret@{address}/0");
    let store = Store::connect(&url, 1, keys(&[1])).await.unwrap();
    store.migrate(at(0)).await.unwrap();
    signed_in(&store, "ada").await;
    let elsewhere = format!("{url}?prefix=other:");
    let elsewhere = Store::connect(&elsewhere, 1, keys(&[1])).await.unwrap();
    assert!(elsewhere.migrate(at(0)).await.is_err());
    let wrong = format!("redis://portico:wrong@{address}/0");
    let error = Store::connect(&wrong, 1, keys(&[1])).await.unwrap_err();
    assert!(!error.to_string().contains("wrong@"), "{error}");
}
