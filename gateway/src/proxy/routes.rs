//! Everything that is not the gateway's own: the panel on the main host, the apps on theirs.
use std::{sync::Arc, time::Instant};

use axum::{Extension, body::Body, extract::State, response::Response};
use http::{HeaderName, HeaderValue, Method, Request, Uri, header};
use jiff::Timestamp;
use tracing::{Instrument as _, field::Empty};

use super::{connections::Connection, forward::Added, headers::Trust, upstream::Upstream};
use crate::{
    access::{line, origin::OriginFault, rules::Key},
    api_callers::{Bearer, watch},
    dispatch::FromElsewhere,
    guard::Stop,
    handover,
    hosts::{App, Site},
    meters,
    problem::Problem,
    rules::{Asked, Decision},
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
    let connection = caller.live.connections.open();
    gateway
        .pass_on(
            &context,
            connection,
            upstream,
            Trust::Panel,
            identity,
            request,
        )
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
    if let Some(elsewhere) = request.extensions().get::<FromElsewhere>() {
        let fault = elsewhere.0;
        return anonymous(&gateway, &context, app, fault, request).await;
    }
    let id = app.config.id.as_str();
    let bearer = gateway
        .api_caller(&context, app, request.headers(), Some(id))
        .await?;
    if let Some(bearer) = bearer {
        return program(gateway, &context, app, bearer, request).await;
    }
    let mut caller = gateway.lookup(request.headers(), Some(id)).await?.ok();
    if let Some(known) = &caller
        && gateway.standing(&context, known).await?.is_err()
    {
        caller = None;
    }
    let caller = caller.as_ref();
    let decision = gateway
        .decide(app, &asked(&context, &request), caller)
        .await?;
    let identity = match (decision, caller) {
        (Decision::Open(key), Some(caller)) => gateway.identity_headers(caller, id, key.token())?,
        (Decision::Public, Some(caller)) => gateway.identity_headers(caller, id, None)?,
        (Decision::Public, None) => Vec::new(),
        (Decision::Preflight, _) => {
            return gateway.pass_on_bare(&context, app, request).await;
        }
        (Decision::Open(_), None) | (Decision::SignIn, _) => {
            return Err(handover::begin(&gateway, &context, app, &request));
        }
        (Decision::SignInAgain(refusal), _) => {
            if context.navigation && request.method().is_safe() {
                // the main host asks for the confirmation on the way
                return Err(handover::begin(&gateway, &context, app, &request));
            }
            return Err(gateway.ask_to_sign_in_again(app, &refusal).into());
        }
        (Decision::Refused(refusal), caller) => {
            return Ok(gateway.refuse_app(&context, caller, app, &refusal).await);
        }
    };
    let connection = gateway.connection(app, caller);
    gateway
        .pass_on(
            &context,
            connection,
            &app.upstream,
            Trust::App,
            identity,
            request,
        )
        .await
}

fn asked<'r>(context: &Context, request: &'r Request<Body>) -> Asked<'r> {
    Asked {
        method: request.method(),
        path: request.uri().path(),
        headers: request.headers(),
        client: context.client,
    }
}

/// A request that a page of another origin has sent: only where everybody may send it, and then
/// without anything that says who does.
async fn anonymous(
    gateway: &Shared,
    context: &Context,
    app: &App,
    fault: OriginFault,
    request: Request<Body>,
) -> Result<Response, Stop> {
    match gateway.decide(app, &asked(context, &request), None).await? {
        Decision::Public | Decision::Preflight => gateway.pass_on_bare(context, app, request).await,
        _ => Err(Problem::foreign_origin(fault).into()),
    }
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
    let decision = gateway
        .decide(app, &asked(context, &request), Some(caller))
        .await?;
    let key = match decision {
        Decision::Open(key) => Some(key),
        Decision::Public => None,
        Decision::Preflight => return gateway.pass_on_bare(context, app, request).await,
        Decision::SignIn => return Err(Problem::signed_out().into()),
        // nobody knows when whoever made the bearer signed in
        Decision::SignInAgain(refusal) | Decision::Refused(refusal) => {
            return Ok(gateway
                .refuse_api_caller(context, caller, app, Some(&refusal))
                .await);
        }
    };
    let token = key.as_ref().and_then(Key::token);
    let identity = gateway.identity_headers(caller, &app.config.id, token)?;
    let response = gateway
        .pass_on(
            context,
            caller.live.connections.open(),
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
    async fn pass_on(
        &self,
        context: &Context,
        connection: Connection,
        upstream: &Upstream,
        trust: Trust,
        identity: Vec<(HeaderName, HeaderValue)>,
        request: Request<Body>,
    ) -> Result<Response, Stop> {
        let origin = context.site.origin(&self.hosts);
        let (scheme, host) = origin.split_once("://").unwrap_or(("http", origin));
        let added = Added {
            host: HeaderValue::from_str(host).map_err(|_| Problem::internal())?,
            scheme: if scheme == "https" { "https" } else { "http" },
            client: context.client,
            identity,
        };
        let started = Instant::now();
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

    /// Passes a request on without anything that says who sends it, and without a body where it is
    /// a preflight.
    async fn pass_on_bare(
        &self,
        context: &Context,
        app: &App,
        mut request: Request<Body>,
    ) -> Result<Response, Stop> {
        request.headers_mut().remove(header::COOKIE);
        if request.method() == Method::OPTIONS {
            request.headers_mut().remove(header::CONTENT_LENGTH);
            *request.body_mut() = Body::empty();
        }
        let connection = self.connection(app, None);
        let (upstream, identity) = (&app.upstream, Vec::new());
        self.pass_on(context, connection, upstream, Trust::App, identity, request)
            .await
    }

    /// What a request opens: it ends with the session, or, of nobody, with the rules that let it.
    fn connection(&self, app: &App, caller: Option<&Caller>) -> Connection {
        match caller {
            Some(caller) => caller.live.connections.open(),
            None => self.rules.open(app),
        }
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
