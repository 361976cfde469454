//! Authentication of requests: finds the session of a request, or redirects to sign-in.
use std::borrow::Cow;

use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use jiff::Timestamp;
use portico_store::{EndReason, SessionKind, StoreError};
use secrecy::{ExposeSecret as _, SecretString};
use subtle::ConstantTimeEq as _;
use tracing::Instrument as _;

use crate::{
    access::{
        access_log,
        post_login_redirect::{self, Arrival},
        return_path::ReturnPath,
    },
    error_response::{Problem, REFUSED_BY_PROVIDER},
    session::{cookie::Purpose, live::Caller, registry::Lookup, tokens::TokenError},
    state::{Context, Gateway},
};

/// Why a handler stopped: a problem, or a response that redirects.
#[derive(Debug)]
pub(crate) enum Interrupt {
    Problem(Box<Problem>),
    Answer(Box<Response>),
}

impl From<Problem> for Interrupt {
    fn from(problem: Problem) -> Self {
        Interrupt::Problem(Box::new(problem))
    }
}

impl From<TokenError> for Interrupt {
    fn from(error: TokenError) -> Self {
        Problem::from(error).into()
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let next_step = error.next_step();
        tracing::error!(%error, next_step, "the store failed");
        Problem::store_unavailable(&error)
    }
}

impl From<StoreError> for Interrupt {
    fn from(error: StoreError) -> Self {
        Problem::from(error).into()
    }
}

impl IntoResponse for Interrupt {
    fn into_response(self) -> Response {
        match self {
            Interrupt::Problem(problem) => problem.into_response(),
            Interrupt::Answer(response) => *response,
        }
    }
}

/// Why a request has no usable session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoSession {
    NoCookie,
    Ended(EndReason),
    /// A cookie that belongs to no session any more.
    Unknown,
}

impl NoSession {
    /// Returns the reason that sign-in shows; `None` for a user who has just arrived.
    pub fn reason(self) -> Option<&'static str> {
        match self {
            NoSession::NoCookie => None,
            NoSession::Ended(reason) => Some(reason.as_str()),
            NoSession::Unknown => Some("ended"),
        }
    }
}

impl Gateway {
    /// Returns the session of the request's cookie, if it is of the kind that belongs to the host.
    pub async fn lookup(
        &self,
        headers: &HeaderMap,
        app: Option<&str>,
    ) -> Result<Result<Caller, NoSession>, Problem> {
        let Some(secret) = self.cookies.read(headers, Purpose::Session) else {
            return Ok(Err(NoSession::NoCookie));
        };
        let span = tracing::debug_span!("session lookup");
        Ok(match self.registry.find(&secret).instrument(span).await? {
            Lookup::Signed(caller) => {
                let session = &caller.session;
                let fits = match app {
                    None => session.kind == SessionKind::Browser,
                    Some(app) => {
                        session.kind == SessionKind::App && session.app.as_deref() == Some(app)
                    }
                };
                if fits {
                    access_log::caller(&caller);
                    Ok(caller)
                } else {
                    Err(NoSession::Unknown)
                }
            }
            Lookup::Ended(reason) => Err(NoSession::Ended(reason)),
            Lookup::Unknown => Err(Box::pin(self.why_unknown(&secret)).await?),
        })
    }

    /// Returns why this process does not know the session; the store may know how it ended.
    async fn why_unknown(&self, secret: &SecretString) -> Result<NoSession, Problem> {
        let sessions = self.store.sessions();
        let session = sessions.find_even_ended(secret.expose_secret()).await?;
        Ok(session
            .filter(|session| !session.is_live(Timestamp::now()))
            .map_or(NoSession::Unknown, |session| {
                NoSession::Ended(session.end_reason.unwrap_or(EndReason::Expired))
            }))
    }

    /// Returns the browser session of a request to the main host, recently validated by Keystone.
    pub async fn browser(
        &self,
        context: &Context,
        headers: &HeaderMap,
        uri: &Uri,
    ) -> Result<Caller, Interrupt> {
        let caller = match self.lookup(headers, None).await? {
            Ok(caller) => caller,
            Err(missing) => return Err(self.not_signed_in(context, headers, uri, missing)),
        };
        self.ensure_valid(context, &caller)
            .await?
            .map_err(|missing| self.not_signed_in(context, headers, uri, missing))?;
        self.leave_arrival_behind(context, uri)?;
        Ok(caller)
    }

    /// Redirects a browser that opens a page to the same address without the mark that sign-in
    /// added.
    pub fn leave_arrival_behind(&self, context: &Context, uri: &Uri) -> Result<(), Interrupt> {
        if context.navigation && self.arrival(uri, Timestamp::now()) != Arrival::Usual {
            return Err(Interrupt::Answer(Box::new(see_other(
                &post_login_redirect::plain(uri),
            ))));
        }
        Ok(())
    }

    /// Checks that Keystone still accepts the session's token, if the last validation is too old.
    pub async fn ensure_valid(
        &self,
        context: &Context,
        caller: &Caller,
    ) -> Result<Result<(), NoSession>, Problem> {
        match self.ensure_standing(&caller.live, context).await {
            Ok(()) => Ok(Ok(())),
            Err(problem) if problem.status == StatusCode::UNAUTHORIZED => {
                let reason = if problem.code == REFUSED_BY_PROVIDER {
                    EndReason::RefusedByProvider
                } else {
                    EndReason::RefusedByKeystone
                };
                Ok(Err(NoSession::Ended(reason)))
            }
            Err(problem) => Err(problem),
        }
    }
}

/// Redirects a browser to sign-in and back; answers a program with 401.
pub(crate) fn sign_in_first(context: &Context, uri: &Uri, missing: NoSession) -> Interrupt {
    if !context.navigation {
        return Problem::signed_out().into();
    }
    access_log::rule(missing.reason().unwrap_or("no_session"));
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    let here = ReturnPath::parse(&post_login_redirect::plain(uri));
    query.append_pair("rd", here.as_str());
    if let Some(reason) = missing.reason() {
        query.append_pair("reason", reason);
    }
    Interrupt::Answer(Box::new(see_other(&format!(
        "/oauth2/sign_in?{}",
        query.finish()
    ))))
}

/// Returns a redirect that turns every method into GET and that is not cached.
pub(crate) fn see_other(location: &str) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    let location: Cow<'_, str> = if location.is_ascii() {
        location.into()
    } else {
        "/".into()
    };
    if let Ok(location) = HeaderValue::try_from(location.as_ref()) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    crate::pages::layout::harden(response.headers_mut());
    response
}

/// Adds a cookie to a response.
pub(crate) fn with_cookie(mut response: Response, cookie: Option<HeaderValue>) -> Response {
    if let Some(cookie) = cookie {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}

/// Checks that a form of a signed-in user carries the session's CSRF token.
pub(crate) fn check_csrf(caller: &Caller, given: &str) -> Result<(), Problem> {
    let expected = caller.session.csrf.expose_secret().as_bytes();
    if bool::from(expected.ct_eq(given.as_bytes())) {
        Ok(())
    } else {
        Err(Problem::csrf())
    }
}
