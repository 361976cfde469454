//! Authentication of requests: finds the session of a request, or redirects to sign-in.
mod diagnostics;
pub(crate) mod extract;
mod post_login_redirect;
mod redirect_loop;

use std::sync::Arc;

use http::{HeaderMap, Uri};
use ipnet::IpNet;
use portico_clock::Clock;
use portico_store::{EndReason, SessionKind, Store};
use secrecy::{ExposeSecret as _, SecretString};
use subtle::ConstantTimeEq as _;
use tracing::Instrument as _;

use self::post_login_redirect::SignInMark;
use crate::{
    hosts::Hosts,
    http::{
        access_log,
        cookies::{Cookies, Purpose},
        error_response::Problem,
        interrupt::Interrupt,
        redirect::see_other,
        return_path::ReturnPath,
    },
    request_context::Context,
    sessions::{
        Sessions, keystone_tokens::TokenError, live::Caller, registry::Lookup,
        validation::InvalidSession,
    },
};

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

/// Finds the session of a request, and explains why there is none.
#[derive(Debug)]
pub(crate) struct Authentication {
    pub cookies: Cookies,
    pub store: Store,
    pub clock: Clock,
    /// `gateway.tell_address_to`.
    pub tell_address_to: Vec<IpNet>,
    pub hosts: Arc<Hosts>,
    pub sessions: Arc<Sessions>,
}

impl Authentication {
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
        Ok(
            match self
                .sessions
                .registry
                .find(&secret)
                .instrument(span)
                .await?
            {
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
            },
        )
    }

    /// Returns why this process does not know the session; the store may know how it ended.
    async fn why_unknown(&self, secret: &SecretString) -> Result<NoSession, Problem> {
        let sessions = self.store.sessions();
        let session = sessions.find_even_ended(secret.expose_secret()).await?;
        Ok(session
            .filter(|session| !session.is_live(self.clock.now()))
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
        self.remove_sign_in_mark(context, uri)?;
        Ok(caller)
    }

    /// Redirects a browser that opens a page to the same address without the mark that sign-in
    /// added.
    pub fn remove_sign_in_mark(&self, context: &Context, uri: &Uri) -> Result<(), Interrupt> {
        if context.navigation && self.sign_in_mark(uri, self.clock.now()) != SignInMark::Absent {
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
        match self.sessions.ensure_valid(&caller.live, context).await {
            Ok(()) => Ok(Ok(())),
            Err(InvalidSession::RefusedByProvider) => {
                Ok(Err(NoSession::Ended(EndReason::RefusedByProvider)))
            }
            Err(
                InvalidSession::RefusedByKeystone | InvalidSession::Token(TokenError::SessionEnded),
            ) => Ok(Err(NoSession::Ended(EndReason::RefusedByKeystone))),
            Err(error) => Err(error.into()),
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

/// Checks that a form of a signed-in user carries the session's CSRF token. For extractors only, so
/// that no handler can forget it.
pub(crate) fn check_csrf(caller: &Caller, given: &str) -> Result<(), Problem> {
    let expected = caller.session.csrf.expose_secret().as_bytes();
    if bool::from(expected.ct_eq(given.as_bytes())) {
        Ok(())
    } else {
        Err(Problem::csrf())
    }
}
