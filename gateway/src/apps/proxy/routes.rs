//! Routes everything that is not the gateway's own: the panel on the main host, the apps on their
//! hosts.
use std::sync::Arc;

use axum::{
    Extension,
    body::Body,
    extract::{FromRef, FromRequest, State},
    response::Response,
};
use http::{HeaderMap, Request, Uri, header};
use portico_assertion::claims::OpenApps;
use portico_proxy::headers::Trust;

use super::{ReverseProxy, panel_audit::OnBehalf, project::project_of};
use crate::{
    apps::{
        authorization::{Asked, Decision, Refusal},
        bearer::{Bearer, watch},
        forward_auth, handover,
    },
    authentication::NoSession,
    config::PANEL_ID,
    hosts::{App, Site},
    http::{
        error_response::Problem,
        interrupt::Interrupt,
        origin::{CrossOrigin, OriginFault},
    },
    request_context::Context,
    sessions::{assertion::ForPanel, live::Caller},
};

/// A request to the panel by a signed-in user, recently validated by Keystone. Without a session, a
/// browser is redirected to sign-in; a form that it submitted is saved.
pub(crate) struct PanelRequest {
    context: Context,
    caller: Caller,
    request: Request<Body>,
}

impl<S> FromRequest<S> for PanelRequest
where
    S: Send + Sync,
    Arc<ReverseProxy>: FromRef<S>,
{
    type Rejection = Interrupt;

    async fn from_request(request: Request<Body>, state: &S) -> Result<Self, Interrupt> {
        let context = request.extensions().get::<Context>().cloned();
        let context = context.ok_or_else(Problem::internal)?;
        let proxy: Arc<ReverseProxy> = Arc::from_ref(state);
        let caller = proxy
            .authentication
            .browser(&context, request.headers(), request.uri())
            .await;
        match caller {
            Ok(caller) => Ok(Self {
                context,
                caller,
                request,
            }),
            Err(stop) => Err(Box::pin(proxy.saved_forms.save_form(&context, request, stop)).await),
        }
    }
}

/// Handles every request to the main host that no other route takes.
pub(crate) async fn panel(
    State(reverse_proxy): State<Arc<ReverseProxy>>,
    PanelRequest {
        context,
        caller,
        request,
    }: PanelRequest,
) -> Result<Response, Interrupt> {
    if !caller.live.root().has_keystone() {
        return Box::pin(reverse_proxy.oidc_only_user(&context, &caller)).await;
    }
    let token = match project_of(&request) {
        Some(project) => {
            reverse_proxy
                .sessions
                .project_token(&caller.live, &project)
                .await?
        }
        None => None,
    };
    if context.navigation
        && let Some(token) = &token
    {
        reverse_proxy.remember_project(&caller, &token.project.id);
    }
    let apps = match &token {
        Some(token) => {
            let project = &token.project.id;
            Box::pin(
                reverse_proxy
                    .authorization
                    .open_apps(project, &caller, context.client),
            )
            .await
        }
        None => OpenApps::new(),
    };
    let namespaces = reverse_proxy
        .namespace_candidates
        .of(&caller.session.user.id, token.as_deref())
        .await;
    let identity = reverse_proxy.assertions.identity_headers(
        &caller,
        PANEL_ID,
        token.as_deref(),
        ForPanel { apps, namespaces },
    )?;
    let on_behalf = OnBehalf {
        session: Arc::clone(&caller.session),
        project: token.map(|token| token.project.id.clone()),
    };
    let connection = caller.live.connections.open();
    reverse_proxy
        .pass_on_to_panel(&context, connection, on_behalf, identity, request)
        .await
}

/// Handles every request to an app's host that no other route takes.
pub(crate) async fn app(
    State(reverse_proxy): State<Arc<ReverseProxy>>,
    Extension(context): Extension<Context>,
    request: Request<Body>,
) -> Result<Response, Interrupt> {
    app_request(&reverse_proxy, &context, request).await
}

