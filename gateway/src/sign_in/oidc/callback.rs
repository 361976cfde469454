//! `GET /oauth2/callback/<provider>`: handles the authorization response of a provider. The state
//! is checked first, also against the browser; only then is any other parameter used and a code
//! redeemed.
use std::sync::Arc;

use axum::{
    Extension,
    extract::{Path, State},
    response::Response,
};
use http::{HeaderMap, StatusCode, Uri};
use portico_oidc::{Error, Redemption};
use portico_store::Outcome;
use secrecy::ExposeSecret as _;

use super::start::REAUTHENTICATION_PREFIX;
use crate::{
    audit::Event,
    browser_state::BrowserState,
    http::{
        cookies::Purpose, error_response::Problem, forms::Fields, interrupt::Interrupt,
        return_path::ReturnPath,
    },
    identity_providers::{OidcProvider, federation::IssuedIdentity},
    metrics,
    request_context::Context,
    sign_in::SignIn,
};

/// Bounds how much of a provider's error text is shown, in characters.
const MAX_SHOWN_CHARS: usize = 200;

pub(crate) async fn get(
    State(sign_in): State<Arc<SignIn>>,
    Extension(context): Extension<Context>,
    Path(id): Path<String>,
    remembered: BrowserState,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Interrupt> {
    // a duplicate parameter is refused here
    let mut query = Fields::of_query(&uri)?;
    let provider = sign_in
        .providers
        .get(&id)
        .cloned()
        .ok_or_else(Problem::not_found)?;
    let browser = sign_in.cookies.read(&headers, Purpose::Provider);
    let flow = match (query.optional("state"), &browser) {
        (Some(state), Some(browser)) => {
            sign_in
                .store
                .provider_flows()
                .take(&id, state, browser.expose_secret(), sign_in.clock.now())
                .await?
        }
        _ => None,
    };
    let Some(flow) = flow else {
        sign_in
            .refused(
                &context,
                &provider,
                "the state is unknown, used, too old or another browser's",
            )
            .await;
        return Err(sign_in.not_begun_here(&headers).await?.into());
    };
    let (reauthentication, path) = match flow.return_path.strip_prefix(REAUTHENTICATION_PREFIX) {
        Some(path) => (true, path),
        None => (false, flow.return_path.as_str()),
    };
    let return_path = ReturnPath::parse(path);
    if let Err(error) = provider
        .client
        .expect_response_issuer(query.optional("iss"))
        .await
    {
        return Err(sign_in.failed_at(&context, &provider, &error).await.into());
    }
    if let Some(error) = query.optional("error") {
        sign_in
            .refused(&context, &provider, "the provider answered with an error")
            .await;
        return Err(refused_by_provider(
            &provider,
            error,
            query.get("error_description"),
            &return_path,
        )
        .into());
    }
    if query.optional("code").is_none() {
        return Err(
            Problem::bad_request("The provider's answer holds neither code nor error.").into(),
        );
    }
    let redemption = Redemption {
        code: query.secret("code"),
        nonce: &flow.nonce,
        verifier: &flow.verifier,
        redirect: &provider.callback,
    };
    let tokens = match provider.client.finish(&redemption).await {
        Ok(tokens) => tokens,
        Err(error) => return Err(sign_in.failed_at(&context, &provider, &error).await.into()),
    };
    let word = IssuedIdentity {
        identity: Some(&tokens.identity),
        id_token: Some(&tokens.id_token),
        access_token: &tokens.access_token,
    };
    let keystone = match sign_in.federate(&context, &id, word).await {
        Ok(keystone) => keystone,
        Err(problem) => {
            sign_in.hand_back(&provider, &tokens).await;
            return Err(problem.into());
        }
    };
    if reauthentication {
        return sign_in
            .go_on_of_provider(
                &context,
                &headers,
                &provider,
                tokens,
                keystone,
                &return_path,
            )
            .await;
    }
    remembered.remember_provider(&id).await;
    sign_in
        .establish_of_provider(
            &context,
            &headers,
            &provider,
            tokens,
            keystone,
            &return_path,
        )
        .await
}

impl SignIn {
    async fn refused(&self, context: &Context, provider: &OidcProvider, reason: &str) {
        metrics::sign_in(&provider.config.id, "refused");
        let event = Event::new("session.sign_in", Outcome::Denied)
            .target(&provider.config.id)
            .provider(&provider.config.id)
            .reason(reason);
        self.audit.record(context, event).await;
    }

    /// Returns the problem for a response to a sign-in that this browser did not start, or that has
    /// ended.
    async fn not_begun_here(&self, headers: &HeaderMap) -> Result<Problem, Problem> {
        let problem = Problem::downstream(
            StatusCode::BAD_REQUEST,
            "unknown_state",
            "This sign-in was not started in this browser",
            "It was finished before, took too long, or belongs to another browser. Nothing has \
             been changed.",
        );
        Ok(
            if self.authentication.lookup(headers, None).await?.is_ok() {
                problem.leads_to("Continue: you are signed in", "/")
            } else {
                problem
                    .steps([
                        "Begin again from the sign-in page, in this window.",
                        "If it happens again: the browser may not keep this site's cookies.",
                    ])
                    .leads_to("Sign in", "/oauth2/sign_in")
            },
        )
    }

    async fn failed_at(
        &self,
        context: &Context,
        provider: &OidcProvider,
        error: &Error,
    ) -> Problem {
        let text = error.to_string();
        let event = Event::new("session.sign_in", Outcome::Failed)
            .target(&provider.config.id)
            .provider(&provider.config.id)
            .reason(&text);
        self.audit.record(context, event).await;
        let outcome = if error.is_outage() {
            "unavailable"
        } else {
            "refused"
        };
        metrics::sign_in(&provider.config.id, outcome);
        match error {
            Error::Unavailable(_) | Error::Unusable(_) | Error::Client(_) => {
                Problem::provider(provider, error)
            }
            Error::InvalidGrant | Error::OtherIssuer | Error::OtherSubject | Error::Token(_) => {
                tracing::warn!(provider = provider.config.id, %error, "a sign-in was refused");
                Problem::downstream(
                    StatusCode::FORBIDDEN,
                    "provider_answer_refused",
                    format!("{} could not confirm who you are", provider.config.name),
                    "Its response does not belong to this sign-in, or failed verification. Your \
                     administrators find the reason in Portico's log under the request ID below.",
                )
                .leads_to("Sign in again", "/oauth2/sign_in")
            }
        }
    }
}

/// Handles an error response of the provider. Its text is shown unformatted; the state has proved
/// that the provider sent it.
fn refused_by_provider(
    provider: &OidcProvider,
    code: &str,
    description: &str,
    return_path: &ReturnPath,
) -> Problem {
    let plain = |text: &str| -> String {
        text.chars()
            .filter(|c| !c.is_control())
            .take(MAX_SHOWN_CHARS)
            .collect()
    };
    let name = &provider.config.name;
    let query = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("rd", return_path.as_str())
        .finish();
    let mut steps = vec![format!("{name} reports the error: {}", plain(code))];
    if !description.is_empty() {
        steps.push(format!("{name} adds: {}", plain(description)));
    }
    Problem::downstream(
        StatusCode::FORBIDDEN,
        "provider_said_no",
        format!("{name} did not sign you in"),
        "You cancelled, or it does not let you use Portico.",
    )
    .steps(steps)
    .leads_to("Sign in another way", format!("/oauth2/sign_in?{query}"))
}
