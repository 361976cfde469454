//! Builds the parts of the gateway and connects them.
use std::sync::{Arc, Weak};

use axum::extract::FromRef;
use portico_assertion::{PublicKey, Signer, SigningKey, audit_report, cluster_list::ListSigner};
use portico_clock::Clock;
use portico_openstack::keystone;
use portico_proxy::{forward::Forwarder, upstream::Upstream};
use portico_runtime::secret_file::read_token_file;
use portico_store::Store;
use secrecy::SecretString;
use tokio::sync::{Mutex, Semaphore};
use tokio_util::task::TaskTracker;

use crate::{
    account::Account,
    apps::{
        authorization::{Authorization, Rules},
        bearer::{BearerAuthentication, VerifiedTokenCache},
        forward_auth::ForwardAuth,
        handover::Handovers,
        identity::{Identities, UpstreamIdentity},
        proxy::{NamespaceCandidateCache, ReverseProxy},
        saved_form::SavedForms,
    },
    audit::AuditLog,
    authentication::Authentication,
    browser_state::BrowserStates,
    build_error::{BuildError, read_file},
    client_api::ClientApi,
    clusters::{Cluster, Clusters, tokens::ClusterTokens},
    config::{AppConfig, ClusterListConfig, DemoConfig, GatewayConfig, PANEL_ID},
    endpoints::{
        cluster_list::{ClusterListPublisher, Publication},
        health::Readiness,
        well_known::PublicKeys,
    },
    hosts::Hosts,
    http::cookies::Cookies,
    identity_providers::{Providers, federation::Federations},
    request_context::RequestContexts,
    sessions::{
        Sessions, assertion::Assertions, keystone_health::KeystoneHealth, registry::Registry,
        signing::Signing,
    },
    sign_in::{SignIn, attempts::Attempts},
};

/// What the headers of the panel's responses may have at least, in bytes: a report for the audit log, and 8 KiB for the
/// others. If a report did not fit, a completed change would look like an error, and would not be recorded.
const PANEL_RESPONSE_HEADER_BYTES: usize = audit_report::MAX_BYTES + (8 << 10);

/// The dependencies of the gateway, besides its configuration.
#[derive(Debug)]
pub struct Deps {
    /// The source of the time of day for all parts of the gateway.
    pub clock: Clock,
    pub store: Store,
    pub keystone: keystone::Client,
    /// `keystone.default_domain`.
    pub default_domain: String,
    /// The signer with the key in `gateway.assertion_key_file`.
    pub signer: Signer,
    pub clusters: Vec<Cluster>,
    pub apps: Vec<AppConfig>,
}

/// The parts that handlers take.
#[derive(Clone, Debug, FromRef)]
pub(crate) struct Handlers {
    pub account: Arc<Account>,
    pub attempts: Arc<Attempts>,
    pub authentication: Arc<Authentication>,
    pub browser_states: Arc<BrowserStates>,
    pub client_api: Arc<ClientApi>,
    pub cluster_list: Arc<ClusterListPublisher>,
    pub forward_auth: Arc<ForwardAuth>,
    pub handovers: Arc<Handovers>,
    pub public_keys: Arc<PublicKeys>,
    pub readiness: Arc<Readiness>,
    pub reverse_proxy: Arc<ReverseProxy>,
    pub saved_forms: Arc<SavedForms>,
    pub sign_in: Arc<SignIn>,
}

/// The parts of the gateway, for its dispatcher and its background tasks.
#[derive(Debug)]
pub(crate) struct Parts {
    pub handlers: Handlers,
    pub store: Store,
    pub clock: Clock,
    pub cookies: Cookies,
    pub hosts: Arc<Hosts>,
    pub providers: Arc<Providers>,
    pub identities: Arc<Identities>,
    pub clusters: Arc<Clusters>,
    pub signing: Arc<Signing>,
    pub sessions: Arc<Sessions>,
    pub authorization: Arc<Authorization>,
    pub forwarder: Arc<Forwarder>,
    pub request_contexts: RequestContexts,
    /// Permits for requests that wait for a response.
    pub waiting: Semaphore,
    /// `gateway.audit.retention_days`.
    pub audit_retention_days: u32,
}

