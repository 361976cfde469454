//! Refresh of tokens (RFC 6749 6, OpenID Connect Core 12), with rotation.
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret as _, SecretString};

use crate::{claims::Identity, client, error::Error, provider::Provider};

/// When to refresh next if the provider sets no lifetime.
const DEFAULT_REFRESH_DELAY: SignedDuration = SignedDuration::from_mins(5);
/// When to refresh next after a response that could not be verified.
const UNVERIFIED_REFRESH_DELAY: SignedDuration = SignedDuration::from_secs(30);

/// The result of a refresh.
#[derive(Clone, Debug)]
pub struct Refreshed {
    pub access_token: SecretString,
    /// The token that replaces the old one; `None`: the old one remains valid.
    pub refresh_token: Option<SecretString>,
    pub id_token: Option<SecretString>,
    pub expires_at: Timestamp,
    /// The provider's current identity of the user; `None` if the response had none, or none that
    /// could be verified because the provider does not respond.
    pub identity: Option<Identity>,
}

impl Provider {
    /// Uses a refresh token of `known`. The old token may be invalid from here on, so the result
    /// must be stored, whatever happens next.
    ///
    /// # Errors
    /// [`Error::InvalidGrant`] if the token is no longer valid; [`Error::OtherSubject`] and
    /// [`Error::Token`] if the response is about another user or cannot be verified.
    pub async fn refresh(
        &self,
        refresh_token: &SecretString,
        known: &Identity,
    ) -> Result<Refreshed, Error> {
        let metadata = self.metadata().await?;
        let client = client::client(&self.0.settings, &metadata);
        let clock = &self.0.clock;
        let given = client::refresh(client, &self.0.http, refresh_token, clock)
            .await
            .inspect_err(|error| self.note_failure(error))?;
        let mut refreshed = Refreshed {
            access_token: given.access_token,
            refresh_token: given.refresh_token,
            id_token: given.id_token,
            expires_at: given
                .expires_at
                .unwrap_or(clock.now() + DEFAULT_REFRESH_DELAY),
            identity: None,
        };
        match self.identity_after(&refreshed, known).await {
            Ok(identity) => refreshed.identity = identity,
            // the tokens are valid: they must not be lost because another endpoint does not respond
            Err(Error::Unavailable(reason)) => {
                tracing::warn!(
                    issuer = self.issuer(),
                    reason,
                    "a refresh could not be checked"
                );
                refreshed.id_token = None;
                refreshed.expires_at = refreshed
                    .expires_at
                    .min(clock.now() + UNVERIFIED_REFRESH_DELAY);
            }
            Err(error) => return Err(error),
        }
        Ok(refreshed)
    }

    async fn identity_after(
        &self,
        refreshed: &Refreshed,
        known: &Identity,
    ) -> Result<Option<Identity>, Error> {
        let mut identity = match &refreshed.id_token {
            Some(token) => {
                let (identity, _) = self.verify_id_token(token.expose_secret(), None).await?;
                if identity.subject != known.subject || identity.issuer != known.issuer {
                    return Err(Error::OtherSubject);
                }
                identity
            }
            // the response may lack an ID token; the user's current rights are needed all the same
            None if self.has_userinfo().await => Identity {
                // claims that are no longer sent are removed
                groups: Vec::new(),
                roles: Vec::new(),
                ..known.clone()
            },
            None => return Ok(None),
        };
        if self.0.settings.userinfo || refreshed.id_token.is_none() {
            self.describe_from_userinfo(&mut identity, &refreshed.access_token)
                .await?;
        }
        Ok(Some(identity))
    }
}
