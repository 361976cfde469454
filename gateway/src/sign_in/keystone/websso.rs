//! `/oauth2/websso`: single sign-on at Keystone, whose token the browser brings back.
//!
//! It has three steps. `POST …/start`, from Portico's own page, stores the return path and
//! redirects the browser to Keystone. Keystone's page then posts the token to `/oauth2/websso`:
//! that request comes from another site, so it carries no cookie of Portico's and decides nothing.
//! The token is stored, and a page of Portico's posts a reference to it to `…/finish`, this time
//! with the cookie of the browser that started. So a user cannot be signed in with a token that
//! they did not request.
use std::sync::Arc;

use axum::{
    Extension,
    body::Body,
    extract::{FromRef, FromRequest, FromRequestParts as _, State},
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, Request, StatusCode, header};
use jiff::{SignedDuration, Timestamp};
use portico_openstack::keystone::{IssuedToken, TokenScope, federation::websso_address};
use portico_store::{Reserved, SignInFlow, ThrottleLimit};
use secrecy::{ExposeSecret as _, SecretString};

use super::{attempt::Failed, password::Form};
use crate::{
    authentication::{check_csrf, extract::FormWithoutCsrf},
    browser_state::{BrowserState, BrowserStates},
    http::{
        cookies::Purpose,
        csrf,
        error_response::Problem,
        forms::Fields,
        interrupt::Interrupt,
        origin::OriginFault,
        redirect::{see_other, with_cookie},
        return_path::ReturnPath,
    },
    pages,
    request_context::Context,
    sign_in::{SignIn, attempts::limits::SignInMethod, wording::failure},
};

/// How long the user may take at the identity provider.
const FLOW_TTL: SignedDuration = SignedDuration::from_mins(15);
/// How long the page that posts the token may take; it submits itself.
const POST_LOGIN_TTL: SignedDuration = SignedDuration::from_secs(60);
const MAX_TOKEN_BYTES: usize = 8 * 1024;
/// Replaces the return path once a token has arrived.
const POST_LOGIN_MARKER: &str = "websso";
/// Prefixes the return path of a flow that reauthenticates a session.
const REAUTHENTICATION_PREFIX: &str = "reauthenticate:";
/// Limits the tokens that one network may send, valid or not.
const POST_LOGIN_LIMIT: ThrottleLimit = ThrottleLimit::window(60, 5 * 60);

/// A form that starts single sign-on. To reauthenticate a session, it has the session's CSRF token;
/// to sign in, the secret of a sign-in page of this browser. Others are redirected to sign-in or
/// see the sign-in page.
pub(crate) struct StartForm {
    fields: Fields,
    browser: BrowserState,
    return_path: ReturnPath,
    /// Whether a session is reauthenticated.
    reauthentication: bool,
}

impl<S> FromRequest<S> for StartForm
where
    S: Send + Sync,
    Arc<SignIn>: FromRef<S>,
    Arc<BrowserStates>: FromRef<S>,
{
    type Rejection = Interrupt;

    async fn from_request(request: Request<Body>, state: &S) -> Result<Self, Interrupt> {
        let (mut parts, body) = request.into_parts();
        let browser = BrowserState::from_request_parts(&mut parts, state).await?;
        let headers = parts.headers.clone();
        let request = Request::from_parts(parts, body);
        let FormWithoutCsrf(fields) = FormWithoutCsrf::from_request(request, state).await?;
        let sign_in: Arc<SignIn> = Arc::from_ref(state);
        let answer = |response| Err(Interrupt::Answer(Box::new(response)));
        let return_path = ReturnPath::from_query(fields.optional("rd"));
        let reauthentication = fields.get("reauthenticate") == "1";
        if reauthentication {
            let Ok(caller) = sign_in.authentication.lookup(&headers, None).await? else {
                return answer(see_other("/oauth2/sign_in?reason=ended"));
            };
            check_csrf(&caller, fields.get(csrf::FIELD))?;
        } else if let Some(form) = sign_in
            .not_our_form(&headers, &browser, &fields, &return_path)
            .await?
        {
            return answer(sign_in.sign_in_page(&headers, &browser, form).await?);
        }
        Ok(Self {
            fields,
            browser,
            return_path,
            reauthentication,
        })
    }
}

