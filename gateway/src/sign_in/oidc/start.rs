//! `GET /oauth2/start?provider=`: redirects to a provider, with a sign-in that is bound to this
//! browser.
use std::sync::Arc;

use axum::{Extension, extract::State, response::Response};
use http::{HeaderMap, HeaderValue, StatusCode, Uri};
use jiff::Timestamp;
use portico_store::{NewProviderFlow, Reserved, ThrottleLimit};
use secrecy::SecretString;

use crate::{
    browser_state::BrowserState,
    http::{
        cookies::{Purpose, random_secret},
        destination,
        error_response::Problem,
        interrupt::Interrupt,
        redirect::{see_other, with_cookie},
    },
    request_context::Context,
    sign_in::{SignIn, keystone::password},
};

/// Limits how many sign-ins one network may start; an office may share one address.
const START_LIMIT: ThrottleLimit = ThrottleLimit::window(300, 5 * 60);
/// Prefixes the return path of a flow that reauthenticates the browser's session.
pub(crate) const REAUTHENTICATION_PREFIX: &str = "again:";
/// Lifetime of the cookie that identifies the browser; each flow has a shorter lifetime of its own
/// in the store.
const BROWSER_COOKIE_SECONDS: u32 = 12 * 3600;

pub(crate) async fn get(
    State(sign_in): State<Arc<SignIn>>,
    Extension(context): Extension<Context>,
    remembered: BrowserState,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Interrupt> {
    let (query, destination) = destination::split(&uri)?;
    let Some(id) = query.optional("provider") else {
        return password::get(State(sign_in), remembered, uri, headers).await;
    };
    let return_path = destination.return_path(&sign_in.hosts);
    let fresh = query.get("prompt") == "login";
    let reauthentication = query.get("reauthenticate") == "1";
    if !fresh && sign_in.authentication.lookup(&headers, None).await?.is_ok() {
        return Ok(see_other(return_path.as_str()));
    }
    let app = return_path.app();
    let provider = sign_in
        .providers
        .offered(app.as_deref())
        .find(|provider| provider.config.id == id)
        .ok_or_else(|| {
            Problem::downstream(
                StatusCode::NOT_FOUND,
                "no_such_provider",
                "This way to sign in is not offered here",
                "Choose one of those on the sign-in page.",
            )
            .leads_to("Sign in", "/oauth2/sign_in")
        })?;
    let now = sign_in.clock.now();
    sign_in.count_start(&context, now).await?;
    let authorization = provider
        .client
        .begin(&provider.callback, fresh)
        .await
        .map_err(|error| Problem::provider(provider, &error))?;
    let (browser, cookie) = sign_in.browser_of_providers(&headers)?;
    let flow = NewProviderFlow {
        provider: provider.config.id.clone(),
        state: authorization.flow.state,
        browser,
        nonce: authorization.flow.nonce,
        verifier: authorization.flow.verifier,
        return_path: if reauthentication {
            format!("{REAUTHENTICATION_PREFIX}{return_path}")
        } else {
            return_path.to_string()
        },
    };
    sign_in.store.provider_flows().begin(&flow, now).await?;
    if !reauthentication {
        remembered.begin(&return_path).await;
    }
    Ok(with_cookie(see_other(authorization.url.as_str()), cookie))
}

impl SignIn {
    /// Returns the ID of the browser, with the cookie that holds it. There is one per browser: tabs
    /// that sign in at the same time share it, each with a state of its own.
    pub fn browser_of_providers(
        &self,
        headers: &HeaderMap,
    ) -> Result<(SecretString, Option<HeaderValue>), Problem> {
        let browser = self
            .cookies
            .read(headers, Purpose::Provider)
            .map_or_else(random_secret, Ok)
            .map_err(|error| {
                tracing::error!(%error, "no mark for a browser");
                Problem::internal()
            })?;
        let cookie = self
            .cookies
            .set_for(Purpose::Provider, &browser, BROWSER_COOKIE_SECONDS);
        Ok((browser, cookie))
    }

    async fn count_start(&self, context: &Context, now: Timestamp) -> Result<(), Problem> {
        let subject = format!("provider-start:{}", context.client.network());
        match self
            .store
            .throttle()
            .reserve(&subject, START_LIMIT, now)
            .await?
        {
            // each request counts, whatever its outcome
            Reserved::Granted(_) => Ok(()),
            Reserved::RefusedUntil(until) => Err(Problem::throttled(
                "Too many sign-ins have begun",
                "Too many sign-ins were begun from this network.",
                until.duration_since(now),
            )),
        }
    }
}
