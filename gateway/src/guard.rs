//! Who is asking: the session behind a request, or the way to sign-in.
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
        arrival::{self, Arrival},
        line,
        return_path::ReturnPath,
    },
    problem::{Problem, REFUSED_BY_PROVIDER},
    session::{cookie::Purpose, live::Caller, registry::Lookup, tokens::TokenError},
    state::{Context, Gateway},
};

/// Why a handler did not get on: a problem, or an answer that leads elsewhere.
#[derive(Debug)]
pub(crate) enum Stop {
    Problem(Box<Problem>),
    Answer(Box<Response>),
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Self {
        Stop::Problem(Box::new(problem))
    }
}

impl From<TokenError> for Stop {
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

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Problem::from(error).into()
    }
}

impl IntoResponse for Stop {
    fn into_response(self) -> Response {
        match self {
            Stop::Problem(problem) => problem.into_response(),
            Stop::Answer(response) => *response,
        }
    }
}

/// What a request without a usable session came with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    NoCookie,
    Ended(EndReason),
    /// A cookie that stands for nothing any more.
    Unknown,
}

impl Missing {
    /// Why sign-in is shown; nothing for somebody who has just arrived.
    pub fn reason(self) -> Option<&'static str> {
        match self {
            Missing::NoCookie => None,
            Missing::Ended(reason) => Some(reason.as_str()),
            Missing::Unknown => Some("ended"),
        }
    }
}

impl Gateway {
    /// The session of the request's cookie, where it is of the kind that belongs to the host.
    pub async fn lookup(
        &self,
        headers: &HeaderMap,
        app: Option<&str>,
    ) -> Result<Result<Caller, Missing>, Problem> {
        let Some(secret) = self.cookies.read(headers, Purpose::Session) else {
            return Ok(Err(Missing::NoCookie));
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
                    line::caller(&caller);
                    Ok(caller)
                } else {
                    Err(Missing::Unknown)
                }
            }
            Lookup::Ended(reason) => Err(Missing::Ended(reason)),
            Lookup::Unknown => Err(Box::pin(self.why_unknown(&secret)).await?),
        })
    }

    /// This process has not seen the session live; the store may know how it ended.
    async fn why_unknown(&self, secret: &SecretString) -> Result<Missing, Problem> {
        let sessions = self.store.sessions();
        let session = sessions.find_even_ended(secret.expose_secret()).await?;
        Ok(session
            .filter(|session| !session.is_live(Timestamp::now()))
            .map_or(Missing::Unknown, |session| {
                Missing::Ended(session.end_reason.unwrap_or(EndReason::Expired))
            }))
    }

    /// The browser session of a request to the main host, confirmed by Keystone lately.
    pub async fn browser(
        &self,
        context: &Context,
        headers: &HeaderMap,
        uri: &Uri,
    ) -> Result<Caller, Stop> {
        let caller = match self.lookup(headers, None).await? {
            Ok(caller) => caller,
            Err(missing) => return Err(self.not_signed_in(context, headers, uri, missing)),
        };
        self.standing(context, &caller)
            .await?
            .map_err(|missing| self.not_signed_in(context, headers, uri, missing))?;
        self.leave_arrival_behind(context, uri)?;
        Ok(caller)
    }

    /// Sends somebody at a page on to the same address without what sign-in added to it.
    pub fn leave_arrival_behind(&self, context: &Context, uri: &Uri) -> Result<(), Stop> {
        if context.navigation && self.arrival(uri, Timestamp::now()) != Arrival::Usual {
            return Err(Stop::Answer(Box::new(see_other(&arrival::plain(uri)))));
        }
        Ok(())
    }

    /// Whether Keystone still stands by the session.
    pub async fn standing(
        &self,
        context: &Context,
        caller: &Caller,
    ) -> Result<Result<(), Missing>, Problem> {
        match self.ensure_standing(&caller.live, context).await {
            Ok(()) => Ok(Ok(())),
            Err(problem) if problem.status == StatusCode::UNAUTHORIZED => {
                let reason = if problem.code == REFUSED_BY_PROVIDER {
                    EndReason::RefusedByProvider
                } else {
                    EndReason::RefusedByKeystone
                };
                Ok(Err(Missing::Ended(reason)))
            }
            Err(problem) => Err(problem),
        }
    }
}

/// Leads a person to sign-in and back, and tells a program that it is not signed in.
pub(crate) fn sign_in_first(context: &Context, uri: &Uri, missing: Missing) -> Stop {
    if !context.navigation {
        return Problem::signed_out().into();
    }
    line::rule(missing.reason().unwrap_or("no_session"));
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    let here = ReturnPath::parse(&arrival::plain(uri));
    query.append_pair("rd", here.as_str());
    if let Some(reason) = missing.reason() {
        query.append_pair("reason", reason);
    }
    Stop::Answer(Box::new(see_other(&format!(
        "/oauth2/sign_in?{}",
        query.finish()
    ))))
}

/// A redirect that turns every method into GET, and that nobody keeps.
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

/// Adds a cookie to an answer.
pub(crate) fn with_cookie(mut response: Response, cookie: Option<HeaderValue>) -> Response {
    if let Some(cookie) = cookie {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}

/// Checks that a form of a signed-in person carries the session's token.
pub(crate) fn check_csrf(caller: &Caller, given: &str) -> Result<(), Problem> {
    let expected = caller.session.csrf.expose_secret().as_bytes();
    if bool::from(expected.ct_eq(given.as_bytes())) {
        Ok(())
    } else {
        Err(Problem::csrf())
    }
}
