//! The running stack, and callers signed in to it.
use crate::own_namespace::{OwnNamespace, Removal};
use app::ports::Panel;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use gateway::config::AppConfig;
use jiff::Timestamp;
use k8s_openapi::api::{core::v1::Namespace, rbac::v1::RoleBinding};
use kube::{Api, Client, api::PostParams};
use portico_assertion::{
    Claims, PrivateKey, Signer, SigningKey, Verifier,
    claims::{AppAccess, Namespaces, OpenApps},
    panel_token,
};
use portico_clock::Clock;
use portico_domain::{
    access,
    cluster::ClusterRecord,
    identity::{Named, Project},
};
use portico_openstack::{KeystoneConfig, keystone};
use portico_runtime::lifecycle::Lifecycle;
use portico_testkit::TestUser;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::{Value, json};
use server::{
    caller::{Caller, Gatekeeper},
    config::{
        panel::{PanelConfig, StreamLimits},
        prometheus::PrometheusConfig,
    },
    kube::Clusters,
    panel::PanelParts,
    service::{
        Apps, PanelService, Services,
        access::UndoStore,
        authentication::{KubeAuthMetrics, RecentTests},
        details::Details,
        lists::Arrangements,
        programs::Programs,
        usage::Prometheus,
    },
    session_budgets::SessionBudgets,
    shared_watch::SharedWatches,
};
use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};
use url::Url;
use uuid::Uuid;

pub const CSRF: &str = "csrf-of-this-session";
pub const PUBLIC_URL: &str = "http://localhost:8080";

#[derive(Deserialize)]
struct Config {
    keystone: KeystoneConfig,
    clusters: Vec<ClusterRecord>,
    #[serde(default)]
    apps: Vec<AppConfig>,
}

/// Everything that a test needs.
pub struct Stack {
    env: BTreeMap<String, String>,
    config: Config,
    signer: Signer,
    verifier: Verifier,
    panel_key: PrivateKey,
    pub services: Arc<Services>,
}

impl Stack {
    pub fn open() -> Self {
        Self::open_with(|_| {})
    }

    /// The same with other records of the clusters.
    pub fn open_with(change: impl FnOnce(&mut Vec<ClusterRecord>)) -> Self {
        Self::open_parts(change, |_| {})
    }

    /// The same with other settings of Prometheus, or without it.
    pub fn open_with_prometheus(change: impl FnOnce(&mut Option<PrometheusConfig>)) -> Self {
        Self::open_parts(|_| {}, change)
    }

