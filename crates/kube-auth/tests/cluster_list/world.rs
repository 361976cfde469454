//! A webhook with a listener, the publisher of its cluster list, and API servers.
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::routing::get;
use jiff::Timestamp;
use portico_assertion::cluster_list::{ClusterList, ListSigner, PATH};
use portico_assertion::{PrivateKey, SigningKey};
use portico_clock::Clock;
use portico_domain::cluster::ClusterRecord;
use portico_domain::enrolled_cluster::ListedCluster;
use portico_kube_auth::{ClusterListConfig, KubeAuthConfig, service};
use portico_openstack::KeystoneConfig;
use portico_openstack::keystone::Client;
use portico_runtime::lifecycle::Lifecycle;
use portico_runtime::listener::Listener;
use portico_runtime::tls::ReloadingTls;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, SanType,
};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use serde_json::json;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use uuid::Uuid;

/// Bounds every wait.
const TIMEOUT: Duration = Duration::from_secs(20);

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

pub fn id(cluster: u128) -> Uuid {
    Uuid::from_u128(cluster)
}

pub struct Authority(CertifiedIssuer<'static, KeyPair>);

/// Certificate and key, in PEM.
pub type Identity = (String, String);

impl Authority {
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// Issues a client certificate, with a URI that names a cluster if there is one.
    pub fn issue(&self, uri: Option<&str>) -> Identity {
        self.issue_for(ExtendedKeyUsagePurpose::ClientAuth, uri)
    }

    fn issue_for(&self, usage: ExtendedKeyUsagePurpose, uri: Option<&str>) -> Identity {
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        params.extended_key_usages = vec![usage];
        if let Some(uri) = uri {
            let uri = SanType::URI(uri.try_into().unwrap());
            params.subject_alt_names.push(uri);
        }
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        (certificate.pem(), key.serialize_pem())
    }
}

pub struct World {
    pub operator: Authority,
    address: SocketAddr,
    signer: ListSigner,
    url: String,
    published: Arc<Mutex<Published>>,
    lifecycle: Lifecycle,
    _dir: TempDir,
}

#[derive(Default)]
struct Published {
    /// Without one, the publisher answers 503.
    document: Option<String>,
    /// Number of times that the current document was sent.
    sent: usize,
}

async fn answer(
    State(published): State<Arc<Mutex<Published>>>,
    headers: HeaderMap,
) -> Result<String, StatusCode> {
    let token = headers.get(header::AUTHORIZATION);
    if token.is_none_or(|token| *token != format!("Bearer {TOKEN}")) {
        return Err(StatusCode::UNAUTHORIZED);
    }
    let mut published = published.lock().unwrap();
    published.sent += 1;
    published
        .document
        .clone()
        .ok_or(StatusCode::SERVICE_UNAVAILABLE)
}

impl World {
    /// Starts a webhook with one cluster in its configuration file, and its publisher.
    pub async fn start(configured: u128) -> Self {
        portico_runtime::install_crypto_provider();
        let (dir, operator) = (tempfile::tempdir().unwrap(), Authority::new("operator"));
        let published: Arc<Mutex<Published>> = Arc::default();
        let publisher = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", publisher.local_addr().unwrap());
        let router = Router::new()
            .route(PATH, get(answer))
            .with_state(Arc::clone(&published));
        tokio::spawn(async move { axum::serve(publisher, router).await.unwrap() });
        let key = SigningKey::generate();
        let path = |name: &str| dir.path().join(name);
        std::fs::write(path("list.pub"), key.public_pem().unwrap()).unwrap();
        std::fs::write(path("token"), TOKEN).unwrap();
        let private = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(path("token"), private).unwrap();
        let (certificate, server_key) =
            operator.issue_for(ExtendedKeyUsagePurpose::ServerAuth, None);
        std::fs::write(path("server.crt"), certificate).unwrap();
        std::fs::write(path("server.key"), server_key).unwrap();
        std::fs::write(path("ca.crt"), operator.0.pem()).unwrap();
        PrivateKey::generate().write_new(&path("1.key")).unwrap();
        let config = KubeAuthConfig {
            listen: "127.0.0.1:0".parse().unwrap(),
            tls_cert_file: path("server.crt"),
            tls_key_file: path("server.key"),
            client_ca_file: path("ca.crt"),
            key_files: vec![path("1.key")],
            cache_ttl: Duration::from_secs(10),
            ask_with_service_account: false,
            keystone_calls_per_second: 200.try_into().unwrap(),
            cluster_list: Some(ClusterListConfig {
                url: url.clone(),
                issuer: None,
                keys_file: path("list.pub"),
                token_file: path("token"),
                ca_file: None,
                state_file: None,
            }),
        };
        let record: ClusterRecord = serde_json::from_value(json!({
            "id": id(configured), "name": "configured", "owner_project": "acme",
            "api_url": "https://127.0.0.1:6443", "sealing_key_file": "unused",
        }))
        .unwrap();
        let keystone = KeystoneConfig::new("http://127.0.0.1:1/v3".parse().unwrap());
        let keystone = Client::new(&keystone, Clock::system()).unwrap();
        let webhook = service(&config, [record], keystone, Clock::system()).unwrap();
        let lifecycle = Lifecycle::new(Duration::from_secs(5));
        let follower = webhook.cluster_list().unwrap().unwrap();
        lifecycle.spawn_background(follower.run());
        let authorities = webhook.client_authorities().unwrap();
        let tls = ReloadingTls::load_with(config.tls_files(), authorities).unwrap();
        let listener = Listener::bind(config.listen).await.unwrap().with_tls(tls);
        let address = listener.address();
        listener.serve(webhook.router(), &lifecycle);
        Self {
            operator,
            address,
            signer: ListSigner::new(key),
            url,
            published,
            lifecycle,
            _dir: dir,
        }
    }

    /// Publishes a list and waits until the webhook has fetched it.
    pub async fn publish(&self, sequence: u64, clusters: &[(u128, &Authority)]) {
        self.publish_for(Duration::from_secs(3600), sequence, clusters)
            .await;
    }

    pub async fn publish_for(
        &self,
        lifetime: Duration,
        sequence: u64,
        clusters: &[(u128, &Authority)],
    ) {
        let now = Timestamp::now().as_second();
        let list = ClusterList {
            iss: self.url.clone(),
            iat: now,
            exp: now + i64::try_from(lifetime.as_secs()).unwrap(),
            sequence,
            clusters: clusters
                .iter()
                .map(|(cluster, authority)| ListedCluster {
                    id: id(*cluster),
                    name: format!("cluster-{cluster}"),
                    owner_project: "acme".to_owned(),
                    accepted_projects: Vec::new(),
                    accepted_roles: Vec::new(),
                    client_ca: authority.0.pem(),
                    api_audiences: vec!["https://kubernetes.default.svc".to_owned()],
                })
                .collect(),
        };
        {
            let mut published = self.published.lock().unwrap();
            published.document = Some(self.signer.sign(&list).unwrap());
            published.sent = 0;
        }
        // the second fetch begins after the first one's list is in use
        let stranger = Authority::new("stranger").issue(None);
        let started = Instant::now();
        while self.published.lock().unwrap().sent < 2 {
            // a refused connection asks for the newest list
            let _ = self.review(&stranger, 1).await;
            tokio::time::sleep(Duration::from_millis(50)).await;
            assert!(started.elapsed() < TIMEOUT, "the list is not fetched");
        }
    }

    /// Lets the publisher answer 503 from now on.
    pub fn stop_publishing(&self) {
        self.published.lock().unwrap().document = None;
    }

    /// Returns the status of one review, or `None` if the connection was refused.
    pub async fn review(&self, identity: &Identity, cluster: u128) -> Option<u16> {
        let path = format!("/clusters/{}/tokenreview", id(cluster));
        self.post(identity, &path).await
    }

    pub async fn post(&self, identity: &Identity, path: &str) -> Option<u16> {
        let mut stream = self.connect(identity).await.ok()?;
        exchange(&mut stream, path).await
    }

    pub async fn review_on(&self, stream: &mut TlsStream<TcpStream>, cluster: u128) -> Option<u16> {
        exchange(stream, &format!("/clusters/{}/tokenreview", id(cluster))).await
    }

    pub async fn connect(&self, (certificate, key): &Identity) -> io::Result<TlsStream<TcpStream>> {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(self.operator.0.der().clone()).unwrap();
        let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
        let config = rustls::ClientConfig::builder()
            .with_root_certificates(roots)
            .with_client_auth_cert(chain, key)
            .unwrap();
        let stream = TcpStream::connect(self.address).await?;
        let name = ServerName::try_from("localhost").unwrap();
        TlsConnector::from(Arc::new(config))
            .connect(name, stream)
            .await
    }
}

/// Sends a review of something that is not a token, which is refused without Keystone.
async fn exchange(stream: &mut TlsStream<TcpStream>, path: &str) -> Option<u16> {
    let body = json!({"kind": "TokenReview", "apiVersion": "authentication.k8s.io/v1",
        "spec": {"token": "x"}})
    .to_string();
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = tokio::time::timeout(TIMEOUT, stream.read(&mut buffer))
            .await
            .unwrap()
            .ok()?;
        answer.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&answer);
        // all answers are JSON objects that end with the last brace
        if read == 0 || (text.contains("\r\n\r\n") && text.ends_with('}')) {
            return text.split(' ').nth(1)?.parse().ok();
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.lifecycle.stop();
    }
}
