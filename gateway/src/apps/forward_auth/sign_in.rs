//! Redirects to sign-in from an app's host that another proxy serves, and back.
use std::sync::Arc;

use axum::{
    Extension,
    extract::{OriginalUri, State},
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};

use super::ForwardAuth;
use crate::{
    apps::handover,
    hosts::Site,
    http::{
        destination::{Destination, on_app, split},
        error_response::Problem,
        forms::Fields,
        interrupt::Interrupt,
        redirect::{see_other, with_cookie},
        return_path::ReturnPath,
    },
    pages,
    request_context::{
        Context,
        forwarded_request::{ForwardedRequest, one},
    },
};

const REFRESH: HeaderName = HeaderName::from_static("refresh");

/// `GET /oauth2/sign_in` and `/oauth2/start` on an app's host: redirects to the main host and back
/// to `rd`, or to the page in place of which a trusted proxy shows this.
pub(crate) async fn app_host(
    State(forward_auth): State<Arc<ForwardAuth>>,
    Extension(context): Extension<Context>,
    OriginalUri(uri): OriginalUri,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Interrupt> {
    let Site::App(app) = &context.site else {
        return Err(Problem::not_found().into());
    };
    let forwarded = if context.trusted_proxy {
        ForwardedRequest::of(&headers).unwrap_or_default()
    } else {
        ForwardedRequest::default()
    };
    let path = on_app(app, &meant(&context, &uri, &headers, &forwarded)?);
    let id = app.config.id.as_str();
    if let Ok(caller) = forward_auth
        .authentication
        .lookup(&headers, Some(id))
        .await?
        && forward_auth
            .authentication
            .ensure_valid(&context, &caller)
            .await?
            .is_ok()
    {
        let now = forward_auth.clock.now();
        if forward_auth.authentication.is_redirect_loop(&headers, now) {
            return Err(forward_auth.authentication.app_loop(app));
        }
        let answer = see_other(&format!("{}{path}", app.origin));
        return Ok(with_cookie(
            answer,
            forward_auth.authentication.count_redirect(&headers, now),
        ));
    }
    let method = forwarded.method.unwrap_or(method);
    match handover::begin_for(
        &forward_auth.handovers,
        &context,
        app,
        &method,
        &headers,
        &path,
    ) {
        Interrupt::Answer(answer) if answer.status() == StatusCode::SEE_OTHER => {
            Ok(for_every_status(&app.config.name, *answer))
        }
        stop => Err(stop),
    }
}

/// Returns the destination: `rd`, else the one that a trusted proxy forwards, else the home page.
fn meant(
    context: &Context,
    uri: &Uri,
    headers: &HeaderMap,
    forwarded: &ForwardedRequest,
) -> Result<Destination, Problem> {
    let (_, destination) = split(uri)?;
    if !destination.is_empty() || !context.trusted_proxy {
        return Ok(destination);
    }
    let redirect = one(headers, "x-auth-request-redirect").ok().flatten();
    let address = redirect.or(forwarded.target.as_deref());
    Ok(address.map(Destination::of).unwrap_or_default())
}

/// Turns a redirect into a page that redirects by itself: Traefik's errors middleware shows it
/// under the status of the error, with which no browser follows a `Location`.
fn for_every_status(app: &str, answer: Response) -> Response {
    let target = answer.headers().get(header::LOCATION).cloned();
    let Some(target) = target.as_ref().and_then(|target| target.to_str().ok()) else {
        return answer;
    };
    let mut page = pages::app::onward(app, target).into_response();
    for (name, value) in answer.headers() {
        if name == header::SET_COOKIE {
            page.headers_mut().append(name.clone(), value.clone());
        } else {
            page.headers_mut()
                .entry(name.clone())
                .or_insert_with(|| value.clone());
        }
    }
    if let Ok(refresh) = HeaderValue::try_from(format!("0; url={target}")) {
        page.headers_mut().insert(REFRESH, refresh);
    }
    *page.status_mut() = answer.status();
    page
}

/// `GET /oauth2/open?app=&rd=` on the main host: redirects to an app, at the address in the
/// configuration. A step after sign-in, see [`ReturnPath::to_app`].
pub(crate) async fn open(
    State(forward_auth): State<Arc<ForwardAuth>>,
    OriginalUri(uri): OriginalUri,
) -> Result<Response, Interrupt> {
    let query = Fields::of_query(&uri)?;
    let Some(app) = forward_auth.hosts.app(query.get("app")) else {
        return Err(Problem::not_found().into());
    };
    let path = ReturnPath::from_query(query.optional("rd"));
    Ok(see_other(&format!("{}{path}", app.origin)))
}
