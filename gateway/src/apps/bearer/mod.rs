//! Authenticates programs that call an app without a session: by a Keystone token or the JWT of an
//! OIDC provider, where the app's configuration allows it (`apps.bearer`).
//!
//! A bearer token is verified, cached for some seconds, and subject to the same rules as a user's
//! session. It is never a way to sign in: no session is created from it, it is not exchanged for
//! another token, and the upstream does not receive it.
mod extract;
mod verified_token_cache;
mod verify;
mod watch;

use std::sync::Arc;

use axum::response::{IntoResponse as _, Response};
use extract::{BearerTokens, bearer_token, has_bearer_token};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use portico_clock::Clock;
use portico_openstack::keystone;
use portico_store::{Outcome, Store};

use super::authorization::Refusal;
use crate::{
    audit::{AuditLog, Event},
    authentication::Authentication,
    hosts::{App, Site},
    http::{access_log, error_response::Problem, interrupt::Interrupt},
    identity_providers::Providers,
    metrics,
    request_context::Context,
    sessions::{Sessions, live::Caller},
};

pub(crate) use verified_token_cache::{Bearer, VerifiedTokenCache};
pub(crate) use watch::watch;

/// Why a bearer token was refused, for the challenge (RFC 6750 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Two bearer tokens, or a bearer token and a session of different users.
    Ambiguous,
    /// Not accepted here, expired, revoked, or malformed.
    Invalid(&'static str),
    /// Valid, but no rule of the app matches.
    NotPermitted,
    /// Too many tokens from this address were refused; the number of seconds to wait.
    Throttled(i64),
}

/// Authenticates the bearer tokens of programs.
#[derive(Debug)]
pub(crate) struct BearerAuthentication {
    pub verified_tokens: VerifiedTokenCache,
    pub store: Store,
    pub clock: Clock,
    pub keystone: keystone::Client,
    pub providers: Arc<Providers>,
    pub sessions: Arc<Sessions>,
    pub authentication: Arc<Authentication>,
    pub audit: AuditLog,
}

impl BearerAuthentication {
    /// Returns the caller that a request's bearer token belongs to; `None` where the app takes no
    /// bearer tokens or the request has none, so that its session counts. A bearer token that is
    /// not accepted is refused even beside a valid session: there is no fallback.
    pub async fn api_caller(
        &self,
        context: &Context,
        app: &App,
        headers: &HeaderMap,
        cookie_of: Option<&str>,
    ) -> Result<Option<Arc<Bearer>>, Interrupt> {
        if app.config.bearer.is_empty() {
            return Ok(None);
        }
        let token = match bearer_token(headers) {
            BearerTokens::None => return Ok(None),
            BearerTokens::Several => {
                return Err(Box::pin(self.refuse_bearer(context, app, Fault::Ambiguous)).await);
            }
            BearerTokens::One(token) => token,
        };
        let bearer = match Box::pin(self.verify(context, app, &token)).await? {
            Ok(bearer) => bearer,
            Err(fault) => return Err(Box::pin(self.refuse_bearer(context, app, fault)).await),
        };
        if let Ok(person) = self.authentication.lookup(headers, cookie_of).await?
            && !is_same_person(&person, bearer.caller())
        {
            return Err(Box::pin(self.refuse_bearer(context, app, Fault::Ambiguous)).await);
        }
        access_log::caller(bearer.caller());
        Ok(Some(bearer))
    }

    /// Answers that a valid bearer token has no access here.
    pub async fn refuse_bearer_caller(
        &self,
        context: &Context,
        caller: &Caller,
        app: &App,
        refusal: Option<&Refusal>,
    ) -> Response {
        let rule = refusal.and_then(Refusal::rule);
        let reason = match rule {
            Some(rule) => format!("rule {rule}"),
            None => "no role or group of the bearer grants access".to_owned(),
        };
        let event = Event::new("app.open", Outcome::Denied)
            .name(&caller.session.user.name)
            .project(Some(&app.config.project))
            .target(&app.config.id)
            .reason(&reason);
        self.audit.record(context, event).await;
        if let Some(rule) = rule {
            access_log::refused_by(Arc::clone(rule));
        }
        answer(context, app, Fault::NotPermitted, rule)
    }

