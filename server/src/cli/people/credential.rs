//! `portico credential`: kubectl's exec plugin (client.authentication.k8s.io). Standard output
//! carries the credential and nothing else; questions are asked only where kubectl allows it.
use super::{
    PeopleError, direct,
    exec_info::ExecInfo,
    profile::Profile,
    session::Session,
    token_cache::{Cached, TokenCache},
};
use clap::Args;
use uuid::Uuid;

/// Prints a cluster token for kubectl (its exec plugin; you need not run it yourself)
///
/// With --gateway the token comes from the gateway that `portico login` signed in at. With --cloud
/// this program signs in at Keystone itself, as clouds.yaml or OS_* say, and seals the token here;
/// `portico login --cloud` must have pinned that cloud before. Without either: the cloud of OS_CLOUD
/// or OS_AUTH_URL if it is pinned, else the gateway that you signed in at.
///
/// Tokens are cached below $XDG_CACHE_HOME/portico, for you alone, and shared by all kubectl
/// processes. It asks for a password only when kubectl says that somebody is there.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  portico credential --gateway https://portico.example.org --cluster 6f0c1a52-...\n  portico credential --cloud acme --cluster 6f0c1a52-...\n  OS_APPLICATION_CREDENTIAL_ID=... OS_APPLICATION_CREDENTIAL_SECRET=... \\\n    portico credential --cloud envvars --cluster 6f0c1a52-..."
)]
pub struct CredentialArgs {
    /// The gateway that this machine signed in at
    #[arg(long, value_name = "URL", conflicts_with = "cloud")]
    pub gateway: Option<String>,
    /// A pinned cloud: a name in clouds.yaml, or `envvars` for the OS_* variables
    #[arg(long, value_name = "NAME")]
    pub cloud: Option<String>,
    /// The cluster's UUID
    #[arg(long, value_name = "ID")]
    pub cluster: Uuid,
}

/// Runs `portico credential`.
pub async fn credential(args: CredentialArgs) -> Result<(), PeopleError> {
    let asked = ExecInfo::read()?;
    let cloud = match (args.cloud, &args.gateway) {
        (Some(cloud), _) => Some(cloud),
        (None, Some(_)) => None,
        (None, None) => direct::pinned_by_environment()?,
    };
    let token = match cloud {
        Some(cloud) => direct::credential(&cloud, args.cluster, &asked).await?,
        None => from_gateway(Profile::choose(args.gateway.as_deref())?, args.cluster).await?,
    };
    asked.answer(&token)
}

async fn from_gateway(profile: Profile, cluster: Uuid) -> Result<Cached, PeopleError> {
    // the session's refresh token is not part of the name: it changes, the token stays good
    let cache = TokenCache::open(&[profile.gateway.as_str(), &cluster.to_string()])?;
    let fetch = async || {
        let got = Session::new(profile)?.cluster_token(cluster).await?;
        Ok(Cached::new(got.token, got.expires_at))
    };
    cache.get(fetch).await
}
