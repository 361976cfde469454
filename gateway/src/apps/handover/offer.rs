//! `GET /oauth2/handover` on the main host: for signed-in users on their way to an app.
use std::sync::Arc;

use axum::{
    Extension,
    extract::{OriginalUri, State},
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, Method, Uri};
use portico_store::{NewHandover, Outcome};
use secrecy::{ExposeSecret as _, SecretString};

use super::Handovers;
use crate::{
    apps::authorization::{Asked, Decision, Key, Refusal},
    audit::Event,
    authentication::extract::SignedIn,
    hosts::App,
    http::{
        access_log, error_response::Problem, forms::Fields, interrupt::Interrupt,
        redirect::see_other, return_path::ReturnPath,
    },
    pages,
    request_context::Context,
};

pub(crate) async fn get(
    State(handovers): State<Arc<Handovers>>,
    Extension(context): Extension<Context>,
    signed_in: Result<SignedIn, Interrupt>,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
) -> Result<Response, Interrupt> {
    let query = Fields::of_query(&uri)?;
    let app = handovers.hosts.app(query.get("app"));
    let Some(app) = app.filter(|app| app.has_own_host()).cloned() else {
        return Err(Problem::not_found().into());
    };
    let nonce = query.get("nonce");
    if nonce.len() != 43 {
        return Err(
            Problem::bad_request("This link to an app is incomplete. Open the app again.").into(),
        );
    }
    let SignedIn(caller) = signed_in?;
    let return_path = ReturnPath::parse(query.get("rd"));
    // access to the destination is decided here already
    let asked = Asked {
        method: &Method::GET,
        path: return_path.path(),
        headers: &headers,
        client: context.client,
    };
    let key = match handovers
        .authorization
        .decide(&app, &asked, Some(&caller))
        .await?
    {
        Decision::Open(key) => Some(key),
        Decision::Public | Decision::Preflight | Decision::SignIn => None,
        Decision::SignInAgain(refusal) => {
            return handovers.confirm_on_the_way(&app, &uri, &query, &refusal);
        }
        Decision::Refused(refusal) => {
            return Ok(handovers
                .authorization
                .refuse_app(&context, Some(&caller), &app, &refusal)
                .await);
        }
    };
    let new = NewHandover {
        session: caller.live.id,
        host: app.config.id.clone(),
        nonce: SecretString::from(nonce),
        return_path: return_path.to_string(),
    };
    let code = handovers
        .store
        .handovers()
        .create(&new, handovers.clock.now())
        .await?;
    let token = key.as_ref().and_then(Key::token);
    let project = token.map(|token| token.project.id.as_str());
    let event = Event::new("app.handover", Outcome::Succeeded)
        .session(&caller.session)
        .project(project)
        .target(&app.config.id);
    handovers.audit.record(&context, event).await;
    Ok(pages::app::handover(&app.config.name, &app.origin, code.expose_secret()).into_response())
}

/// A query parameter, set after a reauthentication.
const CONFIRMED: &str = "confirmed";

impl Handovers {
    /// Asks a user to confirm their identity, where the destination needs a recent sign-in, and
    /// then returns here. If a confirmation had no effect, a page explains why instead of asking
    /// again.
    fn confirm_on_the_way(
        &self,
        app: &App,
        uri: &Uri,
        query: &Fields,
        refusal: &Refusal,
    ) -> Result<Response, Interrupt> {
        let here = |confirmed: &str| {
            let way = url::form_urlencoded::Serializer::new(String::new())
                .append_pair("app", &app.config.id)
                .append_pair("nonce", query.get("nonce"))
                .append_pair("rd", query.get("rd"))
                .append_pair(CONFIRMED, confirmed)
                .finish();
            format!("{}?{way}", uri.path())
        };
        let confirm = |back: &str| {
            let query = url::form_urlencoded::Serializer::new(String::new())
                .append_pair("rd", back)
                .finish();
            format!("/oauth2/reauthenticate?{query}")
        };
        if query.get(CONFIRMED).is_empty() {
            access_log::rule("sign_in_again");
            return Ok(see_other(&confirm(&here("1"))));
        }
        let name = &app.config.name;
        let problem = self.authorization.ask_to_sign_in_again(app, refusal);
        Err(problem
            .steps([
                format!("{name} requires you to confirm who you are again, with a password or at \
                         your provider."),
                "Your provider may have signed you in without asking. Sign out there, then try again."
                    .to_owned(),
                "A pasted token is not accepted for this, because its age is unknown.".to_owned(),
            ])
            .leads_to("Try again", confirm(&here("1")))
            .into())
    }
}
