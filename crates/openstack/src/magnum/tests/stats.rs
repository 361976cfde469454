use super::*;

#[tokio::test]
async fn stats_and_conductors_are_read() {
    let server = magnum("1.14", |request| match request.target.as_str() {
        "/magnum/v1/stats" => Reply::Json(200, json!({"clusters": 3, "nodes": 11})),
        "/magnum/v1/mservices" => Reply::Json(
            200,
            json!({"mservices": [
            {"id": 1, "host": "m", "binary": "magnum-conductor", "state": "asleep"}]}),
        ),
        other => panic!("{other}"),
    })
    .await;
    let (client, token) = (client(), server.token());
    assert_eq!(client.stats(&token, None).await.unwrap().nodes, 11);
    let conductors = client.conductors(&token).await.unwrap().items;
    assert_eq!(
        conductors[0].state,
        ConductorState::Other("asleep".to_owned())
    );
}
