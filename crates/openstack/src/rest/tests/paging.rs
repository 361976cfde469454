use super::*;
use crate::rest::test_server::{Received, Reply, TestServer};
use serde::Deserialize;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Debug, Deserialize)]
struct Thing {
    uuid: String,
}

async fn list(server: &TestServer) -> Result<Listing<Thing>, Error> {
    let call = Call::get("things", "things").with_query("limit", "2");
    let collection = Collection {
        key: "things",
        id: |thing: &Thing| thing.uuid.clone(),
    };
    TestServer::client()
        .list(SERVICE, &server.token(), call, &collection)
        .await
}

fn ids(listing: &Listing<Thing>) -> Vec<&str> {
    listing.items.iter().map(|one| one.uuid.as_str()).collect()
}

fn page_of(request: &Received, things: &[&str], next: Option<&str>) -> Reply {
    assert!(request.target.contains("limit=2"), "{}", request.target);
    let things: Vec<_> = things.iter().map(|id| json!({"uuid": id})).collect();
    let mut body = json!({ "things": things });
    if let Some(next) = next {
        body["next"] = json!(next);
    }
    Reply::Json(200, body)
}

#[tokio::test]
async fn all_pages_are_read_and_the_last_may_be_empty() {
    let server = TestServer::start(|request| {
        let marker = request.target.split("marker=").nth(1);
        match marker {
            None => page_of(
                request,
                &["a", "b"],
                Some("http://m/v1/things?marker=b&limit=9"),
            ),
            // the next page, seen from a proxy's inner side
            Some("b") => page_of(request, &["b", "c"], Some("/v1/things?limit=9&marker=c")),
            Some("c") => page_of(request, &[], None),
            Some(other) => panic!("{other}"),
        }
    })
    .await;
    let listing = list(&server).await.unwrap();
    assert_eq!((ids(&listing), listing.cut), (vec!["a", "b", "c"], None));
    assert_eq!(
        server.calls(),
        [
            "GET /magnum/v1/things?limit=2",
            "GET /magnum/v1/things?limit=2&marker=b",
            "GET /magnum/v1/things?limit=2&marker=c"
        ]
    );
}

#[tokio::test]
async fn a_link_to_another_host_gets_no_token() {
    let other = TestServer::start(|_| Reply::Json(200, json!({"things": []}))).await;
    let link = other.token().catalog.endpoints[0].url.to_string() + "/v1/things?marker=a";
    let server = TestServer::start(move |request| match request.target.contains("marker") {
        false => page_of(request, &["a"], Some(&link)),
        true => page_of(request, &["b"], None),
    })
    .await;
    assert_eq!(ids(&list(&server).await.unwrap()), ["a", "b"]);
    assert!(other.calls().is_empty());
}

#[tokio::test]
async fn links_that_repeat_end_the_list_and_it_is_known_as_incomplete() {
    let server =
        TestServer::start(|request| page_of(request, &["a", "b"], Some("?marker=b"))).await;
    let listing = list(&server).await.unwrap();
    assert_eq!(ids(&listing), ["a", "b"]);
    assert_eq!(listing.cut, Some(Cut::RepeatedLink));
    assert_eq!(server.calls().len(), 2);
    for link in ["http://m/v1/things", "?marker=", "#?", ""] {
        let server = TestServer::start(move |request| page_of(request, &["a"], Some(link))).await;
        let listing = list(&server).await.unwrap();
        assert_eq!(listing.cut, Some(Cut::UnusableLink), "{link}");
        assert_eq!(server.calls().len(), 1);
    }
}

#[tokio::test]
async fn links_without_end_are_followed_to_a_limit() {
    let count = AtomicUsize::new(0);
    let server = TestServer::start(move |request| {
        let number = count.fetch_add(1, Ordering::SeqCst);
        let next = format!("?marker={number}");
        page_of(request, &[&number.to_string()], Some(&next))
    })
    .await;
    let listing = list(&server).await.unwrap();
    assert_eq!(listing.cut, Some(Cut::TooLong));
    assert_eq!((listing.items.len(), server.calls().len()), (50, 50));
}

#[tokio::test]
async fn a_list_whose_marker_was_deleted_is_read_once_more() {
    let count = AtomicUsize::new(0);
    let server = TestServer::start(move |request| {
        match (
            request.target.contains("marker"),
            count.fetch_add(1, Ordering::SeqCst),
        ) {
            (false, 0) => page_of(request, &["a", "b"], Some("?marker=b")),
            (true, 1) => Reply::Json(404, errors(404, "b could not be found.")),
            (false, 2) => page_of(request, &["a"], None),
            other => panic!("{other:?}"),
        }
    })
    .await;
    let listing = list(&server).await.unwrap();
    assert_eq!((ids(&listing), listing.cut), (vec!["a"], None));
    // a collection that does not exist is no such case
    let server = TestServer::start(|_| Reply::Json(404, errors(404, "no such collection."))).await;
    assert!(list(&server).await.unwrap_err().is_not_found());
    assert_eq!(server.calls().len(), 1);
}

#[tokio::test]
async fn links_in_a_list_of_their_own_are_followed_too() {
    let server = TestServer::start(|request| {
        let links = json!([{"rel": "previous", "href": "http://n/x?marker=zzz"},
                           {"rel": "next", "href": "http://n/x?limit=1&marker=a"}]);
        Reply::Json(
            200,
            match request.target.contains("marker=a") {
                false => json!({"things": [{"uuid": "a"}], "things_links": links}),
                true => json!({"things": [{"uuid": "b"}], "things_links": []}),
            },
        )
    })
    .await;
    assert_eq!(ids(&list(&server).await.unwrap()), ["a", "b"]);
}
