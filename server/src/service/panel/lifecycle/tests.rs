//! Changes of a cluster through the panel, with Magnum, Keystone's catalogue and the journal inside of the test.
use crate::{
    caller::{Caller, Gatekeeper},
    config::{enrolment::EnrolmentConfig, magnum::MagnumRoles, panel::StreamLimits},
    kube::Clusters,
    service::{
        Apps, Services,
        access::UndoStore,
        authentication::{KubeAuthMetrics, RecentTests},
        details::Details,
        lifecycle::{
            MagnumAccess, MagnumParts, StoredAttempts,
            changing_magnum::{CLUSTER, ChangingMagnum, TEMPLATE},
        },
        lists::Arrangements,
        panel::PanelService,
        programs::Programs,
    },
    session_budgets::SessionBudgets,
    shared_watch::SharedWatches,
};
use app::ports::{ClusterCare as _, Lifecycle as _};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use jiff::Timestamp;
use portico_assertion::{
    Claims, PrivateKey, Signer, SigningKey, Verifier,
    claims::{KeystoneState, Namespaces, OpenApps},
    panel_token,
};
use portico_clock::Clock;
use portico_domain::{
    identity::{Named, Project},
    panel::lifecycle::{
        ChangeOutcome, CreationForm, CreationOutcome, DeletionOptions, DeletionOutcome,
        UpgradeSelection,
    },
};
use portico_openstack::{KeystoneConfig, keystone};
use portico_store::{JournalKey, JournalSource, KeyRing, Store};
use secrecy::SecretString;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};
use url::Url;
use uuid::Uuid;

const PUBLIC_URL: &str = "http://localhost:8080";
const NEXT: Uuid = Uuid::from_u128(32);

/// The panel of a member of the project `acme`.
struct Place {
    _directory: tempfile::TempDir,
    store: Store,
    panel: PanelService,
}

impl Place {
    async fn new() -> Self {
        let catalog = Arc::new(OnceLock::<Value>::new());
        let of_reply = Arc::clone(&catalog);
        let magnum = ChangingMagnum::start(Vec::new(), move |request, _| {
            match (request.method.as_str(), request.path.as_str()) {
                ("GET", "/v3/auth/catalog") => Some((200, of_reply.get()?.clone())),
                ("GET", "clustertemplates/detail") => Some((200, templates())),
                ("POST", path) if path.ends_with("/actions/upgrade") => {
                    Some((202, json!({"uuid": CLUSTER})))
                }
                _ => None,
            }
        })
        .await;
        let viewer = magnum.viewer("ada", &[]);
        let endpoints = &viewer.token.catalog.endpoints;
        let services: Vec<Value> = endpoints
            .iter()
            .map(|one| {
                json!({"type": one.service_type,
                       "endpoints": [{"interface": one.interface, "url": one.url.as_str()}]})
            })
            .collect();
        catalog.set(json!({"catalog": services})).unwrap();
        let mut keystone_url = endpoints[0].url.clone();
        keystone_url.set_path("/v3");
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", directory.path().join("portico.db").display());
        let store = Store::connect(&url, 2, KeyRing::random().unwrap()).await;
        let store = store.unwrap();
        store.migrate(Timestamp::UNIX_EPOCH).await.unwrap();
        let services = services_with(access(&magnum, &keystone_url, &store));
        Self {
            panel: PanelService::new(Arc::new(services), caller()),
            store,
            _directory: directory,
        }
    }

    /// Returns action, outcome and reason of the requests in the cluster's journal, the oldest first.
    async fn requests(&self) -> Vec<[String; 3]> {
        let key = JournalKey {
            project_id: "acme".to_owned(),
            cluster: CLUSTER,
        };
        let journal = self.store.cluster_journal();
        let entries = journal.list(&key, None, 100).await.unwrap();
        let requests = entries.iter().rev();
        requests
            .filter(|entry| entry.source == JournalSource::Request)
            .map(|entry| {
                let content: Value = serde_json::from_str(&entry.content).unwrap();
                let text = |name: &str| content[name].as_str().unwrap_or_default().to_owned();
                ["action", "outcome", "reason"].map(text)
            })
            .collect()
    }
}

fn access(magnum: &ChangingMagnum, url: &Url, store: &Store) -> Option<MagnumAccess> {
    let config: KeystoneConfig =
        serde_json::from_value(json!({"url": url.as_str(), "allow_plain_http": true})).unwrap();
    let section: EnrolmentConfig = serde_json::from_value(
        json!({"sealing_key_file": "/nowhere/kube-auth.pub", "sources": ["magnum"]}),
    )
    .unwrap();
    MagnumAccess::new(MagnumParts {
        clients: magnum.clients.clone(),
        keystone: keystone::Client::new(&config, Clock::system()).unwrap(),
        section,
        roles: MagnumRoles::default(),
        attempts: Arc::new(StoredAttempts::new(store.clone(), Clock::system())),
        clock: Clock::system(),
    })
}

fn services_with(magnum: Option<MagnumAccess>) -> Services {
    let public_url: Url = PUBLIC_URL.parse().unwrap();
    let apps = Apps::new(Vec::new(), public_url.clone(), "apps.localhost".to_owned());
    Services {
        clock: Clock::system(),
        clusters: Arc::new(Clusters::new(Vec::new(), Clock::system())),
        apps: apps.unwrap(),
        undo: UndoStore::default(),
        tests: RecentTests::default(),
        kube_auth_metrics: KubeAuthMetrics::new(None, Clock::system()).unwrap(),
        public_url,
        support_contact: String::new(),
        role_names: BTreeMap::new(),
        keystone: None,
        docs_url: None,
        budgets: SessionBudgets::new(StreamLimits::default()),
        watches: SharedWatches::new(Clock::system()),
        arrangements: Arrangements::new(Clock::system()),
        details: Details::default(),
        programs: Programs::default(),
        enrolment: None,
        magnum,
        prometheus: None,
    }
}

