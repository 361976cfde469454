//! An API server that refers to another address: its cluster was permitted, the other address was not.
use super::*;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Long enough for a connection on this machine.
const GRACE: Duration = Duration::from_millis(300);

/// Starts an API server that answers each request with this status and location; returns its address, its
/// certificate, and a channel with the requests.
async fn referring(status: u16, location: String) -> (String, String, mpsc::Receiver<String>) {
    let (seen, requests) = mpsc::channel(8);
    let (address, certificate) = api_server::start(move |head| {
        let _ = seen.try_send(head.to_owned());
        format!(
            "HTTP/1.1 {status} Elsewhere\r\nLocation: {location}\r\nContent-Length: 0\r\n\
             Connection: close\r\n\r\n"
        )
    })
    .await;
    (address, certificate, requests)
}

#[tokio::test]
async fn a_redirect_of_an_api_server_is_not_followed() {
    for status in [301, 302, 307, 308] {
        let (clusters, key) = clusters();
        let elsewhere = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let target = format!("http://{}/token", elsewhere.local_addr().unwrap());
        let (api_url, ca, mut requests) = referring(status, target).await;
        let cluster = EnrolledCluster {
            api_url,
            ca,
            ..enrolled(2, "referring")
        };
        clusters.replace_enrolled(vec![cluster], key.public());
        let api = api(&clusters).await;
        assert!(api.get("/version").await.is_err(), "{status}");
        // control case: the API server itself was asked, with the token
        let request = requests.recv().await.unwrap().to_ascii_lowercase();
        assert!(request.starts_with("get /version "), "{request}");
        assert!(request.contains("authorization: bearer "), "{request}");
        let followed = timeout(GRACE, elsewhere.accept()).await;
        assert!(followed.is_err(), "{status}: {followed:?}");
    }
}