/// Handles a request to an app. The dispatcher calls it with what it has itself.
pub(crate) async fn app_request(
    reverse_proxy: &Arc<ReverseProxy>,
    context: &Context,
    request: Request<Body>,
) -> Result<Response, Interrupt> {
    let Site::App(app) = &context.site else {
        return Err(Problem::not_found().into());
    };
    if app.config.forward_auth {
        return Err(forward_auth::served_by_other_proxy(app).into());
    }
    let route = app.upstream.route.as_ref();
    if route.is_some_and(|route| route.reaches_beyond(&request)) {
        return Err(Problem::service_worker(&app.config.name).into());
    }
    if let Some(elsewhere) = request.extensions().get::<CrossOrigin>() {
        let fault = elsewhere.0;
        return Box::pin(anonymous(reverse_proxy, context, app, fault, request)).await;
    }
    let bearer = reverse_proxy
        .bearer_authentication
        .api_caller(context, app, request.headers(), app.cookie_of())
        .await?;
    if let Some(bearer) = bearer {
        return Box::pin(program(
            Arc::clone(reverse_proxy),
            context,
            app,
            bearer,
            request,
        ))
        .await;
    }
    let (headers, uri) = (request.headers(), request.uri());
    let known = reverse_proxy.app_caller(context, app, headers, uri).await?;
    let caller = known.as_ref().ok();
    app.limits.admit(user_id(caller), context.client)?;
    let decision = reverse_proxy
        .authorization
        .decide(app, &asked(context, &request), caller)
        .await?;
    let identity = match (decision, caller) {
        (Decision::Open(key), Some(caller)) => {
            reverse_proxy
                .upstream_identity
                .identity(app, Some(caller), Some(&key))
                .await?
        }
        (Decision::Public, caller) => {
            reverse_proxy
                .upstream_identity
                .identity(app, caller, None)
                .await?
        }
        (Decision::Preflight, _) => {
            return Box::pin(reverse_proxy.pass_on_bare(context, app, request)).await;
        }
        (Decision::Open(_), None) | (Decision::SignIn, _) => {
            let missing = known.err().unwrap_or(NoSession::NoCookie);
            return Err(Box::pin(reverse_proxy.sign_in_for(context, app, request, missing)).await);
        }
        (Decision::SignInAgain(refusal), _) => {
            return Err(reverse_proxy.confirm_for(context, app, &request, &refusal));
        }
        (Decision::Refused(refusal), caller) => {
            return Ok(Box::pin(
                reverse_proxy
                    .authorization
                    .refuse_app(context, caller, app, &refusal),
            )
            .await);
        }
    };
    let connection = reverse_proxy.connection(app, caller);
    reverse_proxy
        .pass_on(
            context,
            connection,
            &app.upstream,
            Trust::App,
            identity,
            request,
        )
        .await
}

fn user_id(caller: Option<&Caller>) -> Option<&String> {
    caller.map(|caller| &caller.session.user.id)
}

fn asked<'r>(context: &Context, request: &'r Request<Body>) -> Asked<'r> {
    Asked {
        method: request.method(),
        path: request.uri().path(),
        headers: request.headers(),
        client: context.client,
    }
}

/// Handles a request by a page of another origin: permitted only where a rule permits every client,
/// and forwarded without identity.
async fn anonymous(
    reverse_proxy: &Arc<ReverseProxy>,
    context: &Context,
    app: &App,
    fault: OriginFault,
    request: Request<Body>,
) -> Result<Response, Interrupt> {
    match reverse_proxy
        .authorization
        .decide(app, &asked(context, &request), None)
        .await?
    {
        Decision::Public | Decision::Preflight => {
            reverse_proxy.pass_on_bare(context, app, request).await
        }
        _ => Err(Problem::foreign_origin(fault).into()),
    }
}

