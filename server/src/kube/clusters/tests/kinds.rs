//! The kinds of a cluster, as its lists have them.
use super::*;
use crate::kube::discovery;
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What the API server has at first, after a definition, and while it is down.
const GROUPS: [Option<&str>; 3] = [Some("batch"), Some("data.example.org"), None];

/// Returns the response to a request for the kinds of one group.
fn response(head: &str, group: Option<&str>) -> String {
    let Some(group) = group else {
        return "HTTP/1.1 503 Down\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_owned();
    };
    let kind = json!({"resource": "things", "responseKind": {"kind": "Thing"},
        "scope": "Namespaced", "verbs": ["list"]});
    let item = json!({"metadata": {"name": group},
        "versions": [{"version": "v1", "resources": [kind]}]});
    let items = if head.starts_with("GET /apis ") {
        vec![item]
    } else {
        Vec::new()
    };
    let body = json!({"kind": "APIGroupDiscoveryList", "items": items}).to_string();
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    )
}

async fn groups(api: &Api) -> Vec<String> {
    let catalog = discovery::recent_catalog(api).await.unwrap();
    let kinds = catalog.listable().into_iter();
    kinds.map(|kind| kind.group).collect()
}

#[tokio::test]
async fn a_kind_that_was_just_defined_is_listed_seconds_later_and_an_outage_keeps_the_list() {
    let (clusters, key) = clusters();
    let state = Arc::new(AtomicUsize::new(0));
    let shown = Arc::clone(&state);
    let (api_url, ca) =
        api_server::start(move |head| response(head, GROUPS[shown.load(Ordering::Relaxed)])).await;
    let cluster = EnrolledCluster {
        api_url,
        ca,
        ..enrolled(2, "defining")
    };
    clusters.replace_enrolled(vec![cluster], key.public());
    let api = api(&clusters).await;
    assert_eq!(groups(&api).await, ["batch"]);
    state.store(1, Ordering::Relaxed);
    // it was read just now
    assert_eq!(groups(&api).await, ["batch"]);
    api.caches.recent_catalogs.invalidate_all();
    assert_eq!(groups(&api).await, ["data.example.org"]);
    state.store(2, Ordering::Relaxed);
    api.caches.recent_catalogs.invalidate_all();
    assert_eq!(groups(&api).await, ["data.example.org"]);
    // for some seconds after the outage was noticed, the API server is not asked again
    state.store(0, Ordering::Relaxed);
    assert_eq!(groups(&api).await, ["data.example.org"]);
    api.caches.recent_catalogs.invalidate_all();
    assert_eq!(groups(&api).await, ["batch"]);
}
