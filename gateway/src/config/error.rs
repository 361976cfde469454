//! Errors in the gateway's sections of the configuration.
use url::Url;

use super::{
    AppHostError, IdentityFault, ProviderError, app::AppPathError, upstream::UpstreamConfigError,
};

/// What is wrong with the gateway's configuration.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ConfigError {
    #[error("gateway.public_url must be http(s)://host[:port] without a path, not {0}")]
    PublicUrl(Url),
    #[error("gateway.public_url is plain HTTP, which only works on localhost, not at {0}")]
    PlainHttp(String),
    #[error(
        "gateway.public_url is http://{0}, but gateway.tls_cert_file makes the gateway serve HTTPS: \
         write https://{0}, or remove gateway.tls_cert_file and gateway.tls_key_file"
    )]
    PlainHttpWithTls(String),
    #[error("gateway.apps_domain {0:?} is not a domain name, or is the main host itself")]
    AppsDomain(String),
    #[error("gateway.panel_url must be http://host:port, not {0}")]
    PanelUrl(Url),
    #[error(
        "gateway.tls_cert_file and gateway.tls_key_file belong together, and gateway.tls_certificates \
         to them"
    )]
    HalfTls,
    #[error("apps.id {0:?} must be one lower-case DNS label of at most 63 characters")]
    AppId(String),
    #[error("two apps have the id {0:?}")]
    AppTwice(String),
    #[error(transparent)]
    AppHost(#[from] AppHostError),
    #[error(transparent)]
    Upstream(#[from] UpstreamConfigError),
    #[error(transparent)]
    AppPath(#[from] AppPathError),
    #[error("apps.allow of {0}: role, project, group and provider must not be empty")]
    AppRule(String),
    #[error("gateway.session.admins: role and project must not be empty")]
    AdminRule,
    #[error("gateway.audit.project_admin_roles: a role must not be empty")]
    AuditRole,
    #[error(
        "gateway.cluster_list.signing_key_file must be another key than gateway.assertion_key_file: \
         make one with `openssl genpkey -algorithm ed25519`"
    )]
    ListKey,
    #[error("gateway.session.stay_signed_in_for must be 24h at most")]
    LongStay,
    #[error("gateway.keystone.refusal_time must be 10s at most")]
    LongRefusal,
    #[error("gateway.keystone.methods names a method twice")]
    MethodTwice,
    #[error("gateway.keystone.methods: totp is a second step, and needs password")]
    TotpAlone,
    #[error(
        "gateway.keystone.websso {0:?}: it needs an id of its own (a lower-case label), a label, IDs of \
         Keystone's, and an https address that ends with /v3"
    )]
    WebSso(String),
    #[error(
        "apps.bearer of {0}: {1:?} is neither \"keystone\" nor the ID of an OIDC provider with an \
         api_audience"
    )]
    AppBearer(String, String),
    #[error("apps.id: \"panel\" is the panel's own name; give the app another")]
    AppIsPanel,
    #[error("apps.identity of {0}: {1}")]
    AppIdentity(String, IdentityFault),
    #[error("gateway.{0} must be longer than zero")]
    Zero(&'static str),
    #[error("{0}")]
    Rules(String),
    #[error("gateway.connections.{0} must be at least 1")]
    NoConnections(&'static str),
    #[error("apps.limits.burst of {0} needs apps.limits.requests_per_second")]
    BurstAlone(String),
    #[error(transparent)]
    Provider(#[from] ProviderError),
}
