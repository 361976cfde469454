//! An API server that refers to another address: its cluster was permitted, the other address was not.
use super::*;
use rustls::ServerConfig;
use rustls_pki_types::PrivateKeyDer;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

/// Long enough for a connection on this machine.
const GRACE: Duration = Duration::from_millis(300);

/// Starts an API server that answers each request with this status and location; returns its address, its
/// certificate, and a channel with the requests.
async fn referring(status: u16, location: String) -> (String, String, mpsc::Receiver<String>) {
    let key = rcgen::KeyPair::generate().unwrap();
    let params = rcgen::CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let certificate = params.self_signed(&key).unwrap();
    let private = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], private)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("https://{}", listener.local_addr().unwrap());
    let (seen, requests) = mpsc::channel(8);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else {
                continue;
            };
            let mut head = [0; 4096];
            let length = stream.read(&mut head).await.unwrap_or_default();
            let _ = seen.try_send(String::from_utf8_lossy(&head[..length]).into_owned());
            let answer = format!(
                "HTTP/1.1 {status} Elsewhere\r\nLocation: {location}\r\nContent-Length: 0\r\n\
                 Connection: close\r\n\r\n"
            );
            let _ = stream.write_all(answer.as_bytes()).await;
            let _ = stream.shutdown().await;
        }
    });
    (address, certificate.pem(), requests)
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
        let token = KeystoneToken {
            token: "t".into(),
            expires_at: Clock::system().now() + SignedDuration::from_hours(1),
        };
        let snapshot = clusters.snapshot();
        let cluster = snapshot.get(Uuid::from_u128(2)).unwrap();
        let api = clusters.api(cluster, &token).await.unwrap();
        assert!(api.get("/version").await.is_err(), "{status}");
        // control case: the API server itself was asked, with the token
        let request = requests.recv().await.unwrap().to_ascii_lowercase();
        assert!(request.starts_with("get /version "), "{request}");
        assert!(request.contains("authorization: bearer "), "{request}");
        let followed = timeout(GRACE, elsewhere.accept()).await;
        assert!(followed.is_err(), "{status}: {followed:?}");
    }
}
