//! Magnum with one cluster, and the cluster's API server.
use super::super::{AddressCheck, DefaultRoles, Enrolled, Enrolment, EnrolmentError};
use axum::{
    Extension, Json, Router,
    body::Bytes,
    extract::State,
    http::{Method, StatusCode, Uri},
    response::{IntoResponse as _, Response},
};
use hyper::server::conn::http1;
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use portico_openstack::{
    magnum,
    rest::{RestClient, ScopedToken, Service, ServiceOptions},
};
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, CertificateSigningRequestParams,
    CertifiedIssuer, DnType, DnValue, IsCa, KeyPair,
};
use rustls::{RootCertStore, ServerConfig, pki_types::PrivateKeyDer, server::WebPkiClientVerifier};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use uuid::Uuid;

pub const PROJECT: &str = "915d66fac5204c35aa2ac52c13254e05";
pub const CLUSTER: Uuid = Uuid::from_u128(0x6f0c_1a52_0000_4000_8000_0000_0000_0001);

/// A call that Magnum's policy may forbid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    ReadAuthority,
    Sign,
}

pub struct World {
    magnum: Arc<Magnum>,
    api: Arc<ApiServer>,
    client: magnum::Client,
    token: ScopedToken,
    roles: DefaultRoles,
}

struct Magnum {
    authority: CertifiedIssuer<'static, KeyPair>,
    api_url: Mutex<String>,
    forbidden: Mutex<Option<Call>>,
    /// The organizations of the certificates that were signed.
    signed: Mutex<Vec<String>>,
}

#[derive(Default)]
struct ApiServer {
    /// By their paths.
    objects: Mutex<BTreeMap<String, Value>>,
    connections: AtomicUsize,
}

/// Whether the client of a connection has a certificate of the cluster's authority.
#[derive(Clone, Copy)]
struct IsCertified(bool);

impl World {
    pub async fn start() -> Self {
        portico_runtime::install_crypto_provider();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "shop");
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let api = Arc::new(ApiServer::default());
        for name in ["kube-system", "shop"] {
            let path = format!("/api/v1/namespaces/{name}");
            let namespace = json!({
                "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name, "uid": name },
            });
            api.objects.lock().unwrap().insert(path, namespace);
        }
        let api_url = serve_api(Arc::clone(&api), &authority).await;
        let magnum = Arc::new(Magnum {
            authority,
            api_url: Mutex::new(api_url),
            forbidden: Mutex::default(),
            signed: Mutex::default(),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/magnum/v1", listener.local_addr().unwrap());
        let router = Router::new()
            .fallback(of_magnum)
            .with_state(Arc::clone(&magnum));
        tokio::spawn(async move { axum::serve(listener, router).await });
        let rest = RestClient::new(ServiceOptions {
            endpoints: BTreeMap::from([(Service::Magnum, url.parse().unwrap())]),
            ..ServiceOptions::default()
        });
        Self {
            magnum,
            api,
            client: magnum::Client::new(rest.unwrap()),
            token: ScopedToken {
                token: "gAAAA-test".into(),
                project_id: PROJECT.to_owned(),
                catalog: Arc::default(),
            },
            roles: DefaultRoles {
                developer: "dev-id".to_owned(),
                viewer: "view-id".to_owned(),
                exclude_namespaces: Vec::new(),
            },
        }
    }

    pub async fn run(&self, permit: &AddressCheck<'_>) -> Result<Enrolled, EnrolmentError> {
        let run = Enrolment {
            magnum: &self.client,
            token: &self.token,
            user_id: "u1",
            roles: &self.roles,
            accepted_projects: &[],
            permit,
        };
        run.run(CLUSTER).await
    }

    pub fn api_url(&self) -> String {
        self.magnum.api_url.lock().unwrap().clone()
    }

    pub fn move_api_server(&self, url: &str) {
        url.clone_into(&mut self.magnum.api_url.lock().unwrap());
    }

    pub fn forbid(&self, call: Call) {
        *self.magnum.forbidden.lock().unwrap() = Some(call);
    }

    pub fn signed(&self) -> Vec<String> {
        self.magnum.signed.lock().unwrap().clone()
    }

    /// Returns the paths of the cluster's objects.
    pub fn objects(&self) -> Vec<String> {
        self.api.objects.lock().unwrap().keys().cloned().collect()
    }

    pub fn connections(&self) -> usize {
        self.api.connections.load(Ordering::SeqCst)
    }
}

async fn of_magnum(
    State(magnum): State<Arc<Magnum>>,
    method: Method,
    uri: Uri,
    body: Bytes,
) -> Response {
    let forbidden = *magnum.forbidden.lock().unwrap();
    let forbids = |call: Call| forbidden == Some(call);
    let path = uri.path().trim_start_matches("/magnum/");
    if path.is_empty() {
        let version =
            json!({"id": "v1", "status": "CURRENT", "min_version": "1.1", "max_version": "1.14"});
        return Json(json!({ "versions": [version] })).into_response();
    }
    if path == format!("v1/clusters/{CLUSTER}") {
        let api_url = magnum.api_url.lock().unwrap().clone();
        return Json(json!({
            "uuid": CLUSTER, "name": "shop", "project_id": PROJECT, "status": "CREATE_COMPLETE",
            "api_address": api_url,
        }))
        .into_response();
    }
    if !path.starts_with("v1/certificates") {
        return StatusCode::NOT_FOUND.into_response();
    }
    if method == Method::GET {
        if forbids(Call::ReadAuthority) {
            return policy_forbids();
        }
        return Json(json!({ "pem": magnum.authority.pem() })).into_response();
    }
    if forbids(Call::Sign) {
        return policy_forbids();
    }
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(body["cluster_uuid"], CLUSTER.to_string());
    let request = body["csr"].as_str().unwrap();
    let request = CertificateSigningRequestParams::from_pem(request).unwrap();
    let name = &request.params.distinguished_name;
    let Some(DnValue::Utf8String(group)) = name.get(&DnType::OrganizationName) else {
        panic!("the request has no group");
    };
    magnum.signed.lock().unwrap().push(group.clone());
    let certificate = request.signed_by(&magnum.authority).unwrap();
    (
        StatusCode::CREATED,
        Json(json!({ "pem": certificate.pem() })),
    )
        .into_response()
}

/// The form of Magnum's own errors.
fn policy_forbids() -> Response {
    let error = json!({ "status": 403, "title": "Forbidden", "detail": "Policy forbids it" });
    (StatusCode::FORBIDDEN, Json(json!({ "errors": [error] }))).into_response()
}

/// Starts the API server and returns its URL.
async fn serve_api(api: Arc<ApiServer>, authority: &CertifiedIssuer<'static, KeyPair>) -> String {
    let own: &Certificate = authority.as_ref();
    let mut roots = RootCertStore::empty();
    roots.add(own.der().clone()).unwrap();
    let verifier = WebPkiClientVerifier::builder(Arc::new(roots))
        .allow_unauthenticated()
        .build()
        .unwrap();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, authority).unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = ServerConfig::builder()
        .with_client_cert_verifier(verifier)
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let router = Router::new().fallback(of_api).with_state(Arc::clone(&api));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            api.connections.fetch_add(1, Ordering::SeqCst);
            let (acceptor, router) = (acceptor.clone(), router.clone());
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else {
                    return;
                };
                let is_certified = IsCertified(stream.get_ref().1.peer_certificates().is_some());
                let service = TowerToHyperService::new(router.layer(Extension(is_certified)));
                let connection = http1::Builder::new();
                let _ = connection
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    });
    url
}