impl Parts {
    /// Builds the parts; opens no connection.
    ///
    /// # Errors
    /// As [`crate::Gateway::build`].
    pub fn build(config: GatewayConfig, deps: Deps) -> Result<Self, BuildError> {
        let Deps {
            clock,
            store,
            keystone,
            default_domain,
            signer,
            clusters,
            apps,
        } = deps;
        config.validate(&apps)?;
        crate::metrics::describe();
        let hosts = Arc::new(Hosts::new(&config, &apps)?);
        hosts.warn_of_paths();
        let cookies = Cookies {
            secure: hosts.secure(),
        };
        let identities = Arc::new(Identities::build(&apps, &clusters)?);
        let clusters = Arc::new(Clusters::new(clusters));
        let providers = Arc::new(Providers::build(&config, &clock)?);
        let federations = Arc::new(Federations::build(&config, &keystone)?);
        let audit = AuditLog::new(store.clone(), clock.clone());
        let signing = Arc::new(Signing::new(signer));
        let keystone_health = Arc::new(KeystoneHealth::default());
        let forwarder = Arc::new(Forwarder::default());
        let sessions = Arc::new_cyclic(|me: &Weak<Sessions>| Sessions {
            me: me.clone(),
            config: config.session.clone(),
            registry: Registry::new(store.clone(), config.session.idle, clock.clone()),
            store: store.clone(),
            clock: clock.clone(),
            keystone: keystone.clone(),
            keystone_health: Arc::clone(&keystone_health),
            providers: Arc::clone(&providers),
            federations: Arc::clone(&federations),
            audit: audit.clone(),
        });
        let assertions = Arc::new(Assertions {
            clock: clock.clone(),
            signing: Arc::clone(&signing),
            panel_key: PublicKey::read(&config.panel_sealing_key_file)?,
            issuer: Arc::clone(hosts.main()),
            keystone_health,
        });
        let authentication = Arc::new(Authentication {
            cookies,
            store: store.clone(),
            clock: clock.clone(),
            tell_address_to: config.tell_address_to.clone(),
            hosts: Arc::clone(&hosts),
            sessions: Arc::clone(&sessions),
        });
        let cluster_tokens = Arc::new(ClusterTokens {
            clock: clock.clone(),
            clusters: Arc::clone(&clusters),
            sessions: Arc::clone(&sessions),
            audit: audit.clone(),
        });
        let authorization = Arc::new(Authorization {
            clock: clock.clone(),
            rules: Rules::load(&apps, &config.providers)?,
            hosts: Arc::clone(&hosts),
            providers: Arc::clone(&providers),
            sessions: Arc::clone(&sessions),
            audit: audit.clone(),
        });
        let upstream_identity = Arc::new(UpstreamIdentity {
            clock: clock.clone(),
            identities: Arc::clone(&identities),
            hosts: Arc::clone(&hosts),
            sessions: Arc::clone(&sessions),
            assertions: Arc::clone(&assertions),
            cluster_tokens: Arc::clone(&cluster_tokens),
            audit: audit.clone(),
        });
        let bearer_authentication = Arc::new(BearerAuthentication {
            verified_tokens: VerifiedTokenCache::new(clock.clone())
                .map_err(|_| BuildError::Randomness)?,
            store: store.clone(),
            clock: clock.clone(),
            keystone: keystone.clone(),
            providers: Arc::clone(&providers),
            sessions: Arc::clone(&sessions),
            authentication: Arc::clone(&authentication),
            audit: audit.clone(),
        });
        let handovers = Arc::new(Handovers {
            cookies,
            store: store.clone(),
            clock: clock.clone(),
            hosts: Arc::clone(&hosts),
            authentication: Arc::clone(&authentication),
            authorization: Arc::clone(&authorization),
            audit: audit.clone(),
        });
        let browser_states = BrowserStates::new(cookies, store.clone(), clock.clone());
        let browser_states = Arc::new(browser_states);
        let saved_forms = Arc::new(SavedForms {
            cookies,
            browser_states: Arc::clone(&browser_states),
            store: store.clone(),
            clock: clock.clone(),
            audit: audit.clone(),
        });
        let forward_auth = Arc::new(ForwardAuth {
            clock: clock.clone(),
            hosts: Arc::clone(&hosts),
            authentication: Arc::clone(&authentication),
            authorization: Arc::clone(&authorization),
            bearer_authentication: Arc::clone(&bearer_authentication),
            upstream_identity: Arc::clone(&upstream_identity),
            handovers: Arc::clone(&handovers),
        });
        let panel_url = &config.panel_url;
        let panel = Upstream::plain(
            PANEL_ID,
            "The panel",
            panel_url,
            hosts.main(),
            &config.limits,
            PANEL_RESPONSE_HEADER_BYTES,
        )?;
        let reverse_proxy = Arc::new_cyclic(|me: &Weak<ReverseProxy>| ReverseProxy {
            me: me.clone(),
            forwarder: Arc::clone(&forwarder),
            changes: TaskTracker::new(),
            panel,
            store: store.clone(),
            clock: clock.clone(),
            hosts: Arc::clone(&hosts),
            providers: Arc::clone(&providers),
            sessions: Arc::clone(&sessions),
            assertions,
            authentication: Arc::clone(&authentication),
            authorization: Arc::clone(&authorization),
            bearer_authentication,
            upstream_identity,
            handovers: Arc::clone(&handovers),
            saved_forms: Arc::clone(&saved_forms),
            audit: audit.clone(),
            namespace_candidates: NamespaceCandidateCache::new(store.clone(), clock.clone()),
        });
        let refusal_time = config.keystone.refusal_time;
        let attempts = Attempts::new(store.clone(), clock.clone(), cookies, refusal_time);
        let attempts = Arc::new(attempts);
        let sign_in = Arc::new(SignIn {
            session: config.session.clone(),
            keystone_methods: config.keystone,
            public_url: config.public_url,
            demo_password: demo_password(config.demo.as_ref())?,
            demo: config.demo,
            default_domain,
            cookies,
            store: store.clone(),
            clock: clock.clone(),
            keystone: keystone.clone(),
            hosts: Arc::clone(&hosts),
            providers: Arc::clone(&providers),
            federations,
            sessions: Arc::clone(&sessions),
            authentication: Arc::clone(&authentication),
            attempts: Arc::clone(&attempts),
            audit: audit.clone(),
        });
        let account = Arc::new(Account {
            admins: config.session.admins,
            project_admin_roles: config.audit.project_admin_roles,
            store: store.clone(),
            clock: clock.clone(),
            clusters: Arc::clone(&clusters),
            hosts: Arc::clone(&hosts),
            providers: Arc::clone(&providers),
            sessions: Arc::clone(&sessions),
            audit: audit.clone(),
        });
        let client_api = Arc::new(ClientApi {
            clusters: Arc::clone(&clusters),
            store: store.clone(),
            clock: clock.clone(),
            keystone,
            hosts: Arc::clone(&hosts),
            sessions: Arc::clone(&sessions),
            authentication: Arc::clone(&authentication),
            cluster_tokens,
            audit,
        });
        let public_keys = Arc::new(PublicKeys {
            signing: Arc::clone(&signing),
            clusters: Arc::clone(&clusters),
        });
        let publication = config.cluster_list.as_ref().map(publication);
        let cluster_list = Arc::new(ClusterListPublisher {
            store: store.clone(),
            clock: clock.clone(),
            publication: publication.transpose()?,
            issuer: Arc::clone(hosts.main()),
            signed: Mutex::default(),
        });
        let readiness = Arc::new(Readiness::new(store.clone(), Arc::clone(&forwarder)));
        Ok(Self {
            handlers: Handlers {
                account,
                attempts,
                authentication,
                browser_states,
                client_api,
                cluster_list,
                forward_auth,
                handovers,
                public_keys,
                readiness,
                reverse_proxy,
                saved_forms,
                sign_in,
            },
            store,
            clock,
            cookies,
            request_contexts: RequestContexts::new(Arc::clone(&hosts), config.trusted_proxies),
            hosts,
            providers,
            identities,
            clusters,
            signing,
            sessions,
            authorization,
            forwarder,
            waiting: config.connections.waiting(),
            audit_retention_days: config.audit.retention_days,
        })
    }
}

/// Reads the key and the token of the cluster list.
fn publication(section: &ClusterListConfig) -> Result<Publication, BuildError> {
    Ok(Publication {
        signer: ListSigner::new(SigningKey::read(&section.signing_key_file)?),
        token: read_token_file(&section.token_file)?,
    })
}

/// Reads the password that the sign-in page of a demo shows.
fn demo_password(demo: Option<&DemoConfig>) -> Result<Option<SecretString>, BuildError> {
    let Some(demo) = demo else {
        return Ok(None);
    };
    tracing::warn!("demo mode: the sign-in page shows the users' password");
    let password = read_file(&demo.password_file)?;
    Ok(Some(SecretString::from(password.trim().to_owned())))
}
