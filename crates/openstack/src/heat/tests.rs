use super::*;
use crate::rest::test_server::{PROJECT, Received, Reply, TestServer};
use serde_json::{Value, json};

const STACK: &str = "a93052be-40fb-4c6c-b2fd-593396445273";
const NAME: &str = "k8s-cluster-9f7599005734";

/// Returns an event as Heat 27 writes it.
fn event(number: usize, stack: &str) -> Value {
    let url = format!("http://h:8004/v1/{PROJECT}/stacks/{stack}/{STACK}");
    json!({
        "id": format!("event-{number}"),
        "event_time": "2026-11-28T06:47:05Z",
        "resource_name": "kube_cluster_deploy",
        "logical_resource_id": "kube_cluster_deploy",
        "physical_resource_id": "c163c0a6-901d-46e1-b65c-ef95635fc29d",
        "resource_status": "SIGNAL_IN_PROGRESS",
        "resource_status_reason":
            "Signal: deployment c163c0a6-901d-46e1-b65c-ef95635fc29d succeeded",
        "links": [
            {"rel": "self", "href": format!("{url}/resources/kube_cluster_deploy/events/e")},
            {"rel": "resource", "href": format!("{url}/resources/kube_cluster_deploy")},
            {"rel": "stack", "href": url},
        ],
    })
}

/// Answers with the events from the one after the marker on, of which the newest is the last one.
fn page(request: &Received, count: usize) -> Reply {
    let query: Vec<_> = request.target.split(['?', '&']).collect();
    let marker = query
        .iter()
        .find_map(|one| one.strip_prefix("marker=event-"));
    let newest = marker.map_or(count, |marker| marker.parse::<usize>().unwrap() - 1);
    let numbers = (1..=newest).rev().take(PAGE_EVENTS);
    let events: Vec<_> = numbers.map(|number| event(number, NAME)).collect();
    Reply::Json(200, json!({"events": events}))
}

fn stack() -> Stack {
    Stack {
        id: STACK.parse().unwrap(),
        name: NAME.to_owned(),
        status: "CREATE_COMPLETE".to_owned(),
    }
}

fn known(number: usize) -> HashSet<String> {
    HashSet::from([format!("event-{number}")])
}

#[tokio::test]
async fn a_stack_is_found_by_its_id_and_its_events_are_read_with_those_of_stacks_in_it() {
    let server = TestServer::start(|request| {
        if !request.path().ends_with("/events") {
            let stack = json!({"id": STACK, "stack_name": NAME, "stack_status": "CREATE_COMPLETE"});
            return Reply::Json(200, json!({"stacks": [stack]}));
        }
        page(request, 2)
    })
    .await;
    let (client, token) = (Client::new(TestServer::client()), server.token());
    assert!(client.is_offered(&token));
    let found = client.stack(&token, STACK.parse().unwrap()).await.unwrap();
    assert_eq!(found, Some(stack()));
    let other = client.stack(&token, Uuid::from_u128(7)).await.unwrap();
    assert_eq!(other, None);
    let events = client.events(&token, &stack(), &HashSet::new()).await;
    let Events { items, is_cut } = events.unwrap();
    assert!(!is_cut);
    let ids: Vec<_> = items.iter().map(|event| event.id.as_str()).collect();
    assert_eq!(ids, ["event-1", "event-2"]);
    assert_eq!(items[0].resource_name, "kube_cluster_deploy");
    assert_eq!(items[0].status, "SIGNAL_IN_PROGRESS");
    assert!(items[0].reason.ends_with("succeeded"));
    assert_eq!(items[0].stack_name(), Some(NAME));
    assert_eq!(items[0].at, "2026-11-28T06:47:05Z".parse().ok());
    let calls = server.calls();
    let expected = format!("GET /heat/v1/{PROJECT}/stacks?id={STACK}&show_deleted=true");
    assert_eq!(calls[0], expected);
    let expected =
        format!("GET /heat/v1/{PROJECT}/stacks/{NAME}/{STACK}/events?limit=100&nested_depth=2");
    assert_eq!(calls[2], expected);
}

#[tokio::test]
async fn pages_are_read_until_one_has_a_known_event() {
    let server = TestServer::start(|request| page(request, 250)).await;
    let (client, token) = (Client::new(TestServer::client()), server.token());
    for (known, read, calls) in [
        (HashSet::new(), 250, 3),
        (known(140), 200, 2),
        (known(249), 100, 1),
    ] {
        let before = server.calls().len();
        let events = client.events(&token, &stack(), &known).await.unwrap();
        assert_eq!((events.items.len(), events.is_cut), (read, false));
        assert_eq!(events.items[read - 1].id, "event-250");
        assert_eq!(server.calls().len() - before, calls);
    }
}

#[tokio::test]
async fn reading_ends_if_heat_begins_again_or_has_too_many_events() {
    let server = TestServer::start(|_| {
        let events: Vec<_> = (1..=PAGE_EVENTS)
            .map(|number| event(number, NAME))
            .collect();
        Reply::Json(200, json!({"events": events}))
    })
    .await;
    let client = Client::new(TestServer::client());
    let events = client
        .events(&server.token(), &stack(), &HashSet::new())
        .await;
    let events = events.unwrap();
    assert_eq!((events.items.len(), events.is_cut), (PAGE_EVENTS, true));
    assert_eq!(server.calls().len(), 2);
    let server = TestServer::start(|request| page(request, 5_000)).await;
    let events = client
        .events(&server.token(), &stack(), &HashSet::new())
        .await;
    let events = events.unwrap();
    assert_eq!((events.items.len(), events.is_cut), (2_000, true));
    assert_eq!(server.calls().len(), MAX_PAGES);
}

#[tokio::test]
async fn the_events_of_a_deleted_stack_are_read_without_those_of_stacks_in_it() {
    let server = TestServer::start(|request| {
        if request.target.contains("nested_depth") {
            return Reply::Json(200, json!({"events": []}));
        }
        page(request, 3)
    })
    .await;
    let client = Client::new(TestServer::client());
    let events = client
        .events(&server.token(), &stack(), &HashSet::new())
        .await;
    assert_eq!(events.unwrap().items.len(), 3);
    assert_eq!(server.calls().len(), 2);
}

#[tokio::test]
async fn a_name_that_leads_elsewhere_is_not_sent() {
    let server = TestServer::start(|_| panic!("nothing is sent")).await;
    let client = Client::new(TestServer::client());
    for name in ["", "a/../b", "1a", ".."] {
        let stack = Stack {
            name: name.to_owned(),
            ..stack()
        };
        let error = client
            .events(&server.token(), &stack, &HashSet::new())
            .await;
        let error = error.unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Malformed(_)), "{error}");
    }
    assert_eq!(server.calls().len(), 0);
    let mut event: Event = serde_json::from_value(event(1, "a")).unwrap();
    event.links[2].href = "http://h/stacks/../x".to_owned();
    assert_eq!(event.stack_name(), None);
}
