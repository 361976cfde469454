//! Routes everything that is not the gateway's own: the panel on the main host, the apps on their
//! hosts.
use std::sync::Arc;

use axum::{Extension, body::Body, extract::State, response::Response};
use http::{HeaderMap, Request, Uri, header};
use jiff::Timestamp;
use portico_assertion::claims::OpenApps;

use super::{panel_audit::OnBehalf, project::project_of};
use crate::{
    access::origin::OriginFault,
    authentication::{Interrupt, NoSession},
    bearer::{Bearer, watch},
    dispatch::CrossOrigin,
    error_response::Problem,
    forward_auth, handover,
    hosts::{App, Site},
    rules::{Asked, Decision, Refusal},
    session::{assertion::PANEL, live::Caller},
    state::{Context, Gateway, Shared},
};
use portico_proxy::headers::Trust;

/// Handles every request to the main host that no other route takes.
pub(crate) async fn panel(
    State(gateway): State<Shared>,
    Extension(context): Extension<Context>,
    request: Request<Body>,
) -> Result<Response, Interrupt> {
    let browser = gateway
        .browser(&context, request.headers(), request.uri())
        .await;
    let caller = match browser {
        Ok(caller) => caller,
        Err(stop) => return Err(Box::pin(gateway.keep_form(&context, request, stop)).await),
    };
    if !caller.live.root().has_keystone() {
        return Box::pin(gateway.oidc_only_user(&context, &caller)).await;
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
    let apps = match &token {
        Some(token) => {
            let project = &token.project.id;
            Box::pin(gateway.open_apps(project, &caller, context.client)).await
        }
        None => OpenApps::new(),
    };
    let identity = gateway.identity_headers(&caller, PANEL, token.as_deref(), apps)?;
    let on_behalf = OnBehalf {
        session: Arc::clone(&caller.session),
        project: token.map(|token| token.project.id.clone()),
    };
    let connection = caller.live.connections.open();
    gateway
        .pass_on_to_panel(&context, connection, on_behalf, identity, request)
        .await
}

/// Handles every request to an app's host that no other route takes.
pub(crate) async fn app(
    State(gateway): State<Shared>,
    Extension(context): Extension<Context>,
    request: Request<Body>,
) -> Result<Response, Interrupt> {
    let Site::App(app) = &context.site else {
        return Err(Problem::not_found().into());
    };
    if app.config.forward_auth {
        return Err(forward_auth::served_elsewhere(app).into());
    }
    let route = app.upstream.route.as_ref();
    if route.is_some_and(|route| route.reaches_beyond(&request)) {
        return Err(Problem::service_worker(&app.config.name).into());
    }
    if let Some(elsewhere) = request.extensions().get::<CrossOrigin>() {
        let fault = elsewhere.0;
        return Box::pin(anonymous(&gateway, &context, app, fault, request)).await;
    }
    let bearer = gateway
        .api_caller(&context, app, request.headers(), app.cookie_of())
        .await?;
    if let Some(bearer) = bearer {
        return Box::pin(program(gateway, &context, app, bearer, request)).await;
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
            return Box::pin(gateway.pass_on_bare(&context, app, request)).await;
        }
        (Decision::Open(_), None) | (Decision::SignIn, _) => {
            let missing = known.err().unwrap_or(NoSession::NoCookie);
            return Err(Box::pin(gateway.sign_in_for(&context, app, request, missing)).await);
        }
        (Decision::SignInAgain(refusal), _) => {
            return Err(gateway.confirm_for(&context, app, &request, &refusal));
        }
        (Decision::Refused(refusal), caller) => {
            return Ok(Box::pin(gateway.refuse_app(&context, caller, app, &refusal)).await);
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

/// Handles a request by a page of another origin: permitted only where a rule permits every client,
/// and forwarded without identity.
async fn anonymous(
    gateway: &Shared,
    context: &Context,
    app: &App,
    fault: OriginFault,
    request: Request<Body>,
) -> Result<Response, Interrupt> {
    match gateway.decide(app, &asked(context, &request), None).await? {
        Decision::Public | Decision::Preflight => gateway.pass_on_bare(context, app, request).await,
        _ => Err(Problem::foreign_origin(fault).into()),
    }
}

/// Handles a request with a bearer token: the same rules apply, but it is never redirected to
/// sign-in.
async fn program(
    gateway: Shared,
    context: &Context,
    app: &App,
    bearer: Arc<Bearer>,
    request: Request<Body>,
) -> Result<Response, Interrupt> {
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
        // it is unknown when the owner of the bearer token signed in
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
    /// Returns the user who opens an app: by the session of the app's host, or, where the app is on
    /// the main host, by that of the main host.
    async fn app_caller(
        &self,
        context: &Context,
        app: &App,
        headers: &HeaderMap,
        uri: &Uri,
    ) -> Result<Result<Caller, NoSession>, Interrupt> {
        let caller = match self.lookup(headers, app.cookie_of()).await? {
            Ok(caller) => caller,
            Err(missing) => return Ok(Err(missing)),
        };
        if let Err(missing) = self.ensure_valid(context, &caller).await? {
            return Ok(Err(missing));
        }
        if !app.has_own_host() {
            self.leave_arrival_behind(context, uri)?;
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
            return handover::begin(self, context, app, &request);
        }
        let stop = self.not_signed_in(context, request.headers(), request.uri(), missing);
        self.keep_form(context, request, stop).await
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
            return self.ask_to_sign_in_again(app, refusal).into();
        }
        if app.has_own_host() {
            // the main host asks for it during the hand-over
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

    /// Stores the project for the user's next visit, in the background.
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
