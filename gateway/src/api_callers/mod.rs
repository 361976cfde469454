//! Programs that call an app without a session: a Keystone token, or the JWT of an OIDC provider,
//! where the app's configuration allows it (`apps.bearer`).
//!
//! A bearer is verified, believed for some seconds, and judged by the same rules as a person. It
//! is never a way to sign in: no session comes of it, nothing is exchanged or made from it, and the
//! app behind does not get to see it.
mod accepted;
mod presented;
mod verify;

pub(crate) use accepted::{Accepted, Bearer};
pub(crate) use presented::presents_one;
pub(crate) use verify::watch;

use std::sync::Arc;

use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use portico_store::Outcome;

use crate::{
    access::line,
    audit::Event,
    guard::Stop,
    hosts::App,
    meters,
    problem::Problem,
    rules::Refusal,
    session::live::Caller,
    state::{Context, Gateway},
};
use presented::{Presented, presented};

/// How a bearer was judged, for the challenge (RFC 6750 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Two at once, or two people at once.
    Ambiguous,
    /// Not accepted here, expired, revoked, or not what it says.
    Invalid(&'static str),
    /// Good, and no rule of the app fits.
    NotPermitted,
    /// Too many from this address were refused, for so many seconds more.
    Throttled(i64),
}

impl Gateway {
    /// Whose bearer a request to an app carries: `None` where the app takes none or the request
    /// has none, so that a session counts. A bearer that does not count is refused, also beside a
    /// good session: nobody gets in by falling back.
    pub async fn api_caller(
        &self,
        context: &Context,
        app: &App,
        headers: &HeaderMap,
        cookie_of: Option<&str>,
    ) -> Result<Option<Arc<Bearer>>, Stop> {
        if app.config.bearer.is_empty() {
            return Ok(None);
        }
        let token = match presented(headers) {
            Presented::None => return Ok(None),
            Presented::Several => {
                return Err(Box::pin(self.refuse_bearer(context, app, Fault::Ambiguous)).await);
            }
            Presented::One(token) => token,
        };
        let bearer = match Box::pin(self.verify(context, app, &token)).await? {
            Ok(bearer) => bearer,
            Err(fault) => return Err(Box::pin(self.refuse_bearer(context, app, fault)).await),
        };
        if let Ok(person) = self.lookup(headers, cookie_of).await?
            && !is_same_person(&person, bearer.caller())
        {
            return Err(Box::pin(self.refuse_bearer(context, app, Fault::Ambiguous)).await);
        }
        line::caller(bearer.caller());
        Ok(Some(bearer))
    }

    /// Says that a good bearer opens nothing here.
    pub async fn refuse_api_caller(
        &self,
        context: &Context,
        caller: &Caller,
        app: &App,
        refusal: Option<&Refusal>,
    ) -> Response {
        let rule = refusal.and_then(Refusal::rule);
        let reason = match rule {
            Some(rule) => format!("rule {rule}"),
            None => "no role or group of the bearer's opens it".to_owned(),
        };
        let event = Event::new("app.open", Outcome::Denied)
            .name(&caller.session.user.name)
            .project(Some(&app.config.project))
            .target(&app.config.id)
            .reason(&reason);
        self.audit(context, event).await;
        if let Some(rule) = rule {
            line::refused_by(Arc::clone(rule));
        }
        answer(context, app, Fault::NotPermitted, rule)
    }

    async fn refuse_bearer(&self, context: &Context, app: &App, fault: Fault) -> Stop {
        let reason = match fault {
            Fault::Ambiguous => "two identities in one request",
            Fault::Invalid(why) => why,
            Fault::NotPermitted => "no rule fits",
            Fault::Throttled(_) => "too many failures",
        };
        meters::api_caller("refused");
        line::rule(reason);
        // an address that is throttled has its lines already
        if !matches!(fault, Fault::Throttled(_)) {
            let event = Event::new("app.bearer", Outcome::Denied)
                .target(&app.config.id)
                .reason(reason);
            self.audit(context, event).await;
        }
        Stop::Answer(Box::new(answer(context, app, fault, None)))
    }
}

/// The same account; or, behind different accounts, the same subject of one provider.
fn is_same_person(one: &Caller, other: &Caller) -> bool {
    let subject = |caller: &Caller| {
        let root = caller.live.root();
        let provider = root.provider.as_ref()?;
        Some((provider.id.clone(), provider.subject.clone()))
    };
    one.session.user.id == other.session.user.id
        || subject(one).is_some_and(|subject_of_one| subject(other) == Some(subject_of_one))
}

/// Never a page and never a redirect, whatever the request looks like: a program reads it.
fn answer(context: &Context, app: &App, fault: Fault, rule: Option<&Arc<str>>) -> Response {
    let name = &app.config.name;
    let (status, code, title, detail, error) = match fault {
        Fault::Ambiguous => (
            StatusCode::BAD_REQUEST,
            "two_identities",
            "Who is asking?",
            "This request carries two bearers, or a bearer and the session of two people. Send \
             one of them."
                .to_owned(),
            "invalid_request",
        ),
        Fault::Invalid(why) => (
            StatusCode::UNAUTHORIZED,
            "invalid_bearer",
            "The bearer does not count",
            format!("{name} does not accept this token: {why}."),
            "invalid_token",
        ),
        Fault::NotPermitted => (
            StatusCode::FORBIDDEN,
            "app_refused",
            "Not permitted",
            format!("The roles and groups of this token do not open {name}."),
            "insufficient_scope",
        ),
        Fault::Throttled(_) => (
            StatusCode::TOO_MANY_REQUESTS,
            "throttled",
            "Too many refused tokens",
            "Too many tokens from this address were refused. Wait a little, then send a good one."
                .to_owned(),
            "invalid_token",
        ),
    };
    line::refused(code);
    let mut problem = Problem::downstream(status, code, title, detail);
    problem.rule = rule.cloned();
    if let Fault::Throttled(seconds) = fault {
        problem.retry_after = u16::try_from(seconds).ok();
    }
    let mut response = problem.respond(false, &context.request_id_text());
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