    async fn refuse_bearer(&self, context: &Context, app: &App, fault: Fault) -> Interrupt {
        let reason = match fault {
            Fault::Ambiguous => "two identities in one request",
            Fault::Invalid(why) => why,
            Fault::NotPermitted => "no rule fits",
            Fault::Throttled(_) => "too many failures",
        };
        metrics::bearer_verification("refused");
        access_log::rule(reason);
        // the audit log has entries for a throttled address already
        if !matches!(fault, Fault::Throttled(_)) {
            let event = Event::new("app.bearer", Outcome::Denied)
                .target(&app.config.id)
                .reason(reason);
            self.audit.record(context, event).await;
        }
        Interrupt::Answer(Box::new(answer(context, app, fault, None)))
    }
}

/// Returns whether both are the same account or, behind different accounts, the same subject of one
/// provider.
fn is_same_person(one: &Caller, other: &Caller) -> bool {
    let subject = |caller: &Caller| {
        let root = caller.live.root();
        let provider = root.provider.as_ref()?;
        Some((provider.id.clone(), provider.subject.clone()))
    };
    one.session.user.id == other.session.user.id
        || subject(one).is_some_and(|subject_of_one| subject(other) == Some(subject_of_one))
}

/// Returns the response: never a page and never a redirect, as a program reads it.
fn answer(context: &Context, app: &App, fault: Fault, rule: Option<&Arc<str>>) -> Response {
    let name = &app.config.name;
    let (status, code, title, detail, error) = match fault {
        Fault::Ambiguous => (
            StatusCode::BAD_REQUEST,
            "two_identities",
            "Ambiguous credentials",
            "This request carries two bearer tokens, or a bearer token and a session of different \
             users. Send only one of them."
                .to_owned(),
            "invalid_request",
        ),
        Fault::Invalid(why) => (
            StatusCode::UNAUTHORIZED,
            "invalid_bearer",
            "Bearer token rejected",
            format!("{name} does not accept this token: {why}."),
            "invalid_token",
        ),
        Fault::NotPermitted => (
            StatusCode::FORBIDDEN,
            "app_refused",
            "Not permitted",
            format!("The roles and groups of this token do not grant access to {name}."),
            "insufficient_scope",
        ),
        Fault::Throttled(_) => (
            StatusCode::TOO_MANY_REQUESTS,
            "throttled",
            "Too many refused tokens",
            "Too many tokens from this address were refused. Wait a little, then send a valid one."
                .to_owned(),
            "invalid_token",
        ),
    };
    access_log::refused(code);
    let mut problem = Problem::downstream(status, code, title, detail);
    problem.rule = rule.cloned();
    if let Fault::Throttled(seconds) = fault {
        problem.retry_after = u16::try_from(seconds).ok();
    }
    let mut response = problem.json(&context.request_id_text());
    let challenge = format!("Bearer realm=\"portico\", error=\"{error}\"");
    if let Ok(challenge) = HeaderValue::try_from(challenge)
        && status != StatusCode::TOO_MANY_REQUESTS
    {
        response
            .headers_mut()
            .insert(header::WWW_AUTHENTICATE, challenge);
    }
    response.into_response()
}

/// Returns whether the request has a bearer token and no cookie. No browser sends that by itself
/// for another page, so the origin need not be checked.
pub(crate) fn is_bearer_request(site: &Site, headers: &HeaderMap) -> bool {
    match site {
        Site::Main => false,
        Site::App(app) => {
            !app.config.bearer.is_empty()
                && !headers.contains_key(header::COOKIE)
                && has_bearer_token(headers)
        }
    }
}
