//! The cached Keystone token of direct mode: one sign-in serves every cluster of the project until
//! the token expires.
use super::refusals::Refusals;
use super::sign_in::SignIn;
use crate::direct_error::DirectError;
use crate::{
    error::CommandError,
    private_file::{self, expose},
    profile,
    terminal::say,
};
use jiff::Timestamp;
use portico_clock::Clock;
use portico_openstack::keystone::IssuedToken;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// How long before its expiry a token is renewed; for short-lived ones, a third of the lifetime.
const RENEW_AHEAD_SECONDS: i64 = 300;
/// A token is not sealed within this time of its expiry.
const EXPIRY_MARGIN_SECONDS: i64 = 10;

/// A Keystone token in the cache.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CachedToken {
    #[serde(serialize_with = "expose")]
    pub token: SecretString,
    pub issued_at: Timestamp,
    pub expires_at: Timestamp,
    pub project_id: String,
    pub project_name: String,
}

impl CachedToken {
    fn of(issued: IssuedToken) -> Option<Self> {
        let project = issued.details.identity.project?;
        Some(Self {
            token: issued.token,
            issued_at: issued.details.issued_at,
            expires_at: issued.details.expires_at,
            project_id: project.id,
            project_name: project.name,
        })
    }

    fn left(&self, now: Timestamp) -> i64 {
        self.expires_at.as_second() - now.as_second()
    }

    fn usable(&self, now: Timestamp) -> bool {
        self.left(now) > EXPIRY_MARGIN_SECONDS
    }

    fn fresh(&self, now: Timestamp) -> bool {
        let life = self.expires_at.as_second() - self.issued_at.as_second();
        self.left(now) > RENEW_AHEAD_SECONDS.min(life / 3)
    }
}

/// One user's token in one project.
pub struct KeystoneSession<'a> {
    sign_in: SignIn<'a>,
    /// `None` if nothing can be written.
    path: Option<PathBuf>,
    clock: Clock,
}

impl<'a> KeystoneSession<'a> {
    pub fn new(sign_in: SignIn<'a>, clock: &Clock) -> Result<Self, CommandError> {
        let directory = profile::cache_home()?.join("keystone");
        let path = match private_file::private_directory(&directory) {
            Ok(()) => {
                let parts = sign_in.parts();
                let name = profile::file_hash(&parts.each_ref().map(String::as_str));
                Some(directory.join(format!("{name}.json")))
            }
            Err(CommandError::File { .. }) => None,
            Err(error) => return Err(error),
        };
        Ok(Self {
            sign_in,
            path,
            clock: clock.clone(),
        })
    }

    fn refusals(&self) -> Option<Refusals> {
        let path = self.path.as_deref()?;
        Some(Refusals::at(
            path.with_extension("refused"),
            self.clock.clone(),
        ))
    }

    fn known(&self) -> Result<Option<CachedToken>, CommandError> {
        let Some(path) = &self.path else {
            return Ok(None);
        };
        let known = private_file::read(path)?.and_then(|text| serde_json::from_str(&text).ok());
        Ok(known.filter(|known: &CachedToken| known.usable(self.clock.now())))
    }

    async fn lock(&self) -> Result<Option<private_file::Lock>, CommandError> {
        match &self.path {
            Some(path) => private_file::lock(path).await.map(Some),
            None => Ok(None),
        }
    }

    /// Returns the cached token if Keystone accepts it, else a new one. If Keystone does not
    /// respond, the cached one counts as valid.
    pub async fn token(&self) -> Result<CachedToken, CommandError> {
        let _lock = self.lock().await?;
        if let Some(known) = self.known()? {
            match self.sign_in.client().validate(&known.token).await {
                Err(error) if error.is_refusal() => {}
                Ok(_) if !known.fresh(self.clock.now()) => {
                    // no passcode is available and Keystone has just become unreachable: the old
                    // token is still valid
                    return Ok(self.renew().await.unwrap_or(known));
                }
                _ => return Ok(known),
            }
        }
        self.renew().await
    }

    /// Returns whether Keystone still accepts the cached token; deletes it if not.
    pub async fn is_still_valid(&self) -> Result<bool, CommandError> {
        let _lock = self.lock().await?;
        let Some(known) = self.known()? else {
            return Ok(false);
        };
        match self.sign_in.client().validate(&known.token).await {
            Err(error) if error.is_refusal() => {
                self.drop_known()?;
                Ok(false)
            }
            _ => Ok(true),
        }
    }

    async fn renew(&self) -> Result<CachedToken, CommandError> {
        let issued = self.sign_in.token(self.refusals().as_ref()).await?;
        self.keep(issued)
    }

    /// Returns a new token even if one is cached, for a user who signs in by hand.
    pub async fn sign_in_anew(&self) -> Result<CachedToken, CommandError> {
        let _lock = self.lock().await?;
        let issued = self.sign_in.token(None).await?;
        if let Some(refusals) = self.refusals() {
            refusals.forget();
        }
        self.keep(issued)
    }

    fn keep(&self, issued: IssuedToken) -> Result<CachedToken, CommandError> {
        let Some(kept) = CachedToken::of(issued) else {
            return Err(DirectError::NoProject("the settings".to_owned()).into());
        };
        if let (Some(path), Ok(text)) = (&self.path, serde_json::to_string(&kept))
            && let Err(error) = private_file::replace(path, &text)
        {
            say(format!("portico: the Keystone token is not kept: {error}"));
        }
        Ok(kept)
    }

    fn drop_known(&self) -> Result<(), CommandError> {
        self.path.as_deref().map_or(Ok(()), private_file::remove)
    }

    /// Revokes the cached token; returns whether there was one.
    pub async fn sign_out(&self) -> Result<bool, CommandError> {
        let _lock = self.lock().await?;
        let Some(known) = self.known()? else {
            return Ok(false);
        };
        // a Keystone that is down must not keep the token usable on this machine
        self.drop_known()?;
        if self.sign_in.was_given(&known.token) {
            return Ok(true);
        }
        let revoked = self.sign_in.client().revoke(&known.token).await;
        revoked.map_err(self.sign_in.failed("to revoke the token"))?;
        Ok(true)
    }
}
