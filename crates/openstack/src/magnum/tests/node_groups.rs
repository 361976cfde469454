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

#[tokio::test]
async fn bounds_are_those_of_each_group_and_not_those_of_the_list() {
    const OTHER: &str = "900e3758-8071-430e-a8cf-5c48f428dc0f";
    let group = |uuid: &str, min: u32| {
        json!({"uuid": uuid, "name": uuid, "node_count": 3, "min_node_count": min,
               "max_node_count": min + 4})
    };
    let path = format!("clusters/{CLUSTER}/nodegroups");
    let server = magnum("1.14", move |request| {
        // as the real Magnum: the list has default bounds
        let body = match request.path().rsplit('/').next() {
            Some(CLUSTER) => group(CLUSTER, 1),
            Some(OTHER) => group(OTHER, 2),
            _ => json!({"nodegroups": [group(CLUSTER, 0), group(OTHER, 0)]}),
        };
        Reply::Json(200, body)
    })
    .await;
    let groups = client()
        .detailed_node_groups(&server.token(), uuid())
        .await
        .unwrap();
    assert_eq!(groups.cut, None);
    let bounds: Vec<_> = groups
        .items
        .iter()
        .map(|group| (group.min_node_count, group.max_node_count))
        .collect();
    // in the order of the list
    assert_eq!(bounds, [(1, Some(5)), (2, Some(6))]);
    let mut calls = calls(&server);
    calls.sort();
    let expected = [
        format!("GET {path}"),
        format!("GET {path}/{CLUSTER}"),
        format!("GET {path}/{OTHER}"),
    ];
    assert_eq!(calls, expected);
}