    fn open_parts(
        change: impl FnOnce(&mut Vec<ClusterRecord>),
        change_prometheus: impl FnOnce(&mut Option<PrometheusConfig>),
    ) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let path = std::env::var("PORTICO_TEST_ENV").expect("PORTICO_TEST_ENV names an env file");
        let env: BTreeMap<_, _> = std::fs::read_to_string(path)
            .unwrap()
            .lines()
            .filter_map(|line| line.trim_start_matches("export ").split_once('='))
            .map(|(name, value)| (name.to_owned(), value.trim_matches(['\'', '"']).to_owned()))
            .collect();
        let files: Vec<PathBuf> = std::env::split_paths(&env["PORTICO_CONFIG"]).collect();
        let mut config: Config = portico_runtime::config::load(&files, Vec::new()).unwrap();
        change(&mut config.clusters);
        let mut prometheus = Some(prometheus(&env));
        change_prometheus(&mut prometheus);
        let signing = SigningKey::generate();
        let services = Services {
            clock: Clock::system(),
            clusters: Arc::new(Clusters::new(config.clusters.clone(), Clock::system())),
            apps: Apps::new(
                config.apps.clone(),
                public_url(),
                "apps.localhost".to_owned(),
            )
            .unwrap(),
            undo: UndoStore::default(),
            tests: RecentTests::default(),
            kube_auth_metrics: KubeAuthMetrics::new(Some(metrics_url(&env)), Clock::system())
                .unwrap(),
            docs_url: None,
            budgets: SessionBudgets::new(StreamLimits::default()),
            watches: SharedWatches::new(Clock::system()),
            arrangements: Arrangements::new(Clock::system()),
            details: Details::default(),
            programs: Programs::default(),
            enrolment: None,
            magnum: None,
            prometheus: prometheus.as_ref().map(|section| {
                Prometheus::new(section, &config.clusters, Clock::system()).unwrap()
            }),
            public_url: public_url(),
            support_contact: "the platform team".to_owned(),
            role_names: role_names(&env),
            keystone: Some(keystone::Client::new(&config.keystone, Clock::system()).unwrap()),
        };
        Self {
            verifier: Verifier::for_key(&signing),
            signer: Signer::new(signing),
            panel_key: PrivateKey::generate(),
            services: Arc::new(services),
            config,
            env,
        }
    }

    pub fn var(&self, name: &str) -> &str {
        &self.env[name]
    }

    pub fn acme(&self) -> Uuid {
        self.var("CLUSTER_ID").parse().unwrap()
    }

    /// The headers that the gateway would send for a user in a project.
    pub async fn headers(&self, user: &str, project: &str) -> HeaderMap {
        let password = self.var("DEMO_PASSWORD").to_owned().into();
        self.headers_with(user, &password, project, Special::default())
            .await
    }

    /// The headers that the gateway would have sent so many seconds ago for a user in acme.
    pub async fn headers_of_age(&self, user: &str, seconds: i64) -> HeaderMap {
        let password = self.var("DEMO_PASSWORD").to_owned().into();
        let project = self.var("PROJECT_ID_ACME");
        let issued_at = Timestamp::now().as_second() - seconds;
        self.headers_at(user, &password, project, Special::default(), issued_at)
            .await
    }

    async fn headers_with(
        &self,
        user: &str,
        password: &SecretString,
        project: &str,
        special: Special,
    ) -> HeaderMap {
        let now = Timestamp::now().as_second();
        self.headers_at(user, password, project, special, now).await
    }

    async fn headers_at(
        &self,
        user: &str,
        password: &SecretString,
        project: &str,
        special: Special,
        issued_at: i64,
    ) -> HeaderMap {
        let answer = reqwest::Client::new()
            .post(format!("{}/auth/tokens", self.var("KEYSTONE_URL")))
            .json(&json!({ "auth": {
                "identity": { "methods": ["password"], "password": { "user": {
                    "name": user, "domain": { "name": "Default" },
                    "password": password.expose_secret(),
                }}},
                "scope": { "project": { "id": project } },
            }}))
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status(), 201, "{user} signs in to {project}");
        let token = answer.headers()["x-subject-token"]
            .to_str()
            .unwrap()
            .to_owned();
        let body: Value = answer.json().await.unwrap();
        let expires_at: Timestamp = body["token"]["expires_at"]
            .as_str()
            .unwrap()
            .parse()
            .unwrap();
        let mut claims = claims(&body["token"], expires_at, issued_at);
        claims.apps = special.apps.unwrap_or_else(|| self.listed_apps(&claims));
        claims.namespaces = special.namespaces;
        let sealed = panel_token::seal_for_panel(
            self.panel_key.public(),
            &claims.jti,
            &token.into(),
            expires_at,
        )
        .unwrap();
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("portico-assertion", self.signer.sign(&claims).unwrap()),
            ("portico-token", sealed),
            ("x-request-id", "test".to_owned()),
        ] {
            headers.insert(
                HeaderName::from_static(name),
                HeaderValue::from_str(&value).unwrap(),
            );
        }
        headers
    }

    /// The apps of the claims' project that need no more than one of their roles.
    fn listed_apps(&self, claims: &Claims) -> OpenApps {
        let (project, identity) = (claims.project.as_ref().unwrap(), claims.identity());
        let apps = self.config.apps.iter();
        apps.filter(|app| app.project == project.id && access::allowed(&app.allow, &identity))
            .map(|app| (app.id.clone(), AppAccess::Open))
            .collect()
    }

    pub async fn caller(&self, user: &str) -> Caller {
        self.admit(&self.headers(user, self.var("PROJECT_ID_ACME")).await)
    }

    /// A user's own access to acme's cluster.
    pub async fn api(&self, user: &str) -> server::kube::Api {
        let caller = self.caller(user).await;
        let (api, _) = self.services.api(&caller, self.acme()).await.unwrap();
        api
    }

    /// The caller that these headers prove.
    pub fn admit(&self, headers: &HeaderMap) -> Caller {
        Gatekeeper::new(
            self.verifier.clone(),
            vec![self.panel_key.clone()],
            &public_url(),
            Clock::system(),
        )
        .admit(headers)
        .expect("the caller is admitted")
    }

    /// The panel of a user in acme.
    pub async fn panel(&self, user: &str) -> impl Panel + use<> {
        PanelService::new(Arc::clone(&self.services), self.caller(user).await)
    }

    /// The panel of a user in acme to whom these apps are open.
    pub async fn panel_with(&self, user: &str, apps: OpenApps) -> impl Panel + use<> {
        let password = self.var("DEMO_PASSWORD").to_owned().into();
        let project = self.var("PROJECT_ID_ACME");
        let special = Special {
            apps: Some(apps),
            ..Special::default()
        };
        let headers = self.headers_with(user, &password, project, special).await;
        PanelService::new(Arc::clone(&self.services), self.admit(&headers))
    }

    /// The panel of a user in acme, with namespaces of acme's cluster in which they may have rights.
    pub async fn panel_with_namespaces(
        &self,
        user: &str,
        namespaces: &[&str],
    ) -> impl Panel + use<> {
        let password = self.var("DEMO_PASSWORD").to_owned().into();
        let project = self.var("PROJECT_ID_ACME");
        let names = namespaces.iter().map(|&name| name.to_owned()).collect();
        let special = Special {
            namespaces: Namespaces::from([(self.acme(), names)]),
            ..Special::default()
        };
        let headers = self.headers_with(user, &password, project, special).await;
        PanelService::new(Arc::clone(&self.services), self.admit(&headers))
    }

    /// The panel of a caller.
    pub fn panel_of_caller(&self, caller: Caller) -> impl Panel + use<> {
        PanelService::new(Arc::clone(&self.services), caller)
    }

    /// The panel of a user of the test's own in acme.
    pub async fn panel_of(&self, user: &TestUser) -> impl Panel + use<> {
        let headers = self.headers_of(user).await;
        PanelService::new(Arc::clone(&self.services), self.admit(&headers))
    }

    /// The headers that the gateway would send for a user of the test's own in acme.
    pub async fn headers_of(&self, user: &TestUser) -> HeaderMap {
        let project = self.var("PROJECT_ID_ACME");
        self.headers_with(&user.name, &user.password, project, Special::default())
            .await
    }

    /// Serves the whole panel on a port of its own.
    pub async fn serve(&self) -> String {
        self.serve_with(StreamLimits::default()).await
    }

    /// The same with other limits for a session.
    pub async fn serve_with(&self, streams: StreamLimits) -> String {
        self.serve_configured(streams, None).await
    }

    /// The same with programs to download.
    pub async fn serve_offering(&self, downloads: PathBuf) -> String {
        self.serve_configured(StreamLimits::default(), Some(downloads))
            .await
    }

    async fn serve_configured(&self, streams: StreamLimits, downloads: Option<PathBuf>) -> String {
        let directory = tempfile::tempdir().unwrap();
        let key = directory.path().join("panel.key");
        self.panel_key.write_new(&key).unwrap();
        let router = server::panel::router(PanelParts {
            config: PanelConfig {
                listen: ([127, 0, 0, 1], 0).into(),
                private_key_file: key,
                assertion_public_key_files: Vec::new(),
                site_root: PathBuf::from("target/site"),
                support_contact: "the platform team".to_owned(),
                public_url: None,
                role_names: role_names(&self.env),
                kube_auth_metrics_url: None,
                docs_url: None,
                downloads,
                streams,
                prometheus: Some(prometheus(&self.env)),
            },
            verifier: self.verifier.clone(),
            public_url: public_url(),
            apps_domain: "apps.localhost".to_owned(),
            clusters: Arc::clone(&self.services.clusters),
            apps: self.config.apps.clone(),
            keystone: None,
            kube_auth_metrics_url: Some(metrics_url(&self.env)),
            enrolment: None,
            magnum: None,
            clock: Clock::system(),
            lifecycle: Lifecycle::new(Duration::ZERO),
        })
        .unwrap();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        address.to_string()
    }

    /// The cluster as its administrator, to make what a test needs.
    pub async fn admin(&self) -> Client {
        let kubeconfig =
            kube::config::Kubeconfig::read_from(self.var("KUBE_ADMIN_KUBECONFIG")).unwrap();
        let options = kube::config::KubeConfigOptions::default();
        let config = kube::Config::from_custom_kubeconfig(kubeconfig, &options)
            .await
            .unwrap();
        Client::try_from(config).unwrap()
    }

    /// A namespace of the test's own, with vera's and devi's roles bound in it.
    pub async fn namespace(&self, name: &str) -> OwnNamespace {
        let client = self.admin().await;
        let full = format!("t-{name}-{}", &Uuid::new_v4().simple().to_string()[..6]);
        let object: Namespace =
            serde_json::from_value(json!({ "metadata": { "name": full } })).unwrap();
        Api::<Namespace>::all(client.clone())
            .create(&PostParams::default(), &object)
            .await
            .unwrap();
        let bindings = Api::<RoleBinding>::namespaced(client.clone(), &full);
        for role in ["developer", "viewer"] {
            let name = format!("portico-{role}");
            let group = self.var(&format!("ROLE_ID_K8S_{}", role.to_uppercase()));
            let binding = serde_json::from_value(json!({
                "metadata": { "name": name },
                "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name },
                "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": group }],
            }))
            .unwrap();
            // where the stack's own bootstrap runs, it may have been faster
            let _ = bindings.create(&PostParams::default(), &binding).await;
        }
        let removal = Removal::at_acme(self, &["namespace", &full]);
        OwnNamespace::new(full, client, removal)
    }
}

