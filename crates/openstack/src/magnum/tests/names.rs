use super::*;

#[tokio::test]
async fn a_name_is_resolved_here_and_several_candidates_are_listed() {
    let other = "00000000-0000-4000-8000-000000000001";
    let foreign = "00000000-0000-4000-8000-000000000002";
    let server = magnum("1.14", move |request| match request.path() {
        "/magnum/v1/clusters/detail" => Reply::Json(
            200,
            json!({"clusters": [
                cluster(CLUSTER, "dup", PROJECT), cluster(other, "dup", PROJECT),
                cluster(foreign, "dup", "another"), cluster(foreign, "elsewhere", "another"),
                cluster("00000000-0000-4000-8000-000000000003", "one", PROJECT)]}),
        ),
        path if path.ends_with(CLUSTER) => Reply::Json(200, cluster(CLUSTER, "dup", PROJECT)),
        _ => not_found(),
    })
    .await;
    let (client, token) = (client(), server.token());
    let error = client.cluster_named(&token, "dup").await.unwrap_err();
    let ErrorKind::Ambiguous(ambiguous) = error.kind else {
        panic!("{error}");
    };
    let ids: Vec<_> = ambiguous
        .candidates
        .iter()
        .map(|one| one.id.as_str())
        .collect();
    assert_eq!(ids, [CLUSTER, other]);
    assert!(ambiguous.candidates[0].created_at.is_some());
    assert_eq!(
        client.cluster_named(&token, "one").await.unwrap().name,
        "one"
    );
    assert_eq!(
        client.cluster_named(&token, CLUSTER).await.unwrap().uuid,
        uuid()
    );
    for missing in ["elsewhere", "none", foreign] {
        let error = client.cluster_named(&token, missing).await.unwrap_err();
        assert!(error.is_not_found(), "{error}");
    }
    // no name is part of a path
    assert!(
        calls(&server)
            .iter()
            .all(|call| !call.contains("dup") && !call.contains("one"))
    );
}

#[tokio::test]
async fn an_admins_token_shows_its_projects_clusters_only() {
    let server = magnum("1.14", |_| {
        let clusters = json!([
            cluster(CLUSTER, "mine", PROJECT),
            cluster("00000000-0000-4000-8000-000000000002", "theirs", "another")
        ]);
        Reply::Json(200, json!({ "clusters": clusters }))
    })
    .await;
    let (client, token) = (client(), server.token());
    assert_eq!(client.clusters(&token).await.unwrap().items.len(), 1);
    let all = client.clusters_of_all_projects(&token).await.unwrap();
    assert_eq!(all.items.len(), 2);
}