pub(crate) async fn start(
    State(sign_in): State<Arc<SignIn>>,
    form: StartForm,
) -> Result<Response, Interrupt> {
    let StartForm {
        fields,
        browser,
        return_path,
        reauthentication,
    } = form;
    if !sign_in
        .providers
        .offers_keystone(return_path.app().as_deref())
    {
        return Err(Problem::not_found().into());
    }
    let mut ways = sign_in.keystone_methods.websso.iter();
    let Some(way) = ways.find(|way| way.id == fields.get("way")) else {
        return Err(Problem::not_found().into());
    };
    let now = sign_in.clock.now();
    let flows = sign_in.store.sign_in_flows();
    let remembered = if reauthentication {
        format!("{REAUTHENTICATION_PREFIX}{return_path}")
    } else {
        return_path.to_string()
    };
    let started = flows.start(&remembered, now + FLOW_TTL, now).await?;
    if !reauthentication {
        browser.begin(&return_path).await;
    }
    let back = format!("{}/oauth2/websso", sign_in.hosts.main());
    let provider = way.identity_provider.as_deref();
    let address = websso_address(&way.url, provider, &way.protocol, &back);
    let cookie = sign_in.cookies.set(Purpose::Flow, &started.secret);
    Ok(with_cookie(see_other(address.as_str()), cookie))
}

pub(crate) async fn arrive(
    State(sign_in): State<Arc<SignIn>>,
    Extension(context): Extension<Context>,
    headers: HeaderMap,
    FormWithoutCsrf(mut fields): FormWithoutCsrf,
) -> Result<Response, Interrupt> {
    sign_in.expect_from_keystone(&headers)?;
    let token = fields.secret("token");
    let length = token.expose_secret().len();
    if length == 0 || length > MAX_TOKEN_BYTES {
        return Err(Problem::bad_request("Keystone has sent no token. Sign in again.").into());
    }
    let now = sign_in.clock.now();
    let subject = format!("websso:{}", context.client.network());
    let reserved = sign_in
        .store
        .throttle()
        .reserve(&subject, POST_LOGIN_LIMIT, now);
    if let Reserved::RefusedUntil(until) = reserved.await? {
        return Err(Problem::throttled(
            "Too many sign-ins",
            "Too many sign-ins came from this network.",
            until.duration_since(now),
        )
        .into());
    }
    let flows = sign_in.store.sign_in_flows();
    let post_login = flows
        .start(POST_LOGIN_MARKER, now + POST_LOGIN_TTL, now)
        .await?;
    flows
        .set_receipt(
            post_login.flow.id,
            POST_LOGIN_MARKER,
            POST_LOGIN_MARKER,
            &token,
        )
        .await?;
    Ok(pages::websso::arriving(post_login.secret.expose_secret()).into_response())
}

pub(crate) async fn finish(
    State(sign_in): State<Arc<SignIn>>,
    Extension(context): Extension<Context>,
    browser: BrowserState,
    headers: HeaderMap,
    FormWithoutCsrf(mut fields): FormWithoutCsrf,
) -> Result<Response, Interrupt> {
    let code = fields.secret("code");
    let now = sign_in.clock.now();
    let flows = sign_in.store.sign_in_flows();
    // valid once only, whatever the outcome
    let post_login = flows.find(code.expose_secret(), now).await?;
    let post_login = match post_login.filter(|flow| flow.return_path == POST_LOGIN_MARKER) {
        Some(post_login) if flows.finish(post_login.id).await? => post_login,
        _ => return Ok(see_other("/oauth2/sign_in?reason=ended")),
    };
    let Some(token) = post_login.receipt else {
        return Ok(see_other("/oauth2/sign_in?reason=ended"));
    };
    let started = match sign_in.started_here(&headers, now).await? {
        // valid once only, also when two tokens arrive at once
        Some(started) if flows.finish(started.id).await? => started,
        _ => {
            sign_in.sessions.revoke(&token).await;
            let form = Form::new(ReturnPath::home());
            let form = form.failed(
                "This sign-in was not started in this browser, or too long ago. Start it again.",
                StatusCode::FORBIDDEN,
            );
            return Ok(sign_in.sign_in_page(&headers, &browser, form).await?);
        }
    };
    let (reauthentication, path) = match started.return_path.strip_prefix(REAUTHENTICATION_PREFIX) {
        Some(path) => (true, path),
        None => (false, started.return_path.as_str()),
    };
    let return_path = ReturnPath::parse(path);
    match sign_in.take_over(&context, &headers, token).await {
        Ok(issued) if reauthentication => {
            sign_in
                .go_on_here(&context, &headers, issued, &return_path)
                .await
        }
        Ok(issued) => {
            sign_in
                .establish(&context, &headers, issued, &return_path)
                .await
        }
        Err(failed) => {
            let retry_after = failed.retry_after();
            let (text, status) = match failed {
                Failed::Refused => (
                    "Keystone rejected the token it issued. Sign in again.".to_owned(),
                    StatusCode::UNAUTHORIZED,
                ),
                other => failure(other)?,
            };
            let form = Form {
                retry_after,
                ..Form::new(return_path)
            };
            let form = form.failed(text, status);
            Ok(sign_in.sign_in_page(&headers, &browser, form).await?)
        }
    }
}

