//! Everything that is not the gateway's own: the panel on the main host, the apps on theirs.
use std::{sync::Arc, time::Instant};

use axum::{
    Extension,
    body::Body,
    extract::State,
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Uri, header};
use jiff::Timestamp;
use portico_store::Outcome;
use tracing::{Instrument as _, field::Empty};

use super::{forward::Added, headers::Trust, upstream::Upstream};
use crate::{
    access::line,
    api_callers::{Bearer, watch},
    audit::Event,
    forward_auth,
    guard::Stop,
    handover,
    hosts::{App, Site},
    meters, pages,
    problem::Problem,
    session::{assertion::PANEL, live::Caller},
    state::{Context, Gateway, Shared},
};

const PORTICO_PROJECT: HeaderName = HeaderName::from_static("portico-project");

/// Everything on the main host that no other route takes.
pub(crate) async fn panel(
    State(gateway): State<Shared>,
    Extension(context): Extension<Context>,
    request: Request<Body>,
) -> Result<Response, Stop> {
    let browser = gateway
        .browser(&context, request.headers(), request.uri())
        .await;
    let caller = match browser {
        Ok(caller) => caller,
        Err(stop) => return Err(gateway.keep_form(&context, request, stop).await),
    };
    if !caller.live.root().has_keystone() {
        return gateway.without_keystone(&context, &caller).await;
    }
    let token = match project_of(&request) {
        Some(project) => gateway.project_token(&caller.live, &project).await?,
        None => None,
    };
    if context.navigation
        && let Some(token) = &token
    {
        gateway.remember_project(&caller, &token.project.id);
    }
    let identity = gateway.identity_headers(&caller, PANEL, token.as_deref())?;
    let upstream = &gateway.panel;
    gateway
        .pass_on(&context, &caller, upstream, Trust::Panel, identity, request)
        .await
}

/// Everything on an app's host that no other route takes.
pub(crate) async fn app(
    State(gateway): State<Shared>,
    Extension(context): Extension<Context>,
    request: Request<Body>,
) -> Result<Response, Stop> {
    let Site::App(app) = &context.site else {
        return Err(Problem::not_found().into());
    };
    if app.config.forward_auth {
        return Err(forward_auth::served_elsewhere(app).into());
    }
    let bearer = gateway
        .api_caller(&context, app, request.headers(), app.cookie_of())
        .await?;
    if let Some(bearer) = bearer {
        return program(gateway, &context, app, bearer, request).await;
    }
    let (headers, uri) = (request.headers(), request.uri());
    let caller = match gateway.app_caller(&context, app, headers, uri).await {
        Ok(caller) => caller,
        Err(stop) if app.has_own_host() => return Err(stop),
        Err(stop) => return Err(gateway.keep_form(&context, request, stop).await),
    };
    app.limits.admit(&context, caller.as_ref())?;
    let Some(caller) = caller else {
        return Err(handover::begin(&gateway, &context, app, &request));
    };
    let Some(key) = gateway.key_to(app, &caller.live).await? else {
        return Ok(gateway.refuse_app(&context, &caller, app).await);
    };
    let identity = gateway.identity(app, Some(&caller), Some(&key)).await?;
    gateway
        .pass_on(
            &context,
            &caller,
            &app.upstream,
            Trust::App,
            identity,
            request,
        )
        .await
}

/// A request of a program with a bearer: the same rules, and no way to sign in.
async fn program(
    gateway: Shared,
    context: &Context,
    app: &App,
    bearer: Arc<Bearer>,
    request: Request<Body>,
) -> Result<Response, Stop> {
    let caller = bearer.caller();
    app.limits.admit(context, Some(caller))?;
    let Some(key) = gateway.key_to(app, &caller.live).await? else {
        return Ok(gateway.refuse_api_caller(context, caller, app).await);
    };
    let identity = gateway.identity(app, Some(caller), Some(&key)).await?;
    let response = gateway
        .pass_on(
            context,
            caller,
            &app.upstream,
            Trust::App,
            identity,
            request,
        )
        .await;
    watch(gateway, bearer);
    response
}

impl Gateway {
    /// Who opens an app: by the session of the app's host, or, where the app is on the main host,
    /// by that of the main host. `None` where the app's host has to be handed a session first.
    async fn app_caller(
        &self,
        context: &Context,
        app: &App,
        headers: &HeaderMap,
        uri: &Uri,
    ) -> Result<Option<Caller>, Stop> {
        if !app.has_own_host() {
            return self.browser(context, headers, uri).await.map(Some);
        }
        let Ok(caller) = self.lookup(headers, app.cookie_of()).await? else {
            return Ok(None);
        };
        let stands = self.standing(context, &caller).await?.is_ok();
        Ok(stands.then_some(caller))
    }

