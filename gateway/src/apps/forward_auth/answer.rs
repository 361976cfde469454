//! Responses to another proxy: for a permitted request the identity headers that it sets on the
//! request, for a refused one the reason.
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use portico_proxy::headers::cookies::without_reserved;

use super::{
    ForwardAuth,
    authorize::{AuthDecision, AuthRequest},
};
use crate::{
    apps::authorization::Key,
    http::{error_response::Problem, security_headers::harden},
    request_context::Context,
    sessions::live::Caller,
};

const USER: HeaderName = HeaderName::from_static("x-auth-request-user");
const PREFERRED_USERNAME: HeaderName = HeaderName::from_static("x-auth-request-preferred-username");
const EMAIL: HeaderName = HeaderName::from_static("x-auth-request-email");
const GROUPS: HeaderName = HeaderName::from_static("x-auth-request-groups");

const ASSERTION: HeaderName = HeaderName::from_static("portico-assertion");
/// Set where a header has no value: for a missing header, a proxy leaves the client's own in place
/// (Envoy) or sets one of its own (Caddy 2.6).
pub(super) const EMPTY: HeaderValue = HeaderValue::from_static("");

/// The headers that the decision depends on: a cache with a shorter key would mix up users. It must
/// not store the response anyway.
const VARY_FIELDS: HeaderValue = HeaderValue::from_static(
    "Cookie, Authorization, X-Auth-Token, Origin, X-Forwarded-Host, X-Forwarded-Uri, \
     X-Forwarded-Method, X-Original-Url, X-Original-Uri, X-Original-Method",
);

impl ForwardAuth {
    /// Returns the response that permits a request, with the user's identity. A trusted proxy that
    /// asks on its own behalf about a page of the app also gets what the app's upstream would get,
    /// and the cookies without Portico's (`Cookie`); browsers never see these.
    pub(super) async fn allowed(
        &self,
        status: StatusCode,
        question: &AuthRequest<'_>,
        caller: Option<&Caller>,
        key: Option<&Key>,
    ) -> Result<Response, Problem> {
        let mut answer = status.into_response();
        let headers = answer.headers_mut();
        harden(headers);
        describe(headers, caller);
        if let Some(app) = &question.app
            && question.is_for_the_app()
        {
            let identity = self.upstream_identity.identity(app, caller, key).await?;
            for (name, value) in identity.iter() {
                headers.append(name.clone(), value.clone());
            }
            headers.entry(ASSERTION).or_insert(EMPTY);
            for name in self
                .upstream_identity
                .identities
                .named(&app.config.id)
                .iter()
            {
                headers.entry(name).or_insert(EMPTY);
            }
            let cookies = if question.is_cross_origin(&app.origin) {
                None
            } else {
                without_reserved(question.headers)
            };
            headers.insert(header::COOKIE, cookies.unwrap_or(EMPTY));
        }
        vary(headers);
        Ok(answer)
    }
}

impl ForwardAuth {
    /// Returns the response that refuses a request, with the rule: JSON for a program, a page for a
    /// browser.
    pub(super) async fn answer_refused(
        &self,
        context: &Context,
        decision: AuthDecision,
    ) -> Response {
        match decision {
            AuthDecision::Refused {
                app,
                caller: Some(caller),
                refusal,
                program: true,
            } => {
                let refusal = Some(&refusal);
                self.bearer_authentication
                    .refuse_bearer_caller(context, &caller, &app, refusal)
                    .await
            }
            AuthDecision::Refused {
                app,
                caller,
                refusal,
                ..
            } => {
                self.authorization
                    .refuse_app(context, caller.as_ref(), &app, &refusal)
                    .await
            }
            _ => Problem::internal().into_response(),
        }
    }
}

/// Keeps caches from serving one user's response to another.
pub(super) fn vary(headers: &mut HeaderMap) {
    headers.insert(header::VARY, VARY_FIELDS);
}

fn describe(headers: &mut HeaderMap, caller: Option<&Caller>) {
    let Some(caller) = caller else {
        for name in [USER, PREFERRED_USERNAME, EMAIL, GROUPS] {
            headers.insert(name, EMPTY);
        }
        return;
    };
    let user = &caller.session.user;
    let root = caller.live.root();
    let profile = root.provider.as_ref().map(|provider| &provider.profile);
    let email = profile.filter(|profile| profile.email_verified);
    let groups = profile.map(|profile| {
        let groups: Vec<String> = profile.groups.iter().map(|group| encoded(group)).collect();
        groups.join(",")
    });
    for (name, value) in [
        (USER, Some(user.id.clone())),
        (
            PREFERRED_USERNAME,
            Some(format!(
                "{}@{}",
                encoded(&user.name),
                encoded(&user.domain.name)
            )),
        ),
        (EMAIL, email.and_then(|profile| profile.email.clone())),
        (GROUPS, groups),
    ] {
        // a value that no header can hold is left out, never shortened
        let value = value.and_then(|value| HeaderValue::try_from(value).ok());
        headers.insert(name, value.unwrap_or(EMPTY));
    }
}

/// Returns the text in plain ASCII, with everything else percent-encoded, so that no name can look
/// like another, contain a separator or break a header.
fn encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes())
        .collect::<String>()
        .replace('+', "%20")
}