/// Handles a request with a bearer token: the same rules apply, but it is never redirected to
/// sign-in.
async fn program(
    reverse_proxy: Arc<ReverseProxy>,
    context: &Context,
    app: &App,
    bearer: Arc<Bearer>,
    request: Request<Body>,
) -> Result<Response, Interrupt> {
    let caller = bearer.caller();
    app.limits.admit(user_id(Some(caller)), context.client)?;
    let decision = reverse_proxy
        .authorization
        .decide(app, &asked(context, &request), Some(caller))
        .await?;
    let key = match decision {
        Decision::Open(key) => Some(key),
        Decision::Public => None,
        Decision::Preflight => return reverse_proxy.pass_on_bare(context, app, request).await,
        Decision::SignIn => return Err(Problem::signed_out().into()),
        // it is unknown when the owner of the bearer token signed in
        Decision::SignInAgain(refusal) | Decision::Refused(refusal) => {
            return Ok(reverse_proxy
                .bearer_authentication
                .refuse_bearer_caller(context, caller, app, Some(&refusal))
                .await);
        }
    };
    let identity = reverse_proxy
        .upstream_identity
        .identity(app, Some(caller), key.as_ref())
        .await?;
    let response = reverse_proxy
        .pass_on(
            context,
            caller.live.connections.open(),
            &app.upstream,
            Trust::App,
            identity,
            request,
        )
        .await;
    watch(Arc::clone(&reverse_proxy.bearer_authentication), bearer);
    response
}

impl ReverseProxy {
    /// Returns the user who opens an app: by the session of the app's host, or, where the app is on
    /// the main host, by that of the main host.
    async fn app_caller(
        &self,
        context: &Context,
        app: &App,
        headers: &HeaderMap,
        uri: &Uri,
    ) -> Result<Result<Caller, NoSession>, Interrupt> {
        let caller = match self.authentication.lookup(headers, app.cookie_of()).await? {
            Ok(caller) => caller,
            Err(missing) => return Ok(Err(missing)),
        };
        if let Err(missing) = self.authentication.ensure_valid(context, &caller).await? {
            return Ok(Err(missing));
        }
        if !app.has_own_host() {
            self.authentication.remove_sign_in_mark(context, uri)?;
        }
        Ok(Ok(caller))
    }

    /// Redirects a user who opens an app to sign-in: by the hand-over to the app's host, or, where
    /// the app is on the main host, directly; a submitted form is saved there.
    async fn sign_in_for(
        &self,
        context: &Context,
        app: &App,
        request: Request<Body>,
        missing: NoSession,
    ) -> Interrupt {
        if app.has_own_host() {
            return handover::begin(&self.handovers, context, app, &request);
        }
        let stop =
            self.authentication
                .not_signed_in(context, request.headers(), request.uri(), missing);
        self.saved_forms.save_form(context, request, stop).await
    }

    /// Redirects a browser to the page where the user confirms their identity; answers other
    /// clients with an error.
    fn confirm_for(
        &self,
        context: &Context,
        app: &App,
        request: &Request<Body>,
        refusal: &Refusal,
    ) -> Interrupt {
        if !(context.navigation && request.method().is_safe()) {
            return self.authorization.ask_to_sign_in_again(app, refusal).into();
        }
        if app.has_own_host() {
            // the main host asks for it during the hand-over
            return handover::begin(&self.handovers, context, app, request);
        }
        let query = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("rd", &here(request))
            .finish();
        self.authorization
            .ask_to_sign_in_again(app, refusal)
            .leads_to(
                "Confirm who you are",
                format!("/oauth2/reauthenticate?{query}"),
            )
            .into()
    }

    /// Stores the project for the user's next visit, in the background.
    fn remember_project(&self, caller: &Caller, project: &str) {
        if caller.live.root().last_project.as_deref() == Some(project) {
            return;
        }
        let (store, session) = (self.store.clone(), Arc::clone(&caller.session));
        let (project, now) = (project.to_owned(), self.clock.now());
        #[allow(
            clippy::disallowed_methods,
            reason = "a stop loses no more than a preference"
        )]
        tokio::spawn(async move {
            let remembered = store
                .sessions()
                .set_last_project(&session, &project, now)
                .await;
            if let Err(error) = remembered {
                tracing::warn!(%error, "the project used last could not be written down");
            }
        });
    }
}

/// Returns the path and query of a request as a return path.
pub(crate) fn here<B>(request: &Request<B>) -> String {
    // a return must not submit again what was submitted once
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