impl SignIn {
    /// Checks that a request comes from a page of the Keystone that single sign-on uses.
    fn expect_from_keystone(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let ways = &self.keystone_methods.websso;
        if ways.is_empty() {
            return Err(Problem::not_found());
        }
        let mut lines = headers.get_all(header::ORIGIN).iter();
        let origin = lines.next().map(http::HeaderValue::as_bytes);
        let known = |origin: &[u8]| ways.iter().any(|way| way.origin().as_bytes() == origin);
        match (origin, lines.next()) {
            (Some(origin), None) if known(origin) => Ok(()),
            (Some(_), _) => Err(Problem::foreign_origin(OriginFault::Foreign)),
            (None, _) => Err(Problem::foreign_origin(OriginFault::Unknown)),
        }
    }

    /// Returns the sign-in that this browser has started here.
    async fn started_here(
        &self,
        headers: &HeaderMap,
        now: Timestamp,
    ) -> Result<Option<SignInFlow>, Interrupt> {
        let Some(cookie) = self.cookies.read(headers, Purpose::Flow) else {
            return Ok(None);
        };
        let flow = self
            .store
            .sign_in_flows()
            .find(cookie.expose_secret(), now)
            .await?;
        let is_ours = |path: &str| {
            path.strip_prefix(REAUTHENTICATION_PREFIX)
                .unwrap_or(path)
                .starts_with('/')
        };
        Ok(flow.filter(|flow| flow.receipt.is_none() && is_ours(&flow.return_path)))
    }

    /// Continues the browser's session with the new token; if it has ended meanwhile, establishes a
    /// new one.
    async fn go_on_here(
        &self,
        context: &Context,
        headers: &HeaderMap,
        issued: IssuedToken,
        return_path: &ReturnPath,
    ) -> Result<Response, Interrupt> {
        let Ok(caller) = self.authentication.lookup(headers, None).await? else {
            return self.establish(context, headers, issued, return_path).await;
        };
        let now = Some(self.clock.now());
        let secret = self.go_on(context, &caller, &issued, now).await?;
        let answer = with_cookie(
            see_other(return_path.as_str()),
            self.cookies.set(Purpose::Session, &secret),
        );
        Ok(with_cookie(answer, self.cookies.clear(Purpose::Flow)))
    }

    /// Exchanges the token that was sent through the browser for a new one, and revokes it.
    async fn take_over(
        &self,
        context: &Context,
        headers: &HeaderMap,
        token: SecretString,
    ) -> Result<IssuedToken, Failed> {
        let attempt = self
            .attempts
            .begin_attempt(context, headers, SignInMethod::SingleSignOn, &[])
            .await?;
        let details = match self.keystone.validate(&token).await {
            Ok(details) => details,
            Err(error) => {
                let failed = self.not_asked_or_refused(&error);
                if matches!(failed, Failed::Refused) {
                    return Err(self.attempts.refuse_attempt(context, attempt).await?);
                }
                self.attempts.undecided(attempt).await?;
                return Err(failed);
            }
        };
        if details.scope != TokenScope::Unscoped
            || details.trust.is_some()
            || details.application_credential.is_some()
        {
            return Err(self.attempts.refuse_attempt(context, attempt).await?);
        }
        self.attempts.succeeded(attempt).await?;
        let crossed = IssuedToken { token, details };
        match self.keystone.unscope(&crossed.token).await {
            Ok(own) if own.details.audit_ids.len() == 1 => {
                self.sessions.revoke(&crossed.token).await;
                Ok(own)
            }
            // a token derived from the other would be revoked with it
            Ok(own) => {
                self.sessions.revoke(&own.token).await;
                Ok(crossed)
            }
            Err(_) => Ok(crossed),
        }
    }
}
