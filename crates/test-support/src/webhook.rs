//! An API server from the webhook's point of view: a client certificate and a router to call.
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::BodyExt as _;
use portico_assertion::PrivateKey;
use portico_clock::Clock;
use portico_domain::cluster::{ClusterRecord, RawTokens};
use portico_kube_auth::{KubeAuth, KubeAuthConfig, Validator, service};
use portico_openstack::KeystoneConfig;
use portico_openstack::keystone::{Client, ServiceAccount};
use portico_runtime::listener::PeerCertificates;
use rcgen::{CertificateParams, KeyPair, SanType};
use rustls_pki_types::CertificateDer;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tower::ServiceExt as _;
use uuid::Uuid;

pub const V1: &str = "authentication.k8s.io/v1";
pub const V1BETA1: &str = "authentication.k8s.io/v1beta1";

/// A configured webhook with its current and a retired key.
pub struct Webhook {
    pub service: KubeAuth,
    pub current: PrivateKey,
    pub retired: PrivateKey,
    _dir: TempDir,
}

impl Webhook {
    pub fn new(clusters: Vec<ClusterRecord>, keystone_url: &str, cache_ttl: Duration) -> Self {
        Self::configured(clusters, keystone_url, |config| {
            config.cache_ttl = cache_ttl
        })
    }

    /// Starts it with the test's own settings.
    pub fn configured(
        clusters: Vec<ClusterRecord>,
        keystone_url: &str,
        set: impl FnOnce(&mut KubeAuthConfig),
    ) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (mut config, keys) = config(&dir);
        set(&mut config);
        let mut keystone = KeystoneConfig::new(keystone_url.parse().unwrap());
        keystone.timeout = Duration::from_secs(3);
        Self::validating(
            config,
            dir,
            keys,
            clusters,
            Client::new(&keystone, Clock::system()).unwrap(),
        )
    }

    /// Starts it with an account of its own for calls to Keystone.
    pub fn with_account(
        clusters: Vec<ClusterRecord>,
        keystone: &KeystoneConfig,
        account: impl FnOnce(Client) -> ServiceAccount,
    ) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (config, keys) = config(&dir);
        let client = Client::new(keystone, Clock::system()).unwrap();
        let validator = Validator::with_account(client.clone(), account(client));
        Self::validating(config, dir, keys, clusters, validator)
    }

    fn validating(
        config: KubeAuthConfig,
        dir: TempDir,
        (current, retired): (PrivateKey, PrivateKey),
        clusters: Vec<ClusterRecord>,
        validator: impl Into<Validator>,
    ) -> Self {
        Self {
            service: service(&config, clusters, validator, Clock::system()).unwrap(),
            current,
            retired,
            _dir: dir,
        }
    }

    /// Returns the API server of a cluster, with the certificate that a real one would have.
    pub fn api_server_of(&self, cluster: Uuid) -> ApiServer {
        ApiServer {
            cluster,
            certificate: Some(certificate(&[format!("portico:cluster:{cluster}")])),
            router: self.service.router(),
        }
    }
}

/// Returns the defaults, and the current and a retired key.
fn config(dir: &TempDir) -> (KubeAuthConfig, (PrivateKey, PrivateKey)) {
    let (current, retired) = (PrivateKey::generate(), PrivateKey::generate());
    let key_files = vec![dir.path().join("1.key"), dir.path().join("2.key")];
    current.write_new(&key_files[0]).unwrap();
    retired.write_new(&key_files[1]).unwrap();
    let config = KubeAuthConfig {
        listen: "127.0.0.1:0".parse().unwrap(),
        tls_cert_file: "unused".into(),
        tls_key_file: "unused".into(),
        client_ca_file: "unused".into(),
        key_files,
        cache_ttl: Duration::from_secs(10),
        ask_with_service_account: false,
        keystone_calls_per_second: 200.try_into().unwrap(),
        cluster_list: None,
    };
    (config, (current, retired))
}

/// Returns a cluster that accepts these projects.
pub fn cluster(id: u128, owner: &str, accepted: &[&str]) -> ClusterRecord {
    ClusterRecord {
        id: Uuid::from_u128(id),
        name: format!("cluster-{id}"),
        owner_project: owner.to_owned(),
        accepted_projects: accepted.iter().map(|id| (*id).to_owned()).collect(),
        accepted_domains: Vec::new(),
        accepted_roles: Vec::new(),
        accepted_tokens: Vec::new(),
        api_url: "https://127.0.0.1:6443".to_owned(),
        ca_file: None,
        sealing_key_file: "unused".into(),
        api_audiences: vec!["https://kubernetes.default.svc".to_owned()],
        client_fingerprints: Vec::new(),
        authorization_policy_file: None,
        authorization_policy_config_map: None,
        raw_keystone_tokens: RawTokens::Off,
        namespace_format: portico_domain::namespace_format::NamespaceFormat::default(),
    }
}

