use super::*;

#[tokio::test]
async fn a_group_is_acted_on_below_its_cluster() {
    let server = accepting().await;
    let (client, token) = (client(), server.token());
    let change = NodeGroupChange {
        max_node_count: Some(MaxNodeCount::Limit(5)),
        ..NodeGroupChange::default()
    };
    client
        .change_node_group(&token, uuid(), uuid(), &change)
        .await
        .unwrap();
    client
        .delete_node_group(&token, uuid(), uuid())
        .await
        .unwrap();
    let path = format!("clusters/{CLUSTER}/nodegroups/{CLUSTER}");
    assert_eq!(
        calls(&server),
        [format!("PATCH {path}"), format!("DELETE {path}")]
    );
    assert_eq!(
        server.received()[1].body,
        json!([{"op": "replace", "path": "/max_node_count", "value": 5}])
    );
}

#[tokio::test]
async fn a_group_is_found_by_its_name_and_is_created_without_a_status() {
    let group = json!({"uuid": CLUSTER, "name": "gpu", "node_count": 1, "role": "worker"});
    let server = magnum("1.14", move |request| match request.method.as_str() {
        "POST" => Reply::Json(202, group.clone()),
        _ => Reply::Json(200, json!({ "nodegroups": [group] })),
    })
    .await;
    let (client, token) = (client(), server.token());
    let named = client
        .node_group_named(&token, uuid(), "gpu")
        .await
        .unwrap();
    assert_eq!(named.uuid, uuid());
    let missing = client.node_group_named(&token, uuid(), "cpu").await;
    assert!(missing.unwrap_err().is_not_found());
    let new = NewNodeGroup {
        name: "gpu".to_owned(),
        ..NewNodeGroup::default()
    };
    let created = client
        .create_node_group(&token, uuid(), &new)
        .await
        .unwrap();
    assert_eq!(
        (created.summary.status, created.node_labels.len()),
        (None, 0)
    );
    assert_eq!(
        server.received().pop().unwrap().body,
        json!({"name": "gpu"})
    );
}
