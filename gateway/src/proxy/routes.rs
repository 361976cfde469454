//! Everything that is not the gateway's own: the panel on the main host, the apps on theirs.
use std::sync::Arc;

use axum::{Extension, body::Body, extract::State, response::Response};
use http::{HeaderMap, Request, Uri, header};
use jiff::Timestamp;
use portico_assertion::claims::OpenApps;

use super::{headers::Trust, panel_audit::OnBehalf, project::project_of};
use crate::{
    access::origin::OriginFault,
    api_callers::{Bearer, watch},
    dispatch::FromElsewhere,
    forward_auth,
    guard::{Missing, Stop},
    handover,
    hosts::{App, Site},
    problem::Problem,
    rules::{Asked, Decision, Refusal},
    session::{assertion::PANEL, live::Caller},
    state::{Context, Gateway, Shared},
};

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
        Err(stop) => return Err(Box::pin(gateway.keep_form(&context, request, stop)).await),
    };
    if !caller.live.root().has_keystone() {
        return Box::pin(gateway.without_keystone(&context, &caller)).await;
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
    let route = app.upstream.route.as_ref();
    if route.is_some_and(|route| route.reaches_beyond(&request)) {
        return Err(Problem::service_worker(&app.config.name).into());
    }
    if let Some(elsewhere) = request.extensions().get::<FromElsewhere>() {
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
            let missing = known.err().unwrap_or(Missing::NoCookie);
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