/// Returns a URL at which nothing listens.
pub fn closed_port() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}/v3", listener.local_addr().unwrap())
}

pub fn certificate(uris: &[String]) -> CertificateDer<'static> {
    let mut params = CertificateParams::new(vec!["api.example.org".to_owned()]).unwrap();
    for uri in uris {
        let name = SanType::URI(uri.as_str().try_into().unwrap());
        params.subject_alt_names.push(name);
    }
    let key = KeyPair::generate().unwrap();
    params.self_signed(&key).unwrap().der().clone()
}

#[derive(Clone)]
pub struct ApiServer {
    pub cluster: Uuid,
    pub certificate: Option<CertificateDer<'static>>,
    pub router: Router,
}

pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Value,
    pub text: String,
}

impl Reply {
    /// Returns whether it is a clean refusal, in the requested version.
    pub fn is_refusal(&self, version: &str) -> bool {
        self.status == StatusCode::OK
            && self.body
                == json!({"apiVersion": version, "kind": "TokenReview",
                          "status": {"authenticated": false}})
    }

    /// Returns whether it is the response to an outage, as an API server must get it.
    pub fn is_undecided(&self) -> bool {
        self.status == StatusCode::SERVICE_UNAVAILABLE
            && !self.headers.contains_key("retry-after")
            && self.body["kind"] == "Status"
    }

    pub fn is_authenticated(&self) -> bool {
        self.status == 200 && self.body["status"]["authenticated"] == true
    }

    pub fn user(&self) -> &Value {
        &self.body["status"]["user"]
    }

    pub fn username(&self) -> String {
        self.user()["username"].as_str().unwrap().to_owned()
    }

    pub fn groups(&self) -> BTreeSet<String> {
        let groups = self.user()["groups"].as_array().unwrap().iter();
        groups
            .map(|group| group.as_str().unwrap().to_owned())
            .collect()
    }

    /// Asserts a refusal: neither an identity nor its absence may be hidden behind an error.
    pub fn assert_refused(&self, what: &str) {
        assert!(self.is_refusal(V1), "{what}: {} {}", self.status, self.text);
    }

    pub fn assert_authenticated(&self, what: &str) {
        assert!(
            self.is_authenticated(),
            "{what}: {} {}",
            self.status,
            self.text
        );
    }

    pub fn assert_undecided(&self, what: &str) {
        assert!(
            self.is_undecided(),
            "{what}: {} {} {:?}",
            self.status,
            self.text,
            self.headers
        );
    }
}

impl ApiServer {
    /// Sends a TokenReview in the form of Kubernetes 1.20.
    pub async fn review(&self, version: &str, token: &str) -> Reply {
        self.review_for(version, token, &["https://kubernetes.default.svc"])
            .await
    }

    pub async fn review_for(&self, version: &str, token: &str, audiences: &[&str]) -> Reply {
        let mut spec = json!({ "token": token });
        if !audiences.is_empty() {
            spec["audiences"] = json!(audiences);
        }
        let body = json!({"kind": "TokenReview", "apiVersion": version,
            "metadata": {"creationTimestamp": null}, "spec": spec, "status": {"user": {}}});
        self.post(body.to_string().into()).await
    }

    pub async fn post(&self, body: Body) -> Reply {
        let path = format!("/clusters/{}/tokenreview?timeout=30s", self.cluster);
        self.send(Method::POST, &path, "application/json", body)
            .await
    }

    pub async fn send(&self, method: Method, path: &str, content_type: &str, body: Body) -> Reply {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", content_type)
            .header("accept", "application/json, */*")
            .body(body)
            .unwrap();
        if let Some(certificate) = &self.certificate {
            let chain = PeerCertificates(Arc::new(vec![certificate.clone()]));
            request.extensions_mut().insert(chain);
        }
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        Reply {
            status: parts.status,
            headers: parts.headers,
            body: serde_json::from_slice(&bytes).unwrap_or(Value::Null),
            text: String::from_utf8_lossy(&bytes).into_owned(),
        }
    }
}
