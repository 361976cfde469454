//! `GET /oauth2/handover` on the main host: for signed-in people on their way to an app.
use axum::{
    Extension,
    extract::{OriginalUri, State},
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, Method, Uri};
use jiff::Timestamp;
use portico_store::{NewHandover, Outcome};
use secrecy::{ExposeSecret as _, SecretString};

use crate::{
    access::{line, return_path::ReturnPath, rules::Key},
    audit::Event,
    forms::Fields,
    guard::{Stop, see_other},
    hosts::App,
    pages,
    problem::Problem,
    rules::{Asked, Decision, Refusal},
    state::{Context, Gateway, Shared},
};

pub(crate) async fn get(
    State(gateway): State<Shared>,
    Extension(context): Extension<Context>,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
) -> Result<Response, Stop> {
    let query = Fields::of_query(&uri)?;
    let app = gateway.hosts.app(query.get("app"));
    let Some(app) = app.filter(|app| app.has_own_host()).cloned() else {
        return Err(Problem::not_found().into());
    };
    let nonce = query.get("nonce");
    if nonce.len() != 43 {
        return Err(
            Problem::bad_request("This link to an app is incomplete. Open the app again.").into(),
        );
    }
    let caller = gateway.browser(&context, &headers, &uri).await?;
    let return_path = ReturnPath::parse(query.get("rd"));
    // where somebody is going is decided on already here
    let asked = Asked {
        method: &Method::GET,
        path: return_path.path(),
        headers: &headers,
        client: context.client,
    };
    let key = match gateway.decide(&app, &asked, Some(&caller)).await? {
        Decision::Open(key) => Some(key),
        Decision::Public | Decision::Preflight | Decision::SignIn => None,
        Decision::SignInAgain(refusal) => {
            return gateway.confirm_on_the_way(&app, &uri, &query, &refusal);
        }
        Decision::Refused(refusal) => {
            return Ok(gateway
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
    let code = gateway
        .store
        .handovers()
        .create(&new, Timestamp::now())
        .await?;
    let token = key.as_ref().and_then(Key::token);
    let project = token.map(|token| token.project.id.as_str());
    let event = Event::new("app.handover", Outcome::Succeeded)
        .session(&caller.session)
        .project(project)
        .target(&app.config.id);
    gateway.audit(&context, event).await;
    Ok(pages::app::handover(&app.config.name, &app.origin, code.expose_secret()).into_response())
}

/// In the query of who has just been asked to confirm who they are.
const CONFIRMED: &str = "confirmed";

impl Gateway {
    /// Somebody on their way to what asks for a sign-in that is not long ago: they confirm who they
    /// are, and come back here. Who has done so in vain is told, and sent round no further.
    fn confirm_on_the_way(
        &self,
        app: &App,
        uri: &Uri,
        query: &Fields,
        refusal: &Refusal,
    ) -> Result<Response, Stop> {
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
            line::rule("sign_in_again");
            return Ok(see_other(&confirm(&here("1"))));
        }
        let name = &app.config.name;
        let problem = self.ask_to_sign_in_again(app, refusal);
        Err(problem
            .steps([
                format!("{name} asks for a fresh proof of who you are: a password, or your provider's."),
                "Your provider may have signed you in without asking. Sign out there, then try again."
                    .to_owned(),
                "A pasted token is no such proof: nobody knows how old it is.".to_owned(),
            ])
            .leads_to("Try again", confirm(&here("1")))
            .into())
    }
}
