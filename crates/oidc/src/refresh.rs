//! Refreshing (RFC 6749 6, OpenID Connect Core 12), with rotation.
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret as _, SecretString};

use crate::{claims::Identity, error::Error, oauth, provider::Provider};

/// When to ask again where the provider says nothing.
const USUAL: SignedDuration = SignedDuration::from_mins(5);
/// When to ask again after an answer that could not be checked.
const SOON: SignedDuration = SignedDuration::from_secs(30);

/// What a refresh gives.
#[derive(Clone, Debug)]
pub struct Refreshed {
    pub access_token: SecretString,
    /// The token that takes the old one's place; `None`: the old one goes on.
    pub refresh_token: Option<SecretString>,
    pub id_token: Option<SecretString>,
    pub expires_at: Timestamp,
    /// Who the provider says it is now; `None` when it said nothing, or nothing that could be
    /// checked because it does not answer.
    pub identity: Option<Identity>,
}

impl Provider {
    /// Uses a refresh token of `known`. The old token may be worthless from here on, so what
    /// this gives must be kept, whatever comes next.
    ///
    /// # Errors
    /// [`Error::InvalidGrant`] when the token is no good any more; [`Error::OtherSubject`] and
    /// [`Error::Token`] when the answer is about somebody else or cannot be believed.
    pub async fn refresh(
        &self,
        refresh_token: &SecretString,
        known: &Identity,
    ) -> Result<Refreshed, Error> {
        let metadata = self.metadata().await?;
        let client = oauth::client(&self.0.settings, &metadata);
        let given = oauth::refresh(client, &self.0.http, refresh_token)
            .await
            .inspect_err(|error| self.note_failure(error))?;
        let mut refreshed = Refreshed {
            access_token: given.access_token,
            refresh_token: given.refresh_token,
            id_token: given.id_token,
            expires_at: given.expires_at.unwrap_or(Timestamp::now() + USUAL),
            identity: None,
        };
        match self.identity_after(&refreshed, known).await {
            Ok(identity) => refreshed.identity = identity,
            // the tokens are good: they must not be lost because something else does not answer
            Err(Error::Unavailable(why)) => {
                tracing::warn!(
                    issuer = self.issuer(),
                    why,
                    "a refresh could not be checked"
                );
                refreshed.id_token = None;
                refreshed.expires_at = refreshed.expires_at.min(Timestamp::now() + SOON);
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
            // no ID token is allowed here; what the person may do must be heard all the same
            None if self.has_userinfo().await => Identity {
                // what is not said any more is gone
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
