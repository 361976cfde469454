//! A gateway with a store of its own.
use std::{net::SocketAddr, path::PathBuf, time::Duration};

use gateway::{AppConfig, Cluster, Deps, Gateway, GatewayConfig};
use jiff::{SignedDuration, Timestamp};
use portico_assertion::{PrivateKey, Signer, SigningKey};
use portico_domain::identity::{Named, Project, User};
use portico_openstack::{KeystoneConfig, keystone};
use portico_runtime::{lifecycle::Lifecycle, listener::Listener};
use portico_store::{
    AuditFilter, ChildKind, NewChild, NewKeystoneToken, NewSession, ProviderProfile, Session,
    SessionProvider, Store,
};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};
use tempfile::TempDir;
use uuid::Uuid;

use super::{
    database::{self, Database},
    echo::Echo,
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

fn named(name: &str) -> Named {
    Named {
        id: format!("{name}-id"),
        name: name.to_owned(),
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
        let deps = Deps {
            store: store.clone(),
            keystone: keystone::Client::new(&keystone).expect("client"),
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
            database,
            database_url,
            _dir: dir,
        })
    }

    /// Returns the store as another process would open it.
    pub async fn another_process(&self) -> Store {
        database::store(&self.database_url).await
    }

    /// Creates a session as sign-in does, with a token for the project: no request to Keystone is
    /// made.
    pub async fn session(&self, roles: &[&str]) -> (SecretString, Session) {
        self.session_of("u1", "ada", roles).await
    }

    /// Does the same for another user.
    pub async fn session_of(
        &self,
        id: &str,
        name: &str,
        roles: &[&str],
    ) -> (SecretString, Session) {
        let now = Timestamp::now();
        let in_hours = |hours| now + SignedDuration::from_hours(hours);
        let project = Project {
            id: "p1".to_owned(),
            name: "acme".to_owned(),
            domain: named("Default"),
        };
        let new = NewSession {
            user: User {
                id: id.to_owned(),
                name: name.to_owned(),
                domain: named("Default"),
            },
            projects: vec![project],
            last_project: None,
            auth_methods: vec!["password".to_owned()],
            user_agent: FIREFOX.to_owned(),
            address: "192.0.2.7".to_owned(),
            idle_expires_at: in_hours(1),
            absolute_expires_at: in_hours(2),
            keystone_expires_at: in_hours(1),
            authenticated_at: Some(now),
        };
        let (secret, session) = self
            .store
            .sessions()
            .create(&new, now)
            .await
            .expect("session");
        self.project_token(&session, roles).await;
        (secret, session)
    }

    /// Gives a session the tokens of a sign-in: an unscoped one, and one for the project.
    pub async fn project_token(&self, session: &Session, roles: &[&str]) {
        let now = Timestamp::now();
        for project in [None, session.projects.first().cloned()] {
            let new = NewKeystoneToken {
                session: session.id,
                roles: match project {
                    Some(_) => roles.iter().map(|role| named(role)).collect(),
                    None => Vec::new(),
                },
                token: SecretString::from(match project {
                    Some(_) => "keystone-token-of-p1",
                    None => "unscoped-keystone-token",
                }),
                project,
                audit_id: "audit".to_owned(),
                expires_at: now + SignedDuration::from_hours(1),
            };
            let stored = self.store.keystone_tokens().store(&new, now).await;
            assert!(matches!(stored, Ok(portico_store::Stored::Usable(_))));
        }
    }

    /// Gives the family's command line a token of its own, as Keystone would at the first request.
    pub async fn token_of_the_command_line(&self, root: &Session, token: &str) {
        let now = Timestamp::now();
        let all = self.store.sessions().list_of_user("u1", now).await;
        let child = all
            .expect("sessions")
            .into_iter()
            .find(|session| session.parent == Some(root.id))
            .expect("a command line");
        self.own_token(&child, token).await;
    }

    /// Gives a child a token of its own for the project, as Keystone would at the first request.
    pub async fn own_token(&self, child: &Session, token: &str) {
        let now = Timestamp::now();
        let new = NewKeystoneToken {
            session: child.id,
            project: child.projects.first().cloned(),
            roles: Vec::new(),
            token: SecretString::from(token),
            audit_id: "audit".to_owned(),
            expires_at: now + SignedDuration::from_hours(1),
        };
        let stored = self.store.keystone_tokens().store(&new, now).await;
        assert!(matches!(stored, Ok(portico_store::Stored::Usable(_))));
    }

    /// Returns a browser that has opened the app with this session.
    pub async fn at_app(&self, root: &Session) -> (super::browser::Browser, Session) {
        let child = NewChild {
            parent: root.id,
            kind: ChildKind::App("prometheus".to_owned()),
            user_agent: FIREFOX.to_owned(),
            address: "192.0.2.7".to_owned(),
        };
        let created = self.store.sessions().create_child(&child, Timestamp::now());
        let (secret, session) = created.await.expect("store").expect("a live parent");
        let mut browser = super::browser::Browser::new(self.address);
        browser.set_cookie(APP_HOST, "portico", secret.expose_secret());
        (browser, session)
    }

    /// Creates a session of a user of the provider `corp`, with these groups and without Keystone.
    pub async fn session_of_provider(&self, name: &str, groups: &[&str]) -> Session {
        let (_, like) = self.session_of("u9", name, &[]).await;
        let provider = SessionProvider {
            id: "corp".to_owned(),
            subject: name.to_owned(),
            sid: None,
            profile: ProviderProfile {
                email: Some(format!("{name}@corp.example")),
                email_verified: name != "mallory",
                display_name: Some(format!("{name} of Corp")),
                groups: groups.iter().map(|group| (*group).to_owned()).collect(),
                roles: Vec::new(),
                keystone: false,
            },
            expires_at: None,
        };
        let new = NewSession {
            projects: Vec::new(),
            ..self.new_session(&like)
        };
        let sessions = self.store.sessions();
        let created = sessions.create_of_provider(&new, provider, Timestamp::now());
        created.await.expect("session").1
    }

    /// Creates an expired session that has not been deleted yet.
    pub async fn expired_session(&self) -> SecretString {
        let past = Timestamp::now() - SignedDuration::from_secs(1);
        let (_, session) = self.session(&[]).await;
        let new = NewSession {
            idle_expires_at: past,
            ..self.new_session(&session)
        };
        let created = self.store.sessions().create(&new, past).await;
        created.expect("session").0
    }

    /// Returns the data for another session like this one.
    pub fn new_session(&self, session: &Session) -> NewSession {
        NewSession {
            user: session.user.clone(),
            projects: session.projects.clone(),
            last_project: session.last_project.clone(),
            auth_methods: session.auth_methods.clone(),
            user_agent: session.user_agent.clone(),
            address: session.address.clone(),
            idle_expires_at: session.idle_expires_at,
            absolute_expires_at: session.absolute_expires_at,
            keystone_expires_at: session.keystone_expires_at,
            authenticated_at: session.authenticated_at,
        }
    }

    /// Returns the audit log's entries about an action, the newest first.
    pub async fn audited(&self, action: &str) -> Vec<portico_store::NewAuditEvent> {
        let events = self.store.audit().list(&AuditFilter::default(), 100).await;
        let events = events.expect("audit log").into_iter().map(|e| e.event);
        events.filter(|event| event.action == action).collect()
    }

    /// Returns a browser that has a cookie of this session on the app's host, as the hand-over
    /// leaves it.
    pub async fn on_the_app(&self, session: &Session) -> super::browser::Browser {
        let new = NewChild {
            parent: session.id,
            kind: ChildKind::App("prometheus".to_owned()),
            user_agent: FIREFOX.to_owned(),
            address: "192.0.2.7".to_owned(),
        };
        let created = self.store.sessions().create_child(&new, Timestamp::now());
        let (secret, _) = created.await.expect("stored").expect("live");
        let mut browser = super::browser::Browser::new(self.address);
        browser.set_cookie(APP_HOST, "portico", secret.expose_secret());
        browser
    }

    /// Returns a browser that has the cookie of another user's session.
    pub async fn signed_in_as(
        &self,
        id: &str,
        name: &str,
        roles: &[&str],
    ) -> (super::browser::Browser, Session) {
        let (secret, session) = self.session_of(id, name, roles).await;
        let mut browser = super::browser::Browser::new(self.address);
        browser.set_cookie(MAIN_HOST, "portico", secret.expose_secret());
        (browser, session)
    }

    /// Returns a browser that has been let into the app on its own host.
    pub async fn in_app(&self) -> super::browser::Browser {
        let (mut browser, _) = self.signed_in(&["k8s_admin"]).await;
        let form = browser.follow(APP).await;
        let code = form.field("code");
        let url = format!("{APP}/oauth2/handover");
        let page = browser.submit(MAIN, &url, &[("code", &code)]).await;
        assert_eq!(page.status, http::StatusCode::SEE_OTHER, "{}", page.body);
        browser
    }

    /// Returns a browser that has this session's cookie.
    pub async fn signed_in(&self, roles: &[&str]) -> (super::browser::Browser, Session) {
        let (secret, session) = self.session(roles).await;
        let mut browser = super::browser::Browser::new(self.address);
        browser.set_cookie(MAIN_HOST, "portico", secret.expose_secret());
        (browser, session)
    }
}
