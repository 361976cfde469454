//! What is remembered of a browser.
use std::sync::Arc;

use axum::extract::{FromRef, FromRequestParts};
use http::{HeaderValue, request::Parts};
use jiff::SignedDuration;
use portico_store::{Reserved, StoreError, ThrottleLimit};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tower_sessions::{Session, session};

use super::{BrowserStates, TTL_SECONDS, early_expiry, expiry};
use crate::{
    http::{
        cookies::{NoRandomness, Purpose, random_secret},
        error_response::Problem,
        return_path::ReturnPath,
    },
    request_context::Context,
};

const FORM_SECRET: &str = "form_secret";
const PROVIDER: &str = "provider";
const DOMAIN: &str = "domain";
const INTERRUPTED: &str = "interrupted";
const NOTICE: &str = "notice";
const SAVED_FORM: &str = "saved_form";

/// How long the destination of an interrupted sign-in is remembered.
const INTERRUPTED_TTL: SignedDuration = SignedDuration::from_mins(15);
/// Bounds a remembered name, in bytes, as the forms do.
const MAX_NAME_BYTES: usize = 255;
/// Limits the new browser sessions of one network; an office may share one address.
const CREATION_LIMIT: ThrottleLimit = ThrottleLimit::window(300, 5 * 60);

/// The state of a request's browser. It is read when it is first used. What is only a convenience is
/// absent if it cannot be read or stored.
pub(crate) struct BrowserState {
    session: Session,
    states: Arc<BrowserStates>,
    network: String,
}

/// The destination of a sign-in that has not ended.
#[derive(Debug, Serialize, Deserialize)]
struct Interrupted {
    return_path: String,
    /// In epoch seconds.
    until: i64,
}

/// Why nothing is remembered.
#[derive(Debug, thiserror::Error)]
enum NotRemembered {
    #[error("too many new browsers in this network")]
    Throttled,
    #[error(transparent)]
    Session(#[from] session::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Randomness(#[from] NoRandomness),
}

/// For the routes of [`super::with_browser_state`].
impl<S> FromRequestParts<S> for BrowserState
where
    S: Send + Sync,
    Arc<BrowserStates>: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let session = parts.extensions.get::<Session>().cloned();
        let context = parts.extensions.get::<Context>();
        let (Some(session), Some(context)) = (session, context) else {
            return Err(Problem::internal());
        };
        Ok(Self::new(session, Arc::from_ref(state), context))
    }
}

impl BrowserState {
    pub(super) fn new(session: Session, states: Arc<BrowserStates>, context: &Context) -> Self {
        Self {
            session,
            states,
            network: context.client.network().to_string(),
        }
    }

    /// Returns the secret of this browser's sign-in forms; `None` for a browser of which nothing is
    /// remembered.
    ///
    /// # Errors
    /// A problem if the store does not respond.
    pub async fn form_secret(&self) -> Result<Option<SecretString>, Problem> {
        self.secret(FORM_SECRET).await
    }

    /// Returns the ID of the provider that the browser signed in with last, unless that was
    /// Keystone.
    pub async fn provider(&self) -> Option<String> {
        self.get(PROVIDER).await
    }

    /// Returns the Keystone domain that the browser signed in with last, if it was not the default.
    pub async fn domain(&self) -> Option<String> {
        self.get(DOMAIN).await
    }

    /// Remembers that the browser has signed in with an OIDC provider.
    pub async fn remember_provider(&self, id: &str) {
        self.remember(PROVIDER, id).await;
    }

    /// Remembers that the browser has signed in at Keystone, and the domain if it is not the
    /// default.
    pub async fn remember_domain(&self, domain: Option<&str>) {
        self.forget(PROVIDER).await;
        match domain.filter(|domain| domain.len() <= MAX_NAME_BYTES) {
            Some(domain) => {
                self.remember(DOMAIN, domain).await;
            }
            None => self.forget(DOMAIN).await,
        }
    }

    /// Returns the destination of a sign-in that was begun in this browser and has not ended.
    pub async fn interrupted(&self) -> Option<ReturnPath> {
        let begun: Interrupted = self.get(INTERRUPTED).await?;
        (self.states.clock.now().as_second() < begun.until)
            .then(|| ReturnPath::parse(&begun.return_path))
    }

    /// Remembers the destination of a sign-in that begins, if it is not the home page.
    pub async fn begin(&self, return_path: &ReturnPath) {
        if !return_path.leads_somewhere() {
            return self.forget(INTERRUPTED).await;
        }
        let until = self.states.clock.now() + INTERRUPTED_TTL;
        let begun = Interrupted {
            return_path: return_path.to_string(),
            until: until.as_second(),
        };
        self.remember(INTERRUPTED, begun).await;
    }

    /// Leaves a notice, by its name, for the next sign-in page; nothing in a browser of which nothing
    /// is remembered.
    pub async fn leave_notice(&self, reason: &str) {
        if self.get::<String>(FORM_SECRET).await.is_some() {
            self.remember(NOTICE, reason).await;
        }
    }

