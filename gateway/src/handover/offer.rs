//! `GET /oauth2/handover` on the main host: for signed-in people on their way to an app.
use axum::{
    Extension,
    extract::{OriginalUri, State},
    response::{IntoResponse as _, Response},
};
use http::HeaderMap;
use jiff::Timestamp;
use portico_store::{NewHandover, Outcome};
use secrecy::{ExposeSecret as _, SecretString};

use crate::{
    access::return_path::ReturnPath,
    audit::Event,
    forms::Fields,
    guard::Stop,
    pages,
    problem::Problem,
    state::{Context, Shared},
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
    let Some(key) = gateway.key_to(&app, &caller.live).await? else {
        return Ok(gateway.refuse_app(&context, &caller, &app).await);
    };
    let new = NewHandover {
        session: caller.live.id,
        host: app.config.id.clone(),
        nonce: SecretString::from(nonce),
        return_path: ReturnPath::parse(query.get("rd")).to_string(),
    };
    let code = gateway
        .store
        .handovers()
        .create(&new, Timestamp::now())
        .await?;
    let event = Event::new("app.handover", Outcome::Succeeded)
        .session(&caller.session)
        .project(key.token().map(|token| token.project.id.as_str()))
        .target(&app.config.id);
    gateway.audit(&context, event).await;
    Ok(pages::app::handover(&app.config.name, &app.origin, code.expose_secret()).into_response())
}
