//! `/oauth2/auth`: forward auth for nginx, Traefik, Envoy and their like. 202, 401 or 403, and
//! 503 only when it cannot be decided; never a redirect, whatever the request looks like.
use axum::{
    Extension,
    extract::State,
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};

use crate::{
    forms::Fields,
    guard::Stop,
    hosts::{App, Site},
    pages::layout::harden,
    problem::Problem,
    session::live::Caller,
    state::{Context, Gateway, Shared},
};

const USER: HeaderName = HeaderName::from_static("x-auth-request-user");
const PREFERRED_USERNAME: HeaderName = HeaderName::from_static("x-auth-request-preferred-username");

/// On the main host; with `?app=<id>` the app's rule is asked too.
pub(crate) async fn main_host(
    State(gateway): State<Shared>,
    Extension(context): Extension<Context>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Stop> {
    let query = Fields::of_query(&uri)?;
    let app = match query.optional("app") {
        Some(id) => match gateway.hosts.app(id) {
            Some(app) => Some(app.clone()),
            None => return Err(forbidden("There is no such app.").into()),
        },
        None => None,
    };
    gateway
        .forward_auth(&context, &headers, None, app.as_deref())
        .await
}

/// On an app's host, for that app.
pub(crate) async fn app_host(
    State(gateway): State<Shared>,
    Extension(context): Extension<Context>,
    headers: HeaderMap,
) -> Result<Response, Stop> {
    let Site::App(app) = &context.site else {
        return Err(Problem::not_found().into());
    };
    gateway
        .forward_auth(&context, &headers, Some(&app.config.id), Some(app))
        .await
}

impl Gateway {
    async fn forward_auth(
        &self,
        context: &Context,
        headers: &HeaderMap,
        cookie_of: Option<&str>,
        app: Option<&App>,
    ) -> Result<Response, Stop> {
        let bearer = match app {
            Some(app) => self.api_caller(context, app, headers, cookie_of).await?,
            None => None,
        };
        let caller = match &bearer {
            Some(bearer) => bearer.caller().clone(),
            None => match self.lookup(headers, cookie_of).await? {
                Ok(caller) => caller,
                Err(_) => return Err(Problem::signed_out().into()),
            },
        };
        if bearer.is_none() && self.standing(context, &caller).await?.is_err() {
            return Err(Problem::signed_out().into());
        }
        if let Some(app) = app
            && self.key_to(app, &caller.live).await?.is_none()
        {
            if bearer.is_some() {
                return Ok(self.refuse_api_caller(context, &caller, app, None).await);
            }
            return Err(forbidden("Your roles do not open this app.").into());
        }
        let mut answer = StatusCode::ACCEPTED.into_response();
        harden(answer.headers_mut());
        answer.headers_mut().insert(
            header::VARY,
            HeaderValue::from_static("Cookie, Authorization, X-Auth-Token"),
        );
        for (name, value) in [
            (USER, caller.session.user.id.clone()),
            (PREFERRED_USERNAME, username(&caller)),
        ] {
            if let Ok(value) = HeaderValue::try_from(value) {
                answer.headers_mut().insert(name, value);
            }
        }
        Ok(answer)
    }
}

/// `user@domain` in plain ASCII: everything else is percent-encoded, so that no name can look
/// like another or break a header.
fn username(caller: &Caller) -> String {
    let user = &caller.session.user;
    let encode = |part: &str| {
        url::form_urlencoded::byte_serialize(part.as_bytes())
            .collect::<String>()
            .replace('+', "%20")
    };
    format!("{}@{}", encode(&user.name), encode(&user.domain.name))
}

fn forbidden(detail: &str) -> Problem {
    Problem::downstream(StatusCode::FORBIDDEN, "forbidden", "Not permitted", detail)
}