async fn of_api(
    State(api): State<Arc<ApiServer>>,
    Extension(IsCertified(is_certified)): Extension<IsCertified>,
    method: Method,
    uri: Uri,
    body: Bytes,
) -> Response {
    if !is_certified {
        return failure(StatusCode::UNAUTHORIZED);
    }
    let path = uri.path();
    let mut objects = api.objects.lock().unwrap();
    if method == Method::POST {
        let mut object: Value = serde_json::from_slice(&body).unwrap();
        let key = format!("{path}/{}", object["metadata"]["name"].as_str().unwrap());
        if objects.contains_key(&key) {
            return failure(StatusCode::CONFLICT);
        }
        object["metadata"]["uid"] = key.clone().into();
        object["metadata"]["resourceVersion"] = "1".into();
        objects.insert(key, object.clone());
        return (StatusCode::CREATED, Json(object)).into_response();
    }
    if let Some(object) = objects.get(path) {
        return Json(object.clone()).into_response();
    }
    let (kind, within) = match path {
        "/api/v1/namespaces" => ("NamespaceList", "/api/v1/namespaces/"),
        "/apis/rbac.authorization.k8s.io/v1/rolebindings" => ("RoleBindingList", "/rolebindings/"),
        _ => return failure(StatusCode::NOT_FOUND),
    };
    let items: Vec<&Value> = objects
        .iter()
        .filter(|(key, _)| key.contains(within))
        .map(|(_, object)| object)
        .collect();
    let version = if kind == "NamespaceList" {
        "v1"
    } else {
        "rbac.authorization.k8s.io/v1"
    };
    Json(json!({ "apiVersion": version, "kind": kind, "metadata": {}, "items": items }))
        .into_response()
}

fn failure(status: StatusCode) -> Response {
    let reason = match status {
        StatusCode::NOT_FOUND => "NotFound",
        StatusCode::CONFLICT => "AlreadyExists",
        _ => "Unauthorized",
    };
    let body = json!({
        "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure",
        "message": "refused", "reason": reason, "code": status.as_u16(),
    });
    (status, Json(body)).into_response()
}
