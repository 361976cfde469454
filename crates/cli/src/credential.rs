//! `portico credential`: kubectl's exec plugin (client.authentication.k8s.io). Standard output
//! carries the credential and nothing else; the plugin prompts only if kubectl allows it.
use super::{
    CommandError, direct,
    exec_info::ExecInfo,
    profile::Profile,
    refresh_detection::{TokenHolder, TokenHolders},
    session::Session,
    token_cache::{Cached, TokenCache},
};
use clap::Args;
use portico_clock::Clock;
use uuid::Uuid;

/// Print a cluster token for kubectl (its exec plugin; you need not run it yourself)
///
/// With --gateway the token comes from the gateway that `portico login` signed in at. With --cloud
/// this program signs in at Keystone itself, with clouds.yaml or OS_*, and seals the token here;
/// `portico login --cloud` must have pinned that cloud before. Without either: the cloud of OS_CLOUD
/// or OS_AUTH_URL if it is pinned, else the gateway that you signed in at.
///
/// Tokens are cached below $XDG_CACHE_HOME/portico, for you alone, and shared by all kubectl
/// processes. It prompts for a password only when kubectl runs interactively (`interactive` in
/// KUBERNETES_EXEC_INFO).
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
pub async fn credential(args: CredentialArgs, clock: &Clock) -> Result<(), CommandError> {
    let asked = ExecInfo::read()?;
    let cloud = match (args.cloud, &args.gateway) {
        (Some(cloud), _) => Some(cloud),
        (None, Some(_)) => None,
        (None, None) => direct::pinned_by_environment()?,
    };
    let token = match cloud {
        Some(cloud) => direct::credential(&cloud, args.cluster, &asked, clock).await?,
        None => {
            let profile = Profile::choose(args.gateway.as_deref())?;
            from_gateway(profile, args.cluster, &asked, clock).await?
        }
    };
    asked.answer(&token)
}

async fn from_gateway(
    profile: Profile,
    cluster: Uuid,
    asked: &ExecInfo,
    clock: &Clock,
) -> Result<Cached, CommandError> {
    // the session's refresh token is not part of the name: it changes, the token stays valid
    let cache = TokenCache::open(&[profile.gateway.as_str(), &cluster.to_string()], clock)?;
    let mut session = Session::new(profile, clock)?;
    let mut fetch = async || {
        let got = session.cluster_token(cluster).await?;
        Ok(Cached::new(got.token, got.expires_at, clock.now()))
    };
    let holder = TokenHolder::parent().filter(|_| asked.from_kubectl);
    let holders = cache.beside("holders").map(TokenHolders::read);
    let (Some(holder), Some(mut holders)) = (holder, holders) else {
        return cache.get(fetch).await;
    };
    let refused = cache
        .known()?
        .filter(|known| holders.was_refused(&holder, known, clock.now()));
    let token = match refused {
        Some(refused) => replace(&cache, &refused, fetch().await)?,
        None => cache.get(fetch).await?,
    };
    holders.add(holder, &token);
    Ok(token)
}

/// Replaces a token that the API server refused with the gateway's new one. An outage proves
/// nothing about the token, so it stays; a refusal (the session has ended) removes it, so that no
/// other kubectl presents it.
fn replace(
    cache: &TokenCache,
    refused: &Cached,
    fetched: Result<Cached, CommandError>,
) -> Result<Cached, CommandError> {
    match fetched {
        Ok(fresh) => {
            cache.put(&fresh);
            Ok(fresh)
        }
        Err(error) if error.is_outage() => Ok(refused.clone()),
        Err(error) => {
            cache.forget(refused)?;
            Err(error)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::{SignedDuration, Timestamp};
    use secrecy::ExposeSecret as _;

    const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);

    fn cache(directory: &tempfile::TempDir) -> TokenCache {
        let path = directory.path().join("token.json");
        TokenCache::at(path, Clock::from_fn(|| NOW))
    }

    fn token(text: &str) -> Cached {
        let in_ten_minutes = NOW + SignedDuration::from_mins(10);
        Cached::new(text.to_owned().into(), in_ten_minutes, NOW)
    }

    fn known(cache: &TokenCache) -> Option<String> {
        let known = cache.known().unwrap();
        known.map(|known| known.token.expose_secret().to_owned())
    }

    fn ended() -> CommandError {
        CommandError::SessionEnded {
            gateway: "https://portico.example.org".to_owned(),
            reason: "signed out".to_owned(),
        }
    }

    #[test]
    fn finding_o6_a_refused_token_of_an_ended_session_is_forgotten_and_login_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let cache = cache(&directory);
        let refused = token("old");
        cache.put(&refused);
        let error = replace(&cache, &refused, Err(ended())).unwrap_err();
        assert!(error.to_string().contains("run `portico login"), "{error}");
        assert_eq!(known(&cache), None);
    }

    #[test]
    fn finding_o6_a_refused_token_is_replaced_and_an_outage_replaces_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let cache = cache(&directory);
        let refused = token("old");
        cache.put(&refused);
        let outage = CommandError::Unavailable {
            gateway: "g".to_owned(),
            status: 503,
        };
        let same = replace(&cache, &refused, Err(outage)).unwrap();
        assert_eq!(same.token.expose_secret(), "old");
        let fresh = replace(&cache, &refused, Ok(token("new"))).unwrap();
        assert_eq!(fresh.token.expose_secret(), "new");
        assert_eq!(known(&cache).as_deref(), Some("new"));
    }
}
