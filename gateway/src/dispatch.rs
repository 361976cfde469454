//! Dispatches every request: checks host, path and origin, then calls the host's own routes.
mod panic;

use std::{sync::Arc, time::Instant};

use axum::{
    Extension, Router,
    body::Body,
    extract::State,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderValue, Method, Request, header};
use tower::ServiceExt as _;

use crate::{
    access::{
        access_log::{self, AccessLogEntry},
        origin::{self, OriginFault},
    },
    authentication::with_cookie,
    bearer::presents_one,
    error_response::{Problem, Source},
    hosts::Site,
    metrics,
    own_paths::{self, OwnPath},
    pages::layout::set_security_headers,
    proxy::routes,
    rules::Asked,
    session::cookie::Purpose,
    state::{Context, Gateway, Shared},
};
use portico_proxy::stream::upgrade;
use portico_request::path;

/// The routes of both kinds of host.
pub(crate) struct Dispatcher {
    pub gateway: Shared,
    pub main: Router,
    pub app: Router,
}

/// Marks a request that a page of another origin has sent: it is handled without a session.
#[derive(Clone, Copy)]
pub(crate) struct CrossOrigin(pub OriginFault);

pub(crate) async fn dispatch(dispatcher: &Dispatcher, request: Request<Body>) -> Response {
    let gateway = &dispatcher.gateway;
    let started = Instant::now();
    let site = gateway.site_of(&request);
    let context = Context::of(gateway, site.clone().unwrap_or(Site::Main), &request);
    let path = request.uri().path();
    let own = site
        .as_ref()
        .and_then(|site| own_paths::find(site.kind(), path));
    let route = route_label(site.as_ref(), path, own);
    let line = AccessLogEntry::of(&context, &request);
    // boxed here once: every layer around it would otherwise move the whole future
    let answer = Box::pin(answer(
        dispatcher,
        site.as_ref(),
        own,
        &context,
        route,
        request,
    ));
    let handled = async {
        let (response, problem) = answer.await;
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
    request: Request<Body>,
) -> (Response, Option<(&'static str, Source)>) {
    let gateway = &dispatcher.gateway;
    let round_may_end =
        context.navigation && route != "gateway" && gateway.counts_rounds(request.headers());
    let decided = panic::caught(decide(dispatcher, site, own, context, request)).await;
    let mut response = match decided {
        Ok(response) => response,
        Err(problem) => problem.into_response(),
    };
    let mut went_wrong = None;
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        note(&problem, route, context);
        went_wrong = Some(access_log::of_problem(&problem));
        let cookies: Vec<HeaderValue> = response
            .headers()
            .get_all(header::SET_COOKIE)
            .iter()
            .cloned()
            .collect();
        response = problem.respond(context.navigation, &context.request_id_text());
        for cookie in cookies {
            response.headers_mut().append(header::SET_COOKIE, cookie);
        }
    }
    if route == "gateway" {
        set_security_headers(response.headers_mut());
    }
    if round_may_end && response.status().is_success() {
        response = with_cookie(response, gateway.cookies.clear(Purpose::Rounds));
    }
    if gateway.cookies.secure && !gateway.is_loopback() {
        response.headers_mut().insert(
            header::STRICT_TRANSPORT_SECURITY,
            HeaderValue::from_static("max-age=31536000"),
        );
    }
    (response, went_wrong)
}

async fn decide(
    dispatcher: &Dispatcher,
    site: Option<&Site>,
    own: Option<&OwnPath>,
    context: &Context,
    mut request: Request<Body>,
) -> Result<Response, Problem> {
    let site = site.ok_or_else(|| dispatcher.gateway.unknown_host(context))?;
    // held until the response begins; load balancers are always answered
    let _place = match dispatcher.gateway.waiting.try_acquire() {
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
            site.origin(&dispatcher.gateway.hosts),
            request.method(),
            request.headers(),
            upgrade,
        );
        if let Err(fault) = checked {
            if upgrade
                || !dispatcher
                    .gateway
                    .allows_cross_origin(site, context, &request)
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
            let (gateway, context) = (Arc::clone(&dispatcher.gateway), context.clone());
            let answer = routes::app(State(gateway), Extension(context), request).await;
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

impl Gateway {
    /// Returns whether every client may send the request to an app, from a page of any origin.
    fn allows_cross_origin(&self, site: &Site, context: &Context, request: &Request<Body>) -> bool {
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
        !own_paths::is_under_oauth2(path) && self.is_open_to_pages_elsewhere(app, &asked)
    }
}

/// Returns whether the request has a bearer token and no cookie. No browser sends that by itself
/// for another page, so the origin need not be checked.
pub(crate) fn is_bearer_request(site: &Site, headers: &HeaderMap) -> bool {
    match site {
        Site::Main => false,
        Site::App(app) => {
            !app.config.bearer.is_empty()
                && !headers.contains_key(header::COOKIE)
                && presents_one(headers)
        }
    }
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
