use super::*;

fn template(uuid: &str, name: &str, project: &str, public: bool) -> Value {
    json!({"uuid": uuid, "name": name, "project_id": project, "public": public, "labels": {}})
}

#[tokio::test]
async fn templates_of_others_are_listed_only_if_they_are_public() {
    let ids = [1, 2, 3].map(|number| format!("00000000-0000-4000-8000-00000000000{number}"));
    let server = magnum("1.14", move |_| {
        let templates = json!([
            template(&ids[0], "own", PROJECT, false),
            template(&ids[1], "public", "another", true),
            template(&ids[2], "theirs", "another", false)
        ]);
        Reply::Json(200, json!({ "clustertemplates": templates }))
    })
    .await;
    let (client, token) = (client(), server.token());
    let templates = client.templates(&token).await.unwrap().items;
    let names: Vec<_> = templates.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["own", "public"]);
    let found = client.template_named(&token, "public").await.unwrap();
    assert!(found.public);
    assert!(
        client
            .template_named(&token, "theirs")
            .await
            .unwrap_err()
            .is_not_found()
    );
}

#[tokio::test]
async fn a_template_is_changed_and_deleted_by_uuid() {
    let in_use = "ClusterTemplate x is referenced by one or multiple clusters.";
    let server = magnum("1.14", move |request| match request.method.as_str() {
        "PATCH" => Reply::Json(200, template(CLUSTER, "new", PROJECT, false)),
        _ => Reply::Json(400, json!({"errors": [{"status": 400, "detail": in_use}]})),
    })
    .await;
    let (client, token) = (client(), server.token());
    let operations = [
        PatchOperation::set("name", "new"),
        PatchOperation::unset("tags"),
    ];
    let changed = client
        .change_template(&token, uuid(), &operations)
        .await
        .unwrap();
    assert_eq!(changed.name, "new");
    let error = client.delete_template(&token, uuid()).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Invalid(in_use.to_owned()));
    let path = format!("clustertemplates/{CLUSTER}");
    assert_eq!(
        calls(&server),
        [format!("PATCH {path}"), format!("DELETE {path}")]
    );
    assert_eq!(
        server.received()[1].body,
        json!([{"op": "replace", "path": "/name", "value": "new"},
               {"op": "remove", "path": "/tags"}])
    );
}
