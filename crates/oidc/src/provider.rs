//! One provider, shared by all its users.
use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use jiff::Timestamp;
use portico_clock::Clock;

use crate::{
    claims::Identity,
    discovery::Discovery,
    error::{Error, TokenFault},
    http::Http,
    jwt::{Claims, Header},
    keys::Keys,
    metadata::Metadata,
    settings::{InvalidSettings, Settings},
};

/// An OpenID Provider. Clones share the discovered metadata.
#[derive(Clone)]
pub struct Provider(pub(crate) Arc<Parts>);

pub(crate) struct Parts {
    pub settings: Settings,
    pub http: Http,
    pub clock: Clock,
    discovery: Discovery,
    keys: Keys,
    outage: Mutex<Option<Outage>>,
}

/// The reason why a provider cannot be used at the moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    pub since: Timestamp,
    pub error: Error,
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Provider")
            .field(&self.0.settings.issuer)
            .finish()
    }
}

impl Provider {
    /// Makes a provider; sends no request yet, so that a provider that is down does not prevent
    /// startup. The clock decides which tokens are valid.
    ///
    /// # Errors
    /// If the settings contradict each other or the authorities cannot be read.
    pub fn new(settings: Settings, clock: Clock) -> Result<Self, InvalidSettings> {
        settings.validate()?;
        let http = Http::new(&settings)?;
        Ok(Self(Arc::new(Parts {
            settings,
            http,
            clock,
            discovery: Discovery::default(),
            keys: Keys::default(),
            outage: Mutex::default(),
        })))
    }

    /// Returns the issuer identifier.
    pub fn issuer(&self) -> &str {
        &self.0.settings.issuer
    }

    /// Returns this client's identifier at the provider.
    pub fn client_id(&self) -> &str {
        &self.0.settings.client_id
    }

    /// Returns whether bearer tokens of API callers are accepted from this provider.
    pub fn accepts_bearers(&self) -> bool {
        self.0.settings.api_audience.is_some()
    }

    /// Ensures that the provider has been discovered.
    ///
    /// # Errors
    /// If it does not respond, or not as it should; see [`Provider::outage`].
    pub async fn discover(&self) -> Result<(), Error> {
        self.metadata().await.map(drop)
    }

    /// Returns the provider's fault, according to its last use.
    pub fn outage(&self) -> Option<Outage> {
        self.0
            .outage
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Records whether the provider could be used.
    pub(crate) fn note(&self, error: Option<&Error>) {
        let mut outage = self.0.outage.lock().unwrap_or_else(PoisonError::into_inner);
        *outage = error.map(|error| Outage {
            since: outage
                .as_ref()
                .map_or_else(|| self.0.clock.now(), |known| known.since),
            error: error.clone(),
        });
    }

    pub(crate) async fn metadata(&self) -> Result<Arc<Metadata>, Error> {
        let found = self
            .0
            .discovery
            .get(&self.0.settings.issuer, &self.0.http)
            .await;
        self.note(found.as_ref().err());
        found
    }

    /// Returns the claims of a token that this provider has signed. Does not check whom it is for.
    pub(crate) async fn signed_claims(
        &self,
        token: &str,
        header: &Header,
    ) -> Result<Claims, Error> {
        let metadata = self.metadata().await?;
        let keys = self
            .0
            .keys
            .candidates(
                header.kid.as_deref(),
                header.algorithm,
                metadata.jwks_uri(),
                &self.0.http,
                self.0.settings.key_interval,
            )
            .await?;
        let claims = Claims::verify(token, header, &keys)?;
        claims.expect_issuer(&self.0.settings.issuer)?;
        Ok(claims)
    }

    /// Checks an ID token (OpenID Connect Core 3.1.3.7); returns its user and its expiry. Without
    /// `nonce` it is one from a refresh.
    pub(crate) async fn verify_id_token(
        &self,
        token: &str,
        nonce: Option<&str>,
    ) -> Result<(Identity, Timestamp), Error> {
        let settings = &self.0.settings;
        let header = Header::read(token, &settings.algorithms)?;
        header.expect_type(&[None, Some("jwt")])?;
        let claims = self.signed_claims(token, &header).await?;
        self.expect_own_audience(&claims)?;
        let expires = claims.expect_valid(self.0.clock.now(), settings.skew)?;
        claims.time("iat")?.ok_or(TokenFault::Claim("iat"))?;
        if let Some(nonce) = nonce {
            let given = claims.text("nonce").map_err(|_| TokenFault::Nonce)?;
            if !bool::from(subtle::ConstantTimeEq::ct_eq(
                given.as_bytes(),
                nonce.as_bytes(),
            )) {
                return Err(TokenFault::Nonce.into());
            }
        }
        // a logout token of a provider that sets no type must not sign a user in
        if claims.0.contains_key("events") {
            return Err(TokenFault::Type.into());
        }
        Ok((Identity::read(&claims, &settings.claims)?, expires))
    }

    /// Checks a signed userinfo response (OpenID Connect Core 5.3.2); returns its claims. Issuer
    /// and audience must be present; times are checked if they are.
    pub(crate) async fn verify_userinfo(&self, token: &str) -> Result<Claims, Error> {
        let settings = &self.0.settings;
        let header = Header::read(token, &settings.algorithms)?;
        header.expect_type(&[None, Some("jwt")])?;
        let claims = self.signed_claims(token, &header).await?;
        self.expect_own_audience(&claims)?;
        let now = self.0.clock.now();
        if claims.time("exp")?.is_some() {
            claims.expect_valid(now, settings.skew)?;
        } else {
            claims.expect_begun(now, settings.skew)?;
        }
        if claims.0.contains_key("events") {
            return Err(TokenFault::Type.into());
        }
        Ok(claims)
    }

    /// Checks that the token is for this client, and for no other audience that is not configured.
    pub(crate) fn expect_own_audience(&self, claims: &Claims) -> Result<(), TokenFault> {
        let settings = &self.0.settings;
        let audiences = claims.audiences()?;
        let ours = audiences.contains(&settings.client_id.as_str());
        let known = audiences.iter().all(|audience| {
            *audience == settings.client_id || settings.audiences.iter().any(|a| a == audience)
        });
        if !ours || !known {
            return Err(TokenFault::Audience);
        }
        match claims.optional_text("azp")? {
            Some(party) if party == settings.client_id => Ok(()),
            None if audiences.len() == 1 => Ok(()),
            _ => Err(TokenFault::AuthorizedParty),
        }
    }
}