/// Returns ada, who is a member of the project `acme`.
fn caller() -> Caller {
    let (signing, key) = (SigningKey::generate(), PrivateKey::generate());
    let verifier = Verifier::for_key(&signing);
    let now = Clock::system().now().as_second();
    let claims = claims(now);
    let token = SecretString::from("token-of-ada".to_owned());
    let expires_at = Timestamp::from_second(now + 3_600).unwrap();
    let sealed = panel_token::seal_for_panel(key.public(), &claims.jti, &token, expires_at);
    let mut headers = HeaderMap::new();
    for (name, value) in [
        (
            "portico-assertion",
            Signer::new(signing).sign(&claims).unwrap(),
        ),
        ("portico-token", sealed.unwrap()),
        ("x-request-id", "r1".to_owned()),
    ] {
        let value = HeaderValue::from_str(&value).unwrap();
        headers.insert(HeaderName::from_static(name), value);
    }
    let public_url: Url = PUBLIC_URL.parse().unwrap();
    let gatekeeper = Gatekeeper::new(verifier, vec![key], &public_url, Clock::system());
    gatekeeper.admit(&headers).unwrap()
}

fn claims(now: i64) -> Claims {
    let named = |name: &str| Named {
        id: name.to_owned(),
        name: name.to_owned(),
    };
    let project = Project {
        id: "acme".to_owned(),
        name: "acme".to_owned(),
        domain: named("default"),
    };
    Claims {
        iss: PUBLIC_URL.to_owned(),
        aud: "panel".to_owned(),
        iat: now,
        exp: now + 60,
        jti: "assertion".to_owned(),
        sid: "session".to_owned(),
        sub: "ada".to_owned(),
        name: "ada".to_owned(),
        domain: named("default"),
        roles: vec![named("member"), named("reader")],
        projects: vec![project.clone()],
        project: Some(project),
        apps: OpenApps::new(),
        namespaces: Namespaces::new(),
        csrf: None,
        session_expires_at: now + 3_600,
        auth_methods: vec!["password".to_owned()],
        email: None,
        groups: Vec::new(),
        groups_omitted: 0,
        keystone: KeystoneState::Ok,
        next_project: None,
    }
}

fn templates() -> Value {
    let template = |uuid: &str, name: &str, version: &str| {
        json!({"uuid": uuid, "name": name, "project_id": "acme", "public": true,
               "flavor_id": "m1.small", "master_flavor_id": "m1.medium", "keypair_id": "ops",
               "driver": "k8s_cluster_api_ubuntu_v1", "cluster_distro": "ubuntu", "coe": "kubernetes",
               "labels": {"kube_tag": version, "boot_volume_size": "20"}})
    };
    json!({"clustertemplates": [template(TEMPLATE, "small", "v1.31.0"),
                                template(&NEXT.to_string(), "next", "v1.32.0")]})
}

#[tokio::test]
async fn the_reason_of_each_change_is_in_the_journal_whatever_becomes_of_it() {
    let place = Place::new().await;
    let panel = &place.panel;
    let shop = || "shop".to_owned();
    let reason = |number: u32| format!(" CHG-{number} ");
    let mut form = CreationForm {
        name: shop(),
        template: "small".to_owned(),
        ..CreationForm::default()
    };
    form.set_reason(reason(1));
    let created = panel.create_cluster(form, Uuid::from_u128(7)).await;
    let accepted = CreationOutcome::Accepted { cluster: CLUSTER };
    assert_eq!(created.unwrap(), accepted);
    let protected = panel.set_delete_protection(CLUSTER, true, String::new(), reason(2));
    assert!(protected.await.unwrap().protected.is_some());
    let blank = " ".to_owned();
    let open = panel.set_delete_protection(CLUSTER, false, shop(), blank);
    assert!(open.await.unwrap().protected.is_none());
    // the driver cannot
    let refused = panel.rotate_ca(CLUSTER, shop(), reason(3)).await.unwrap();
    assert!(matches!(refused, ChangeOutcome::Refused { .. }));
    let text = "not a request".to_owned();
    let signed = panel.sign_certificate(CLUSTER, text, reason(4)).await;
    assert!(signed.is_err());
    let selection = UpgradeSelection::default();
    let upgraded = panel.upgrade_cluster(CLUSTER, NEXT, selection, shop(), reason(5));
    assert_eq!(upgraded.await.unwrap(), ChangeOutcome::Accepted);
    let options = DeletionOptions::default();
    let deleted = panel.delete_cluster(CLUSTER, shop(), options, reason(6));
    assert!(matches!(
        deleted.await.unwrap(),
        DeletionOutcome::Accepted(_)
    ));
    let requests = place.requests().await;
    let requests: Vec<_> = requests
        .iter()
        .map(|one| one.each_ref().map(String::as_str))
        .collect();
    assert_eq!(
        requests,
        [
            ["create_cluster", "accepted", "CHG-1"],
            ["protect_cluster", "sending", "CHG-2"],
            ["protect_cluster", "accepted", "CHG-2"],
            ["unprotect_cluster", "sending", ""],
            ["unprotect_cluster", "accepted", ""],
            ["rotate_ca", "sending", "CHG-3"],
            ["rotate_ca", "refused", "CHG-3"],
            ["sign_certificate", "sending", "CHG-4"],
            ["sign_certificate", "failed", "CHG-4"],
            ["upgrade_cluster", "sending", "CHG-5"],
            ["upgrade_cluster", "accepted", "CHG-5"],
            ["delete_cluster", "sending", "CHG-6"],
            ["delete_cluster", "accepted", "CHG-6"],
        ]
    );
}
