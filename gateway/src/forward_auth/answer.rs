//! What another proxy is told about somebody who may: in headers, which it sets on the request.
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};

use super::judge::{Question, Verdict};
use crate::{
    access::rules::Key,
    pages::layout::harden,
    problem::Problem,
    session::{cookie, live::Caller},
    state::{Context, Gateway},
};

const USER: HeaderName = HeaderName::from_static("x-auth-request-user");
const PREFERRED_USERNAME: HeaderName = HeaderName::from_static("x-auth-request-preferred-username");
const EMAIL: HeaderName = HeaderName::from_static("x-auth-request-email");
const GROUPS: HeaderName = HeaderName::from_static("x-auth-request-groups");

const ASSERTION: HeaderName = HeaderName::from_static("portico-assertion");
/// Who copies a header that is not there keeps the client's (Envoy), or makes one up (Caddy 2.6).
pub(super) const NOTHING: HeaderValue = HeaderValue::from_static("");

/// What decides: a cache that keys by less would mix people up. It must keep nothing anyway.
const VARIES_WITH: HeaderValue = HeaderValue::from_static(
    "Cookie, Authorization, X-Auth-Token, Origin, X-Forwarded-Host, X-Forwarded-Uri, \
     X-Forwarded-Method, X-Original-Url, X-Original-Uri, X-Original-Method",
);

impl Gateway {
    /// The good answer, with who it is. A trusted proxy that asks by itself about a page of the
    /// app's gets what the app's upstream would get too, and the cookies without ours (`Cookie`); no
    /// browser ever sees these.
    pub(super) async fn allowed(
        &self,
        status: StatusCode,
        question: &Question<'_>,
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
            for (name, value) in self.identity(app, caller, key).await? {
                headers.append(name, value);
            }
            headers.entry(ASSERTION).or_insert(NOTHING);
            for name in self.identities.named(&app.config.id).iter() {
                headers.entry(name).or_insert(NOTHING);
            }
            let cookies = if question.is_from_elsewhere(&app.origin) {
                None
            } else {
                cookie::foreign(question.headers)
            };
            headers.insert(header::COOKIE, cookies.unwrap_or(NOTHING));
        }
        vary(headers);
        Ok(answer)
    }
}

impl Gateway {
    /// Says that somebody may not, and which rule it is: to a program in JSON, to a person on a page.
    pub(super) async fn answer_refused(&self, context: &Context, verdict: Verdict) -> Response {
        match verdict {
            Verdict::Refused {
                app,
                caller: Some(caller),
                refusal,
                program: true,
            } => {
                let refusal = Some(&refusal);
                self.refuse_api_caller(context, &caller, &app, refusal)
                    .await
            }
            Verdict::Refused {
                app,
                caller,
                refusal,
                ..
            } => {
                self.refuse_app(context, caller.as_ref(), &app, &refusal)
                    .await
            }
            _ => Problem::internal().into_response(),
        }
    }
}

/// Keeps caches from giving one person's answer to another.
pub(super) fn vary(headers: &mut HeaderMap) {
    headers.insert(header::VARY, VARIES_WITH);
}

fn describe(headers: &mut HeaderMap, caller: Option<&Caller>) {
    let Some(caller) = caller else {
        for name in [USER, PREFERRED_USERNAME, EMAIL, GROUPS] {
            headers.insert(name, NOTHING);
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
        // what no header can hold is left out, never shortened
        let value = value.and_then(|value| HeaderValue::try_from(value).ok());
        headers.insert(name, value.unwrap_or(NOTHING));
    }
}

/// Plain ASCII: everything else is percent-encoded, so that no name can look like another, hold a
/// separator or break a header.
fn encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes())
        .collect::<String>()
        .replace('+', "%20")
}
