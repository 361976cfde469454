//! A gateway with a store of its own.
mod sessions;

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use gateway::{AppConfig, Cluster, Deps, Gateway, GatewayConfig};
use portico_assertion::{PrivateKey, Signer, SigningKey};
use portico_openstack::{KeystoneConfig, keystone};
use portico_runtime::{lifecycle::Lifecycle, listener::Listener};
use portico_store::{AuditFilter, Store};
use serde_json::{Value, json};
use tempfile::TempDir;
use uuid::Uuid;

use super::{
    database::{self, Database},
    echo::Echo,
    time::MovableClock,
};

pub const MAIN: &str = "http://localhost:8080";
pub const APP: &str = "http://prometheus.apps.localhost:8080";
pub const MAIN_HOST: &str = "localhost";
pub const APP_HOST: &str = "prometheus.apps.localhost";
pub const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";
pub const CLUSTER: Uuid = Uuid::from_u128(0x5ca1_ab1e);

pub struct Stack {
    pub address: SocketAddr,
    pub gateway: Gateway,
    pub store: Store,
    pub panel: Echo,
    pub app: Echo,
    pub panel_key: PrivateKey,
    pub cluster_key: PrivateKey,
    pub lifecycle: Lifecycle,
    /// The time of day of the gateway and its Keystone client.
    pub clock: MovableClock,
    /// The store's file, if it is on SQLite.
    pub database: PathBuf,
    /// The URL of the store, for a second replica.
    pub database_url: String,
    _dir: TempDir,
}

/// Deviations of a test from the default stack.
pub struct Wanted<'a> {
    pub keystone: &'a str,
    /// Overrides in `[gateway]`.
    pub gateway: Value,
    /// Overrides in the app's section.
    pub app: Value,
    /// The project that owns app and cluster, and the roles that open the app.
    pub project: &'a str,
    pub roles: &'a [&'a str],
    /// Users whose bearer tokens the app accepts.
    pub bearer: &'a [&'a str],
    /// Groups that open the app, each with its provider.
    pub groups: &'a [(&'a str, &'a str)],
    /// Replaces the default cluster, of which only the key is real.
    pub cluster: Option<Cluster>,
    /// Further apps.
    pub apps: Vec<Value>,
    /// Another stack's database makes this one a second replica of it.
    pub database: Database<'a>,
}

impl Default for Wanted<'_> {
    fn default() -> Self {
        Self {
            // nothing listens there
            keystone: "http://127.0.0.1:9/v3",
            gateway: json!({}),
            project: "p1",
            roles: &["k8s_admin", "k8s_developer"],
            bearer: &[],
            groups: &[],
            app: json!({}),
            cluster: None,
            apps: Vec::new(),
            database: Database::FromEnvironment,
        }
    }
}

impl Wanted<'_> {
    /// Returns the defaults on SQLite, for a test that inspects the database's file.
    pub fn on_sqlite() -> Self {
        Self {
            database: Database::Sqlite,
            ..Self::default()
        }
    }
}

impl Stack {
    pub async fn start(wanted: Wanted<'_>) -> Self {
        Self::build(wanted).await.expect("gateway")
    }

    /// Does the same for a configuration that may be refused.
    pub async fn build(wanted: Wanted<'_>) -> Result<Self, gateway::BuildError> {
        portico_runtime::install_crypto_provider();
        let dir = tempfile::tempdir().expect("directory");
        let (panel, app) = (Echo::start().await, Echo::start().await);
        let database = dir.path().join("portico.db");
        let database_url = wanted.database.url(&database).await;
        let store = database::store(&database_url).await;
        let panel_key = PrivateKey::generate();
        let cluster_key = PrivateKey::generate();
        let panel_pub = dir.path().join("panel.pub");
        panel_key.public().write_new(&panel_pub).expect("key file");
        let mut section = json!({
            "public_url": MAIN,
            "apps_domain": "apps.localhost",
            "assertion_key_file": dir.path().join("unused.pem"),
            "panel_url": panel.url(),
            "panel_sealing_key_file": panel_pub,
        });
        for (key, value) in wanted.gateway.as_object().expect("object") {
            section[key] = value.clone();
        }
        let config: GatewayConfig = serde_json::from_value(section).expect("configuration");
        let allow: Vec<_> = wanted
            .roles
            .iter()
            .map(|role| json!({ "role": role, "project": wanted.project }))
            .chain(
                wanted
                    .groups
                    .iter()
                    .map(|(group, provider)| json!({ "group": group, "provider": provider })),
            )
            .collect();
        let mut app_section = json!({
            "id": "prometheus", "name": "Prometheus", "project": wanted.project,
            "url": app.url(), "allow": allow, "bearer": wanted.bearer,
        });
        for (key, value) in wanted.app.as_object().expect("object") {
            app_section[key] = value.clone();
        }
        let apps: Vec<AppConfig> = std::iter::once(app_section)
            .chain(wanted.apps)
            .map(|app| serde_json::from_value(app).expect("app"))
            .collect();
        let keystone: KeystoneConfig =
            serde_json::from_value(json!({ "url": wanted.keystone, "timeout": "3s" }))
                .expect("keystone section");
        let record = serde_json::from_value(json!({
            "id": CLUSTER, "name": "acme-prod", "owner_project": wanted.project,
            "api_url": "https://127.0.0.1:6443", "sealing_key_file": "unused",
        }))
        .expect("cluster");
        let clock = MovableClock::default();
        let deps = Deps {
            store: store.clone(),
            keystone: keystone::Client::new(&keystone, clock.clock()).expect("client"),
            clock: clock.clock(),
            default_domain: "Default".to_owned(),
            signer: Signer::new(SigningKey::generate()),
            clusters: vec![wanted.cluster.unwrap_or(Cluster {
                record,
                sealing_key: cluster_key.public().clone(),
                ca: None,
            })],
            apps,
        };
        let gateway = Gateway::build(config, deps)?;
        let lifecycle = Lifecycle::new(Duration::from_secs(2));
        let listener = Listener::bind("127.0.0.1:0".parse().expect("address"))
            .await
            .expect("listener");
        let address = listener.address();
        listener.serve(gateway.service(), &lifecycle);
        Ok(Self {
            address,
            gateway,
            store,
            panel,
            app,
            panel_key,
            cluster_key,
            lifecycle,
            clock,
            database,
            database_url,
            _dir: dir,
        })
    }

    /// Returns the store as another process would open it.
    pub async fn another_process(&self) -> Store {
        database::store(&self.database_url).await
    }

    /// Returns the audit log's entries about an action, the newest first.
    pub async fn audited(&self, action: &str) -> Vec<portico_store::NewAuditEvent> {
        let events = self.store.audit().list(&AuditFilter::default(), 100).await;
        let events = events.expect("audit log").into_iter().map(|e| e.event);
        events.filter(|event| event.action == action).collect()
    }
}
