//! The authorization code flow: the authorization request and the redemption of its code.
use jiff::Timestamp;
use openidconnect::{
    CsrfToken, Nonce, PkceCodeChallenge, RedirectUrl, Scope,
    core::{CoreAuthPrompt, CoreAuthenticationFlow},
};
use secrecy::{ExposeSecret as _, SecretString};
use url::Url;

use crate::{
    claims::Identity,
    client,
    error::{Error, TokenFault},
    provider::Provider,
};

/// Maximum length of an authorization code, in bytes; longer ones are not redeemed.
const MAX_CODE_BYTES: usize = 4096;

/// The URL for the browser, and the values to store meanwhile.
#[derive(Clone, Debug)]
pub struct Authorization {
    pub url: Url,
    pub flow: Flow,
}

/// The secrets of one sign-in. They stay on the server; only `state` and a hash of the verifier are
/// sent.
#[derive(Clone, Debug)]
pub struct Flow {
    pub state: SecretString,
    pub nonce: SecretString,
    /// The PKCE verifier (RFC 7636); its challenge is always S256.
    pub verifier: SecretString,
}

/// The provider's response, with the stored values.
#[derive(Clone, Debug)]
pub struct Redemption<'a> {
    pub code: SecretString,
    pub nonce: &'a SecretString,
    pub verifier: &'a SecretString,
    /// Exactly as in the request.
    pub redirect: &'a Url,
}

/// The tokens of a sign-in.
#[derive(Clone, Debug)]
pub struct Tokens {
    pub identity: Identity,
    pub id_token: SecretString,
    pub access_token: SecretString,
    /// `None`: the provider issues none, so the tokens cannot be refreshed.
    pub refresh_token: Option<SecretString>,
    /// When the access token expires: refresh before.
    pub expires_at: Timestamp,
}

impl Provider {
    /// Returns the authorization request: code flow with state, nonce and PKCE S256. `fresh` asks
    /// the provider to authenticate the user again.
    ///
    /// # Errors
    /// If the provider cannot be discovered.
    pub async fn begin(&self, redirect: &Url, fresh: bool) -> Result<Authorization, Error> {
        let metadata = self.metadata().await?;
        let client = client::client(&self.0.settings, &metadata)
            .set_redirect_uri(RedirectUrl::from_url(redirect.clone()));
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        // it requests the scope `openid` by itself
        let mut request = client
            .authorize_url(
                CoreAuthenticationFlow::AuthorizationCode,
                CsrfToken::new_random,
                Nonce::new_random,
            )
            .add_scopes(
                self.0
                    .settings
                    .scopes
                    .iter()
                    .filter(|scope| *scope != "openid")
                    .cloned()
                    .map(Scope::new),
            )
            .set_pkce_challenge(challenge);
        if fresh {
            request = request.add_prompt(CoreAuthPrompt::Login);
        }
        let (url, state, nonce) = request.url();
        let secret = |text: &str| SecretString::from(text.to_owned());
        Ok(Authorization {
            url,
            flow: Flow {
                state: secret(state.secret()),
                nonce: secret(nonce.secret()),
                verifier: secret(verifier.secret()),
            },
        })
    }

    /// Checks the `iss` parameter of an authorization response (RFC 9207), error responses
    /// included: if the provider advertises it, it must be present, and if present, it must be this
    /// provider's.
    ///
    /// # Errors
    /// [`Error::OtherIssuer`] if it is missing or another.
    pub async fn expect_response_issuer(&self, given: Option<&str>) -> Result<(), Error> {
        match given {
            Some(given) if given == self.issuer() => Ok(()),
            Some(_) => Err(Error::OtherIssuer),
            None => {
                let metadata = self.metadata().await?;
                if metadata.names_issuer_in_responses() {
                    Err(Error::OtherIssuer)
                } else {
                    Ok(())
                }
            }
        }
    }

    /// Redeems a code. The caller has checked state and issuer before.
    ///
    /// # Errors
    /// If the provider refuses the code, or its response is not for this sign-in.
    pub async fn finish(&self, redemption: &Redemption<'_>) -> Result<Tokens, Error> {
        if redemption.code.expose_secret().len() > MAX_CODE_BYTES {
            return Err(Error::InvalidGrant);
        }
        let metadata = self.metadata().await?;
        let client = client::client(&self.0.settings, &metadata);
        let given = client::redeem(
            client,
            &self.0.http,
            &redemption.code,
            redemption.verifier,
            redemption.redirect,
            &self.0.clock,
        )
        .await
        .inspect_err(|error| self.note_failure(error))?;
        let id_token = given.id_token.ok_or(TokenFault::Missing)?;
        let nonce = redemption.nonce.expose_secret();
        let (mut identity, id_token_expires) = self
            .verify_id_token(id_token.expose_secret(), Some(nonce))
            .await?;
        if self.0.settings.userinfo {
            self.describe_from_userinfo(&mut identity, &given.access_token)
                .await?;
        }
        Ok(Tokens {
            identity,
            id_token,
            access_token: given.access_token,
            refresh_token: given.refresh_token,
            expires_at: given.expires_at.unwrap_or_else(|| {
                id_token_expires.min(self.0.clock.now() + client::MAX_ACCESS_TOKEN_TTL)
            }),
        })
    }

    /// Records a failed call, which shows that the provider is down before the next discovery does.
    pub(crate) fn note_failure(&self, error: &Error) {
        if matches!(
            error,
            Error::Unavailable(_) | Error::Unusable(_) | Error::Client(_)
        ) {
            self.note(Some(error));
        }
    }
}
