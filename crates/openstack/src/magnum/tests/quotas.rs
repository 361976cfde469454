use super::*;

#[tokio::test]
async fn quotas_have_their_project_in_the_path_and_a_foreign_path_is_not_one() {
    let quota = json!({"id": 2, "hard_limit": 3, "project_id": PROJECT, "resource": "Cluster",
                       "created_at": null, "updated_at": null});
    let server = magnum("1.14", move |request| match request.method.as_str() {
        "POST" => Reply::Json(201, quota.clone()),
        "PATCH" => Reply::Json(202, quota.clone()),
        _ => Reply::Json(200, quota.clone()),
    })
    .await;
    let (client, token) = (client(), server.token());
    assert_eq!(client.quota(&token, PROJECT).await.unwrap().hard_limit, 3);
    client.create_quota(&token, PROJECT, 3).await.unwrap();
    client.change_quota(&token, PROJECT, 3).await.unwrap();
    let path = format!("quotas/{PROJECT}/Cluster");
    assert_eq!(
        calls(&server),
        [
            format!("GET {path}"),
            "POST quotas".to_owned(),
            format!("PATCH {path}")
        ]
    );
    let error = client.quota(&token, "../clusters").await.unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Invalid(_)));
}

#[tokio::test]
async fn quotas_of_all_projects_are_listed() {
    let server = magnum("1.14", |request| match request.target.as_str() {
        "/magnum/v1/quotas?all_tenants=true&limit=500" => Reply::Json(
            200,
            json!({"quotas": [
            {"id": 2, "hard_limit": 3, "project_id": PROJECT, "resource": "Cluster"}]}),
        ),
        other => panic!("{other}"),
    })
    .await;
    let quotas = client().quotas(&server.token()).await.unwrap();
    assert_eq!(quotas.items.len(), 1);
}
