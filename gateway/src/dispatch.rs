//! Dispatches every request: checks host, path and origin, then calls the host's own routes.
mod panic;

use std::sync::Arc;

use axum::{
    Router,
    body::Body,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, Method, Request, header};
use portico_proxy::stream::upgrade;
use portico_request::path;
use tokio::time::Instant;
use tower::ServiceExt as _;

use crate::{
    apps::{
        authorization::{Asked, Authorization},
        bearer::is_bearer_request,
        proxy::routes,
    },
    composition::Parts,
    hosts::Site,
    http::{
        access_log::{self, AccessLogEntry},
        cookies::Purpose,
        error_response::{Problem, Source},
        origin::{self, CrossOrigin},
        redirect::with_cookie,
        security_headers::set_security_headers,
    },
    metrics,
    own_paths::{self, OwnPath},
    pages::{error_response, theme::Theme},
    request_context::{Context, common_headers::CommonHeaders},
};

/// The routes of both kinds of host.
pub(crate) struct Dispatcher {
    pub parts: Arc<Parts>,
    pub main: Router,
    pub app: Router,
}

pub(crate) async fn dispatch(dispatcher: &Dispatcher, request: Request<Body>) -> Response {
    let parts = &dispatcher.parts;
    let started = Instant::now();
    let common = CommonHeaders::of(request.headers());
    let site = parts.request_contexts.site_of(&request, &common);
    let context =
        parts
            .request_contexts
            .context(site.clone().unwrap_or(Site::Main), &request, &common);
    let path = request.uri().path();
    let own = site
        .as_ref()
        .and_then(|site| own_paths::find(site.kind(), path));
    let route = route_label(site.as_ref(), path, own);
    let line = AccessLogEntry::of(&context, &request, common.host.first());
    // only navigations get pages
    let (theme, counts_redirects) = if context.navigation {
        let [theme, redirects] = parts.cookies.of_pages(request.headers());
        (Theme::of(theme), redirects.is_some())
    } else {
        (Theme::System, false)
    };
    // a page that is shown clears the count of sign-ins without success
    let clears_redirects = counts_redirects && route != "gateway";
    // boxed here once: every layer around it would otherwise move the whole future
    let answer = Box::pin(answer(
        dispatcher,
        site.as_ref(),
        own,
        &context,
        route,
        clears_redirects,
        request,
    ));
    let handled = async {
        let (response, problem) = theme.scope(answer).await;
        let (status, took) = (response.status(), started.elapsed());
        (status, problem, took, (response, took))
    };
    let (decision, (response, took)) = line.written_after(route, started, handled).await;
    let status = response.status().as_u16();
    metrics::request(route, status, decision.as_str(), took);
    response
}

/// Returns the response, and what became of the request where Portico itself refused it or failed.
async fn answer(
    dispatcher: &Dispatcher,
    site: Option<&Site>,
    own: Option<&OwnPath>,
    context: &Context,
    route: &str,
    clears_redirects: bool,
    request: Request<Body>,
) -> (Response, Option<(&'static str, Source)>) {
    let parts = &dispatcher.parts;
    let decided = panic::caught(decide(dispatcher, site, own, context, request)).await;
    let mut response = match decided {
        Ok(response) => response,
        Err(problem) => problem.into_response(),
    };
    let mut went_wrong = None;
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        note(&problem, route, context);
        went_wrong = Some(access_log::of_problem(&problem));
        if context.navigation {
            response = page_instead(&problem, &response, context);
        }
    }
    if route == "gateway" {
        set_security_headers(response.headers_mut());
    }
    if clears_redirects && response.status().is_success() {
        response = with_cookie(response, parts.cookies.clear(Purpose::Redirects));
    }
    if parts.cookies.secure && !parts.hosts.is_loopback() {
        response.headers_mut().insert(
            header::STRICT_TRANSPORT_SECURITY,
            HeaderValue::from_static("max-age=31536000"),
        );
    }
    (response, went_wrong)
}