    /// Returns the name of the notice for this sign-in page, and forgets it.
    pub async fn take_notice(&self) -> Option<String> {
        let notice = self.get(NOTICE).await;
        self.forget(NOTICE).await;
        notice
    }

    /// Returns the secret of the form that waits for its user.
    ///
    /// # Errors
    /// A problem if the store does not respond.
    pub async fn saved_form(&self) -> Result<Option<SecretString>, Problem> {
        self.secret(SAVED_FORM).await
    }

    /// Remembers the secret of a saved form; returns whether it could.
    pub async fn remember_saved_form(&self, secret: &SecretString) -> bool {
        self.remember(SAVED_FORM, secret.expose_secret()).await
    }

    pub async fn forget_saved_form(&self) {
        self.forget(SAVED_FORM).await;
    }

    /// Saves what has changed, and returns the browser's cookie; only after [`BrowserStates::open`].
    pub async fn commit(&self) -> Option<HeaderValue> {
        if !self.session.is_modified() || self.session.is_empty().await {
            return None;
        }
        if let Err(error) = self.session.save().await {
            tracing::warn!(%error, "the state of a browser could not be saved");
            return None;
        }
        let id = self.session.id()?.to_string();
        self.states
            .cookies
            .set_mark(Purpose::State, &id, TTL_SECONDS)
    }

    async fn secret(&self, key: &str) -> Result<Option<SecretString>, Problem> {
        match self.session.get::<String>(key).await {
            Ok(found) => Ok(found.map(SecretString::from)),
            Err(error) => {
                tracing::error!(%error, "the state of a browser could not be read");
                Err(Problem::state_unavailable())
            }
        }
    }

    async fn get<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        match self.session.get(key).await {
            Ok(found) => found,
            Err(error) => {
                tracing::warn!(%error, "the state of a browser could not be read");
                None
            }
        }
    }

    async fn remember(&self, key: &str, value: impl Serialize) -> bool {
        match self.try_remember(key, value).await {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(%error, "the state of a browser could not be stored");
                false
            }
        }
    }

    async fn try_remember(&self, key: &str, value: impl Serialize) -> Result<(), NotRemembered> {
        // reads the session: an ID that is not in the store counts as none
        let known = self.session.get_value(FORM_SECRET).await?.is_some();
        if known && self.session.id().is_some() {
            self.session.insert(key, value).await?;
            self.bound_lifetime().await;
            return Ok(());
        }
        let subject = format!("browser-state:{}", self.network);
        let reserved =
            self.states
                .store
                .throttle()
                .reserve(&subject, CREATION_LIMIT, self.states.clock.now());
        if let Reserved::RefusedUntil(_) = reserved.await? {
            return Err(NotRemembered::Throttled);
        }
        let form_secret = random_secret()?;
        self.session
            .insert(FORM_SECRET, form_secret.expose_secret())
            .await?;
        self.session.insert(key, value).await?;
        self.bound_lifetime().await;
        // stored now: if there is no room, the response has no cookie
        if let Err(error) = self.session.save().await {
            self.session.clear().await;
            return Err(error.into());
        }
        Ok(())
    }

    async fn forget(&self, key: &str) {
        let known = match self.session.get_value(key).await {
            Ok(known) => known.is_some(),
            Err(_) => false,
        };
        if !known {
            return;
        }
        if let Err(error) = self.session.remove_value(key).await {
            tracing::warn!(%error, "the state of a browser could not be changed");
        }
        self.bound_lifetime().await;
    }

    /// Lets the state expire early, unless it has something that needed a sign-in.
    async fn bound_lifetime(&self) {
        let mut wanted = early_expiry();
        for key in [PROVIDER, DOMAIN, SAVED_FORM] {
            if !matches!(self.session.get_value(key).await, Ok(None)) {
                wanted = expiry();
            }
        }
        // to set it counts as a change
        if self.session.expiry() != Some(wanted) {
            self.session.set_expiry(Some(wanted));
        }
    }
}

/// Gives the state a new ID and deletes the old one, as the browser has signed in. The sign-in has
/// reached its destination, and a notice was about one that had not. A state that cannot be stored
/// again is forgotten: without it, the response with the new identity session is still sent.
pub(super) async fn rotate(session: &Session) {
    let rotated = async {
        for key in [INTERRUPTED, NOTICE] {
            if session.get_value(key).await?.is_some() {
                session.remove_value(key).await?;
            }
        }
        if session.id().is_some() {
            session.set_expiry(Some(expiry()));
            session.cycle_id().await?;
            session.save().await?;
        }
        Ok::<_, session::Error>(())
    };
    if let Err(error) = rotated.await {
        tracing::warn!(%error, "the state of a browser is forgotten, as its ID could not be replaced");
        if session.id().is_none() {
            session.clear().await;
        }
    }
}
