use super::*;

#[tokio::test]
async fn certificates_are_of_the_requested_authority_and_keys_are_never_sent() {
    const PEM: &str = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----";
    let server = magnum("1.14", |request| match request.method.as_str() {
        "POST" => Reply::Json(
            201,
            json!({"cluster_uuid": CLUSTER, "pem": PEM, "csr": "c"}),
        ),
        _ if request.target.ends_with("?ca_cert_type=etcd") => {
            Reply::Json(200, json!({"cluster_uuid": CLUSTER, "pem": "error"}))
        }
        _ => Reply::Json(200, json!({"cluster_uuid": CLUSTER, "pem": PEM})),
    })
    .await;
    let (client, token) = (client(), server.token());
    let read = client
        .authority(&token, uuid(), Authority::Kubernetes)
        .await;
    assert_eq!(read.unwrap(), PEM);
    let read = client.authority(&token, uuid(), Authority::Etcd).await;
    assert!(matches!(read.unwrap_err().kind, ErrorKind::Malformed(_)));
    let request = "-----BEGIN CERTIFICATE REQUEST-----";
    let sign = |request| client.sign_certificate(&token, uuid(), request, Authority::FrontProxy);
    assert_eq!(sign(request).await.unwrap(), PEM);
    let sent = server.received().pop().unwrap();
    assert_eq!(
        sent.body,
        json!({"cluster_uuid": CLUSTER, "csr": request, "ca_cert_type": "front-proxy"})
    );
    let count = server.received().len();
    let refused = sign("-----BEGIN PRIVATE KEY-----\nAAAA").await;
    assert!(matches!(refused.unwrap_err().kind, ErrorKind::Invalid(_)));
    assert_eq!(server.received().len(), count);
}

#[tokio::test]
async fn rotations_are_requested_without_a_body() {
    let server = accepting().await;
    let (client, token) = (client(), server.token());
    client.rotate_authorities(&token, uuid()).await.unwrap();
    client.rotate_credential(&token, uuid()).await.unwrap();
    assert_eq!(
        calls(&server),
        [
            format!("PATCH certificates/{CLUSTER}"),
            format!("PATCH credentials/{CLUSTER}")
        ]
    );
    assert!(
        server
            .received()
            .iter()
            .all(|call| call.body == Value::Null)
    );
}
