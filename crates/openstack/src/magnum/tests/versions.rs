use super::*;

#[tokio::test]
async fn every_call_asks_for_the_highest_version_that_both_know() {
    for (offered, sent) in [
        ("1.14", "1.14"),
        ("1.20", "1.14"),
        ("1.11", "1.11"),
        ("1.8", "1.8"),
    ] {
        let server = magnum(offered, |_| Reply::Json(200, json!({"clusters": []}))).await;
        let (client, token) = (client(), server.token());
        client.clusters(&token).await.unwrap();
        client.clusters(&token).await.unwrap();
        let received = server.received();
        // the versions are read once, and without a token
        assert_eq!(received.len(), 3);
        assert!(!received[0].headers.contains_key("x-auth-token"));
        for call in &received[1..] {
            assert_eq!(sent_version(call), format!("container-infra {sent}"));
        }
    }
}

#[tokio::test]
async fn without_a_version_document_the_headers_of_the_api_are_read() {
    let server = TestServer::start(|request| match request.path() {
        "/magnum/" => Reply::Raw(404, "x: y", "<html>".to_owned()),
        "/magnum/v1/" => Reply::Raw(
            200,
            "OpenStack-API-Minimum-Version: container-infrastructure-management 1.1\r\n\
             OpenStack-API-Maximum-Version: container-infrastructure-management 1.11",
            "{}".to_owned(),
        ),
        _ => Reply::Json(200, json!({"clusters": []})),
    })
    .await;
    client().clusters(&server.token()).await.unwrap();
    let received = server.received();
    assert_eq!(
        sent_version(received.last().unwrap()),
        "container-infra 1.11"
    );
}

#[tokio::test]
async fn a_magnum_without_microversions_has_the_first_and_a_too_new_one_is_refused() {
    let old = magnum("", |_| Reply::Json(200, json!({"clusters": []}))).await;
    client().clusters(&old.token()).await.unwrap();
    assert_eq!(sent_version(&old.received()[1]), "container-infra 1.1");
    let new = TestServer::start(|_| {
        let entry = json!({"id": "v1", "min_version": "1.15", "max_version": "1.20"});
        Reply::Json(200, json!({"versions": [entry]}))
    })
    .await;
    let error = client().clusters(&new.token()).await.unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Incompatible(_)));
    assert!(error.to_string().contains("1.15 to 1.20"));
}

#[tokio::test]
async fn a_server_that_is_older_than_its_neighbour_is_asked_in_its_own_version() {
    let server = magnum("1.14", |request| match sent_version(request) {
        "container-infra 1.11" => Reply::Json(202, json!({"uuid": CLUSTER})),
        // the answer has no status and no detail
        _ => Reply::Json(
            406,
            json!({"errors": [{"code": "magnum.microversion-unsupported",
            "min_version": "1.1", "max_version": "1.11", "links": [],
            "title": "Requested microversion is unsupported"}]}),
        ),
    })
    .await;
    let new = NewCluster::of_template("a", uuid());
    let created = client()
        .create_cluster(&server.token(), &new)
        .await
        .unwrap();
    assert_eq!(created, uuid());
    assert_eq!(calls(&server), ["POST clusters", "POST clusters"]);
}