    /// Says which role opens the app, on a page or in JSON.
    pub async fn refuse_app(&self, context: &Context, caller: &Caller, app: &App) -> Response {
        let event = Event::new("app.open", Outcome::Denied)
            .session(&caller.session)
            .project(Some(&app.config.project))
            .target(&app.config.id)
            .reason("no role or group that opens it");
        self.audit(context, event).await;
        line::refused("app_refused");
        let doors = self.doors(&app.config.allow, &caller.live);
        if context.navigation {
            let home = format!("{}/", self.hosts.main());
            let (name, user) = (&app.config.name, &caller.session.user.name);
            return pages::app::refused(name, user, &doors, &home, &context.request_id_text())
                .into_response();
        }
        let roles: Vec<String> = doors.iter().map(pages::app::Door::in_words).collect();
        Problem::downstream(
            http::StatusCode::FORBIDDEN,
            "app_refused",
            "Not permitted",
            format!("{} opens for: {}.", app.config.name, roles.join(", ")),
        )
        .into_response()
    }

    async fn pass_on(
        &self,
        context: &Context,
        caller: &Caller,
        upstream: &Upstream,
        trust: Trust,
        identity: Vec<(HeaderName, HeaderValue)>,
        request: Request<Body>,
    ) -> Result<Response, Stop> {
        let added = Added {
            scheme: if self.hosts.secure() { "https" } else { "http" },
            client: context.client,
            identity,
            named: self.identities.named(&upstream.id),
        };
        let started = Instant::now();
        let connection = caller.live.connections.open();
        let span = tracing::debug_span!(
            "upstream",
            otel.kind = "client",
            peer.service = upstream.id,
            http.response.status_code = Empty
        );
        let result = self
            .forwarder
            .forward(request, upstream, trust, added, connection)
            .instrument(span.clone())
            .await;
        meters::upstream(&upstream.id, started.elapsed());
        if let Ok(response) = &result {
            let status = i64::from(response.status().as_u16());
            span.record("http.response.status_code", status);
            line::passed_on();
        }
        result.map_err(|error| {
            let problem = Problem::forwarding(&upstream.name, &error);
            if problem.status.is_server_error() {
                tracing::warn!(upstream = upstream.id, %error, "an upstream did not answer");
            }
            problem.into()
        })
    }

    /// Remembers the project for the user's next visit, in the background.
    fn remember_project(&self, caller: &Caller, project: &str) {
        if caller.live.root().last_project.as_deref() == Some(project) {
            return;
        }
        let (store, session) = (self.store.clone(), Arc::clone(&caller.session));
        let project = project.to_owned();
        tokio::spawn(async move {
            let remembered = store
                .sessions()
                .set_last_project(&session, &project, Timestamp::now())
                .await;
            if let Err(error) = remembered {
                tracing::warn!(%error, "the project used last could not be written down");
            }
        });
    }
}

/// The project that a request to the panel is about: in the path, the query or a header.
fn project_of<B>(request: &Request<B>) -> Option<String> {
    in_path(request.uri())
        .or_else(|| in_query(request.uri()))
        .or_else(|| {
            request
                .headers()
                .get(PORTICO_PROJECT)
                .and_then(|value| value.to_str().ok())
                .map(str::to_owned)
        })
        .filter(|id| is_project_id(id))
}

fn in_path(uri: &Uri) -> Option<String> {
    let rest = uri.path().strip_prefix("/projects/")?;
    rest.split('/').next().map(str::to_owned)
}

fn in_query(uri: &Uri) -> Option<String> {
    url::form_urlencoded::parse(uri.query()?.as_bytes())
        .find(|(name, _)| name == "project")
        .map(|(_, value)| value.into_owned())
}

fn is_project_id(id: &str) -> bool {
    (1..=64).contains(&id.len())
        && id
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

/// The path and query of a request, as a place to come back to.
pub(crate) fn here<B>(request: &Request<B>) -> String {
    // what was sent once must not be sent again by coming back
    if request.method().is_safe() {
        request
            .uri()
            .path_and_query()
            .map_or_else(|| "/".to_owned(), ToString::to_string)
    } else {
        request
            .headers()
            .get(header::REFERER)
            .and_then(|referer| referer.to_str().ok()?.parse::<Uri>().ok())
            .and_then(|referer| referer.path_and_query().map(ToString::to_string))
            .unwrap_or_else(|| "/".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(target: &str, header: Option<&str>) -> Option<String> {
        let mut request = Request::new(());
        *request.uri_mut() = target.parse().expect("uri");
        if let Some(header) = header {
            request
                .headers_mut()
                .insert(PORTICO_PROJECT, header.parse().expect("value"));
        }
        project_of(&request)
    }

    #[test]
    fn the_path_names_the_project_first() {
        assert_eq!(
            project("/projects/p1/clusters?project=p2", Some("p3")).as_deref(),
            Some("p1")
        );
        assert_eq!(
            project("/api/a/b?project=p2", Some("p3")).as_deref(),
            Some("p2")
        );
        assert_eq!(project("/api/a/b", Some("p3")).as_deref(), Some("p3"));
        assert_eq!(project("/", None), None);
        assert_eq!(project("/projects/", None), None);
        assert_eq!(project("/projects/a%2e", None), None);
    }
}
