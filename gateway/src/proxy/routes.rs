//! Everything that is not the gateway's own: the panel on the main host, the apps on theirs.
use std::{sync::Arc, time::Instant};

use axum::{Extension, body::Body, extract::State, response::Response};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri, header};
use jiff::Timestamp;
use tracing::{Instrument as _, field::Empty};

use super::{connections::Connection, forward::Added, headers::Trust, upstream::Upstream};
use crate::{
    access::{line, origin::OriginFault},
    api_callers::{Bearer, watch},
    dispatch::FromElsewhere,
    forward_auth,
    guard::{Missing, Stop},
    handover,
    hosts::{App, Site},
    meters,
    problem::Problem,
    rules::{Asked, Decision, Refusal},
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
    if app.config.forward_auth {
        return Err(forward_auth::served_elsewhere(app).into());
    }
    if let Some(elsewhere) = request.extensions().get::<FromElsewhere>() {
        let fault = elsewhere.0;
        return anonymous(&gateway, &context, app, fault, request).await;
    }
    let bearer = gateway
        .api_caller(&context, app, request.headers(), app.cookie_of())
        .await?;
    if let Some(bearer) = bearer {
        return program(gateway, &context, app, bearer, request).await;
    }
    let (headers, uri) = (request.headers(), request.uri());
    let known = gateway.app_caller(&context, app, headers, uri).await?;
    let caller = known.as_ref().ok();
    app.limits.admit(&context, caller)?;
    let decision = gateway
        .decide(app, &asked(&context, &request), caller)
        .await?;
    let identity = match (decision, caller) {
        (Decision::Open(key), Some(caller)) => {
            gateway.identity(app, Some(caller), Some(&key)).await?
        }
        (Decision::Public, caller) => gateway.identity(app, caller, None).await?,
        (Decision::Preflight, _) => {
            return gateway.pass_on_bare(&context, app, request).await;
        }
        (Decision::Open(_), None) | (Decision::SignIn, _) => {
            let missing = known.err().unwrap_or(Missing::NoCookie);
            return Err(gateway.sign_in_for(&context, app, request, missing).await);
        }
        (Decision::SignInAgain(refusal), _) => {
            return Err(gateway.confirm_for(&context, app, &request, &refusal));
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
    app.limits.admit(context, Some(caller))?;
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
    let identity = gateway.identity(app, Some(caller), key.as_ref()).await?;
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
    /// Who opens an app: by the session of the app's host, or, where the app is on the main host,
    /// by that of the main host.
    async fn app_caller(
        &self,
        context: &Context,
        app: &App,
        headers: &HeaderMap,
        uri: &Uri,
    ) -> Result<Result<Caller, Missing>, Stop> {
        let caller = match self.lookup(headers, app.cookie_of()).await? {
            Ok(caller) => caller,
            Err(missing) => return Ok(Err(missing)),
        };
        if let Err(missing) = self.standing(context, &caller).await? {
            return Ok(Err(missing));
        }
        if !app.has_own_host() {
            self.leave_arrival_behind(context, uri)?;
        }
        Ok(Ok(caller))
    }

    /// Leads somebody to sign-in who opens an app: by the hand-over to the app's host, or, where
    /// the app is on the main host, at once; a form that they have sent is kept there.
    async fn sign_in_for(
        &self,
        context: &Context,
        app: &App,
        request: Request<Body>,
        missing: Missing,
    ) -> Stop {
        if app.has_own_host() {
            return handover::begin(self, context, app, &request);
        }
        let stop = self.not_signed_in(context, request.headers(), request.uri(), missing);
        self.keep_form(context, request, stop).await
    }

    /// Leads somebody at a page to where they confirm who they are, and tells everything else.
    fn confirm_for(
        &self,
        context: &Context,
        app: &App,
        request: &Request<Body>,
        refusal: &Refusal,
    ) -> Stop {
        if !(context.navigation && request.method().is_safe()) {
            return self.ask_to_sign_in_again(app, refusal).into();
        }
        if app.has_own_host() {
            // the main host asks on the way
            return handover::begin(self, context, app, request);
        }
        let query = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("rd", &here(request))
            .finish();
        self.ask_to_sign_in_again(app, refusal)
            .leads_to(
                "Confirm who you are",
                format!("/oauth2/reauthenticate?{query}"),
            )
            .into()
    }

    async fn pass_on(
        &self,
        context: &Context,
        connection: Connection,
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