/// The admin port of the process that kube-auth is part of.
fn metrics_url(env: &BTreeMap<String, String>) -> Url {
    format!("{}/metrics", env["PORTICO_ADMIN_URL"])
        .parse()
        .unwrap()
}

/// The stack's Prometheus; its series have the name of their cluster.
fn prometheus(env: &BTreeMap<String, String>) -> PrometheusConfig {
    PrometheusConfig {
        url: env["PROMETHEUS_DIRECT_URL"].parse().unwrap(),
        bearer_token_file: None,
        ca_file: None,
        cluster_label: Some("cluster".to_owned()),
        cluster_values: BTreeMap::new(),
        node_label: "node".to_owned(),
    }
}

/// What an assertion has besides the user.
#[derive(Default)]
struct Special {
    /// The apps that are open; those that list a role of the user, by default.
    apps: Option<OpenApps>,
    namespaces: Namespaces,
}

fn public_url() -> Url {
    PUBLIC_URL.parse().unwrap()
}

fn role_names(env: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    ["admin", "developer", "viewer"]
        .into_iter()
        .map(|role| {
            let id = env[&format!("ROLE_ID_K8S_{}", role.to_uppercase())].clone();
            (id, format!("k8s_{role}"))
        })
        .collect()
}

fn claims(token: &Value, expires_at: Timestamp, issued_at: i64) -> Claims {
    let named = |value: &Value| Named {
        id: value["id"].as_str().unwrap().to_owned(),
        name: value["name"].as_str().unwrap().to_owned(),
    };
    let project = Project {
        id: named(&token["project"]).id,
        name: named(&token["project"]).name,
        domain: named(&token["project"]["domain"]),
    };
    Claims {
        iss: PUBLIC_URL.to_owned(),
        aud: "panel".to_owned(),
        iat: issued_at,
        exp: issued_at + 60,
        jti: Uuid::new_v4().to_string(),
        sid: "s".to_owned(),
        sub: named(&token["user"]).id,
        name: named(&token["user"]).name,
        domain: named(&token["user"]["domain"]),
        roles: token["roles"]
            .as_array()
            .unwrap()
            .iter()
            .map(named)
            .collect(),
        projects: vec![project.clone()],
        project: Some(project),
        apps: OpenApps::new(),
        namespaces: Namespaces::new(),
        csrf: Some(CSRF.to_owned()),
        session_expires_at: expires_at.as_second(),
        auth_methods: vec!["password".to_owned()],
        email: None,
        groups: Vec::new(),
        groups_omitted: 0,
        keystone: portico_assertion::claims::KeystoneState::Ok,
        next_project: None,
    }
}
