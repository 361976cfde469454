//! Where the API server of a cluster is, and tokens for it.
use crate::api::Cluster;
use crate::cluster::connection::Connection;
use crate::direct::{CloudChoice, pinned_access};
use crate::error::CommandError;
use crate::profile::{self, Profile};
use crate::session::Session;
use crate::token_cache::Cached;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use portico_clock::Clock;
use portico_domain::identity::User;
use url::Url;
use uuid::Uuid;

/// The API server of a cluster, and the user as whom requests are sent.
#[derive(Debug)]
pub struct Access {
    pub api_url: Url,
    /// PEM; `None`: the public authorities.
    pub authority: Option<String>,
    /// The owner of the token, as Keystone has it.
    pub user: User,
    pub token: Cached,
    pub source: TokenSource,
    pub clock: Clock,
}

/// Where the next token comes from.
#[derive(Clone, Debug)]
pub enum TokenSource {
    /// Keystone, at a pinned cloud; the token is sealed here.
    Cloud { choice: CloudChoice, cluster: Uuid },
    /// A gateway that this machine has signed in at.
    Gateway { gateway: Url, cluster: Uuid },
    /// There is no other token.
    #[cfg(test)]
    Given,
}

/// The reason why this machine has no access to a cluster.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    #[error(
        "this machine has no session at the cluster's gateway: run `portico login URL`, or `portico login \
         --cloud NAME URL`"
    )]
    NoSession,
    #[error(
        "{0} does not list the cluster for you: enrol it on its page in the panel, then run `portico login` again"
    )]
    NotListed(String),
    #[error("{0} is not an https:// address of an API server, so no token is sent there")]
    Address(String),
    #[error("the authority that the gateway states for the cluster cannot be read")]
    Authority,
    #[error(transparent)]
    Command(#[from] CommandError),
}

/// Finds the access to a cluster: that of the pinned cloud, else that of a gateway with a session.
///
/// # Errors
/// [`AccessError`] with the next step.
pub async fn find(connection: &Connection, cluster: Uuid) -> Result<Access, AccessError> {
    #[cfg(test)]
    if let Some(url) = &connection.api_server {
        return Ok(Access::given(url.clone(), tests::user()));
    }
    let choice = connection.choice();
    if choice.is_none() && !connection.is_through_gateway() {
        return Err(AccessError::NoSession);
    }
    if let Some(choice) = choice
        && let Some(found) = pinned_access(choice, cluster, &connection.clock).await?
    {
        let source = TokenSource::Cloud {
            choice: choice.clone(),
            cluster,
        };
        let pinned = found.cluster;
        return Access::new(
            &pinned.api_url,
            pinned.ca_data,
            found.user,
            found.token,
            source,
            &connection.clock,
        );
    }
    let mut reason = AccessError::NoSession;
    for profile in Profile::all()? {
        // a pinned cloud is served by its own gateway
        if connection
            .gateway()
            .is_some_and(|own| *own != profile.gateway)
        {
            continue;
        }
        match of_gateway(profile, cluster, &connection.clock).await {
            Ok(access) => return Ok(access),
            Err(error) => reason = error,
        }
    }
    Err(reason)
}

async fn of_gateway(profile: Profile, cluster: Uuid, clock: &Clock) -> Result<Access, AccessError> {
    let gateway = profile.gateway.clone();
    let mut session = Session::new(profile, clock)?;
    let mut listed = session.clusters().await?.into_iter();
    let found: Option<Cluster> = listed.find(|one| one.id == cluster);
    let found = found.ok_or_else(|| AccessError::NotListed(profile::display(&gateway)))?;
    let user = session.whoami().await?.user;
    let user = User {
        id: user.id,
        name: user.name,
        domain: user.domain,
    };
    let token = session.cluster_token(cluster).await?;
    let token = Cached::new(token.token, token.expires_at, clock.now());
    let source = TokenSource::Gateway { gateway, cluster };
    Access::new(&found.api_url, found.ca_data, user, token, source, clock)
}

impl Access {
    /// Returns the access to a server of a test, with a token that is not replaced.
    #[cfg(test)]
    pub fn given(api_url: Url, user: User) -> Self {
        let clock = Clock::system();
        let now = clock.now();
        let end = now + jiff::SignedDuration::from_hours(1);
        Self {
            api_url,
            authority: None,
            user,
            token: Cached::new("given".into(), end, now),
            source: TokenSource::Given,
            clock,
        }
    }

    /// Checks address and authority; `ca_data` is base64 of the PEM.
    fn new(
        api_url: &str,
        ca_data: Option<String>,
        user: User,
        token: Cached,
        source: TokenSource,
        clock: &Clock,
    ) -> Result<Self, AccessError> {
        Ok(Self {
            api_url: address(api_url)?,
            authority: ca_data.as_deref().map(pem).transpose()?,
            user,
            token,
            source,
            clock: clock.clone(),
        })
    }
}

impl TokenSource {
    /// Returns a new token.
    ///
    /// # Errors
    /// If the session has ended, or the gateway or Keystone refuses or does not respond.
    pub async fn token(&self, clock: &Clock) -> Result<Cached, CommandError> {
        match self {
            Self::Cloud { choice, cluster } => {
                let found = pinned_access(choice, *cluster, clock).await?;
                let found = found.ok_or_else(|| CommandError::UnknownCluster {
                    name: cluster.to_string(),
                    known: "those of `portico clusters`".to_owned(),
                })?;
                Ok(found.token)
            }
            Self::Gateway { gateway, cluster } => {
                let profile = Profile::load(gateway)?;
                let profile = profile.ok_or_else(|| CommandError::NoSession {
                    gateway: profile::display(gateway),
                })?;
                let mut session = Session::new(profile, clock)?;
                let token = session.cluster_token(*cluster).await?;
                Ok(Cached::new(token.token, token.expires_at, clock.now()))
            }
            #[cfg(test)]
            Self::Given => Err(CommandError::NoProfile),
        }
    }
}

fn address(text: &str) -> Result<Url, AccessError> {
    let wrong = || AccessError::Address(text.to_owned());
    let url = Url::parse(text).map_err(|_| wrong())?;
    let is_safe = url.scheme() == "https" || (url.scheme() == "http" && profile::is_local(&url));
    if is_safe && url.host().is_some() {
        Ok(url)
    } else {
        Err(wrong())
    }
}

fn pem(data: &str) -> Result<String, AccessError> {
    let bytes = STANDARD.decode(data).map_err(|_| AccessError::Authority)?;
    String::from_utf8(bytes).map_err(|_| AccessError::Authority)
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::identity::Named;

    pub fn user() -> User {
        let domain = Named {
            id: "default".to_owned(),
            name: "Default".to_owned(),
        };
        User {
            id: "u1".to_owned(),
            name: "alice".to_owned(),
            domain,
        }
    }

    #[test]
    fn a_token_is_sent_over_https_or_to_this_machine() {
        for good in [
            "https://192.0.2.10:6443",
            "https://k.example.org/clusters/1",
            "http://127.0.0.1:1",
        ] {
            assert!(address(good).is_ok(), "{good}");
        }
        for bad in ["http://192.0.2.10:6443", "192.0.2.10:6443", "", "https://"] {
            let error = address(bad).unwrap_err().to_string();
            assert!(error.contains("no token is sent"), "{error}");
        }
    }

    #[test]
    fn the_authority_is_base64_of_pem() {
        assert_eq!(pem("Y2E=").unwrap(), "ca");
        for bad in ["*", "/w=="] {
            assert!(pem(bad).is_err(), "{bad}");
        }
    }
}