/// Returns the page for a problem, with the cookies of the response for programs.
fn page_instead(problem: &Problem, response: &Response, context: &Context) -> Response {
    let page = error_response::page(problem, &context.request_id_text());
    let mut page = page.into_response();
    problem.add_retry_after(&mut page);
    for cookie in response.headers().get_all(header::SET_COOKIE) {
        page.headers_mut()
            .append(header::SET_COOKIE, cookie.clone());
    }
    page
}

async fn decide(
    dispatcher: &Dispatcher,
    site: Option<&Site>,
    own: Option<&OwnPath>,
    context: &Context,
    mut request: Request<Body>,
) -> Result<Response, Problem> {
    let site = site.ok_or_else(|| {
        dispatcher
            .parts
            .handlers
            .authentication
            .unknown_host(context)
    })?;
    // held until the response begins; load balancers are always answered
    let _place = match dispatcher.parts.waiting.try_acquire() {
        Ok(place) => Some(place),
        Err(_) if own.is_some_and(OwnPath::is_for_load_balancers) => None,
        Err(_) => return Err(Problem::busy()),
    };
    path::check(request.uri().path()).map_err(Problem::bad_path)?;
    let upgrade = upgrade::asked(&request);
    if request.method() == Method::CONNECT {
        return Err(Problem::method_not_allowed());
    }
    if !own.is_some_and(|own| own.skips_origin_check(request.method()))
        && !is_bearer_request(site, request.headers())
    {
        let checked = origin::check(
            site.origin(&dispatcher.parts.hosts),
            request.method(),
            request.headers(),
            upgrade,
        );
        if let Err(fault) = checked {
            if upgrade
                || !allows_cross_origin(&dispatcher.parts.authorization, site, context, &request)
            {
                return Err(Problem::foreign_origin(fault));
            }
            request.extensions_mut().insert(CrossOrigin(fault));
        }
    }
    let router = match site {
        Site::Main => &dispatcher.main,
        // requests of the app itself need no routing
        Site::App(_) if !own_paths::is_under_oauth2(request.uri().path()) => {
            let reverse_proxy = &dispatcher.parts.handlers.reverse_proxy;
            let answer = routes::app_request(reverse_proxy, context, request).await;
            return Ok(answer.into_response());
        }
        Site::App(_) => &dispatcher.app,
    };
    request.extensions_mut().insert(context.clone());
    match router.clone().oneshot(request).await {
        Ok(response) => Ok(response),
        Err(never) => match never {},
    }
}

/// Returns whether every client may send the request to an app, from a page of any origin.
fn allows_cross_origin(
    authorization: &Authorization,
    site: &Site,
    context: &Context,
    request: &Request<Body>,
) -> bool {
    let Site::App(app) = site else {
        return false;
    };
    let path = request.uri().path();
    let asked = Asked {
        method: request.method(),
        path,
        headers: request.headers(),
        client: context.client,
    };
    !own_paths::is_under_oauth2(path) && authorization.allows_cross_origin(app, &asked)
}

/// Returns the route label for the metrics of a request.
fn route_label<'s>(site: Option<&'s Site>, path: &str, own: Option<&OwnPath>) -> &'s str {
    match site {
        None => "unknown",
        Some(_) if path.starts_with("/oauth2/") => "gateway",
        Some(Site::Main) if own.is_some() => "gateway",
        Some(Site::Main) => "panel",
        Some(Site::App(app)) => &app.config.id,
    }
}

fn note(problem: &Problem, route: &str, context: &Context) {
    let source = match problem.source {
        Source::Downstream => "downstream",
        Source::Upstream => "upstream",
        Source::Internal => "internal",
    };
    metrics::problem(problem.code, source);
    if problem.status.is_server_error() {
        tracing::warn!(
            code = problem.code,
            source,
            route,
            request_id = context.request_id_text(),
            "{}",
            problem.title
        );
    }
}

#[cfg(test)]
mod tests;
