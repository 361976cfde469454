//! Errors of a sign-in at Keystone itself.
use portico_openstack::keystone;
use std::path::PathBuf;

/// An error, written to standard error as one sentence and a next step.
#[derive(Debug, thiserror::Error)]
pub enum DirectError {
    #[error(
        "the cloud {0} is not pinned on this machine: run `portico login --cloud {0} https://GATEWAY`"
    )]
    NotPinned(String),
    #[error(
        "no cloud {cloud} is described in {looked}: add it there, name another with --cloud, or set OS_CLIENT_CONFIG_FILE"
    )]
    UnknownCloud { cloud: String, looked: String },
    #[error("{}: {detail}", path.display())]
    CloudsFile { path: PathBuf, detail: String },
    #[error(
        "no credentials are configured: set OS_CLOUD, or OS_AUTH_URL and OS_USERNAME with a \
         password"
    )]
    NoSettings,
    #[error("{source_name} names no Keystone: set auth_url (or OS_AUTH_URL)")]
    NoAuthUrl { source_name: String },
    #[error(
        "{0} cannot be used as Keystone's URL: it must be https://HOST[:PORT][/PATH]/v3, or http:// on this machine only"
    )]
    AuthUrl(String),
    #[error(
        "{source_name} names {found} as Keystone's URL, but the cloud {cloud} is pinned to \
         {pinned}; nothing was sent. If your cloud has moved, run `portico login --cloud {cloud} \
         --repin`"
    )]
    AuthUrlChanged {
        source_name: String,
        cloud: String,
        found: String,
        pinned: String,
    },
    #[error(
        "the cloud {cloud} is pinned to the gateway {pinned}, not to {asked}; nothing was sent. If that is right, run `portico login --cloud {cloud} --repin {asked}`"
    )]
    GatewayChanged {
        cloud: String,
        asked: String,
        pinned: String,
    },
    #[error(
        "{0} turns the check of Keystone's certificate off, which Portico never does: name the authority with cacert (or OS_CACERT) instead"
    )]
    Insecure(String),
    #[error(
        "auth_type {0} is not supported; password, token, application credential and TOTP are. For \
         single sign-on use `portico login https://GATEWAY`"
    )]
    AuthType(String),
    #[error(
        "{source_name} has no {what}: set {variable}, or run `portico login --cloud {cloud}` in a terminal, which asks for it"
    )]
    Missing {
        source_name: String,
        what: &'static str,
        variable: &'static str,
        cloud: String,
    },
    #[error(
        "Keystone requires {0} as well, which is not supported here: use `portico login \
         https://GATEWAY`"
    )]
    OtherFactors(String),
    #[error(
        "Keystone at {keystone} refused {what}: check user, secret and project ({source_name}); a role in the project is needed as well"
    )]
    Refused {
        keystone: String,
        what: &'static str,
        source_name: String,
    },
    #[error(
        "Keystone at {keystone} does not accept the token ({source_name}): it has ended or was revoked. Set a new one"
    )]
    TokenRefused {
        keystone: String,
        source_name: String,
    },
    #[error(
        "Keystone refused the same credentials a moment ago, so they were not sent again (that could lock the account): correct them, run `portico login --cloud {cloud}`, or wait {seconds} s"
    )]
    RefusedBefore { cloud: String, seconds: i64 },
    #[error("cannot ask Keystone at {keystone}: {source}; try again in a moment")]
    Keystone {
        keystone: String,
        source: keystone::Error,
    },
    #[error("Keystone's client cannot be set up: {0}")]
    Client(#[from] keystone::BuildError),
    #[error(transparent)]
    Services(#[from] portico_openstack::rest::BuildError),
    #[error(
        "the token belongs to no project: set project_name or project_id (OS_PROJECT_NAME, OS_PROJECT_ID) in {0}"
    )]
    NoProject(String),
    #[error(
        "the credential belongs to the project {built_in}, but {source_name} asks for {asked}: an application credential or scoped token cannot change its project; make one there, or leave the project out"
    )]
    ProjectBuiltIn {
        built_in: String,
        asked: String,
        source_name: String,
    },
    #[error(
        "the application credential has access rules, which no cluster accepts: make one without (`openstack application credential create NAME`)"
    )]
    AccessRules,
    #[error(
        "the cluster {cluster} is not pinned for the project {project}: run `portico login --cloud {cloud}` with that project, or choose the right one in {source_name}"
    )]
    OtherProject {
        cluster: String,
        project: String,
        cloud: String,
        source_name: String,
    },
    #[error(
        "the cluster {cluster} is not pinned for the cloud {cloud}: run `portico login --cloud {cloud}` to learn of new clusters; known are: {known}"
    )]
    UnknownCluster {
        cluster: String,
        cloud: String,
        known: String,
    },
    #[error(
        "this kubeconfig would send the token for {cluster} to {asked}, but its API server is {pinned}: write the context again with `portico kubeconfig --cloud {cloud} --cluster {cluster}`"
    )]
    OtherServer {
        cluster: String,
        cloud: String,
        asked: String,
        pinned: String,
    },
    #[error(
        "this kubeconfig does not name the API server that the token is for: set \
         provideClusterInfo: true, or write it again with `portico kubeconfig --cloud {cloud} \
         --cluster {cluster}`"
    )]
    NoClusterInfo { cluster: String, cloud: String },
    #[error(
        "the pinned sealing key of {cluster} cannot be used: run `portico login --cloud {cloud}`"
    )]
    SealingKey { cluster: String, cloud: String },
    #[error("the token cannot be sealed: {0}")]
    Seal(#[from] portico_assertion::cluster_token::SealError),
}

impl DirectError {
    /// Returns whether no server could decide, as opposed to a refusal.
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::Keystone { source, .. } if !source.is_refusal())
    }
}
